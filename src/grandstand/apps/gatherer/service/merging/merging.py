"""Kept here: merging as it is awaited: rounds until it is enough, and listings now and then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from typing import Final

from grandstand.apps.gatherer.service.merging.merger import Merger
from grandstand.apps.gatherer.service.merging.metadata import Listings, Refreshed, refresh
from grandstand.apps.gatherer.service.merging.places import open_place, parse_source
from grandstand.apps.gatherer.service.merging.values import Lag, Pace, Source, Tally
from grandstand.base.clock import Clock
from grandstand.storage.tables import AsyncStore

_EVERY_SECONDS: Final = 1.0
_MICRO: Final = 1_000_000


class Merging:
    """Puts what several gatherers recorded into one production store."""

    def __init__(
        self,
        tables: AsyncStore,
        listings: Listings,
        clock: Clock,
        *,
        pace: Pace | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._tables = tables
        self._listings = listings
        self._clock = clock
        self._pace = pace
        self._sleep = sleep

    @asynccontextmanager
    async def opened(self, sources: Sequence[str], into: str) -> AsyncIterator[Merger]:
        """Open gatherers, each `NAME:PLACE`, and the place they are merged into.

        Raises PlaceNotUnderstood, and Unavailable when a server does not answer.
        """
        with ExitStack() as opened:
            found: list[Source] = []
            for text in sources:
                found.append(source := parse_source(text, self._clock))
                opened.enter_context(closing(source.engine))
            merged = opened.enter_context(closing(open_place(into, self._clock)))
            tables = self._tables.store
            merger = Merger(found, merged, tables, clock=self._clock, pace=self._pace)
            await asyncio.to_thread(merger.prepare)
            yield merger

    async def once(self, merger: Merger, tell: Callable[[Tally], None] = lambda _: None) -> Tally:
        """Merge all there is, late rows too, and answer what the last round did."""
        while True:
            tally = await asyncio.to_thread(merger.round, recount=True)
            tell(tally)
            if not tally.more:
                return tally

    async def run(
        self, merger: Merger, tell: Callable[[Tally, tuple[Lag, ...]], None], until: asyncio.Event
    ) -> None:
        """Merge round after round until told to stop."""
        while not until.is_set():
            tally = await asyncio.to_thread(merger.round)
            tell(tally, await asyncio.to_thread(merger.lags))
            if not tally.more:
                await self._sleep(_EVERY_SECONDS)

    async def refresh(self) -> Refreshed:
        """Fetch the listings of series, events and markets into the tables."""
        return await refresh(self._listings, self._tables, int(self._clock.epoch() * _MICRO))
