"""A recorder keeps what the exchange did, whatever happens on the way."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services.recording.writer import read_raw_log
from grandstand.core.clock import SystemClock
from grandstand.simulators.exchange.control import step_world
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_connections import StreamFault
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from tests.apps.gatherer.exchange_fixture import open_chunks, recording, seeded, until
from tests.storage.series.engines.postgres import opening

pytestmark = pytest.mark.anyio

EVER = 2**62
CLOCK = SystemClock()


@pytest.fixture
def world() -> World:
    return World(CLOCK, WorldConfig(markets=30, depth=8))


@pytest.fixture
async def exchange(world: World) -> AsyncIterator[tuple[Exchange, str]]:
    exchange = Exchange(world, CLOCK)
    async with exchange.serve() as address:
        yield exchange, address


def _rows(engine: SeriesEngine, series: Series[Any]) -> list[Any]:
    return [*engine.read(Window(series, 0, EVER))]


def _kept(engine: SeriesEngine) -> Counter[tuple[Any, ...]]:
    return Counter(
        (row.exchange_ts, row.ticker, row.side, row.price, row.size_delta)
        for row in _rows(engine, store.DELTAS)
    )


def _happened(world: World) -> Counter[tuple[Any, ...]]:
    return Counter(
        (delta.at, delta.ticker, delta.yes, delta.price, delta.size)
        for ticker in world.truth.tickers
        for delta in world.truth.deltas(ticker)
    )


def _cut(exchange: Exchange) -> None:
    for connection in [*exchange.hub.connections.values()]:
        connection.transport.close(0)


@pytest.fixture(params=["chunks", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SeriesEngine]:
    """A place for series, embedded and on PostgreSQL."""
    if request.param == "chunks":
        with closing(open_chunks(tmp_path / "series")) as engine:
            yield engine
        return
    with opening.plain(request.getfixturevalue("postgres_dsn"), CLOCK) as open_one:
        yield open_one()


async def test_what_happened_is_kept_delta_for_delta_and_trade_for_trade(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path, engine: SeriesEngine
) -> None:
    server, address = exchange

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
        await step_world(server, world, 2000)
        await until(lambda: recorder.counters.rows["orderbook_deltas"] >= world.truth.deltas_made)

    assert _kept(engine) == _happened(world)
    assert {str(row.trade_id) for row in _rows(engine, store.TRADES)} == {
        trade.trade_id for trade in world.truth.trades
    }
    assert len(_rows(engine, store.TICKERS)) == len(world.truth.quotes)
    assert _rows(engine, store.GAPS) == []
    assert [row.what for row in _rows(engine, store.SESSIONS) if row.what != "whole"] == [
        "started",
        "opened",
        "closed",
        "stopped",
    ]


async def test_a_lost_frame_is_a_gap_that_a_book_closes(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = open_chunks(tmp_path / "series")

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
        server.stream_faults.ask_for(StreamFault("drop", times=1, channel="orderbook_delta"))
        await step_world(server, world, 200)
        await until(lambda: recorder.counters.gaps_closed == 1)

    opened, closed = sorted(_rows(engine, store.GAPS), key=lambda gap: gap.resolved)
    (struck,) = server.stream_faults.struck
    assert (opened.sid, opened.expected_seq, opened.reason) == (struck.sid, struck.seq, "missed")
    assert closed.resolved_at > opened.detected_at
    assert (_happened(world) - _kept(engine)).total() == 1
    engine.close()


async def test_malformed_frames_are_counted_and_kept_on_the_tape_and_the_stream_goes_on(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = open_chunks(tmp_path / "series")
    fault = StreamFault("malformed", times=5, share=0.05, channel="orderbook_delta")

    async with recording(address, tmp_path / "own", engine, {"raw_log": True}) as recorder:
        await until(lambda: seeded(recorder))
        server.stream_faults.ask_for(fault)
        await step_world(server, world, 1000)
        await until(
            lambda: recorder.counters.invalid_frames + recorder.counters.unknown_frames >= 5
        )
        await until(lambda: seeded(recorder))
        frames = sum(each.frames for each in recorder.pool.connections)

    assert len([*read_raw_log(tmp_path / "own" / "raw")]) >= frames
    assert not _kept(engine) - _happened(world)
    assert recorder.counters.reconnects == 0
    engine.close()


async def test_after_a_lost_connection_everything_is_asked_for_again_and_trades_are_fetched(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = open_chunks(tmp_path / "series")

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
        _cut(server)
        world.step(300)
        await until(lambda: recorder.counters.reconnects == 1 and seeded(recorder))
        await until(lambda: recorder.counters.gaps_closed == 4)

    assert {str(row.trade_id) for row in _rows(engine, store.TRADES)} == {
        trade.trade_id for trade in world.truth.trades
    }
    assert Counter(gap.channel for gap in _rows(engine, store.GAPS)) == {
        "orderbook_delta": 2,
        "trade": 2,
        "ticker": 2,
        "market_lifecycle_v2": 2,
    }
    engine.close()


@pytest.mark.parametrize("code", [10, 25])
async def test_a_subscription_the_exchange_ends_is_asked_for_again(
    code: int, exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = open_chunks(tmp_path / "series")
    fault = StreamFault("error", times=1, code=code, channel="orderbook_delta")

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
        server.stream_faults.ask_for(fault)
        await step_world(server, world, 100)
        await until(lambda: recorder.counters.gaps_closed == 1 and seeded(recorder))

    assert recorder.counters.exchange_errors[code] == 1
    assert recorder.counters.reconnects == 0
    assert {gap.reason for gap in _rows(engine, store.GAPS)} == {"ended"}
    engine.close()


async def test_books_are_compared_with_rest_and_one_that_differs_is_asked_for_again(
    exchange: tuple[Exchange, str], tmp_path: Path
) -> None:
    _, address = exchange
    engine = open_chunks(tmp_path / "series")

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
        ticker = min(recorder.pool.followed)
        book = recorder.pool.book(ticker)
        assert book is not None
        book.change(side=True, price=1000, by=700)
        first = await recorder.poller.audit(100, 0.05)
        await until(lambda: recorder.counters.gaps_closed == 1)
        second = await recorder.poller.audit(100, 0.05)

    assert Counter(first.values()) == {"equal": len(first) - 1, "different": 1}
    assert first[ticker] == "different"
    assert set(second.values()) == {"equal"}
    assert Counter(audit.outcome for audit in _rows(engine, store.AUDITS))["different"] == 1
    engine.close()


async def test_a_second_start_tells_the_gap_since_the_first(
    exchange: tuple[Exchange, str], world: World, tmp_path: Path
) -> None:
    server, address = exchange
    engine = open_chunks(tmp_path / "series")

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
    await step_world(server, world, 300)
    async with recording(address, tmp_path / "own", engine) as again:
        await until(lambda: seeded(again) and again.counters.gaps_closed == 2)

    stopped = next(row for row in _rows(engine, store.SESSIONS) if row.what == "stopped")
    gaps = _rows(engine, store.GAPS)
    assert {(gap.conn, gap.detected_at) for gap in gaps} == {(0, stopped.at)}
    assert Counter((gap.channel, gap.resolved) for gap in gaps) == {
        ("orderbook_delta", False): 1,
        ("orderbook_delta", True): 1,
        ("trade", False): 1,
        ("trade", True): 1,
    }
    assert len(_rows(engine, store.TRADES)) == len(world.truth.trades)
    engine.close()


async def test_whole_books_are_fetched_for_a_slot_that_is_the_same_for_every_gatherer(
    exchange: tuple[Exchange, str], tmp_path: Path
) -> None:
    _, address = exchange
    engine = open_chunks(tmp_path / "series")

    async with recording(address, tmp_path / "own", engine) as recorder:
        await until(lambda: seeded(recorder))
        fetched = await recorder.poller.snapshots(900_000_000)

    rows = [row for row in _rows(engine, store.SNAPSHOTS) if row.source == "rest"]
    assert fetched == len(rows) == len(recorder.pool.followed)
    assert {row.snapshot_ts for row in rows} == {900_000_000}
    engine.close()


async def test_a_disk_that_is_nearly_full_stops_recording_with_a_reason(
    exchange: tuple[Exchange, str], tmp_path: Path
) -> None:
    from grandstand.apps.gatherer.services.recording.recorder import DiskLimitReached

    _, address = exchange
    engine = open_chunks(tmp_path / "series")

    with pytest.raises(DiskLimitReached, match="are free"):
        async with recording(address, tmp_path / "own", engine, {"free_gigabytes": 2**30}):
            await asyncio.sleep(0.5)

    assert [row.what for row in _rows(engine, store.SESSIONS)] == ["started", "stopped"]
    engine.close()


async def test_quiet_markets_are_no_reason_to_connect_anew(
    exchange: tuple[Exchange, str], tmp_path: Path
) -> None:
    _, address = exchange
    engine = open_chunks(tmp_path / "series")

    async with recording(address, tmp_path / "own", engine, {"silence_seconds": 0.2}) as recorder:
        await until(lambda: seeded(recorder))
        heard = recorder.pool.connections[0].frames
        await until(lambda: recorder.pool.connections[0].frames >= heard + 2)

    assert recorder.counters.reconnects == 0
    engine.close()
