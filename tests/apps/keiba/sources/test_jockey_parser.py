"""A jockey's career and years, with rates that follow from the counts."""

from datetime import date
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.domain.horses import JockeyFigures
from grandstand.apps.keiba.sources.profile_parser import parse_jockey
from tests.apps.keiba.sources.horse_pages import CAREER, JOCKEY, jockey, year
from tests.apps.keiba.sources.race_pages import page

THIS_YEAR = year("2026", "40 41 42 377 500 20 1", ("8.0", "16.2", "24.6"))


def test_a_career_has_its_counts_and_the_rates_worked_out() -> None:
    parsed = parse_jockey(page(jockey(CAREER, THIS_YEAR)), JOCKEY)

    assert parsed.warnings == ()
    assert parsed.value.overall_stats == JockeyFigures(
        582, 640, 634, 7573, Decimal("7.7"), Decimal("16.1"), Decimal("24.5"), 5717, 210, 9
    )


def test_a_jockey_is_all_that_the_page_says() -> None:
    found = parse_jockey(page(jockey(CAREER, THIS_YEAR)), JOCKEY).value

    assert (found.jockey_name, found.kana) == ("佐伯 遼", "サエキ リョウ")
    assert (found.born_on, found.affiliation) == (date(1998, 4, 30), "栗東")
    assert (found.height_cm, found.weight_kg) == (168, Decimal("50.5"))
    assert [(one.year, one.circuit, one.rank) for one in found.years] == [(2026, "jra", 12)]


def test_both_circuits_count_and_are_kept_apart() -> None:
    local = (year("累計", "10 5 5 80 100 0 0", ("10.0", "15.0", "20.0")),)

    found = parse_jockey(page(jockey(CAREER, local=local)), JOCKEY).value

    assert (found.central and found.central.wins, found.local and found.local.wins) == (582, 10)
    assert (found.overall_stats.wins, found.overall_stats.total_races) == (592, 7673)
    assert found.overall_stats.win_rate == Decimal("7.7")


@pytest.mark.parametrize(("many", "wins"), [(7, 5), (3, 3)])
def test_at_most_five_years_are_summed_up(many: int, wins: int) -> None:
    years = [year(f"{2026 - at}", "1 0 0 9 10 0 0", ("10.0", "10.0", "10.0")) for at in range(many)]

    found = parse_jockey(page(jockey(CAREER, *years)), JOCKEY, all_years=True).value

    assert len(found.years) == many
    assert found.recent_5year_stats is not None
    assert found.recent_5year_stats.wins == wins


def test_one_year_is_not_taken_for_five() -> None:
    assert parse_jockey(page(jockey(CAREER, THIS_YEAR)), JOCKEY).value.recent_5year_stats is None


def test_a_rate_that_does_not_follow_from_the_counts_is_told() -> None:
    wrong = year("累計", "582 640 634 5,717 7,573 210 9", ("7.9", "161.0", "24.5"))

    parsed = parse_jockey(page(jockey(wrong)), JOCKEY)

    assert parsed.value.overall_stats.win_rate == Decimal("7.7")
    assert len(parsed.warnings) == 2


def test_more_places_than_rides_have_no_rates() -> None:
    parsed = parse_jockey(page(jockey(year("累計", "9 9 9 0 10 0 0", ("", "", "")))), JOCKEY)

    assert parsed.value.overall_stats.place_rate is None
    assert parsed.warnings == ("the row 累計 has more places than rides",)


def test_a_page_with_nothing_but_the_template_is_an_error() -> None:
    with pytest.raises(PageUnreadable, match="no career statistics"):
        parse_jockey(page(jockey()), JOCKEY)
