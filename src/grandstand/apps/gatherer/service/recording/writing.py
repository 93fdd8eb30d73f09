"""Kept here: rows from the feeds to the buffer, in batches, and how far everything is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model import rows as told
from grandstand.apps.gatherer.service.recording.figures import Figures, Lag
from grandstand.apps.gatherer.service.recording.tape import Tape, TapeUnwritable
from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.storage.series.buffer import AsyncBuffer, BufferFull
from grandstand.storage.series.declaration import Series, SeriesFault

BATCH_ROWS: Final = 1000
_FULL_REST_SECONDS: Final = 0.25
# Gaps and snapshots go first: whoever finds a delta finds what it stands on.
_ORDER: Final[tuple[Series[Any], ...]] = (
    store.SESSIONS,
    store.GAPS,
    store.SNAPSHOTS,
    store.DELTAS,
    store.TRADES,
    store.TICKERS,
    store.MARKET_EVENTS,
    store.KEYFRAMES,
    store.AUDITS,
)


class Writer:
    """Where rows are put: into lists, which go to the buffer when they are long or a moment old.

    `put` has, for each kind of row a feed makes, what appends it. When neither memory nor disk
    takes rows, `flush` waits, and with it whoever reads a socket: the exchange then ends the
    subscription, which is a gap that is known.
    """

    def __init__(
        self,
        buffer: AsyncBuffer,
        *,
        clock: Clock,
        figures: Figures,
        tape: Tape | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.tape = tape
        self.lag = Lag()
        self.full: str | None = None
        self._buffer = buffer
        self._clock = clock
        self._figures = figures
        self._sleep = sleep
        self._lists: dict[str, list[Any]] = {series.name: [] for series in _ORDER}
        self._flushed_at = clock.monotonic()
        self._flushing = asyncio.Lock()
        self._mark = 0
        self._log = log("gatherer")
        self.deltas = self._lists[store.DELTAS.name]
        self.put: dict[type, Callable[[Any], None]] = {
            told.OrderbookDelta: self.deltas.append,
            told.OrderbookSnapshot: self._lists[store.SNAPSHOTS.name].append,
            told.Trade: self._lists[store.TRADES.name].append,
            told.Ticker: self._lists[store.TICKERS.name].append,
        }

    def add(self, series: Series[Any], row: tuple[Any, ...]) -> None:
        """Put a row of any series."""
        self._lists[series.name].append(row)

    @property
    def waiting(self) -> int:
        """How many rows are in lists."""
        return sum(map(len, self._lists.values()))

    async def flush(self) -> int:
        """Give all rows to the buffer, and whole blocks to the tape; answer the buffer's mark.

        One at a time, so that the mark is that of every row put before, also of those another
        flush has in its hands.
        """
        async with self._flushing:
            return await self._flush()

    async def _flush(self) -> int:
        began, self._flushed_at = self._flushed_at, self._clock.monotonic()
        taken = False
        for series in _ORDER:
            rows = self._lists[series.name]
            if rows:
                batch = rows[:]
                rows.clear()
                try:
                    self._mark = max(self._mark, await self._take(series, batch))
                except asyncio.CancelledError:
                    # Some may be taken already: a row that is taken twice is kept once.
                    rows[:0] = batch
                    raise
                self._figures.rows[series.name] += len(batch)
                self._figures.batches += 1
                taken = True
        if taken:
            self.lag.taken(self._mark, began)
        if self.tape is not None and self.tape.due:
            await self.write_tape()
        return self._mark

    async def write_tape(self) -> None:
        """Write what waits for the tape; a tape that cannot be written does not stop the rest."""
        tape = self.tape
        if tape is None:
            return
        lines = tape.taken()
        try:
            await asyncio.to_thread(tape.write, lines)
        except TapeUnwritable as fault:
            self._log.error("frames are not on the tape", frames=len(lines), error=str(fault))

    async def _take(self, series: Series[Any], rows: list[Any]) -> int:
        while True:
            try:
                mark = await self._buffer.take(series, rows)
            except BufferFull as fault:
                if self.full is None:
                    self._log.error("rows can go nowhere: recording waits", error=str(fault))
                self.full = str(fault)
                await self._sleep(_FULL_REST_SECONDS)
                if len(rows) > 1:
                    return await self._take_halves(series, rows)
            except SeriesFault as fault:
                if len(rows) > 1:
                    return await self._take_halves(series, rows)
                self._figures.unfit += 1
                self._log.error("a row does not fit its series", error=str(fault))
                return self._mark
            else:
                self.full = None
                return mark

    async def _take_halves(self, series: Series[Any], rows: list[Any]) -> int:
        half = len(rows) // 2
        await self._take(series, rows[:half])
        return await self._take(series, rows[half:])
