"""A horse's page, its earlier races in both widths, and its ancestors."""

import json
from datetime import date
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.domain.horses import Form, PastRun
from grandstand.apps.keiba.sources.profile_parser import (
    parse_horse_profile,
    parse_horse_results,
    parse_pedigree,
)
from tests.apps.keiba.sources.horse_pages import (
    HORSE,
    NEW_HEADERS,
    OLD_HEADERS,
    RUNS,
    pedigree,
    profile,
    results,
    run,
)
from tests.apps.keiba.sources.race_pages import document, page

ON_TURF = PastRun(
    run_on=date(2026, 9, 6),
    track="新潟",
    race_name="こすもす賞(L)",
    distance=1800,
    position=3,
    time="1:52.4",
    margin="-0.2",
    race_id="202604030411",
    circuit="jra",
    meeting_number=3,
    day_number=4,
    race_number=4,
    track_type="dirt",
    weather="fine",
    going="yielding",
    runner_count=16,
    frame_number=3,
    horse_number=5,
    win_odds=Decimal("7.7"),
    popularity=4,
    outcome="finished",
    demoted=False,
    jockey_id="01157",
    jockey_name="佐伯",
    carried_weight=Decimal(54),
    time_seconds=Decimal("112.4"),
    passing=(10, 9, 7, 4),
    pace="36.1-37.9",
    last_3f=Decimal("36.8"),
    body_weight=445,
    body_weight_change=0,
    winner="ハルカゼ",
    prize=Decimal("1243.5"),
)


@pytest.mark.parametrize("headers", [OLD_HEADERS, NEW_HEADERS], ids=["29", "33"])
@pytest.mark.parametrize("encoding", ["utf-8", "euc_jp"])
def test_both_widths_of_the_table_say_the_same(headers: tuple[str, ...], encoding: str) -> None:
    parsed = parse_horse_results(page(results(headers, *RUNS), encoding), HORSE)

    runs = parsed.value.recent_results
    assert [one.run_on for one in runs] == [date(2026, 10, 18), date(2026, 9, 6), date(2026, 3, 28)]
    assert runs[1] == ON_TURF


def test_the_widths_are_those_of_the_two_years() -> None:
    assert (len(OLD_HEADERS), len(NEW_HEADERS)) == (29, 33)


def test_local_and_overseas_races_are_kept_with_what_they_have() -> None:
    runs = parse_horse_results(page(results(NEW_HEADERS, *RUNS)), HORSE).value.recent_results

    local, _, abroad = runs
    assert (local.track, local.circuit, local.position, local.outcome) == (
        "金沢",
        "nar",
        None,
        "stopped",
    )
    assert (local.time, local.prize, local.body_weight, local.meeting_number) == (None,) * 4
    assert (abroad.track, abroad.race_id, abroad.circuit) == (
        "メイダン",
        "2026J0032804",
        "overseas",
    )
    assert (abroad.position, abroad.demoted, abroad.frame_number) == (5, True, None)


def test_the_piece_of_a_page_in_json_is_read_as_well() -> None:
    text = results(OLD_HEADERS, *RUNS).replace("<h1>アオイソラ</h1>", "")
    body = json.dumps({"status": "OK", "data": text})

    form = parse_horse_results(page(body), HORSE, "アオイソラ").value

    assert (form.horse_name, len(form.recent_results)) == ("アオイソラ", 3)


@pytest.mark.parametrize(
    "text",
    [
        results(NEW_HEADERS),
        document('<div class="horse_title"><h1>アオイソラ</h1></div><p>競走データがありません</p>'),
    ],
    ids=["empty table", "said in words"],
)
def test_a_horse_that_never_ran_has_no_races(text: str) -> None:
    assert parse_horse_results(page(text), HORSE).value == Form(HORSE, "アオイソラ", ())


