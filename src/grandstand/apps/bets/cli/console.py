"""Options, input parsing and output formats that the commands share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from grandstand.apps.bets.domain.records import AnalysisType, Interval, PricedOutcome, RejectedRow
from grandstand.apps.bets.services import Bets
from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller

T = TypeVar("T")
OpenBets = Callable[[], AbstractAsyncContextManager[Bets]]

_MAX_BYTES: Final = 50_000_000
_CENTS: Final = 100
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation.")]
Sport = Annotated[
    str | None,
    typer.Option(
        "--sport",
        "-s",
        help="A sport such as basketball_nba or nba. Default: the first enabled one.",
    ),
]
EverySport = Annotated[
    str | None,
    typer.Option(
        "--sport", "-s", help="A sport such as basketball_nba or nba. Default: all enabled ones."
    ),
]
Bookmaker = Annotated[str | None, typer.Option("--book", "-b", help="Only this bookmaker.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="The maximum number.")]
Days = Annotated[int, typer.Option("--days", min=1, max=3650, help="The number of days.")]
Kind = Annotated[AnalysisType, typer.Option("--type", help="Game or prop predictions.")]
User = Annotated[str, typer.Option("--user", help="The user id.")]
OWNER: Final = LOCAL_OWNER.user_id


@dataclass(frozen=True, slots=True)
class BetsRunner:
    """Runs an action of a command with the opened services."""

    open_bets: OpenBets

    def __call__(self, act: Callable[[Bets], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self.open_bets() as bets:
                return await act(bets)

        return asyncio.run(run())


def caller_for(user_id: str) -> Caller:
    """Return the caller for a user id."""
    return Caller(user_id, user_id, frozenset({"user"}), "owner")


def resolve_sport(bets: Bets, name: str | None) -> str:
    """Return the sport for a key or its last part; the first enabled one for None."""
    sports = bets.settings.sports
    if name is None:
        return sports[0]
    ends = [sport for sport in sports if sport.endswith(f"_{name.casefold()}")]
    return ends[0] if name not in sports and len(ends) == 1 else name


def resolve_sports(bets: Bets, name: str | None) -> tuple[str, ...]:
    """Return the sport of a name; all enabled ones for None."""
    return bets.settings.sports if name is None else (resolve_sport(bets, name),)


def read_bytes(file: Path) -> bytes:
    """Return the content of a file.

    Raises InvalidInput if it cannot be read or is too large.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise InvalidInput(f"{file} is larger than {_MAX_BYTES:,} bytes.")
        return file.read_bytes()
    except OSError as fault:
        raise InvalidInput(f"{file} cannot be read: {fault.strerror}.") from fault


def parse_date(text: str) -> date:
    """Parse a date such as 2025-10-21."""
    try:
        return date.fromisoformat(text)
    except ValueError as fault:
        raise InvalidInput(f"{text!r} is not a date. Use a format such as 2025-10-21.") from fault


def parse_time(text: str, now: datetime) -> datetime:
    """Parse a time, or a duration from now such as 12h, 3d or 2w."""
    unit = _UNITS.get(text[-1:])
    if unit is not None and text[:-1].isdecimal() and len(text) <= 5:
        return now + int(text[:-1]) * unit
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        formats = "Use 2026-02-11T14:00:00Z, 12h, 3d or 2w."
        raise InvalidInput(f"{text!r} is not a time. {formats}") from fault
    if moment.tzinfo is None:
        raise InvalidInput(f"{text!r} has no time zone. Append Z for UTC.")
    return moment.astimezone(UTC)


def parse_cents(text: str) -> int:
    """Parse an amount of dollars as cents."""
    cents = parse_decimal(text.lstrip("$")) * _CENTS
    if cents < 0 or cents != int(cents):
        raise InvalidInput(f"{text!r} is not an amount. Use a format such as 15.50.")
    return int(cents)


def parse_decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as fault:
        raise InvalidInput(f"{text!r} is not a number.") from fault
    if not value.is_finite():
        raise InvalidInput(f"{text!r} is not a number.")
    return value


