"""Kept here: prices, money, shares and times as the short words of a terminal."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.service import Interval

NONE: Final = "–"
_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "min"))
_CENTS: Final = 100
_ADVICE: Final = {"ORIGINAL": "follow", "INVERSE": "bet against", "AVOID": "leave"}


def price(american: int | None) -> str:
    """Write an American price with its sign."""
    return NONE if american is None else f"{american:+d}"


def point(line: Decimal | None, *, signed: bool = True) -> str:
    """Write a line without needless noughts."""
    if line is None:
        return ""
    plain = line.normalize()
    return f"{plain:+f}" if signed and plain else f"{plain:f}"


def side(outcome: PricedOutcome) -> str:
    """Write a side with its line."""
    over_under = outcome.name.casefold() in {"over", "under"}
    return f"{outcome.name} {point(outcome.point, signed=not over_under)}".strip()


def money(cents: int | None, *, signed: bool = False) -> str:
    """Write cents as dollars."""
    if cents is None:
        return NONE
    sign = "-" if cents < 0 else "+" if signed and cents else ""
    return f"{sign}${abs(cents) // _CENTS:,}.{abs(cents) % _CENTS:02}"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share of one in per cent."""
    return NONE if share is None else f"{100 * share:.{digits}f} %"


def signed(share: float | None, digits: int = 1) -> str:
    """Write a gain or a loss in per cent."""
    return NONE if share is None else f"{round(100 * share, digits) + 0.0:+.{digits}f} %"


def within(found: Interval | None, *, sign: bool = False) -> str:
    """Write a share with its bounds."""
    if found is None:
        return NONE
    form = "+" if sign else ""
    ends = f"{100 * found.low:{form}.0f} to {100 * found.high:{form}.0f}"
    return f"{100 * found.value:{form}.1f} % ({ends})"


def number(value: float | None, digits: int = 4) -> str:
    """Write a figure."""
    return NONE if value is None else f"{value:.{digits}f}"


def count(number_of: int, one: str, many: str = "") -> str:
    """Write how many of something there are."""
    return f"{number_of:,} {one if number_of == 1 else many or f'{one}s'}"


def stamp(moment: datetime | None) -> str:
    """Write a moment to the minute, in UTC."""
    return NONE if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def short(moment: datetime) -> str:
    """Write a moment of the days around."""
    return f"{moment:%a %d %b %H:%M}"


def age(seconds: int) -> str:
    """Write a length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def advice(recommendation: str, evidence: str | None) -> str:
    """Say what to do with a model."""
    return "too few bets" if evidence else _ADVICE.get(recommendation, recommendation)


def teams(home_team: str, away_team: str) -> str:
    """Name a game; the home side comes first."""
    return f"{home_team} v {away_team}"


def plain(key: str) -> str:
    """Write a key as words."""
    return key.replace("_", " ")
