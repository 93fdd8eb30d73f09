"""A recorder's way from frames to durable rows, told frames by a list instead of a socket."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from threading import Thread
from typing import cast

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.subscriptions import MonotonicClock
from grandstand.apps.gatherer.services.recording.connections import Connection
from grandstand.apps.gatherer.services.recording.recorder import (
    buffer_limits,
    subscription_limits,
)
from grandstand.apps.gatherer.services.recording.status import RecorderStatus
from grandstand.apps.gatherer.services.recording.writer import Writer
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.stream import (
    KalshiStream,
    StreamEvent,
    StreamOpened,
    SubscriptionManager,
)
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder
from grandstand.core.clock import Clock, SystemClock
from grandstand.host.server.serving import loop_factory
from grandstand.net.websocket import Message
from grandstand.storage.series.buffer import Buffer
from grandstand.storage.series.engines.protocol import SeriesEngine

_RECEIVED_AT = datetime(2026, 11, 18, tzinfo=UTC)


class Hearing:
    """Frames one after the other, as a socket yields them."""

    def __init__(self) -> None:
        self.frames: Sequence[bytes] = ()
        self._open = False

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        if not self._open:
            self._open = True
            yield StreamOpened(1)
        for raw in self.frames:
            yield Message(raw, _RECEIVED_AT)


class Recording:
    """One connection of a recorder, its writer and its buffer, as settings have them by default."""

    def __init__(
        self, settings: GathererSettings, buffer: Buffer, clock: Clock, loop: asyncio.Runner
    ) -> None:
        self.figures = RecorderStatus("recording", "east")
        self._hearing = Hearing()
        self._loop = loop
        self._buffer = buffer
        self._writer = Writer(self._buffer, clock=clock, counters=self.figures)
        stamps = MonotonicClock()
        self.connection = Connection(
            0,
            cast("KalshiStream", self._hearing),
            SubscriptionManager(subscription_limits(settings)),
            gatherer=settings.name,
            writer=self._writer,
            counters=self.figures,
            on_lifecycle=lambda _message, _at, _conn: None,
            on_backfill=lambda _gap: None,
            on_gap=lambda _gap, _resolved_at: None,
            parse=FrameDecoder().parse,
            stamp=lambda: stamps.next(int(clock.epoch() * 1_000_000)),
            clock=clock,
            keyframe_deltas=settings.keyframe_deltas,
        )

    def record(self, frames: Sequence[bytes]) -> None:
        """Take frames; when this returns, all that follows from them is durable."""
        self._hearing.frames = frames
        self._loop.run(self._record())

    async def _record(self) -> None:
        await self.connection.run()
        await self._writer.flush()
        assert await asyncio.to_thread(self._buffer.flush)


@contextmanager
def recording(
    folder: Path, engine: SeriesEngine, clock: Clock | None = None
) -> Iterator[Recording]:
    """Record into an engine, which is closed at the end, for as long as the block runs."""
    at = clock or SystemClock()
    settings = GathererSettings(name="bench")
    buffer = Buffer.open(
        folder / "waiting",
        store.SERIES,
        lambda: engine,
        clock=at,
        chance=Random(1),
        limits=buffer_limits(settings),
    )
    sending = Thread(target=buffer.run)
    with asyncio.Runner(loop_factory=loop_factory()) as loop:
        sending.start()
        try:
            yield Recording(settings, buffer, at, loop)
        finally:
            buffer.close()
            sending.join()
