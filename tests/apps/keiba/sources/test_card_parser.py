"""The card: what the head says, what each runner is, and what is missing."""

from datetime import date
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.domain.races import Runner
from grandstand.apps.keiba.sources.race_parser import parse_card
from tests.apps.keiba.sources.race_pages import (
    HEAD,
    LOCAL,
    RACE,
    THREE_RUNNERS,
    card,
    document,
    page,
    runner,
)


@pytest.mark.parametrize("encoding", ["utf-8", "euc_jp"])
def test_the_head_says_what_race_it_is(encoding: str) -> None:
    race = parse_card(page(THREE_RUNNERS, encoding), RACE).value

    assert (race.race_name, race.race_number, race.grade) == ("かえで特別", 4, "2勝")
    assert (race.race_date, race.post_time) == (date(2026, 11, 15), "11:20")
    assert (race.track_name, race.meeting_number, race.day_number) == ("東京", 4, 6)
    assert (race.track_type, race.distance, race.direction) == ("dirt", 1600, "left")
    assert (race.weather, race.going, race.runner_count) == ("cloudy", "good", 3)
    assert (race.ages, race.race_class) == ("サラ系3歳以上", "2勝クラス")
    assert (race.conditions, race.weight_rule) == ("(混)[指]", "定量")
    assert race.prize_money == tuple(map(Decimal, (1550, 620, 390, 230, 155)))


def test_a_runner_is_all_that_its_row_says() -> None:
    parsed = parse_card(page(THREE_RUNNERS), RACE)

    assert parsed.warnings == ()
    assert parsed.value.horses[0] == Runner(
        "2023100001",
        "アオイソラ",
        "01101",
        "佐伯",
        1,
        1,
        Decimal("55.0"),
        sex="female",
        age=3,
        trainer_id="a01bb",
        trainer_name="高瀬",
        stable="美浦",
        body_weight=464,
        body_weight_change=-8,
        win_odds=Decimal("3.4"),
        popularity=1,
    )


def test_only_the_horse_whose_row_says_so_is_scratched() -> None:
    horses = parse_card(page(THREE_RUNNERS), RACE).value.horses

    assert [horse.scratched for horse in horses] == [False, False, True]
    assert (horses[1].body_weight, horses[1].win_odds, horses[1].popularity) == (None, None, None)


def test_before_the_draw_nobody_has_a_number() -> None:
    text = card(*(runner(at, f"ウマ{at}", frame="", number="") for at in (1, 2)))

    horses = parse_card(page(text), RACE).value.horses

    assert {(horse.frame_number, horse.horse_number) for horse in horses} == {(None, None)}


def test_a_local_race_has_its_date_and_track_in_its_id() -> None:
    race = parse_card(page(THREE_RUNNERS), LOCAL).value

    assert (race.race_date, race.track_name) == (date(2026, 11, 15), "大井")


def test_a_jump_race_has_its_surface_and_no_direction() -> None:
    text = THREE_RUNNERS.replace("ダ1600m</span> (左)", "障2970m</span> (芝 外)")

    race = parse_card(page(text), RACE).value

    assert (race.track_type, race.distance) == ("jump", 2970)
    assert (race.direction, race.course) == (None, "芝 外")


def test_what_is_missing_is_told_and_the_rest_is_kept() -> None:
    text = card(runner(1, "アオイソラ", jockey="", carried=""), runner(2, "ミナトカゼ"), count=3)

    parsed = parse_card(page(text.replace("/horse/2023100002", "/nothing")), RACE)

    assert [horse.horse_name for horse in parsed.value.horses] == ["アオイソラ"]
    assert len(parsed.warnings) == 4
    assert "the page announces 3 runners but lists 1" in parsed.warnings


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (card(), "no runners found"),
        (document(HEAD.format(count=3)), "no table of runners"),
        (
            THREE_RUNNERS.replace(
                "</head>", '<link rel="canonical" href="/x?race_id=202605040605"></head>'
            ),
            "belongs to race 202605040605, not 202605040604",
        ),
        (THREE_RUNNERS.replace("/horse/", "/cow/"), "no runners found"),
    ],
    ids=["no rows", "no table", "another race", "no links"],
)
def test_a_card_without_runners_is_an_error(text: str, why: str) -> None:
    with pytest.raises(PageUnreadable, match=why):
        parse_card(page(text), RACE)
