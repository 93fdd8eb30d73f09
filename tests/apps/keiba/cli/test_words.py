"""Values in the short words of a terminal."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from grandstand.apps.keiba.cli.words import (
    clock,
    counts,
    course,
    long_day,
    money,
    origin,
    percent,
    record,
    signed,
    size,
    sky,
    span,
    stamp,
    strip,
)
from grandstand.apps.keiba.model import PastRun
from grandstand.apps.keiba.model.background import Record
from grandstand.apps.keiba.service import Origin, Progress

NOON_IN_JAPAN = datetime(2026, 11, 15, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7200, "2 h"), (3 * 86_400, "3 d")],
)
def test_a_span_is_told_in_its_largest_unit(seconds: float, told: str) -> None:
    assert span(seconds) == told


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 B"), (999, "999 B"), (1_500, "1.5 KB"), (2_400_000, "2.4 MB"), (7 * 10**12, "7.0 TB")],
)
def test_a_size_is_told_in_its_largest_unit(count: int, told: str) -> None:
    assert size(count) == told


def test_what_is_not_known_is_a_dash() -> None:
    told = (percent(None), signed(None), clock(None), stamp(None), course(None, None), money(None))

    assert set(told) == {"–"}


def test_shares_are_told_in_per_cent() -> None:
    assert (percent(0.1234), signed(0.056), signed(-0.2)) == ("12.3", "+5.6", "-20.0")


def test_moments_are_told_in_the_time_of_japan() -> None:
    assert clock(NOON_IN_JAPAN) == "12:00"
    assert stamp(NOON_IN_JAPAN) == "2026-11-15 12:00 JST"
    assert long_day(date(2026, 11, 5)) == "Thursday 5 November 2026"


def test_a_course_and_the_sky_are_told_as_far_as_they_are_known() -> None:
    assert (course("turf", 1600), course(None, 1600)) == ("turf 1600 m", "1600 m")
    assert (sky("light_snow", "soft"), sky(None, "firm")) == ("light snow, soft", "firm")


def test_a_strip_has_the_last_runs_newest_first() -> None:
    day = date(2026, 1, 1)
    runs = [PastRun(day, "東京", "x", position=place) for place in (1, None, 12, 4, 5, 6)]

    assert strip(runs) == "1 × 12 4 5"
    assert strip([]) == "–"


def test_a_record_counts_each_place_by_itself() -> None:
    assert record(Record(starts=10, wins=2, top2=5, top3=6)) == "10 starts: 2-3-1-4"


def test_money_is_told_in_yen() -> None:
    assert money(Decimal("1140.5")) == "¥11,405,000"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Origin("http://a/b", "fetched", NOON_IN_JAPAN, 0.0), "http://a/b: fetched just now"),
        (Origin("http://a/b", "fresh", NOON_IN_JAPAN, 120.0), "http://a/b: kept, 2 min old"),
        (
            Origin("http://a/b", "stale", NOON_IN_JAPAN, 7200.0, error="It is away"),
            "http://a/b: past its time, 2 h old (It is away)",
        ),
    ],
)
def test_where_something_came_from_is_told_with_its_age(found: Origin, told: str) -> None:
    assert origin(found) == told


def test_failures_are_counted_only_where_there_are_some() -> None:
    whole = Progress(done=9, cached=8, fetched=1, total=9)

    assert counts(whole) == "9 look-ups: 8 kept, 1 fetched"
    assert counts(Progress(3, 1, 1, 1, 3)) == "3 look-ups: 1 kept, 1 fetched, 1 failed"