def parse_weights(texts: list[str]) -> dict[str, Decimal]:
    """Parse weights such as recent_form=0.5."""
    weights: dict[str, Decimal] = {}
    for text in texts:
        name, equals, weight = text.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{text!r} is not a weight. Use a format such as recent_form=0.5.")
        weights[name] = parse_decimal(weight)
    return weights


ProgressCallback = Callable[[int, int], None]

_BAR_WIDTH: Final = 24
_MAX_PRINTED: Final = 10


def warn(rejected: Sequence[RejectedRow]) -> None:
    """Print rejected items to stderr, the first ten in full."""
    for item in rejected[:_MAX_PRINTED]:
        typer.echo(f"! {item.row}: {item.reason}", err=True)
    if len(rejected) > _MAX_PRINTED:
        typer.echo(f"! and {len(rejected) - _MAX_PRINTED} more", err=True)


@contextmanager
def progress_bar(description: str) -> Iterator[ProgressCallback]:
    """Show a progress bar on stderr, if it is a terminal."""
    terminal = Console(stderr=True, highlight=False)
    if not terminal.is_terminal:
        yield lambda _done, _total: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=_BAR_WIDTH if terminal.width > 2 * _BAR_WIDTH else 8),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        console=terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task(escape(description), total=1)
        yield lambda done, total: bar.update(task, completed=done, total=max(total, 1))


NONE: Final = "–"
_ADVICE: Final = {"ORIGINAL": "follow", "INVERSE": "bet against", "AVOID": "avoid"}


def format_price(american: int | None) -> str:
    """Format an American price with its sign."""
    return NONE if american is None else f"{american:+d}"


def format_point(line: Decimal | None, *, signed: bool = True) -> str:
    """Format a line without trailing zeros."""
    if line is None:
        return ""
    line = line.normalize()
    return f"{line:+f}" if signed and line else f"{line:f}"


def format_side(outcome: PricedOutcome) -> str:
    """Format an outcome with its line."""
    over_under = outcome.name.casefold() in {"over", "under"}
    return f"{outcome.name} {format_point(outcome.point, signed=not over_under)}".strip()


def format_money(cents: int | None, *, signed: bool = False) -> str:
    if cents is None:
        return NONE
    sign = "-" if cents < 0 else "+" if signed and cents else ""
    return f"{sign}${abs(cents) // _CENTS:,}.{abs(cents) % _CENTS:02}"


def format_percent(share: float | None, digits: int = 1) -> str:
    """Format a ratio as a percentage."""
    return NONE if share is None else f"{100 * share:.{digits}f} %"


def format_signed_percent(share: float | None, digits: int = 1) -> str:
    """Format a profit or loss ratio as a percentage."""
    return NONE if share is None else f"{round(100 * share, digits) + 0.0:+.{digits}f} %"


def format_interval(interval: Interval | None, *, sign: bool = False) -> str:
    """Format a ratio with its confidence interval."""
    if interval is None:
        return NONE
    form = "+" if sign else ""
    ends = f"{100 * interval.low:{form}.0f} to {100 * interval.high:{form}.0f}"
    return f"{100 * interval.value:{form}.1f} % ({ends})"


def format_number(value: float | None, digits: int = 4) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


def format_count(number: int, one: str, many: str = "") -> str:
    """Format a number with its noun."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def format_timestamp(moment: datetime | None) -> str:
    """Format a time to the minute, in UTC."""
    return NONE if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def format_day_time(moment: datetime) -> str:
    """Format a time within the next days."""
    return f"{moment:%a %d %b %H:%M}"


def format_age(seconds: int) -> str:
    """Format a duration in its largest unit."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def format_advice(recommendation: str, evidence: str | None) -> str:
    """Format a recommendation."""
    return "not enough bets" if evidence else _ADVICE.get(recommendation, recommendation)


def format_teams(home_team: str, away_team: str) -> str:
    return f"{home_team} v {away_team}"


def format_key(key: str) -> str:
    return key.replace("_", " ")
