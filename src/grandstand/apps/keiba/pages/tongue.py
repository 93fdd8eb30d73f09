"""Kept here: the language a page is written in: labels, dates, ages and names in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Final

from markupsafe import Markup
from starlette.requests import Request

from grandstand.apps.keiba.pages.terms import TERMS
from grandstand.apps.keiba.pages.words import WORDS
from grandstand.apps.keiba.service import JST, Language
from grandstand.kit.pages import shown
from grandstand.kit.pages.shown import NOTHING

LANGUAGE_COOKIE: Final = "grandstand_keiba_language"
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja")

_WEEKDAYS: Final = "月火水木金土日"
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_TO_MILLIONS: Final = 100


@cache
def _labels(language: Language) -> Mapping[str, str]:
    place = LANGUAGES.index(language)
    return {name: pair[place] for name, pair in WORDS.items()}


@dataclass(frozen=True, slots=True)
class Tongue:
    """One of the two languages, and how things are said in it."""

    language: Language
    w: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, language: Language) -> Tongue:
        """Answer a language with its labels."""
        return cls(language, _labels(language))

    @property
    def japanese(self) -> bool:
        """Whether it is Japanese."""
        return self.language == "ja"

    def say(self, name: str, *values: object) -> str:
        """Answer a label with values put in."""
        return self.w[name].format(*values)

    def term(self, kind: str, word: str | None) -> str:
        """Answer one of racing's own words, itself where it has no other; nothing for None."""
        if word is None:
            return ""
        pair = TERMS[kind].get(word, (word, word))
        return pair[LANGUAGES.index(self.language)]

    def either(self, english: str | None, japanese: str | None) -> str:
        """Answer the text in this language, or the other where there is none."""
        first, second = (japanese, english) if self.japanese else (english, japanese)
        return first or second or NOTHING

    def day(self, day: date | None, *, short: bool = False) -> str:
        """Write a date with its weekday; the short form leaves the year out."""
        if day is None:
            return NOTHING
        if self.japanese:
            year = "" if short else f"{day.year}年"
            return f"{year}{day.month}月{day.day}日({_WEEKDAYS[day.weekday()]})"
        if short:
            return f"{day:%a} {day.day} {day:%b}"
        return f"{day:%A} {day.day} {day:%B} {day.year}"

    def date(self, day: date | None) -> str:
        """Write a date as short as it can be without doubt."""
        if day is None:
            return NOTHING
        return f"{day:%Y/%m/%d}" if self.japanese else f"{day.day} {day:%b} {day.year}"

    def clock(self, moment: datetime | None) -> Markup:
        """Mark a moment up as clocks in Japan show it."""
        if moment is None:
            return Markup(NOTHING)  # noqa: S704 - a constant
        there = moment.astimezone(JST)
        return Markup('<time datetime="{}" title="{}">{}</time>').format(
            there.isoformat(timespec="minutes"), f"{there:%Y-%m-%d %H:%M} JST", f"{there:%H:%M}"
        )

    def age(self, moment: datetime | None, now: datetime, zone: str) -> Markup:
        """Mark up how long ago a moment was, or how long until it comes."""
        if not self.japanese or moment is None:
            return shown.age_tag(moment, now, zone)
        seconds = (now - moment).total_seconds()
        text = f"{self.length(abs(seconds))}{'前' if seconds >= 0 else '後'}"
        return Markup('<time datetime="{}" title="{}">{}</time>').format(
            moment.isoformat(timespec="seconds"), shown.local_time(moment, zone, "second"), text
        )

    def money(self, ten_thousands: Decimal | None) -> str:
        """Write money that is given in units of ten thousand yen."""
        if ten_thousands is None:
            return NOTHING
        if self.japanese:
            return f"{shown.number(ten_thousands, 0)}万円"
        millions = ten_thousands / _TO_MILLIONS
        digits = 0 if millions == millions.to_integral_value() else 1
        return f"¥{shown.number(millions, digits)}M"

    def length(self, seconds: float) -> str:
        """Write a length of time."""
        if not self.japanese:
            return shown.duration(seconds)
        if seconds < _MINUTE:
            return f"{round(seconds)}秒"
        if seconds < _HOUR:
            return f"{round(seconds / _MINUTE)}分"
        if seconds < 2 * _DAY:
            return f"{round(seconds / _HOUR)}時間"
        return f"{round(seconds / _DAY)}日"


def tongue_of(request: Request) -> Tongue:
    """Answer the language a person chose, else the one their browser asks for first."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    for language in LANGUAGES:
        if chosen == language:
            return Tongue.of(language)
    first = request.headers.get("accept-language", "").strip().lower()
    return Tongue.of("ja" if first.startswith("ja") else "en")
