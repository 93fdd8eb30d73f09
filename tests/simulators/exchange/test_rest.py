"""The exchange's REST on a real socket: lists in pages, books, trades, limits and signatures."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import parse_qs

import httpx2
import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.simulators.exchange.rest import RequestBudget, RestApi
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.faults import CONTROL, Fault
from tests.simulators.exchange.stream_reader import (
    REST,
    ed25519_key,
    exchange_of,
    happen,
    levels_of,
    open_tickers,
    signed,
    world_in,
    world_of,
)

KEY = ed25519_key("a key")
PLENTY = RequestBudget(read_per_second=1_000_000)
PATIENT = ExchangeRules(budget=PLENTY)


@asynccontextmanager
async def asked(exchange: Exchange) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        exchange.serve() as address,
        httpx2.AsyncClient(base_url=f"http://{address}{REST}") as client,
    ):
        yield client


async def pages(client: httpx2.AsyncClient, path: str, name: str, **params: Any) -> list[Any]:
    """Every item of a list, page after page."""
    answer = (await client.get(path, params=params)).json()
    found = answer[name]
    while answer["cursor"]:
        answer = (await client.get(path, params={**params, "cursor": answer["cursor"]})).json()
        found += answer[name]
    return list(found)


@pytest.mark.anyio
async def test_every_market_is_on_one_page_and_only_one() -> None:
    exchange = exchange_of(WorldConfig(markets=230), PATIENT)

    async with asked(exchange) as client:
        found = await pages(client, "/markets", "markets", limit=50)

    assert [market["ticker"] for market in found] == [it.ticker for it in world_in(exchange).listed]


@pytest.mark.parametrize(
    ("word", "statuses"),
    [
        ("unopened", {"initialized"}),
        ("open", {"active"}),
        ("paused", {"inactive"}),
        ("closed", {"closed", "determined"}),
        ("settled", {"finalized"}),
    ],
)
def test_the_words_of_the_filter_are_not_the_words_of_the_status(
    word: str, statuses: set[str]
) -> None:
    world = world_of(WorldConfig(markets=230))

    _, told = RestApi(world).respond("/markets", {"status": [word], "limit": ["1000"]})

    found = cast("dict[str, list[dict[str, str]]]", told)["markets"]
    now = world.now_us()
    assert {market["status"] for market in found} == statuses
    assert [market["ticker"] for market in found] == [
        it.ticker for it in world.listed if it.status(now) in statuses
    ]


@pytest.mark.anyio
async def test_markets_are_found_by_ticker_event_series_and_kind() -> None:
    exchange = exchange_of(WorldConfig(markets=200), PATIENT)
    some = world_in(exchange).listed[7]

    async with asked(exchange) as client:
        by_ticker = await pages(client, "/markets", "markets", tickers=some.ticker)
        by_event = await pages(client, "/markets", "markets", event_ticker=some.event.ticker)
        series = await pages(client, "/markets", "markets", series_ticker="KXRATE")
        combos = await pages(client, "/markets", "markets", mve_filter="only")

    assert [market["ticker"] for market in by_ticker] == [some.ticker]
    assert {market["event_ticker"] for market in by_event} == {some.event.ticker}
    assert {market["series_ticker"] for market in series} == {"KXRATE"}
    assert {market["series_ticker"] for market in combos} == {"KXMVE"}


@pytest.mark.parametrize(
    "query",
    [
        "/markets?limit=1001",
        "/markets?limit=0",
        "/markets?limit=ten",
        "/markets?status=active",
        "/markets?cursor=made-up",
        "/markets?mve_filter=perhaps",
        "/markets?min_created_ts=1&min_close_ts=1",
        "/markets?min_updated_ts=1&status=open",
        "/events?limit=201",
        "/markets/trades?min_ts=soon",
        "/markets/orderbooks",
        "/markets/orderbooks?" + "&".join(f"tickers=T{number}" for number in range(101)),
        "/markets/candlesticks?market_tickers=A&period_interval=5",
    ],
)
def test_a_question_that_makes_no_sense_is_refused(query: str) -> None:
    path, _, asked_for = query.partition("?")

    status, told = RestApi(world_of()).respond(path, parse_qs(asked_for))

    assert status == 400
    assert "'code': 'invalid_parameters'" in str(told)


@pytest.mark.parametrize(
    "path", ["/markets/NONE", "/markets/NONE/orderbook", "/events/NONE", "/series/NONE", "/nothing"]
)
def test_what_is_not_there_is_not_found(path: str) -> None:
    status, _ = RestApi(world_of()).respond(path, {})

    assert status == 404


@pytest.mark.anyio
async def test_books_come_singly_or_a_hundred_at_once_and_are_those_of_the_world() -> None:
    exchange = exchange_of(WorldConfig(markets=120), PATIENT)
    tickers = open_tickers(exchange)[:100]
    happen(exchange, 2000)

    async with asked(exchange) as client:
        many = (await client.get("/markets/orderbooks", params={"tickers": tickers})).json()
        one = (await client.get(f"/markets/{tickers[0]}/orderbook")).json()
        top = (await client.get(f"/markets/{tickers[0]}/orderbook?depth=2")).json()

    books = {it["ticker"]: it["orderbook_fp"] for it in many["orderbooks"]}
    world = {ticker: exchange.source.book(ticker) for ticker in tickers}
    assert {ticker: levels_of(book["yes_dollars"]) for ticker, book in books.items()} == {
        ticker: book.yes for ticker, book in world.items() if book is not None
    }
    assert one["orderbook_fp"] == books[tickers[0]]
    assert top["orderbook_fp"]["no_dollars"] == books[tickers[0]]["no_dollars"][-2:]


@pytest.mark.anyio
async def test_a_book_may_be_as_old_as_a_cache_allows() -> None:
    exchange = exchange_of(WorldConfig(markets=1), ExchangeRules(budget=PLENTY, stale_seconds=3600))
    path = f"/markets/{world_in(exchange).listed[0].ticker}/orderbook"

    async with asked(exchange) as client:
        before = (await client.get(path)).json()
        happen(exchange, 200)
        after = (await client.get(path)).json()

    assert after == before


@pytest.mark.anyio
async def test_trades_are_listed_newest_first_within_a_window_of_seconds() -> None:
    clock = ManualClock()
    exchange = Exchange(World(clock, WorldConfig(markets=3)), SystemClock(), PATIENT)
    for _ in range(6):
        clock.advance(10)
        happen(exchange, 800)
    made = world_in(exchange).truth.trades
    ticker, begin = made[0].ticker, made[0].at // 1_000_000 + 5
    expected = [
        it.trade_id
        for it in reversed(made)
        if it.ticker == ticker and begin <= it.at // 1_000_000 <= begin + 30
    ]

    async with asked(exchange) as client:
        window = {"ticker": ticker, "min_ts": begin, "max_ts": begin + 30, "limit": 7}
        found = await pages(client, "/markets/trades", "trades", **window)
        blocks = await pages(client, "/markets/trades", "trades", is_block_trade="true")

    assert [trade["trade_id"] for trade in found] == expected
    assert len(expected) > 7
    assert {trade["trade_id"] for trade in blocks} == {it.trade_id for it in made if it.is_block}


@pytest.mark.anyio
async def test_candles_hold_the_trades_of_their_minutes() -> None:
    exchange = exchange_of(WorldConfig(markets=2), PATIENT)
    happen(exchange, 3000)
    ticker = exchange.source.trades[0].ticker
    query = f"/markets/candlesticks?market_tickers={ticker}&period_interval=1440"

    async with asked(exchange) as client:
        told = (await client.get(query)).json()["markets"][0]["candlesticks"]

    prices = [trade.price for trade in exchange.source.trades if trade.ticker == ticker]
    highs = [round(float(candle["price"]["high_dollars"]) * 100_000) for candle in told]
    assert max(highs) == max(prices)


@pytest.mark.anyio
async def test_events_series_and_the_exchange_itself_can_be_asked_for() -> None:
    exchange = exchange_of(WorldConfig(markets=200), PATIENT)

    async with asked(exchange) as client:
        events = await pages(client, "/events", "events", limit=20, with_nested_markets="true")
        combos = await pages(client, "/events/multivariate", "events")
        series = (await client.get("/series")).json()["series"]
        one = (await client.get(f"/series/{series[0]['ticker']}")).json()["series"]
        others = [
            (await client.get(path)).status_code
            for path in (
                "/exchange/status", "/exchange/schedule", "/exchange/announcements",
                "/series/fee_changes", "/historical/cutoff", "/historical/trades",
                "/historical/markets", "/account/endpoint_costs",
            )
        ]  # fmt: skip

    nested = [
        market["ticker"] for event in (*events, *combos) for market in event.get("markets", ())
    ]
    assert set(nested) < {it.ticker for it in world_in(exchange).listed}
    assert {event["event_ticker"] for event in (*events, *combos)} == {
        it.event.ticker for it in world_in(exchange).listed
    }
    assert one == series[0]
    assert others == [200] * 8


@pytest.mark.anyio
async def test_an_account_is_told_its_tokens_and_refused_without_a_hint_when_they_are_spent() -> (
    None
):
    clock = ManualClock()
    rules = ExchangeRules(budget=RequestBudget(read_per_second=50))
    exchange = Exchange(World(clock, WorldConfig(markets=1)), clock, rules)

    async with asked(exchange) as client:
        limits = (await client.get("/account/limits")).json()
        answers = [await client.get("/exchange/status") for _ in range(6)]

    assert limits["read"] == {"refill_rate": 50, "bucket_capacity": 50}
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert "retry-after" not in refused[0].headers
    assert refused[0].json()["error"]["code"] == "too_many_requests"


@pytest.mark.anyio
async def test_tokens_come_back_with_time() -> None:
    clock = ManualClock()
    rules = ExchangeRules(budget=RequestBudget(read_per_second=10))
    exchange = Exchange(World(clock, WorldConfig(markets=1)), clock, rules)

    async with asked(exchange) as client:
        statuses = [(await client.get("/exchange/status")).status_code for _ in range(2)]
        clock.advance(1)
        later = (await client.get("/exchange/status")).status_code

    assert (statuses, later) == ([200, 429], 200)


@pytest.mark.anyio
async def test_public_data_needs_no_signature_but_a_wrong_one_is_refused() -> None:
    rules = ExchangeRules(keys={KEY.key_id: KEY.public}, budget=PLENTY)
    exchange = exchange_of(rules=rules)
    now_ms = int(SystemClock().epoch() * 1000)
    good = signed(KEY, "GET", f"{REST}/account/limits", now_ms)
    late = signed(KEY, "GET", f"{REST}/account/limits", now_ms - 60_000)

    async with asked(exchange) as client:
        statuses = [
            (await client.get(path, headers=headers)).status_code
            for path, headers in (
                ("/markets", {}),
                ("/account/limits", {}),
                ("/account/limits?with=query", good),
                ("/account/limits", late),
                ("/markets", good),
                (f"/markets/{world_in(exchange).listed[0].ticker}/orderbook", {}),
            )
        ]

    assert statuses == [200, 401, 200, 401, 401, 401]


@pytest.mark.anyio
async def test_a_key_that_is_barred_may_do_nothing() -> None:
    rules = ExchangeRules(keys={KEY.key_id: KEY.public}, barred=(KEY.key_id,), budget=PLENTY)
    now_ms = int(SystemClock().epoch() * 1000)

    async with asked(exchange_of(rules=rules)) as client:
        headers = signed(KEY, "GET", f"{REST}/markets", now_ms)
        answer = await client.get("/markets", headers=headers)

    assert answer.status_code == 403


@pytest.mark.anyio
async def test_a_skewed_exchange_refuses_clocks_that_are_right() -> None:
    exchange = exchange_of(rules=ExchangeRules(keys={KEY.key_id: KEY.public}, budget=PLENTY))
    world_in(exchange).skew_seconds = 120.0
    now_ms = int(SystemClock().epoch() * 1000)

    async with asked(exchange) as client:
        headers = signed(KEY, "GET", f"{REST}/markets", now_ms)
        answer = await client.get("/markets", headers=headers)

    assert (answer.status_code, answer.json()["error"]["message"]) == (401, "bad timestamp")


@pytest.mark.anyio
async def test_a_list_can_be_made_to_lead_back_to_itself() -> None:
    exchange = exchange_of(WorldConfig(markets=30), PATIENT)
    exchange.rest.cursor_loops = True

    async with asked(exchange) as client:
        first = (await client.get("/markets?limit=10")).json()["cursor"]
        second = (await client.get(f"/markets?limit=10&cursor={first}")).json()["cursor"]

    assert second == first


@pytest.mark.anyio
async def test_an_exchange_that_is_down_says_so_in_every_answer() -> None:
    exchange = exchange_of(rules=PATIENT)
    exchange.rest.exchange_active = False

    async with asked(exchange) as client:
        answer = await client.get("/markets")

    assert answer.status_code == 503
    assert answer.json() == {
        "exchange_active": False,
        "trading_active": True,
        "exchange_estimated_resume_time": None,
    }


@pytest.mark.anyio
async def test_rest_goes_wrong_as_it_is_told() -> None:
    exchange = exchange_of(rules=PATIENT)
    async with exchange.serve() as address, httpx2.AsyncClient() as client:
        rule = {"kind": "too many", "path": f"{REST}/markets", "times": 1}
        await client.put(f"http://{address}{CONTROL}", json=[rule])
        first = await client.get(f"http://{address}{REST}/markets")
        second = await client.get(f"http://{address}{REST}/markets")

    assert (first.status_code, second.status_code) == (429, 200)
    assert exchange.rest_faults.rules == [Fault("too many", f"{REST}/markets", times=1)]
