"""The registry knows every market that is not over, and what of it people want recorded."""

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.messages import EventTold, Lifecycle
from grandstand.apps.gatherer.service.registry import Markets
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import Exchange
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.simulators.exchange.exchange import Exchange as Simulated
from grandstand.simulators.exchange.exchange import Rules
from grandstand.simulators.exchange.floor.lifecycle import Becoming
from grandstand.simulators.exchange.floor.world import Scenery, World
from grandstand.simulators.exchange.rest.answers import Budget
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.wire.web import Web

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()


@pytest.fixture
def world() -> World:
    return World(CLOCK, Scenery(markets=60, depth=4))


@pytest.fixture
async def exchange(world: World) -> AsyncIterator[Exchange]:
    rules = Rules(budget=Budget(read_per_second=5000))
    async with (
        Simulated(world, CLOCK, rules).served() as address,
        Web(clock=CLOCK, random=Random(1), metrics=Metrics()) as web,
    ):
        yield Exchange(web, f"http://{address}/trade-api/v2", signer=None, clock=CLOCK)


@pytest.fixture
def tables() -> AsyncStore:
    kept = Store(SqliteEngine.open(None, clock=CLOCK), naming=Naming(), clock=CLOCK)
    kept.create(store.TABLES)
    return AsyncStore(kept)


def _markets(exchange: Exchange, tables: AsyncStore, **chosen: Any) -> Markets:
    return Markets(exchange, tables, GathererSettings(**chosen), CLOCK)


def _in(world: World, *statuses: str) -> set[str]:
    now = world.now_us()
    return {market.ticker for market in world.listed if market.status(now) in statuses}


async def test_everything_that_is_not_over_is_known_and_what_trades_is_followed(
    exchange: Exchange, tables: AsyncStore, world: World
) -> None:
    markets = _markets(exchange, tables)

    await markets.sync()
    followed = await markets.choose()

    assert {one.ticker for one in markets.known.markets()} == _in(
        world, "initialized", "active", "inactive"
    )
    assert followed == _in(world, "active", "inactive")
    assert all(one.category for one in markets.known.markets())


async def test_what_is_no_longer_listed_is_gone_and_the_journal_says_so(
    exchange: Exchange, tables: AsyncStore, world: World
) -> None:
    markets, journal = _markets(exchange, tables), list[store.MarketEvent]()
    markets.attach(journal.append, iter(range(10_000)).__next__)
    await markets.sync()
    known = len(journal)
    ticker = min(await markets.choose())

    world.become(ticker, Becoming("determined", result="yes"))
    await markets.sync()
    followed = await markets.choose()

    assert ticker not in followed
    assert {row.details is None for row in journal[:known]} == {False}
    assert [(row.ticker, row.kind, row.status) for row in journal[known:]] == [
        (ticker, "gone", "gone")
    ]


async def test_what_is_only_traded_more_is_not_journalled(
    exchange: Exchange, tables: AsyncStore, world: World
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
    exchange: Exchange, tables: AsyncStore
) -> None:
    markets, journal = _markets(exchange, tables, series=("KXNEW",)), list[store.MarketEvent]()
    markets.attach(journal.append, _now_us)
    created = Lifecycle(
        sid=1,
        seq=1,
        ticker="KXNEW-1-A",
        event_type="created",
        said='{"event_type":"created"}',
        open_ts=2_000_000,
        close_ts=4_000_000,
        event_ticker="KXNEW-1",
        title="A new one",
    )

    markets.told(created, 1_000_000, 77)
    before = await markets.choose()
    markets.turn(2_000_000)
    opened = await markets.choose()
    markets.turn(4_000_000)
    closed = await markets.choose()

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
    exchange: Exchange, tables: AsyncStore
) -> None:
    markets, journal = _markets(exchange, tables), list[store.MarketEvent]()
    markets.attach(journal.append, _now_us)

    markets.told(EventTold(1, 2, "event_lifecycle", "KXB", '{"a":1}', "KXBS", "Title"), 5, 6)

    (row,) = journal
    assert (row.ticker, row.kind, row.details) == ("KXB", "event_lifecycle", '{"a":1}')


async def test_filters_of_the_settings_decide_and_a_choice_decides_against_them(
    exchange: Exchange, tables: AsyncStore, world: World
) -> None:
    markets = _markets(exchange, tables, series=("KXGAME",))
    await markets.sync()
    games = {ticker for ticker in _in(world, "active", "inactive") if "KXGAME" in ticker}
    unwanted, other = min(games), min(_in(world, "active") - games)

    before = await markets.choose()
    await tables(store.Choice(kind="market", name=unwanted, recorded=False).keep())
    await tables(store.Choice(kind="market", name=other, recorded=True).keep())
    markets._read_at = float("-inf")  # noqa: SLF001 - as if time had passed
    after = await markets.choose()

    assert before == games
    assert after == games - {unwanted} | {other}
    assert [markets.wants(ticker) for ticker in (other, unwanted, "UNKNOWN")] == [
        True,
        False,
        False,
    ]


async def test_choosing_one_series_means_wanting_nothing_else(
    exchange: Exchange, tables: AsyncStore
) -> None:
    markets = _markets(exchange, tables)
    await tables(store.Choice(kind="series", name="KXRATE").keep())
    await markets.sync()

    followed = await markets.choose()

    assert {ticker.partition("-")[0] for ticker in followed} == {"KXRATE"}


async def test_a_market_that_changes_between_two_pages_is_not_gone(
    exchange: Exchange, tables: AsyncStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    markets = _markets(exchange, tables)
    await markets.sync()
    before = await markets.choose()
    lists = "grandstand.apps.gatherer.service.registry._LISTS"
    monkeypatch.setattr(lists, ("unopened", "paused"))

    await markets.sync()

    assert await markets.choose() == before == _in(world, "active", "inactive")


async def test_what_was_told_since_a_list_was_asked_for_counts_more_than_the_list(
    exchange: Exchange, tables: AsyncStore, world: World
) -> None:
    markets = _markets(exchange, tables)
    markets.attach(lambda _: None, iter(range(0, 10_000, 10)).__next__)
    await markets.sync()
    ticker = min(_in(world, "active"))

    told = Lifecycle(1, 1, ticker, "determined", "{}", result="yes")
    markets.told(told, 10**9, 7)
    await markets.sync()

    known = markets.known.find(ticker)
    assert known is not None
    assert known.status == "determined"
