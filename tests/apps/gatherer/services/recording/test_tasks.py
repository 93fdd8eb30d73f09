"""Work that is to end does, even where it misses that it was told so."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.gatherer.services.recording import recorder
from grandstand.apps.gatherer.services.recording.connections import (
    Connection,
)
from grandstand.apps.gatherer.services.recording.status import RecorderStatus
from grandstand.apps.gatherer.services.recording.writer import Writer
from grandstand.apps.gatherer.sources.kalshi.stream import (
    KalshiStream,
    SubscriptionLimits,
    SubscriptionManager,
)
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder
from grandstand.apps.gatherer.store import SERIES
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.storage.series.buffer import Buffer
from tests.apps.gatherer.exchange_fixture import open_chunks, recording

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

    left = await recorder.cancel_all(tasks)

    assert left == 0
    assert all(task.done() for task in tasks)


async def test_what_takes_too_long_is_given_up() -> None:
    done = await recorder.run_with_timeout(5.0, asyncio.sleep(0))
    late = await recorder.run_with_timeout(0.01, asyncio.sleep(60))

    assert (done, late) == (True, False)


@pytest.mark.parametrize("turns", range(6))
async def test_a_connection_that_has_something_to_do_ends_when_it_is_cancelled(
    turns: int, tmp_path: Path
) -> None:
    engine = open_chunks(tmp_path / "series")
    connection = _connection(
        Buffer.open(tmp_path / "own", SERIES, lambda: engine, clock=CLOCK, chance=Random(1))
    )
    tending = asyncio.create_task(connection.maintain())
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
    stream = KalshiStream(
        "exchange",
        "ws://127.0.0.1:1/",
        signer=None,
        stamp=lambda: 1,
        clock=CLOCK,
        random=Random(1),
        metrics=Metrics(),
    )
    figures = RecorderStatus("recording", "east")
    return Connection(
        0,
        stream,
        SubscriptionManager(SubscriptionLimits(batch=1, per_subscription=1), ()),
        gatherer="east",
        writer=Writer(buffer, clock=CLOCK, counters=figures),
        counters=figures,
        on_lifecycle=lambda *_: None,
        on_backfill=lambda _: None,
        on_gap=lambda *_: None,
        parse=FrameDecoder().parse,
        stamp=lambda: 1,
        clock=CLOCK,
    )
