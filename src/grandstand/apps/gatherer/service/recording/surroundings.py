"""Kept here: what a recorder works with, and who tells it which markets there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Protocol

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.messages import EventTold, Lifecycle, Message
from grandstand.apps.gatherer.sources.kalshi.rest import Exchange
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.base.clock import Clock
from grandstand.base.metrics import Metrics
from grandstand.storage.series.engines.protocol import SeriesEngine


class Choosing(Protocol):
    """Who knows the markets, and which of them are to be recorded."""

    def attach(self, put: Callable[[store.MarketEvent], None], stamp: Callable[[], int]) -> None:
        """Learn where what becomes known of markets is kept, and the stamps it gets."""
        ...

    async def sync(self) -> None:
        """Ask the exchange for all markets; raise what it raises."""
        ...

    def told(self, message: Lifecycle | EventTold, at: int, conn: int) -> None:
        """Take what the stream tells of a market or an event."""
        ...

    def turn(self, at: int) -> None:
        """Let time pass: markets open and close without a word."""
        ...

    async def choose(self) -> frozenset[str]:
        """Answer the markets whose books are to be recorded now."""
        ...

    def wants(self, ticker: str) -> bool:
        """Tell whether trades and summaries of a market are to be recorded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a recorder works with."""

    exchange: Exchange
    choosing: Choosing
    engine: SeriesEngine
    signer: Signer | None
    parse: Callable[[str | bytes], Message]
    clock: Clock
    random: Random
    metrics: Metrics
    alarm: Callable[[str, str], Awaitable[None]]
