"""Formatting of values for people."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.core import formatting
from grandstand.core.formatting import OddsFormat
from grandstand.kit.pages.rendering import time_tag

_NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "1 Jul 2026 12:00"),
        ("Asia/Tokyo", "1 Jul 2026 21:00"),
        ("America/New_York", "1 Jul 2026 08:00"),
        ("Nowhere/Here", "1 Jul 2026 12:00"),
        ("../../etc/passwd", "1 Jul 2026 12:00"),
    ],
)
def test_a_moment_is_told_as_clocks_of_the_zone_show_it(zone: str, text: str) -> None:
    assert formatting.format_time(_NOON, zone) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "now"), (5, "5 s ago"), (119, "1 min ago"), (-7200, "in 2 h"), (200_000, "2 d ago")],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    told = formatting.format_age(_NOON - timedelta(seconds=seconds), _NOON)

    assert told.replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0421, "42 ms"), (90, "1 min 30 s"), (3600, "1 h"), (180_000, "2 d")]
)
def test_a_length_of_time_has_two_units_at_most(seconds: float, text: str) -> None:
    assert formatting.format_duration(seconds).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("odds", "form", "text"),
    [
        (2.5, "decimal", "2.50"),
        (2.5, "american", "+150"),
        (2.5, "fractional", "3/2"),
        (1.91, "american", "\u2212110"),
        (1.91, "fractional", "10/11"),
        (2.0, "american", "+100"),
        (1.01, "fractional", "1/100"),
        (51.0, "fractional", "50/1"),
        (1.0, "decimal", "–"),
        (None, "american", "–"),
    ],
)
def test_odds_are_told_in_the_persons_format(
    odds: float | None, form: OddsFormat, text: str
) -> None:
    assert formatting.format_odds(odds, form) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (48_211_003, "48.2 MB"), (None, "–")],
)
def test_a_size_has_the_unit_that_suits_it(count: int | None, text: str) -> None:
    assert formatting.format_bytes(count).replace("\u00a0", " ") == text


def test_a_number_has_thousands_apart_and_a_true_minus_sign() -> None:
    assert formatting.format_number(-1234567.891, 1) == "\u22121,234,567.9"
    assert formatting.format_number(3, signed=True) == "+3"
    assert formatting.format_percent(0.0421) == "4.2\u00a0%"


def test_instants_of_records_are_told_by_the_persons_clock() -> None:
    text = "not proven after 2026-07-01T12:00:00.909795Z, nor before"

    told = formatting.localize_times(text, "Asia/Tokyo")

    assert told == "not proven after 1 Jul 21:00:00, nor before"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604", "Safari on iPhone"),
        ("curl/8.9", "curl/8.9"),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_is_named_as_people_name_it(agent: str, name: str) -> None:
    assert formatting.describe_browser(agent) == name


def test_what_a_part_says_becomes_a_sentence_once() -> None:
    assert formatting.as_sentence("exchange failed 5 times") == "Exchange failed 5 times."
    assert formatting.as_sentence("Is it on?") == "Is it on?"


def test_a_zone_cannot_bring_marks_into_a_page() -> None:
    tag = time_tag(_NOON, "<b>")

    assert "<b>" not in tag
    assert tag.startswith('<time datetime="2026-07-01T12:00:00.000+00:00"')
