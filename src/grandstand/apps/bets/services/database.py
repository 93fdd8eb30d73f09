"""Table access, JSON types and conversions that the services of bets share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from functools import cache
from random import Random
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import PlainSerializer

from grandstand.apps.bets.domain.records import PricedOutcome
from grandstand.apps.bets.settings import BetsSettings
from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound
from grandstand.core.ids import new_id
from grandstand.kit.transactions import Sleep, iterate_yielding, try_transaction
from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.operations.item_ops import Write
from grandstand.storage.tables.operations.queries import ReadQuery

E = TypeVar("E", bound=Entity)
T = TypeVar("T")

_PLACES: Final = Decimal("0.0001")
_OutcomeJson: TypeAlias = dict[str, str | int | float | None]


def format_dollars(cents: int) -> str:
    """Format cents as the decimal text of the API: 1550 is `15.50`."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"


def _to_percent(ratio: float | None) -> float | None:
    return None if ratio is None else round(100 * ratio, 2)


def _outcome_json(outcome: PricedOutcome) -> _OutcomeJson:
    point = None if outcome.point is None else float(outcome.point)
    return {"name": outcome.name, "price": outcome.price, "point": point}


# How these types look in JSON: dollars as text, exact numbers as numbers, ratios in percent.
MoneyCents = Annotated[int, PlainSerializer(format_dollars, return_type=str)]
ExactNumber = Annotated[Decimal, PlainSerializer(float, return_type=float)]
PercentRatio = Annotated[float | None, PlainSerializer(_to_percent, return_type=float | None)]
Outcome = Annotated[PricedOutcome, PlainSerializer(_outcome_json, return_type=_OutcomeJson)]


def copy_as(kind: Callable[..., T], source: object, **changes: object) -> T:
    """Return a record of another kind with the fields it shares with `source`; `changes` win."""
    shared = {
        name: getattr(source, name)
        for name in _field_names(kind)
        if name not in changes and hasattr(source, name)
    }
    return kind(**shared, **changes)


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The tables, and the clock and random source that ids and retries need."""

    store: AsyncStore
    clock: Clock
    random: Random
    sleep: Sleep = asyncio.sleep

    def now(self) -> datetime:
        """Return the current time as the tables store it: whole seconds."""
        return self.clock.now().replace(microsecond=0)

    def new_id(self) -> str:
        """Return a new id; ids sort by time."""
        return new_id(self.clock, self.random)

    def each(self, query: ReadQuery[E]) -> AsyncIterator[E]:
        """Iterate over a query, yielding to other tasks in between."""
        return iterate_yielding(self.store, query, self.sleep)

    async def try_transaction(self, *writes: Write) -> bool:
        """Write everything or nothing, and return whether all conditions held.

        Raises TransactionCancelled if conflicts with other transactions persist.
        """
        return await try_transaction(self.store, *writes, random=self.random, sleep=self.sleep)


def check_sport(settings: BetsSettings, sport: str) -> str:
    """Return the sport if it is enabled.

    Raises NotFound otherwise.
    """
    if sport not in settings.sports:
        enabled = ", ".join(settings.sports)
        raise NotFound(f"Unknown sport {sport!r}. Enabled sports: {enabled}.")
    return sport


def round4(value: float) -> Decimal:
    """Round a probability or ratio to the four decimal places the tables store."""
    return Decimal(repr(value)).quantize(_PLACES)


def round4_or_none(value: float | None) -> Decimal | None:
    return None if value is None else round4(value)
