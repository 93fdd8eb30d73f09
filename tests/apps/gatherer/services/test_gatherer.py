"""Everything the gatherer can do, on an exchange that checks its key."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services import Gatherer, build
from grandstand.apps.gatherer.services.markets import MarketNotFound
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.signing import InvalidSigningKey, KeyRejected
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.app import AppResources, SearchHit
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.live import LiveHub
from grandstand.kit.llm import OfflineLlm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.net.client import SourceRegistry
from grandstand.simulators.exchange.control import step_world
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_connections import StreamFault
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.gatherer.exchange_fixture import open_chunks, until
from tests.apps.gatherer.sources.kalshi.conftest import PEM, PUBLIC
from tests.storage.tables.cache.races import Failing

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
HOUR_US = 3_600_000_000


@dataclass
class Stage:
    gatherer: Gatherer
    exchange: Exchange
    world: World
    events: Events
    series: SeriesEngine
    tables: Failing


def _settings(address: str, folder: Path, chosen: dict[str, Any]) -> GathererSettings:
    usual: dict[str, Any] = {
        "rest_url": f"http://{address}/trade-api/v2",
        "stream_url": f"ws://{address}/trade-api/ws/v2",
        "key_id": "key-1",
        "private_key": PEM,
        "connections": 2,
        "folder": folder / "own",
        "free_gigabytes": 0.001,
        "flush_seconds": 0.05,
    }
    return GathererSettings(**(usual | chosen))


@asynccontextmanager
async def staged(folder: Path, **chosen: Any) -> AsyncIterator[Stage]:
    """A gatherer as the platform opens it, beside an exchange."""
    world = World(CLOCK, WorldConfig(markets=30, depth=6))
    rules = ExchangeRules(keys={"key-1": PUBLIC}, budget=RequestBudget(read_per_second=5000))
    exchange = Exchange(world, CLOCK, rules)
    engine = open_chunks(folder / "series")
    failing = Failing(SqliteEngine.open(None, clock=CLOCK), down=False)
    tables = Store(failing, naming=Naming(), clock=CLOCK)
    tables.create((*store.TABLES, *OUTBOX_TABLES, *EVENT_TABLES))
    random, metrics = Random(1), Metrics()
    async with (
        exchange.serve() as address,
        SourceRegistry(clock=CLOCK, random=random, metrics=metrics) as web,
    ):
        hub, kept = LiveHub(CLOCK, metrics), AsyncStore(tables)
        outbox = Outbox(kept, CLOCK)
        resources = AppResources(
            settings=_settings(address, folder, chosen),
            store=kept,
            series=engine,
            clock=CLOCK,
            random=random,
            metrics=metrics,
            web=web,
            llm=OfflineLlm(),
            publisher=hub,
            notifier=Notifier(outbox, (), web=web),
            outbox=outbox,
            events=Events(kept, clock=CLOCK, random=random, publisher=hub),
            cursors=Cursors(b"secret"),
            home=folder,
        )
        service = build(resources).services
        yield Stage(service, exchange, world, resources.events, engine, failing)
    tables.close()
    engine.close()


@asynccontextmanager
async def recorded(gatherer: Gatherer) -> AsyncIterator[None]:
    await gatherer.recording.request(recording=True)
    running = asyncio.create_task(gatherer.recording.run())
    await until(lambda: _seeded(gatherer))
    try:
        yield
    finally:
        gatherer.recording.stop()
        await running


async def _seeded(gatherer: Gatherer) -> bool:
    ingest = await gatherer.recording.status()
    return ingest.markets > 0 and ingest.stale == 0 and not _waiting(ingest.connections)


def _waiting(connections: Any) -> int:
    return sum(connection.waiting for connection in connections)


async def test_what_is_asked_for_is_recorded_and_told_until_it_is_no_longer_asked_for(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        gatherer = stage.gatherer
        before = await gatherer.recording.status()
        async with recorded(gatherer):
            await step_world(stage.exchange, stage.world, 500)
            await until(lambda: _kept(gatherer, 400))
            during = await gatherer.recording.status()
            markets = await gatherer.markets.list()
        await gatherer.recording.request(recording=False)
        after, asked = await gatherer.recording.status(), await gatherer.recording.is_requested()

    traded = [market for market in markets if market.followed]
    assert (before.state, during.state, after.state) == ("off", "recording", "off")
    assert during.markets == len(traded) > 20
    assert [connection.conn is not None for connection in during.connections] == [True, True]
    assert any(market.spread is not None for market in traded)
    assert not asked


async def _kept(gatherer: Gatherer, rows: int) -> bool:
    return sum((await gatherer.recording.status()).rows.values()) >= rows


async def test_stopping_by_choice_ends_recording(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        gatherer = stage.gatherer
        await gatherer.recording.request(recording=True)
        running = asyncio.create_task(gatherer.recording.run())
        await until(lambda: _seeded(gatherer))

        await gatherer.recording.request(recording=False)
        told = await asyncio.wait_for(running, 30)

    assert "frames" in told


async def test_tables_that_are_away_for_a_while_neither_end_recording_nor_what_stops_it(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        gatherer = stage.gatherer
        await gatherer.recording.request(recording=True)
        running = asyncio.create_task(gatherer.recording.run())
        await until(lambda: _seeded(gatherer))

        stage.tables.asked, stage.tables.down = 0, True
        await until(lambda: stage.tables.asked > 3)
        during, stage.tables.down = running.done(), False
        await gatherer.recording.request(recording=False)
        told = await asyncio.wait_for(running, 30)

    assert not during
    assert "frames" in told


async def test_coverage_counts_every_market_whole_but_those_with_a_gap(tmp_path: Path) -> None:
    async with staged(tmp_path, connections=1) as stage:
        gatherer = stage.gatherer
        async with recorded(gatherer):
            now = int(CLOCK.epoch() * 1_000_000)
            whole = await gatherer.coverage.hours(now - HOUR_US, now)
            _cut(stage.exchange)
            await until(lambda: _reconnected(gatherer))
        now = int(CLOCK.epoch() * 1_000_000)
        holed = await gatherer.coverage.hours(now - HOUR_US, now)
        gaps = await gatherer.coverage.gaps(now - HOUR_US, now)

    assert {covered.gaps for covered in whole} <= {0}
    assert all(covered.gaps >= 1 and not covered.complete for covered in holed if covered.gaps)
    assert any(covered.gaps for covered in holed)
    assert all(gap.resolved_at is not None for gap in gaps if gap.channel == "orderbook_delta")


def _cut(exchange: Exchange) -> None:
    for connection in [*exchange.hub.connections.values()]:
        connection.transport.close(0)


async def _reconnected(gatherer: Gatherer) -> bool:
    ingest = await gatherer.recording.status()
    return ingest.reconnects == 1 and ingest.gaps_open == 0 and await _seeded(gatherer)


async def test_what_recording_needs_is_checked(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        findings = await stage.gatherer.diagnostics.run()

    assert {finding.name: finding.ok for finding in findings} == {
        "exchange": True,
        "clock": True,
        "key": True,
        "stream": True,
        "disk": True,
    }
    assert "RSA key is accepted" in findings[2].text


async def test_a_key_that_cannot_be_used_is_found_and_refuses_recording(tmp_path: Path) -> None:
    async with staged(tmp_path, private_key="no key") as stage:
        findings = {finding.name: finding for finding in await stage.gatherer.diagnostics.run()}
        with pytest.raises(InvalidSigningKey, match="BEGIN and END lines"):
            await stage.gatherer.recording.run()

    assert not findings["key"].ok
    assert not findings["stream"].ok


async def test_a_key_the_exchange_does_not_know_ends_recording_with_what_to_do(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, key_id="key-2") as stage:
        with pytest.raises(KeyRejected, match="Check the key ID"):
            await stage.gatherer.recording.run()
        ingest = await stage.gatherer.recording.status()

    assert ingest.state == "failed"
    assert ingest.reason is not None


async def test_what_recording_will_take_is_estimated_for_the_markets_chosen(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        everything = await stage.gatherer.markets.estimate()
        await stage.gatherer.markets.choose("series", "KXGAME", recorded=True)
        choices = await stage.gatherer.markets.choices()
    async with staged(tmp_path / "other", series=("KXGAME",)) as narrow:
        games = await narrow.gatherer.markets.estimate()

    assert everything.markets > games.markets > 0
    assert everything.bytes_per_day > games.bytes_per_day > 0
    assert [(choice.kind, choice.name) for choice in choices] == [("series", "KXGAME")]


async def test_a_market_there_is_not_is_not_found(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        listed = stage.world.listed[0]
        found = await stage.gatherer.markets.get(listed.ticker)
        with pytest.raises(MarketNotFound, match="no unfinished market NONE"):
            await stage.gatherer.markets.get("NONE")

    assert (found.title, found.chosen, found.followed) == (listed.title, True, False)


async def test_a_healed_gap_is_told_and_a_market_is_found_by_a_part_of_its_name(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        gatherer = stage.gatherer
        unlisted = await gatherer.markets.search("KX", LOCAL_OWNER)
        async with recorded(gatherer):
            market = (await gatherer.markets.list())[0]
            dropped = StreamFault("drop", times=1, channel="orderbook_delta")
            stage.exchange.stream_faults.ask_for(dropped)
            await step_world(stage.exchange, stage.world, 200)
            await until(lambda: _has_told(stage, "gaps-closed"))
            listed = await gatherer.markets.search(market.ticker.lower(), LOCAL_OWNER)
        told = await stage.events.recent(20, LOCAL_OWNER)

    assert unlisted == ()
    assert listed[0] == SearchHit(
        "market", market.ticker, market.title, f"/gatherer/markets/{market.ticker}"
    )
    healed = [(one.app, one.href) for one in told if one.kind == "gaps-closed"]
    assert healed == [("gatherer", "/gatherer/coverage")]


async def test_a_whole_ticker_is_found_among_what_was_recorded(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        row = store.MarketEvent(1_000_000, "KXOVER-26", "listed", "rest", title="Is it over?")
        stage.series.prepare(store.MARKET_EVENTS)
        stage.series.append(store.MARKET_EVENTS, [row])

        found = await stage.gatherer.markets.search("kxover-26", LOCAL_OWNER)
        nothing = await stage.gatherer.markets.search("kxover", LOCAL_OWNER)

    assert found == (
        SearchHit("market", "KXOVER-26", "Is it over?", "/gatherer/markets/KXOVER-26"),
    )
    assert nothing == ()


async def _has_told(stage: Stage, kind: str) -> bool:
    return any(one.kind == kind for one in await stage.events.recent(20, LOCAL_OWNER))
