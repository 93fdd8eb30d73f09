"""Listings of the exchange, fetched into the tables."""

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.gatherer.services.deduplicator import Deduplicator
from grandstand.apps.gatherer.services.merge_sources import InvalidLocation
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.apps.gatherer.store import DELTAS, EventInfo, MarketInfo, SeriesInfo
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.exchange.market import SECOND
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window
from grandstand.storage.tables import AsyncStore, Store
from tests.apps.gatherer.services.recorded_rows import recorded, truth

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world() -> World:
    return World(SystemClock(), WorldConfig(markets=6))


@pytest.fixture
async def client(world: World) -> AsyncIterator[KalshiClient]:
    clock = SystemClock()
    async with (
        Exchange(world, clock).serve() as address,
        SourceRegistry(clock=clock, random=Random(1), metrics=Metrics()) as web,
    ):
        yield KalshiClient(web, f"http://{address}/trade-api/v2", signer=None, clock=clock)


async def test_what_is_listed_is_kept(
    tables: Store, later: ManualClock, world: World, client: KalshiClient
) -> None:
    market = next(market for market in world.listed if not market.event.multivariate)
    listed = [each for each in world.listed if each.event is market.event]

    refreshed = await Deduplicator(AsyncStore(tables), client, later).refresh()

    series = tables(SeriesInfo.get(ticker=market.event.series.ticker))
    event = tables(EventInfo.get(event_ticker=market.event.ticker))
    markets = tables(MarketInfo.by_event(event_ticker=market.event.ticker))
    events = {each.event.ticker for each in world.listed if not each.event.multivariate}
    assert (refreshed.series, refreshed.events) == (len(world.series), len(events))
    assert refreshed.markets == len(world.listed)
    assert series is not None
    assert event is not None
    assert (series.category, event.title) == (market.event.series.category, market.event.title)
    assert [(each.ticker, each.volume, each.open_us) for each in markets] == sorted(
        (each.ticker, each.volume, each.opens_at // SECOND * SECOND) for each in listed
    )


async def test_gatherers_are_merged_from_the_folders_they_are_named_with(
    tables: Store, later: ManualClock, client: KalshiClient, tmp_path: Path
) -> None:
    recording = recorded(truth(1, 50))
    own = ChunkEngine.open(tmp_path / "east", clock=later)
    recording.keep(own)
    (tmp_path / "all").mkdir()
    merging = Deduplicator(AsyncStore(tables), client, later)

    async with merging.open([f"1-east:{tmp_path / 'east'}"], str(tmp_path / "all")) as merger:
        tally = await merging.run_once(merger)
    own.close()

    merged = ChunkEngine.open(tmp_path / "all", clock=later)
    found = [*merged.read(Window(DELTAS, 0, 2**62))]
    merged.close()
    assert len(found) == 50
    assert not tally.failed


async def test_a_place_that_is_neither_folder_nor_server_is_refused(
    tables: Store, later: ManualClock, client: KalshiClient, tmp_path: Path
) -> None:
    merging = Deduplicator(AsyncStore(tables), client, later)

    with pytest.raises(InvalidLocation, match="neither a folder"):
        async with merging.open([f"east:{tmp_path / 'nowhere'}"], str(tmp_path)):
            pass


@pytest.mark.parametrize("source", ["east", ":here", "ea st:here", "-east:here"])
async def test_a_gatherer_without_a_name_is_refused(
    tables: Store, later: ManualClock, client: KalshiClient, tmp_path: Path, source: str
) -> None:
    merging = Deduplicator(AsyncStore(tables), client, later)

    with pytest.raises(InvalidLocation, match="Invalid source"):
        async with merging.open([source], str(tmp_path)):
            pass
