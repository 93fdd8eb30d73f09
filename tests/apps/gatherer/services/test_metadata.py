"""Listings of the exchange, fetched into the tables."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grandstand.apps.gatherer.services.deduplicator import Deduplicator
from grandstand.apps.gatherer.services.merge_sources import InvalidLocation
from grandstand.apps.gatherer.sources.kalshi.rest import (
    ListedEvent,
    ListedMarket,
    ListedSeries,
    ListingPage,
)
from grandstand.apps.gatherer.store import DELTAS, EventInfo, MarketInfo, SeriesInfo
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window
from grandstand.storage.tables import AsyncStore, Store
from tests.apps.gatherer.services.recorded_rows import recorded, truth

pytestmark = pytest.mark.anyio


class ScriptedListings:
    """An exchange that lists one series, one event, and markets on two pages."""

    async def series(self) -> tuple[ListedSeries, ...]:
        return (ListedSeries("KX", "Weather", "Climate", "daily", ("rain",)),)

    async def events(self) -> AsyncIterator[ListingPage[ListedEvent]]:
        yield ListingPage((ListedEvent("KXA", "KX", "Rain?", None, "Climate", None),))

    async def markets(self) -> AsyncIterator[ListingPage[ListedMarket]]:
        for ticker in ("KXA-1", "KXA-2"):
            yield ListingPage((_market(ticker),))


def _market(ticker: str) -> ListedMarket:
    return ListedMarket(
        ticker=ticker,
        event_ticker="KXA",
        series_ticker="KX",
        status="active",
        title="Rain",
        subtitle=None,
        market_type="binary",
        result=None,
        open_ts=1,
        close_ts=2,
        volume=300,
        volume_24h=200,
        open_interest=100,
        raw="{}",
    )


async def test_what_is_listed_is_kept(tables: Store, later: ManualClock) -> None:
    merging = Deduplicator(AsyncStore(tables), ScriptedListings(), later)

    refreshed = await merging.refresh()

    series, event = tables(SeriesInfo.by_ticker("KX")), tables(EventInfo.by_ticker("KXA"))
    markets = tables(MarketInfo.of_event("KXA"))
    assert (refreshed.series, refreshed.events, refreshed.markets) == (1, 1, 2)
    assert series is not None
    assert event is not None
    assert (series.category, event.title) == ("Climate", "Rain?")
    assert [(each.ticker, each.volume, each.open_us) for each in markets] == [
        ("KXA-1", 300, 1),
        ("KXA-2", 300, 1),
    ]


async def test_gatherers_are_merged_from_the_folders_they_are_named_with(
    tables: Store, later: ManualClock, tmp_path: Path
) -> None:
    recording = recorded(truth(1, 50))
    own = ChunkEngine.open(tmp_path / "east", clock=later)
    recording.keep(own)
    (tmp_path / "all").mkdir()
    merging = Deduplicator(AsyncStore(tables), ScriptedListings(), later)

    async with merging.open([f"1-east:{tmp_path / 'east'}"], str(tmp_path / "all")) as merger:
        tally = await merging.run_once(merger)
    own.close()

    merged = ChunkEngine.open(tmp_path / "all", clock=later)
    found = [*merged.read(Window(DELTAS, 0, 2**62))]
    merged.close()
    assert len(found) == 50
    assert not tally.failed


async def test_a_place_that_is_neither_folder_nor_server_is_refused(
    tables: Store, later: ManualClock, tmp_path: Path
) -> None:
    merging = Deduplicator(AsyncStore(tables), ScriptedListings(), later)

    with pytest.raises(InvalidLocation, match="neither a folder"):
        async with merging.open([f"east:{tmp_path / 'nowhere'}"], str(tmp_path)):
            pass


@pytest.mark.parametrize("source", ["east", ":here", "ea st:here", "-east:here"])
async def test_a_gatherer_without_a_name_is_refused(
    tables: Store, later: ManualClock, tmp_path: Path, source: str
) -> None:
    merging = Deduplicator(AsyncStore(tables), ScriptedListings(), later)

    with pytest.raises(InvalidLocation, match="Invalid source"):
        async with merging.open([source], str(tmp_path)):
            pass
