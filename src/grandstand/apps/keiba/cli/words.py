"""Kept here: values as the short words of a terminal: ages, sizes, shares, days and places."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from grandstand.apps.keiba.model import Going, PastRun, Surface, Weather
from grandstand.apps.keiba.model.background import Record
from grandstand.apps.keiba.service import JST, Origin, Progress

NONE: Final = "–"
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS: Final = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"))
_SIZES: Final = ("B", "KB", "MB", "GB", "TB")
_THOUSAND: Final = 1000
_STATES: Final = {"fetched": "fetched just now", "fresh": "kept", "stale": "past its time"}


def shown(value: object) -> str:
    """Answer a value in words, a dash for None."""
    return NONE if value is None else str(value)


def span(seconds: float) -> str:
    """Answer a length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(count: int) -> str:
    """Answer a number of bytes in its largest unit."""
    number = float(count)
    for unit in _SIZES[:-1]:
        if number < _THOUSAND:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= _THOUSAND
    return f"{number:.1f} {_SIZES[-1]}"


def percent(share: float | None) -> str:
    """Answer a share of one in per cent, with a digit where it is small."""
    return NONE if share is None else f"{100 * share:.1f}"


def signed(share: float | None) -> str:
    """Answer a difference of shares in points of a hundred."""
    return NONE if share is None else f"{100 * share:+.1f}"


def long_day(day: date) -> str:
    """Answer a date in words."""
    return f"{day:%A} {day.day} {day:%B %Y}"


def clock(moment: datetime | None) -> str:
    """Answer the time of day in Japan."""
    return NONE if moment is None else f"{moment.astimezone(JST):%H:%M}"


def stamp(moment: datetime | None) -> str:
    """Answer a moment in Japan, to the minute."""
    return NONE if moment is None else f"{moment.astimezone(JST):%Y-%m-%d %H:%M} JST"


def course(surface: Surface | None, distance: int | None) -> str:
    """Answer surface and metres."""
    metres = f"{distance} m" if distance else None
    return " ".join(filter(None, (surface, metres))) or NONE


def sky(weather: Weather | None, going: Going | None) -> str:
    """Answer weather and ground."""
    return ", ".join(filter(None, ((weather or "").replace("_", " "), going)))


def place(run: PastRun) -> str:
    """Answer how a run ended, as short as can be: × for one that did not finish."""
    if run.position is None:
        return "×"
    return f"{run.position}"


def strip(runs: Sequence[PastRun], most: int = 5) -> str:
    """Answer the last runs as places, newest first."""
    return " ".join(place(run) for run in runs[:most]) or NONE


def record(found: Record) -> str:
    """Answer starts and first, second and third places."""
    seconds, thirds = found.top2 - found.wins, found.top3 - found.top2
    return f"{found.starts} starts: {found.wins}-{seconds}-{thirds}-{found.starts - found.top3}"


def money(units: Decimal | None) -> str:
    """Answer money that is counted in units of ten thousand yen."""
    return NONE if units is None else f"¥{int(units * 10_000):,}"


def origin(found: Origin) -> str:
    """Answer where something came from and how old it is."""
    told = _STATES[found.state]
    if found.state != "fetched":
        told = f"{told}, {span(found.age_seconds)} old"
    failed = f" ({found.error})" if found.error else ""
    return f"{found.page}: {told}{failed}"


def counts(progress: Progress) -> str:
    """Answer what a gathering came to."""
    told = f"{progress.total} look-ups: {progress.cached} kept, {progress.fetched} fetched"
    return f"{told}, {progress.failed} failed" if progress.failed else told
