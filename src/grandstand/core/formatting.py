"""Values as people read them: times, ages, numbers, sizes and odds."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import humanize

OddsFormat: TypeAlias = Literal["american", "decimal", "fractional"]
Number: TypeAlias = int | float | Decimal
TimeForm: TypeAlias = Literal["moment", "day", "clock", "second"]

EMPTY: Final = "–"

_MINUS: Final = "\u2212"
_NO_BREAK: Final = "\u00a0"
_STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_ERRNO: Final = re.compile(r"\[Errno -?\d+\] ")
# Browsers also name others for compatibility: the most specific come first.
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
_FORMS: Final[dict[TimeForm, str]] = {
    "moment": "%-d %b %Y %H:%M",
    "day": "%-d %b %Y",
    "clock": "%H:%M",
    "second": "%-d %b %H:%M:%S",
}


def format_time(moment: datetime, zone: str, form: TimeForm = "moment") -> str:
    """Format a time in a time zone; an unknown zone counts as UTC."""
    try:
        zone_info = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        zone_info = ZoneInfo("UTC")
    return moment.astimezone(zone_info).strftime(_FORMS[form])


def format_date(day: date) -> str:
    """Format a date."""
    return f"{day:%-d %b %Y}"


def format_age(moment: datetime, now: datetime) -> str:
    """Format how long ago a time was, or how far ahead it is, in the largest unit."""
    seconds = (now - moment) / timedelta(seconds=1)
    if abs(seconds) < 1:
        return "now"
    rounded = round(abs(seconds))
    size, unit = next(step for step in _STEPS if rounded >= step[0])
    text = f"{rounded // size}{_NO_BREAK}{unit}"
    return f"{text} ago" if seconds > 0 else f"in {text}"


def format_duration(seconds: float) -> str:
    """Format a duration in at most two units."""
    if seconds < 1:
        return f"{round(seconds * 1000)}{_NO_BREAK}ms"
    left, parts = round(seconds), list[str]()
    for size, unit in _STEPS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{_NO_BREAK}{unit}")
        if len(parts) == 2 or (parts and seconds >= 2 * 86_400):
            break
    return " ".join(parts)


def format_number(value: Number | None, digits: int | None = None, *, signed: bool = False) -> str:
    """Format a number with thousands separators and a real minus sign."""
    if value is None:
        return EMPTY
    places = "" if digits is None else f".{digits}f"
    text = f"{value:{'+' if signed else ''},{places}}"
    return text.replace("-", _MINUS)


def format_percent(share: Number | None, digits: int = 1) -> str:
    """Format a fraction of one as a percentage."""
    return EMPTY if share is None else f"{format_number(share * 100, digits)}{_NO_BREAK}%"


def format_bytes(count: int | None) -> str:
    """Format a number of bytes."""
    if count is None:
        return EMPTY
    return humanize.naturalsize(count).replace("Byte", "byte").replace(" ", _NO_BREAK)


def format_odds(decimal_odds: Number | None, form: OddsFormat) -> str:
    """Format decimal odds (the return of a stake of 1) in an odds format."""
    if decimal_odds is None or decimal_odds <= 1:
        return EMPTY
    profit = Fraction(Decimal(str(decimal_odds))) - 1
    if form == "decimal":
        return f"{decimal_odds:.2f}"
    if form == "american":
        return f"+{round(profit * 100)}" if profit >= 1 else f"{_MINUS}{round(100 / profit)}"
    return _fraction(profit)


def _fraction(profit: Fraction) -> str:
    """Return the simplest fraction within one percent of the profit."""
    best = profit.limit_denominator(_DENOMINATORS[-1])
    for largest in _DENOMINATORS:
        near = profit.limit_denominator(largest)
        if near and abs(near - profit) <= profit / 100:
            best = near
            break
    return f"{best.numerator}/{best.denominator}"


def localize_times(text: str, zone: str) -> str:
    """Replace the ISO timestamps in a text by times in a time zone."""

    def localize(match: re.Match[str]) -> str:
        return format_time(datetime.fromisoformat(match[0]), zone, "second")

    return _INSTANT.sub(localize, text)


def describe_browser(agent: str) -> str:
    """Return the browser and operating system of a User-Agent, or the header itself."""
    named = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return f"{named} on {system}" if named and system else agent or "Unknown browser"


def as_sentence(text: str) -> str:
    """Return a message as a sentence: capitalized, with a period, without errno numbers."""
    message = _ERRNO.sub("", text).strip()
    period = "" if message.endswith((".", "!", "?", "…", "”")) else "."
    return f"{message[:1].upper()}{message[1:]}{period}" if message else ""


def camel_case(name: str) -> str:
    """Return a snake_case name in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
