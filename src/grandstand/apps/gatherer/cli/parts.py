"""Kept here: what the gatherer's commands share: times, prices, tables and the opened service."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeVar

import typer

from grandstand.apps.gatherer.model.numbers import format_price, format_size
from grandstand.apps.gatherer.service import Gatherer
from grandstand.apps.gatherer.service.recordings import Recordings
from grandstand.base.errors import InvalidInput
from grandstand.kit.terminal import Column, Line, console, print_grid

T = TypeVar("T")
Opened = Callable[[], AbstractAsyncContextManager[Gatherer]]

NOTHING: Final = "–"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LAST_US: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_AGO: Final = re.compile(r"-([0-9]{1,9})(s|m|h|d)", re.ASCII)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Ticker = Annotated[str, typer.Argument(help="A market's ticker.", show_default=False)]
Merged = Annotated[
    str | None,
    typer.Option(
        "--merged", help="Ask what was merged: a folder, or a PostgreSQL connection string."
    ),
]
WHEN: Final = "A moment: 2026-11-16T12:00:00Z, microseconds since 1970, or -5m."


def with_gatherer(opened: Opened, act: Callable[[Gatherer], Awaitable[T]]) -> T:
    """Open the service, let it do something, and answer what that answers."""

    async def done() -> T:
        async with opened() as gatherer:
            return await act(gatherer)

    return asyncio.run(done())


@contextmanager
def recordings_of(gatherer: Gatherer, merged: str | None) -> Iterator[Recordings]:
    """Open what was merged into a place, or answer this gatherer's own recordings."""
    if merged is None:
        yield gatherer.recordings
        return
    with gatherer.merged(merged) as found:
        yield found


def parse_moment(text: str, now_us: int) -> int:
    """Answer a moment in microseconds since 1970; raise InvalidInput.

    It is written as ISO 8601 (UTC where no offset is given), as microseconds, or as so long ago.
    """
    ago = _AGO.fullmatch(text)
    if ago is not None:
        length = timedelta(**{_UNITS[ago.group(2)]: int(ago.group(1))})
        return max(0, now_us - length // _MICROSECOND)
    if _NUMBER.fullmatch(text):
        return min(int(text), _LAST_US)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        message = f"{text!r} is no moment: write 2026-11-16T12:00:00Z, microseconds, or -5m"
        raise InvalidInput(message) from fault
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0, (aware - _EPOCH) // _MICROSECOND)


def moment(at_us: int | None) -> str | None:
    """Write microseconds since 1970 as ISO 8601 in UTC, to the microsecond."""
    if at_us is None:
        return None
    return (_EPOCH + timedelta(microseconds=at_us)).isoformat(timespec="microseconds")


def price(value: int | None) -> str | None:
    """Write a price in dollars; None for none."""
    return None if value is None else format_price(value)


def size(value: int) -> str:
    """Write a size in contracts, thousands apart."""
    whole, _, part = format_size(value).partition(".")
    return f"{int(whole):,}" if part == "00" else f"{int(whole):,}.{part}"


def gigabytes(count: int) -> str:
    """Write bytes as gigabytes, of which a thousandth is still told."""
    return f"{count / 1e9:.3f} GB"


def print_rows(columns: Sequence[Column], rows: Iterable[Sequence[str | None]]) -> None:
    """Print a table; what is not known is a dash."""
    lines = (Line([NOTHING if cell is None else cell for cell in row]) for row in rows)
    print_grid(console(), columns, lines)
