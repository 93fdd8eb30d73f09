"""Kept here: what was missed and can be fetched: trades and markets, once the stream goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from grandstand.apps.gatherer.model.incidents import Gap
from grandstand.apps.gatherer.service.recording.connection import Connection
from grandstand.apps.gatherer.service.recording.patience import patiently
from grandstand.apps.gatherer.service.recording.rounds import Rounds
from grandstand.apps.gatherer.sources.kalshi.commands import LIFECYCLE, TRADES
from grandstand.base.errors import GrandstandError

_STEP_SECONDS: Final = 0.05


class Filling:
    """Fills the gaps of channels without books, one after the other."""

    def __init__(
        self,
        rounds: Rounds,
        sync: Callable[[], Awaitable[None]],
        stamp: Callable[[], int],
        trouble: Callable[[GrandstandError], None],
    ) -> None:
        self.fetched_at = 0
        self._rounds = rounds
        self._sync = sync
        self._stamp = stamp
        self._trouble = trouble
        self._holes: asyncio.Queue[tuple[Connection, Gap]] = asyncio.Queue()
        self._left = 0

    def put(self, connection: Connection, gap: Gap) -> None:
        """Take a gap that is to be filled."""
        self._left += 1
        self._holes.put_nowait((connection, gap))

    async def run(self) -> None:
        """Fetch what was missed, once the stream has it again, without end."""
        while True:
            connection, gap = await self._holes.get()
            while gap.channel not in connection.subscriptions.told:  # noqa: ASYNC110 - told by nothing
                await asyncio.sleep(_STEP_SECONDS)
            if gap.channel == TRADES:
                await patiently(self._trades_of(gap), self._trouble)
            elif gap.channel == LIFECYCLE:
                await patiently(self._sync, self._trouble)
            connection.close_gap(gap, self._stamp())
            self._left -= 1

    async def trades(self) -> None:
        """Fetch the trades since the last time: one that was missed last shows in nothing else.

        Raises what the exchange raises.
        """
        at = self._stamp()
        await self._rounds.trades(self.fetched_at, at)
        self.fetched_at = at

    async def last(self) -> None:
        """Return when all gaps are filled, and the newest trades fetched; raise as `trades`."""
        while self._left:  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(_STEP_SECONDS)
        await self.trades()

    def _trades_of(self, gap: Gap) -> Callable[[], Awaitable[None]]:
        async def fetch() -> None:
            await self._rounds.backfill(gap, self._stamp())

        return fetch
