"""Work that is to end does, even where it misses that it was told so."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.gatherer.service.recording import ending
from grandstand.apps.gatherer.service.recording.connection import Connection, Ears
from grandstand.apps.gatherer.service.recording.figures import Figures
from grandstand.apps.gatherer.service.recording.writing import Writer
from grandstand.apps.gatherer.sources.kalshi.frames import FrameDecoder
from grandstand.apps.gatherer.sources.kalshi.stream import Stream
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Subscriptions, Terms
from grandstand.apps.gatherer.store import SERIES
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.storage.series.buffer import AsyncBuffer, Buffer
from tests.apps.gatherer.stage import open_chunks, recording

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()


async def _deaf(times: int) -> None:
    """Miss being cancelled so many times."""
    for _ in range(times):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


async def test_a_task_that_misses_it_is_cancelled_again() -> None:
    tasks = [asyncio.create_task(_deaf(times)) for times in (0, 1, 2)]
    await asyncio.sleep(0)

    left = await ending.over(tasks)

    assert left == 0
    assert all(task.done() for task in tasks)


async def test_what_takes_too_long_is_given_up() -> None:
    done = await ending.within(5.0, asyncio.sleep(0))
    late = await ending.within(0.01, asyncio.sleep(60))

    assert (done, late) == (True, False)


@pytest.mark.parametrize("turns", range(6))
async def test_a_connection_that_has_something_to_do_ends_when_it_is_cancelled(
    turns: int, tmp_path: Path
) -> None:
    engine = open_chunks(tmp_path / "series")
    connection = _connection(
        Buffer.open(tmp_path / "own", SERIES, lambda: engine, clock=CLOCK, chance=Random(1))
    )
    tending = asyncio.create_task(connection.tend())
    await asyncio.sleep(0)

    connection.follow(())
    for _ in range(turns):
        await asyncio.sleep(0)
    tending.cancel()
    await asyncio.wait([tending], timeout=5.0)

    assert tending.cancelled()
    engine.close()


async def test_a_recorder_whose_exchange_is_away_stops_when_it_is_told_to(tmp_path: Path) -> None:
    engine = open_chunks(tmp_path / "series")

    async with asyncio.timeout(30):
        async with recording("127.0.0.1:1", tmp_path / "own", engine) as recorder:
            await asyncio.sleep(0.1)

    assert recorder.pool.followed == frozenset()
    engine.close()


def _connection(buffer: Buffer) -> Connection:
    stream = Stream(
        "exchange",
        "ws://127.0.0.1:1/",
        signer=None,
        parse=FrameDecoder().parse,
        stamp=lambda: 1,
        clock=CLOCK,
        random=Random(1),
        metrics=Metrics(),
    )
    figures = Figures()
    return Connection(
        0,
        stream,
        Subscriptions(Terms(batch=1, per_subscription=1), ()),
        gatherer="east",
        writer=Writer(AsyncBuffer(buffer), clock=CLOCK, figures=figures),
        figures=figures,
        ears=Ears(lambda *_: None, lambda _: None, lambda *_: None),
        clock=CLOCK,
    )
