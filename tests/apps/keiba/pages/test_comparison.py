"""Runners side by side: what is compared, and which of them is best in it."""

from datetime import UTC, date, datetime
from decimal import Decimal

from grandstand.apps.keiba.domain.form import Record
from grandstand.apps.keiba.domain.races import RaceCard, Runner
from grandstand.apps.keiba.pages.i18n import Locale
from grandstand.apps.keiba.pages.races import comparison_rows, select_runners
from grandstand.apps.keiba.services.analysis import Insight, RankedRunner
from grandstand.apps.keiba.services.cards import Card, CardRunner, Progress
from grandstand.apps.keiba.services.page_cache import Origin, Sourced

EN, JA = Locale.of("en"), Locale.of("ja")


def _runner(at: int, win: float, record: Record) -> CardRunner:
    ranked = RankedRunner(at, 1.0, win, win, win, Decimal("2.0"), 0.5, ())
    insight = Insight("course", "On this course", "当コース", record)
    runner = Runner(f"202210000{at}", f"馬{at}", horse_number=at)
    return CardRunner(runner, None, None, None, None, (insight,), ranked)


RUNNERS = (
    _runner(1, 0.5, Record(4, 1, 2, 2)),
    _runner(2, 0.3, Record(2, 1, 1, 2)),
    _runner(3, 0.2, Record()),
)
CARD = Card(
    race=Sourced(
        RaceCard(race_id="202605050411", race_name="特別", horses=()),
        Origin("page", "fresh", datetime(2026, 11, 15, tzinfo=UTC), 0.0),
    ),
    race_date=date(2026, 11, 15),
    off_at=None,
    circuit="jra",
    track_english="Tokyo",
    runners=RUNNERS,
    odds=None,
    progress=Progress(),
)


def test_those_asked_for_are_chosen_and_else_the_first_of_the_ranking() -> None:
    assert select_runners(CARD, ["2022100003", "2022100001", "none"]) == (RUNNERS[0], RUNNERS[2])
    assert select_runners(CARD, []) == RUNNERS


def test_the_best_of_a_line_is_marked_and_nobody_where_all_are_alike() -> None:
    lines = {line.label: line for line in comparison_rows(RUNNERS, EN)}

    assert lines["Win"].best == {0}
    assert lines["On this course"].best == {1}
    assert lines["On this course"].texts == ("1-1-0-2", "1-0-1-0", "0-0-0-0")
    assert lines["Fair odds"].best == frozenset()


def test_lines_are_labelled_in_the_language_of_the_page() -> None:
    labels = [line.label for line in comparison_rows(RUNNERS, JA)]

    assert "当コース" in labels


def test_a_record_is_written_as_racing_does() -> None:
    assert Record(10, 2, 3, 6).placings == "2-1-3-4"
