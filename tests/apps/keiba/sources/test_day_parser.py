"""The list of a day's races: three tracks, jumps, local races, days without racing."""

from datetime import date

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.domain.races import RaceEntry
from grandstand.apps.keiba.sources.race_parser import parse_day_list, parse_meeting_days
from tests.apps.keiba.sources.race_pages import THREE_VENUES, day, item, page, venue


def test_every_race_of_every_track_is_listed_once() -> None:
    parsed = parse_day_list(page(THREE_VENUES))

    named = [(race.track_name, race.race_number, race.race_id) for race in parsed.value]
    assert parsed.warnings == ()
    assert named == [
        ("東京", 1, "202605040601"),
        ("東京", 11, "202605040611"),
        ("京都", 1, "202608040601"),
        ("福島", 1, "202603030601"),
    ]


def test_an_entry_has_all_that_the_list_says_of_it() -> None:
    races = parse_day_list(page(THREE_VENUES)).value

    assert races[1] == RaceEntry(
        "東京",
        11,
        "202605040611",
        race_name="ひいらぎ賞",
        post_time="09:55",
        distance=1800,
        track_type="turf",
        runner_count=11,
        grade="G3",
        meeting_number=4,
        day_number=6,
        weather="cloudy",
        going="firm",
        has_result=True,
    )


def test_a_jump_race_and_a_bare_number_of_runners_are_understood() -> None:
    races = parse_day_list(page(THREE_VENUES)).value

    assert (races[2].track_type, races[2].distance) == ("jump", 2910)
    assert races[3].runner_count == 16
    assert races[0].going == "good"


def test_a_day_without_racing_has_no_races() -> None:
    assert parse_day_list(page(day())).value == ()


def test_a_race_without_a_link_is_left_out_with_a_warning() -> None:
    broken = item("202605040602", 2).replace("race_id=", "id=")

    parsed = parse_day_list(page(day(venue("東京", item("202605040601", 1), broken))))

    assert [race.race_number for race in parsed.value] == [1]
    assert parsed.warnings == ("a race at 東京 has no link",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<div id='race_list'></div>", "no list of races"),
        (day(venue("東京")), "no valid races"),
        (THREE_VENUES[: len(THREE_VENUES) // 2], "truncated"),
    ],
)
def test_a_page_that_is_no_list_names_itself_and_the_reason(text: str, why: str) -> None:
    with pytest.raises(PageUnreadable, match=why) as raised:
        parse_day_list(page(text))

    assert raised.value.page == "https://race.example/page"


def test_the_days_of_racing_are_in_order() -> None:
    text = '<ul><li date="20261121"></li><li class="Active" date="20261115"></li></ul>'

    parsed = parse_meeting_days(page(text))

    assert parsed.value == (date(2026, 11, 15), date(2026, 11, 21))
