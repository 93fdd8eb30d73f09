"""Kept here: values as a person reads them: times, ages, numbers, sizes and odds."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import Markup

from grandstand.kit.who.caller import OddsFormat

Number: TypeAlias = int | float | Decimal
TimeForm: TypeAlias = Literal["moment", "day", "clock", "second"]

NOTHING: Final = "–"

_MINUS: Final = "\u2212"
_NO_BREAK: Final = "\u00a0"
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB", "PB")
_THOUSAND: Final = 1000
_STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_TWO_DAYS: Final = 172_800
_EVENS: Final = 2
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_NUMBERED: Final = re.compile(r"\[Errno -?\d+\] ")
# Browsers also name those they want to be taken for: the most particular come first.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_DENOMINATORS: Final = (10, 20, 50, 100, 1000)
_TOLERANCE: Final = Fraction(1, 100)
_FORMS: Final[dict[TimeForm, str]] = {
    "moment": "%-d %b %Y %H:%M",
    "day": "%-d %b %Y",
    "clock": "%H:%M",
    "second": "%-d %b %H:%M:%S",
}


def local_time(moment: datetime, zone: str, form: TimeForm = "moment") -> str:
    """Write a moment as clocks of a zone show it; an unknown zone is taken for UTC."""
    return moment.astimezone(_zone(zone)).strftime(_FORMS[form])


def day_text(day: date) -> str:
    """Write a date that belongs to no zone."""
    return f"{day:%-d %b %Y}"


def age(moment: datetime, now: datetime) -> str:
    """Write how long ago a moment was, or how long until it comes, in the largest unit only."""
    seconds = (now - moment) / timedelta(seconds=1)
    if abs(seconds) < 1:
        return "now"
    whole = round(abs(seconds))
    size, unit = next(step for step in _STEPS if whole >= step[0])
    text = f"{whole // size}{_NO_BREAK}{unit}"
    return f"{text} ago" if seconds > 0 else f"in {text}"


def time_tag(moment: datetime | None, zone: str, form: TimeForm = "moment") -> Markup:
    """Mark a moment up as a time, its full form behind it."""
    if moment is None:
        return Markup(NOTHING)  # noqa: S704 - a constant
    return _tag(moment, zone, "", local_time(moment, zone, form))


def age_tag(moment: datetime | None, now: datetime, zone: str) -> Markup:
    """Mark an age up as a time; the page lets it grow."""
    if moment is None:
        return Markup(NOTHING)  # noqa: S704 - a constant
    return _tag(moment, zone, " data-ago", age(moment, now))


def _tag(moment: datetime, zone: str, ago: str, text: str) -> Markup:
    full = f"{local_time(moment, zone, 'second')} {zone}"
    written = moment.isoformat(timespec="milliseconds")
    form = Markup(f'<time{ago} datetime="{{}}" title="{{}}">{{}}</time>')  # noqa: S704 - as above
    return form.format(written, full, text)


def duration(seconds: float) -> str:
    """Write a length of time in its two largest units at most."""
    if seconds < 1:
        return f"{round(seconds * 1000)}{_NO_BREAK}ms"
    left, parts = round(seconds), list[str]()
    for size, unit in _STEPS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{_NO_BREAK}{unit}")
        if len(parts) == _EVENS or (parts and seconds >= _TWO_DAYS):
            break
    return " ".join(parts)


def number(value: Number | None, digits: int | None = None, *, signed: bool = False) -> str:
    """Write a number with its thousands apart and a true minus sign."""
    if value is None:
        return NOTHING
    places = "" if digits is None else f".{digits}f"
    text = f"{value:{'+' if signed else ''},{places}}"
    return text.replace("-", _MINUS)


def percent(share: Number | None, digits: int = 1) -> str:
    """Write a share of one as a percentage."""
    return NOTHING if share is None else f"{number(share * 100, digits)}{_NO_BREAK}%"


def byte_size(count: int | None) -> str:
    """Write a number of bytes in the unit that leaves one to three digits before the point."""
    if count is None:
        return NOTHING
    size, unit = float(count), 0
    while size >= _THOUSAND and unit < len(_UNITS) - 1:
        size, unit = size / _THOUSAND, unit + 1
    digits = 0 if unit == 0 or size >= 100 else 1  # noqa: PLR2004 - three digits are enough
    return f"{size:.{digits}f}{_NO_BREAK}{_UNITS[unit]}"


def odds(decimal_odds: Number | None, form: OddsFormat) -> str:
    """Write odds given as decimal odds (what one staked brings back, greater than 1)."""
    if decimal_odds is None or decimal_odds <= 1:
        return NOTHING
    profit = Fraction(Decimal(str(decimal_odds))) - 1
    if form == "decimal":
        return f"{decimal_odds:.2f}"
    if form == "american":
        won = profit >= 1
        return f"+{round(profit * 100)}" if won else f"{_MINUS}{round(100 / profit)}"
    return _fraction(profit)


def _fraction(profit: Fraction) -> str:
    """The simplest fraction within a hundredth part of the profit."""
    best = profit.limit_denominator(_DENOMINATORS[-1])
    for largest in _DENOMINATORS:
        near = profit.limit_denominator(largest)
        if near and abs(near - profit) <= profit * _TOLERANCE:
            best = near
            break
    return f"{best.numerator}/{best.denominator}"


def local_times(text: str, zone: str) -> str:
    """Write the instants within a text, as records have them, as clocks of a zone show them."""

    def told(found: re.Match[str]) -> str:
        return local_time(datetime.fromisoformat(found[0]), zone, "second")

    return _INSTANT.sub(told, text)


def browser(agent: str) -> str:
    """Name a browser and its system as people do; what is not known is shown as it is sent."""
    named = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return f"{named} on {system}" if named and system else agent or "Unknown browser"


def sentence(text: str) -> str:
    """Write what a part of the house said as a sentence: a capital to begin with, a stop to end.

    The numbers of an operating system's errors are left out; their words stand beside them.
    """
    said = _NUMBERED.sub("", text).strip()
    stop = "" if said.endswith((".", "!", "?", "…", "”")) else "."
    return f"{said[:1].upper()}{said[1:]}{stop}" if said else ""


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
