"""Rows on their way to the buffer: what is said to be kept is, and none is lost on the way."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services.recording.status import RecorderStatus
from grandstand.apps.gatherer.services.recording.writer import Writer
from grandstand.core.clock import SystemClock
from grandstand.storage.series.buffer import Buffer
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
ROW = store.Audit(1, "A", "east", "rest", "equal")


class Hesitant(Buffer):
    """A buffer that accepts rows only once `let` is set."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.asked = asyncio.Event()
        self.let = asyncio.Event()

    async def take_async(self, series: Any, rows: Sequence[Any]) -> int:
        self.asked.set()
        await self.let.wait()
        return await super().take_async(series, rows)


@pytest.fixture
def engine(tmp_path: Path) -> ChunkEngine:
    return ChunkEngine.open(tmp_path, clock=CLOCK)


@pytest.fixture
async def buffer(engine: ChunkEngine, tmp_path: Path) -> AsyncIterator[Hesitant]:
    opened = Hesitant.open(
        tmp_path / "waiting", store.SERIES, lambda: engine, clock=CLOCK, chance=Random(1)
    )
    yield opened
    opened.close()


async def test_a_mark_counts_also_the_rows_another_flush_has_in_its_hands(
    buffer: Hesitant,
) -> None:
    writer = Writer(buffer, clock=CLOCK, counters=RecorderStatus("recording", "east"))
    writer.add(store.AUDITS, ROW)
    first = asyncio.create_task(writer.flush())
    await buffer.asked.wait()

    second = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    early = second.done()
    buffer.let.set()

    assert not early
    assert await second == await first > 0


async def test_rows_of_a_flush_that_is_broken_off_are_still_there_for_the_next(
    buffer: Hesitant, engine: ChunkEngine
) -> None:
    writer = Writer(buffer, clock=CLOCK, counters=RecorderStatus("recording", "east"))
    writer.add(store.AUDITS, ROW)
    first = asyncio.create_task(writer.flush())
    await buffer.asked.wait()

    first.cancel()
    await asyncio.wait([first])
    buffer.let.set()
    await writer.flush()
    buffer.flush()

    assert first.cancelled()
    assert [*engine.read(Window(store.AUDITS, 0, 10))] == [ROW]