def test_a_race_without_a_date_is_left_out_with_a_warning() -> None:
    text = results(NEW_HEADERS, RUNS[0], run("soon", "東京", "202605040601"))

    parsed = parse_horse_results(page(text), HORSE)

    assert [one.race_id for one in parsed.value.recent_results] == ["202604030411"]
    assert any("without a date" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (document("<p>?</p>"), "no table of races"),
        (results(OLD_HEADERS[1:], *RUNS), "missing columns: 日付"),
        (results(OLD_HEADERS, run("?", "東京", "x")), "no valid races"),
        ('{"status":"NG"}', "unexpected JSON"),
        ('{"status":"OK","da', "invalid JSON"),
    ],
)
def test_a_page_without_races_is_not_taken_for_a_horse_without_races(text: str, why: str) -> None:
    with pytest.raises(PageUnreadable, match=why):
        parse_horse_results(page(text), HORSE)


def test_a_profile_has_both_prize_moneys_and_their_total() -> None:
    horse = parse_horse_profile(page(profile(), "euc_jp"), HORSE).value

    assert horse.earnings_central == Decimal(12345)
    assert horse.earnings_local == Decimal("678.5")
    assert horse.earnings == Decimal("13023.5")


def test_a_profile_is_all_that_the_page_says() -> None:
    parsed = parse_horse_profile(page(profile()), HORSE)

    horse = parsed.value
    assert (horse.horse_name, horse.english_name, horse.active) == ("アオイソラ", "Aoi Sora", True)
    assert (horse.sex, horse.age, horse.coat) == ("female", 3, "栗毛")
    assert (horse.born_on, horse.birthplace) == (date(2023, 3, 21), "新冠町")
    assert (horse.trainer_id, horse.trainer_name, horse.stable) == ("01055", "高瀬", "美浦")
    assert (horse.owner, horse.breeder, horse.sale_price) == ("空の会", "青葉牧場", Decimal(1430))
    assert (horse.starts, horse.first, horse.second, horse.third) == (12, 3, 2, 1)
    assert (horse.fourth_or_lower, horse.relatives) == (6, ("ハルカゼ", "アキカゼ"))
    assert parsed.warnings == ()


def test_a_profile_without_money_has_none_rather_than_nought() -> None:
    text = profile(**{"獲得賞金 (中央)": "", "獲得賞金 (地方)": "-", "通算成績": ""})

    parsed = parse_horse_profile(page(text), HORSE)

    assert (parsed.value.earnings, parsed.value.starts, parsed.value.first) == (None, None, None)
    assert len(parsed.warnings) == 1


def test_sire_and_dam_are_the_two_cells_of_sixteen_rows() -> None:
    found = parse_pedigree(page(pedigree(), "euc_jp"), HORSE).value

    assert found.sire is not None
    assert found.dam is not None
    assert found.sire.id == "2005101000"
    assert (found.dam.id, found.dam.name) == ("000a00033a", "クワイエットハーバー")
    assert (found.dam.english_name, found.dam.country) == ("Quiet Harbour", "愛")
    assert (found.dam.born_year, found.dam.coat, found.dam.family) == (2005, "栗毛", "23-b")


def test_five_generations_stand_where_they_belong() -> None:
    found = parse_pedigree(page(pedigree()), HORSE)

    paths = {horse.path: horse.name for horse in found.value.ancestors}
    assert found.warnings == ()
    assert len(paths) == 62
    assert (paths["DS"], paths["SDS"]) == ("ウマ2-2", "ウマ3-2")
    assert (paths["DDDDD"], paths["SSSSD"]) == ("ウマ5-31", "ウマ5-1")
    assert [horse.generation for horse in found.value.ancestors] == sorted(map(len, paths))


def test_a_pedigree_with_rows_missing_has_the_parents_and_a_warning() -> None:
    parsed = parse_pedigree(page(pedigree(rows=20)), HORSE)

    assert [horse.path for horse in parsed.value.ancestors] == ["S", "D"]
    assert any("20 rows" in warning for warning in parsed.warnings)


def test_a_pedigree_without_a_dam_says_so() -> None:
    parsed = parse_pedigree(page(pedigree(rows=16)), HORSE)

    assert parsed.value.dam is None
    assert "dam missing" in parsed.warnings


@pytest.mark.parametrize("text", [document("<p>?</p>"), pedigree(rows=0)])
def test_a_page_without_ancestors_is_an_error(text: str) -> None:
    with pytest.raises(PageUnreadable):
        parse_pedigree(page(text), HORSE)
