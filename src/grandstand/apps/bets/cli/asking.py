"""Kept here: what every command of bets begins with: opening the service, options, who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from grandstand.apps.bets.model import AnalysisType
from grandstand.apps.bets.service import Bets
from grandstand.base.errors import InvalidInput
from grandstand.kit.who.caller import LOCAL_OWNER, Caller

T = TypeVar("T")
Opened = Callable[[], AbstractAsyncContextManager[Bets]]

_LARGEST_BYTES: Final = 50_000_000
_CENTS: Final = 100
_MOST: Final = 500
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Sport = Annotated[
    str | None,
    typer.Option("--sport", "-s", help="Such as basketball_nba, or nba; the first one without."),
]
EverySport = Annotated[
    str | None,
    typer.Option("--sport", "-s", help="Such as basketball_nba, or nba; all without."),
]
Bookmaker = Annotated[str | None, typer.Option("--book", "-b", help="Only this bookmaker's.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=_MOST, help="How many at most.")]
Days = Annotated[int, typer.Option("--days", min=1, max=3650, help="Of how many days.")]
Kind = Annotated[AnalysisType, typer.Option("--type", help="About games, or about players.")]
User = Annotated[str, typer.Option("--user", help="Whose: a person's id.")]
OWNER: Final = LOCAL_OWNER.user_id


def with_bets(opened: Opened, act: Callable[[Bets], Awaitable[T]]) -> T:
    """Open the service, have something done, and close it."""

    async def done() -> T:
        async with opened() as bets:
            return await act(bets)

    return asyncio.run(done())


def caller_of(user_id: str) -> Caller:
    """Answer the person a command is given for."""
    return Caller(user_id, user_id, frozenset({"user"}), "owner")


def sport_of(bets: Bets, told: str | None) -> str:
    """Answer the sport that is meant: its key, the end of it, or the first one for none."""
    sports = bets.sports()
    if told is None:
        return sports[0]
    ends = [each for each in sports if each.endswith(f"_{told.casefold()}")]
    return ends[0] if told not in sports and len(ends) == 1 else told


def sports_of(bets: Bets, told: str | None) -> tuple[str, ...]:
    """Do the same where none means all of them."""
    return bets.sports() if told is None else (sport_of(bets, told),)


def read_bytes(file: Path) -> bytes:
    """Answer what a file holds; raise InvalidInput."""
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            raise InvalidInput(f"{file} is larger than {_LARGEST_BYTES:,} bytes")
        return file.read_bytes()
    except OSError as fault:
        raise InvalidInput(f"{file} cannot be read: {fault.strerror}") from fault


def day_of(written: str) -> date:
    """Answer a date written as 2025-10-21; raise InvalidInput."""
    try:
        return date.fromisoformat(written)
    except ValueError as fault:
        raise InvalidInput(f"{written!r} is no date: write it as 2025-10-21") from fault


def moment_of(written: str, now: datetime) -> datetime:
    """Answer a moment, or what lies 12h, 3d or 2w ahead; raise InvalidInput."""
    unit = _UNITS.get(written[-1:])
    if unit is not None and written[:-1].isdecimal() and len(written) <= 5:  # noqa: PLR2004
        return now + int(written[:-1]) * unit
    try:
        moment = datetime.fromisoformat(written)
    except ValueError as fault:
        wanted = "write 2026-02-11T14:00:00Z, 12h, 3d or 2w"
        raise InvalidInput(f"{written!r} is no moment: {wanted}") from fault
    if moment.tzinfo is None:
        raise InvalidInput(f"{written!r} has no zone: end it with Z")
    return moment.astimezone(UTC)


def cents_of(written: str) -> int:
    """Answer dollars and cents as cents; raise InvalidInput."""
    cents = decimal_of(written.lstrip("$")) * _CENTS
    if cents < 0 or cents != int(cents):
        raise InvalidInput(f"{written!r} is no amount of money: write 15.50")
    return int(cents)


def decimal_of(written: str) -> Decimal:
    """Answer a number as it is written; raise InvalidInput."""
    try:
        value = Decimal(written)
    except InvalidOperation as fault:
        raise InvalidInput(f"{written!r} is no number") from fault
    if not value.is_finite():
        raise InvalidInput(f"{written!r} is no number")
    return value


def weights_of(written: list[str]) -> dict[str, Decimal]:
    """Answer weights written as NAME=0.5 each; raise InvalidInput."""
    found: dict[str, Decimal] = {}
    for each in written:
        name, equals, weight = each.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{each!r} is no weight: write recent_form=0.5")
        found[name] = decimal_of(weight)
    return found
