"""A recorder's way from frames to durable rows, told frames by a list instead of a socket."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Thread
from typing import cast

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.stamps import Stamps
from grandstand.apps.gatherer.service.means import plan_of
from grandstand.apps.gatherer.service.recording.connection import Connection, Ears
from grandstand.apps.gatherer.service.recording.figures import Figures
from grandstand.apps.gatherer.service.recording.plan import Plan
from grandstand.apps.gatherer.service.recording.writing import Writer
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.frames import FrameDecoder
from grandstand.apps.gatherer.sources.kalshi.stream import Heard, Opened, Stream, StreamEvent
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Subscriptions
from grandstand.base.clock import Clock, SystemClock
from grandstand.host.server.serving import loop_factory
from grandstand.storage.series.buffer import AsyncBuffer, Buffer
from grandstand.storage.series.engines.protocol import SeriesEngine


class Hearing:
    """Frames one after the other, decoded and stamped as those of a socket are."""

    def __init__(self, clock: Clock) -> None:
        self.frames: Sequence[bytes] = ()
        self._parse = FrameDecoder().parse
        self._clock = clock
        self._stamps = Stamps()
        self._open = False

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        parse, stamp, epoch = self._parse, self._stamps.next, self._clock.epoch
        if not self._open:
            self._open = True
            yield Opened(1)
        for raw in self.frames:
            yield tuple.__new__(Heard, (raw, parse(raw), stamp(int(epoch() * 1_000_000))))


class Recording:
    """One connection of a recorder, its writer and its buffer, as settings have them by default."""

    def __init__(self, plan: Plan, buffer: Buffer, clock: Clock, loop: asyncio.Runner) -> None:
        self.figures = Figures()
        self._hearing = Hearing(clock)
        self._loop = loop
        self._buffer = AsyncBuffer(buffer)
        self._writer = Writer(self._buffer, clock=clock, figures=self.figures)
        ears = Ears(
            lifecycle=lambda _told, _at, _conn: None,
            backfill=lambda _gap: None,
            gap=lambda _gap, _resolved_at: None,
        )
        self.connection = Connection(
            0,
            cast("Stream", self._hearing),
            Subscriptions(plan.terms),
            gatherer=plan.gatherer,
            writer=self._writer,
            figures=self.figures,
            ears=ears,
            clock=clock,
            keyframe_deltas=plan.keyframe_deltas,
        )

    def record(self, frames: Sequence[bytes]) -> None:
        """Take frames; when this returns, all that follows from them is durable."""
        self._hearing.frames = frames
        self._loop.run(self._record())

    async def _record(self) -> None:
        await self.connection.run()
        await self._writer.flush()
        assert await self._buffer.flush()


@contextmanager
def recording(
    folder: Path, engine: SeriesEngine, clock: Clock | None = None
) -> Iterator[Recording]:
    """Record into an engine, which is closed at the end, for as long as the block runs."""
    at = clock or SystemClock()
    plan = plan_of(GathererSettings(name="bench"), folder)
    buffer = Buffer.open(
        folder / "waiting",
        store.SERIES,
        lambda: engine,
        clock=at,
        chance=Random(1),
        limits=plan.limits,
    )
    sending = Thread(target=buffer.run)
    with asyncio.Runner(loop_factory=loop_factory()) as loop:
        sending.start()
        try:
            yield Recording(plan, buffer, at, loop)
        finally:
            buffer.close()
            sending.join()
