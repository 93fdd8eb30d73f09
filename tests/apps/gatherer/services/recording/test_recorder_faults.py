"""A database that is away, and a disk that is full, cost no row."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services.recording.recorder import Recorder
from grandstand.core.clock import SystemClock
from grandstand.simulators.exchange.control import step_world
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.storage.series.buffer import Limits
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.query import Window
from tests.apps.gatherer.exchange_fixture import open_chunks, recording, seeded, until

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
QUICK = Limits(
    age_seconds=0.05,
    spill_after_seconds=0.1,
    first_wait_seconds=0.05,
    longest_wait_seconds=0.2,
)
NO_ROOM = Limits(
    age_seconds=0.05,
    spill_after_seconds=60.0,
    first_wait_seconds=0.05,
    longest_wait_seconds=0.2,
    memory_bytes=400_000,
    spill_bytes=0,
)


class Leaving:
    """An engine that can be away for a while: it answers nothing then."""

    def __init__(self, engine: SeriesEngine) -> None:
        self._engine = engine
        self.away = False

    def __getattr__(self, name: str) -> Any:
        if self.away and name != "close":
            raise SeriesUnavailable("away")
        return getattr(self._engine, name)


@pytest.fixture
def world() -> World:
    return World(CLOCK, WorldConfig(markets=10, depth=6))


@pytest.fixture
async def exchange(world: World) -> AsyncIterator[tuple[Exchange, str]]:
    exchange = Exchange(world, CLOCK)
    async with exchange.serve() as address:
        yield exchange, address


def _kept(engine: SeriesEngine) -> Counter[tuple[Any, ...]]:
    rows = engine.read(Window(store.DELTAS, 0, 2**62))
    return Counter((r.exchange_ts, r.ticker, r.side, r.price, r.size_delta) for r in rows)


def _happened(world: World) -> Counter[tuple[Any, ...]]:
    return Counter(
        (delta.at, delta.ticker, delta.yes, delta.price, delta.size)
        for ticker in world.truth.tickers
        for delta in world.truth.deltas(ticker)
    )


def _add(recorder: Recorder, audits: list[store.Audit]) -> None:
    for audit in audits:
        recorder.writer.add(store.AUDITS, audit)


async def test_rows_wait_on_disk_while_the_database_is_away_also_for_the_next_process(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = Leaving(open_chunks(tmp_path / "series"))
    kept: Any = engine

    async with recording(address, tmp_path / "own", kept, {"buffer": QUICK}) as recorder:
        await until(lambda: seeded(recorder))
        engine.away = True
        await step_world(server, world, 500)
        await until(lambda: recorder.buffer.status().spilled_rows >= world.truth.deltas_made)
        whole = recorder.buffer.status().queues
    engine.away = False
    missing = _happened(world) - _kept(kept)
    async with recording(address, tmp_path / "own", kept, {"buffer": QUICK}) as again:
        await until(lambda: again.buffer.status().spilled_rows == 0)

    assert any(lane.last_error == "SeriesUnavailable: away" for lane in whole)
    assert missing.total() == world.truth.deltas_made
    assert _kept(kept) == _happened(world)
    engine.close()


async def test_a_start_without_the_database_records_all_the_same_and_tells_the_gap(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = Leaving(open_chunks(tmp_path / "series"))
    kept: Any = engine
    async with recording(address, tmp_path / "own", kept, {"buffer": QUICK}) as first:
        await until(lambda: seeded(first) and (tmp_path / "own" / "whole").exists())

    engine.away = True
    async with recording(address, tmp_path / "own", kept, {"buffer": QUICK}) as recorder:
        await until(lambda: seeded(recorder))
        await step_world(server, world, 300)
        await until(lambda: recorder.buffer.status().spilled_rows >= world.truth.deltas_made)
        engine.away = False
        await until(lambda: recorder.buffer.status().spilled_rows == 0)

    gaps = [*kept.read(Window(store.GAPS, 0, 2**62))]
    assert _kept(kept) == _happened(world)
    assert {(gap.conn, gap.channel) for gap in gaps} == {(0, "orderbook_delta"), (0, "trade")}
    engine.close()


async def test_with_no_room_left_anywhere_reading_waits_and_goes_on_afterwards(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = Leaving(open_chunks(tmp_path / "series"))
    kept: Any = engine

    async with recording(address, tmp_path / "own", kept, {"buffer": NO_ROOM}) as recorder:
        await until(lambda: seeded(recorder))
        engine.away = True
        await step_world(server, world, 3000)
        await until(lambda: recorder.writer.full is not None)
        engine.away = False
        await until(lambda: recorder.counters.rows["orderbook_deltas"] >= world.truth.deltas_made)

    assert recorder.writer.full is None
    assert _kept(kept) == _happened(world)
    engine.close()


async def test_rows_that_no_series_takes_are_left_out_one_by_one(
    exchange: tuple[Exchange, str], tmp_path: Path
) -> None:
    _, address = exchange
    engine = open_chunks(tmp_path / "series")
    good = [store.Audit(at, "A", "east", "rest", "equal") for at in range(10)]
    bad = store.Audit(1, "A\x00B", "east", "rest", "equal")

    async with recording(address, tmp_path / "own", engine) as recorder:
        _add(recorder, [*good, bad])
        await until(lambda: recorder.counters.rejected_rows == 1)

    assert len([*engine.read(Window(store.AUDITS, 0, 2**62))]) == 10
    engine.close()
