"""Both languages say everything, and say it as their readers write it."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from string import Formatter
from typing import get_args

import pytest
from starlette.requests import Request

from grandstand.apps.keiba.domain import ids, races
from grandstand.apps.keiba.pages.i18n import LABELS, LANGUAGE_COOKIE, TERMS, Locale, locale_of

NOW = datetime(2026, 11, 15, 3, tzinfo=UTC)
EN, JA = Locale.of("en"), Locale.of("ja")


def _request(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": raw})


def _places(label: str) -> set[str | None]:
    return {place for _, place, _, _ in Formatter().parse(label)} - {None}


def test_every_label_is_there_in_both_languages_with_the_same_places_to_fill() -> None:
    lacking = [name for name, pair in LABELS.items() if not all(pair)]
    uneven = [name for name, (en, ja) in LABELS.items() if _places(en) != _places(ja)]

    assert lacking == []
    assert uneven == []


@pytest.mark.parametrize(
    ("kind", "alias"),
    [
        ("surface", races.Surface),
        ("direction", races.Direction),
        ("weather", races.Weather),
        ("going", races.Going),
        ("sex", races.Sex),
        ("circuit", ids.Circuit),
        ("outcome", races.Outcome),
        ("short_outcome", races.Outcome),
        ("bet", races.Bet),
        ("odds", races.OddsStatus),
    ],
)
def test_every_word_of_racing_has_a_label(kind: str, alias: object) -> None:
    known = set(TERMS[kind])

    assert known == set(get_args(alias))


@pytest.mark.parametrize(
    ("cookie", "asked", "language"),
    [
        ("ja", "en-GB,en", "ja"),
        ("en", "ja-JP,ja", "en"),
        ("", "ja-JP,ja;q=0.9", "ja"),
        ("", "de,ja", "en"),
        ("xx", "", "en"),
    ],
)
def test_the_chosen_language_counts_before_that_of_the_browser(
    cookie: str, asked: str, language: str
) -> None:
    request = _request(cookie=f"{LANGUAGE_COOKIE}={cookie}", accept_language=asked)

    assert locale_of(request).language == language


def test_a_day_is_written_as_each_language_does() -> None:
    day = date(2026, 11, 15)

    assert (EN.day(day), EN.day(day, short=True)) == ("Sunday 15 November 2026", "Sun 15 Nov")
    assert (JA.day(day), JA.day(day, short=True)) == ("2026年11月15日(日)", "11月15日(日)")
    assert EN.day(None) == "–"


def test_a_post_time_is_that_of_japan() -> None:
    moment = datetime(2026, 11, 15, 6, 40, tzinfo=UTC)

    assert ">15:40</time>" in EN.clock(moment)
    assert "2026-11-15T15:40+09:00" in JA.clock(moment)


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=40), ">40秒前<"),
        (timedelta(minutes=-25), ">25分後<"),
        (timedelta(hours=5), ">5時間前<"),
        (timedelta(days=6), ">6日前<"),
    ],
)
def test_an_age_is_written_in_japanese(ago: timedelta, said: str) -> None:
    assert said in JA.age(NOW - ago, NOW, "UTC")


@pytest.mark.parametrize(
    ("ten_thousands", "english", "japanese"),
    [
        (Decimal(20000), "¥200M", "20,000万円"),
        (Decimal("3350.5"), "¥33.5M", "3,350万円"),
        (None, "–", "–"),
    ],
)
def test_money_is_written_in_the_unit_of_its_readers(
    ten_thousands: Decimal | None, english: str, japanese: str
) -> None:
    assert (EN.money(ten_thousands), JA.money(ten_thousands)) == (english, japanese)


def test_a_name_without_a_translation_is_written_as_it_is() -> None:
    assert EN.either(None, "東京") == "東京"
    assert JA.either("Tokyo", "東京") == "東京"
    assert EN.either("Tokyo", "東京") == "Tokyo"
    assert EN.term("kind", "Unheard") == "Unheard"
