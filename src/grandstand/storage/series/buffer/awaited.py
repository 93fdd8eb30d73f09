"""Kept here: a buffer as an event loop uses it: nothing that waits for a disk runs in the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from grandstand.storage.series.buffer.buffer import Buffer
from grandstand.storage.series.buffer.terms import BufferStatus
from grandstand.storage.series.declaration import Series

R = TypeVar("R", bound=tuple[Any, ...])


class AsyncBuffer:
    """The same buffer, awaited: rows are taken in line while there is room in memory."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    async def take(self, series: Series[R], rows: Sequence[R]) -> int:
        """Take rows as `Buffer.take` does; only spilling runs in a thread."""
        taken = self.buffer.take_at_once(series, rows)
        if taken is not None:
            return taken
        return await asyncio.to_thread(self.buffer.take, series, rows)

    async def run(self) -> None:
        """Send what is due until the buffer is stopped or closed, or this is cancelled."""
        try:
            await asyncio.to_thread(self.buffer.run)
        finally:
            self.buffer.stop()

    async def flush(self) -> bool:
        """Send everything now; tell whether the engine has all of it."""
        return await asyncio.to_thread(self.buffer.flush)

    async def settle(self) -> int:
        """Make all that was taken durable; raise BufferFull when that is not possible."""
        return await asyncio.to_thread(self.buffer.settle)

    def status(self) -> BufferStatus:
        """Tell what waits where, and how sending goes."""
        return self.buffer.status()

    async def close(self) -> None:
        """Close as `Buffer.close` does; raise BufferFull when rows can go nowhere."""
        await asyncio.to_thread(self.buffer.close)
