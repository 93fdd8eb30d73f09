"""Formatting of values for the terminal."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from grandstand.apps.keiba.cli import (
    describe_origin,
    describe_progress,
    format_clock,
    format_conditions,
    format_course,
    format_edge,
    format_long_date,
    format_percent_number,
    format_recent_places,
    format_record,
    format_timestamp,
    format_yen,
)
from grandstand.apps.keiba.domain.form import Record
from grandstand.apps.keiba.domain.horses import PastRun
from grandstand.apps.keiba.services.cards import Progress
from grandstand.apps.keiba.services.page_cache import Origin

NOON_IN_JAPAN = datetime(2026, 11, 15, 3, tzinfo=UTC)


def test_what_is_not_known_is_a_dash() -> None:
    texts = (
        format_percent_number(None),
        format_edge(None),
        format_clock(None),
        format_timestamp(None),
        format_course(None, None),
        format_yen(None),
    )

    assert set(texts) == {"–"}


def test_shares_are_told_in_per_cent() -> None:
    assert (format_percent_number(0.1234), format_edge(0.056), format_edge(-0.2)) == (
        "12.3",
        "+5.6",
        "-20.0",
    )


def test_moments_are_told_in_the_time_of_japan() -> None:
    assert format_clock(NOON_IN_JAPAN) == "12:00"
    assert format_timestamp(NOON_IN_JAPAN) == "2026-11-15 12:00 JST"
    assert format_long_date(date(2026, 11, 5)) == "Thursday 5 November 2026"


def test_a_course_and_the_sky_are_told_as_far_as_they_are_known() -> None:
    assert (format_course("turf", 1600), format_course(None, 1600)) == ("turf 1600 m", "1600 m")
    assert (format_conditions("light_snow", "soft"), format_conditions(None, "firm")) == (
        "light snow, soft",
        "firm",
    )


def test_a_strip_has_the_last_runs_newest_first() -> None:
    day = date(2026, 1, 1)
    runs = [PastRun(day, "東京", "x", position=place) for place in (1, None, 12, 4, 5, 6)]

    assert format_recent_places(runs) == "1 × 12 4 5"
    assert format_recent_places([]) == "–"


def test_a_record_counts_each_place_by_itself() -> None:
    assert format_record(Record(starts=10, wins=2, top2=5, top3=6)) == "10 starts: 2-3-1-4"


def test_money_is_told_in_yen() -> None:
    assert format_yen(Decimal("1140.5")) == "¥11,405,000"


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (Origin("http://a/b", "fetched", NOON_IN_JAPAN, 0.0), "http://a/b: just fetched"),
        (Origin("http://a/b", "fresh", NOON_IN_JAPAN, 120.0), "http://a/b: cached, 2\u00a0min old"),
        (
            Origin("http://a/b", "stale", NOON_IN_JAPAN, 7200.0, error="It is away"),
            "http://a/b: stale, 2\u00a0h old (It is away)",
        ),
    ],
)
def test_where_something_came_from_is_told_with_its_age(origin: Origin, text: str) -> None:
    assert describe_origin(origin) == text


def test_failures_are_counted_only_where_there_are_some() -> None:
    whole = Progress(done=9, cached=8, fetched=1, total=9)

    assert describe_progress(whole) == "9 lookups: 8 cached, 1 fetched"
    assert describe_progress(Progress(3, 1, 1, 1, 3)) == "3 lookups: 1 cached, 1 fetched, 1 failed"
