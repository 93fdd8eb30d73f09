"""The registry knows every market that is not over, and what of it people want recorded."""

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.messages import EventMessage, LifecycleMessage
from grandstand.apps.gatherer.services.market_registry import MarketRegistry
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.exchange.market import LifecycleChange
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.server import Exchange as Simulated
from grandstand.simulators.exchange.server import ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()


@pytest.fixture
def world() -> World:
    return World(CLOCK, WorldConfig(markets=60, depth=4))


@pytest.fixture
async def exchange(world: World) -> AsyncIterator[KalshiClient]:
    rules = ExchangeRules(budget=RequestBudget(read_per_second=5000))
    async with (
        Simulated(world, CLOCK, rules).serve() as address,
        SourceRegistry(clock=CLOCK, random=Random(1), metrics=Metrics()) as web,
    ):
        yield KalshiClient(web, f"http://{address}/trade-api/v2", signer=None, clock=CLOCK)


@pytest.fixture
def tables() -> AsyncStore:
    kept = Store(SqliteEngine.open(None, clock=CLOCK), naming=Naming(), clock=CLOCK)
    kept.create(store.TABLES)
    return AsyncStore(kept)


def _markets(exchange: KalshiClient, tables: AsyncStore, **chosen: Any) -> MarketRegistry:
    return MarketRegistry(exchange, tables, GathererSettings(**chosen), CLOCK)


def _in(world: World, *statuses: str) -> set[str]:
    now = world.now_us()
    return {market.ticker for market in world.listed if market.status(now) in statuses}


async def test_everything_that_is_not_over_is_known_and_what_trades_is_followed(
    exchange: KalshiClient, tables: AsyncStore, world: World
) -> None:
    markets = _markets(exchange, tables)

    await markets.sync()
    followed = await markets.followed()

    assert {one.ticker for one in markets.index.markets.values()} == _in(
        world, "initialized", "active", "inactive"
    )
    assert followed == _in(world, "active", "inactive")
    assert all(one.category for one in markets.index.markets.values())


async def test_what_is_no_longer_listed_is_gone_and_the_journal_says_so(
    exchange: KalshiClient, tables: AsyncStore, world: World
) -> None:
    markets, journal = _markets(exchange, tables), list[store.MarketEvent]()
    markets.attach(journal.append, iter(range(10_000)).__next__)
    await markets.sync()
    known = len(journal)
    ticker = min(await markets.followed())

    world.change_market(ticker, LifecycleChange("determined", result="yes"))
    await markets.sync()
    followed = await markets.followed()

    assert ticker not in followed
    assert {row.details is None for row in journal[:known]} == {False}
    assert [(row.ticker, row.kind, row.status) for row in journal[known:]] == [
        (ticker, "gone", "gone")
    ]


async def test_what_is_only_traded_more_is_not_journalled(
    exchange: KalshiClient, tables: AsyncStore, world: World
) -> None:
    markets, journal = _markets(exchange, tables), list[store.MarketEvent]()
    await markets.sync()
    markets.attach(journal.append, _now_us)

    world.step(300)
    await markets.sync()

    assert journal == []


def _now_us() -> int:
    return int(CLOCK.epoch() * 1_000_000)


async def test_a_market_that_is_told_of_is_followed_once_it_opens(
    exchange: KalshiClient, tables: AsyncStore
) -> None:
    markets, journal = _markets(exchange, tables, series=("KXNEW",)), list[store.MarketEvent]()
    markets.attach(journal.append, _now_us)
    created = LifecycleMessage(
        sid=1,
        seq=1,
        ticker="KXNEW-1-A",
        event_type="created",
        raw='{"event_type":"created"}',
        open_ts=2_000_000,
        close_ts=4_000_000,
        event_ticker="KXNEW-1",
        title="A new one",
    )

    markets.on_lifecycle(created, 1_000_000, 77)
    before = await markets.followed()
    markets.advance(2_000_000)
    opened = await markets.followed()
    markets.advance(4_000_000)
    closed = await markets.followed()

    assert [*map(sorted, (before, opened, closed))] == [[], ["KXNEW-1-A"], []]
    assert [(row.kind, row.source, row.status) for row in journal] == [
        ("created", "ws", "initialized"),
        ("clock", "clock", "active"),
        ("clock", "clock", "closed"),
    ]
    assert (journal[0].title, journal[0].series_ticker, journal[0].conn) == (
        "A new one",
        "KXNEW",
        77,
    )


async def test_news_of_events_are_journalled_as_they_were_told(
    exchange: KalshiClient, tables: AsyncStore
) -> None:
    markets, journal = _markets(exchange, tables), list[store.MarketEvent]()
    markets.attach(journal.append, _now_us)

    markets.on_lifecycle(
        EventMessage(1, 2, "event_lifecycle", "KXB", '{"a":1}', "KXBS", "Title"), 5, 6
    )

    (row,) = journal
    assert (row.ticker, row.kind, row.details) == ("KXB", "event_lifecycle", '{"a":1}')


async def test_filters_of_the_settings_decide_and_a_choice_decides_against_them(
    exchange: KalshiClient, tables: AsyncStore, world: World
) -> None:
    markets = _markets(exchange, tables, series=("KXGAME",))
    await markets.sync()
    games = {ticker for ticker in _in(world, "active", "inactive") if "KXGAME" in ticker}
    unwanted, other = min(games), min(_in(world, "active") - games)

    before = await markets.followed()
    await tables(store.RecordingChoice(kind="market", name=unwanted, recorded=False).put())
    await tables(store.RecordingChoice(kind="market", name=other, recorded=True).put())
    markets._choices_read_at = float("-inf")  # noqa: SLF001 - as if time had passed
    after = await markets.followed()

    assert before == games
    assert after == games - {unwanted} | {other}
    assert [markets.is_wanted(ticker) for ticker in (other, unwanted, "UNKNOWN")] == [
        True,
        False,
        False,
    ]


async def test_choosing_one_series_means_wanting_nothing_else(
    exchange: KalshiClient, tables: AsyncStore
) -> None:
    markets = _markets(exchange, tables)
    await tables(store.RecordingChoice(kind="series", name="KXRATE").put())
    await markets.sync()

    followed = await markets.followed()

    assert {ticker.partition("-")[0] for ticker in followed} == {"KXRATE"}


async def test_a_market_that_changes_between_two_pages_is_not_gone(
    exchange: KalshiClient, tables: AsyncStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    markets = _markets(exchange, tables)
    await markets.sync()
    before = await markets.followed()
    lists = "grandstand.apps.gatherer.services.market_registry._LISTED_STATUSES"
    monkeypatch.setattr(lists, ("unopened", "paused"))

    await markets.sync()

    assert await markets.followed() == before == _in(world, "active", "inactive")


async def test_what_was_told_since_a_list_was_asked_for_counts_more_than_the_list(
    exchange: KalshiClient, tables: AsyncStore, world: World
) -> None:
    markets = _markets(exchange, tables)
    markets.attach(lambda _: None, iter(range(0, 10_000, 10)).__next__)
    await markets.sync()
    ticker = min(_in(world, "active"))

    told = LifecycleMessage(1, 1, ticker, "determined", "{}", result="yes")
    markets.on_lifecycle(told, 10**9, 7)
    await markets.sync()

    known = markets.index.markets.get(ticker)
    assert known is not None
    assert known.status == "determined"
