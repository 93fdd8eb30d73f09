"""The stream on a real socket: numbers without holes, and a book that can be rebuilt from it."""

import asyncio
from itertools import pairwise

import pytest
import websockets

from grandstand.core.clock import SystemClock
from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.market import DOLLAR
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_commands import StreamLimits
from tests.simulators.exchange.stream_reader import (
    STREAM,
    Frame,
    ed25519_key,
    exchange_of,
    happen,
    levels_of,
    open_tickers,
    reading,
    rebuilt,
    signed,
    world_in,
)

pytestmark = pytest.mark.anyio

KEY = ed25519_key("a key")


def numbers(frames: list[Frame], sid: int) -> list[int]:
    return [frame["seq"] for frame in frames if frame.get("sid") == sid and "seq" in frame]


async def test_a_subscription_begins_with_the_snapshot_of_every_market() -> None:
    exchange = exchange_of()
    tickers = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        frames = await reader.subscribed(["orderbook_delta"], tickers)

    assert frames[0] == {
        "id": 1,
        "type": "subscribed",
        "msg": {"channel": "orderbook_delta", "sid": 1},
    }
    assert [frame["msg"]["market_ticker"] for frame in frames[1:]] == tickers
    assert {frame["type"] for frame in frames[1:]} == {"orderbook_snapshot"}
    assert numbers(frames, 1) == list(range(1, len(tickers) + 1))


async def test_the_stream_makes_the_books_of_the_truth() -> None:
    exchange = exchange_of()
    tickers = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        frames = await reader.subscribed(["orderbook_delta"], tickers)
        happen(exchange, 5000)
        frames += await reader.taken()

    truth, now = world_in(exchange).truth, exchange.source.now_us()
    books = {ticker: next(truth.books_at(ticker, (now,))) for ticker in tickers}
    assert {ticker: rebuilt(frames, ticker) for ticker in tickers} == {
        ticker: {"yes": book.yes, "no": book.no} for ticker, book in books.items()
    }
    assert numbers(frames, 1) == list(range(1, len(frames)))


async def test_levels_are_told_lowest_first_and_an_empty_side_is_left_out() -> None:
    exchange = exchange_of(WorldConfig(markets=1))
    ticker = world_in(exchange).listed[0].ticker
    book = exchange.source.book(ticker)
    assert book is not None
    book.yes.clear()
    async with exchange.serve() as address, reading(address) as reader:
        told = (await reader.subscribed(["orderbook_delta"], [ticker]))[1]["msg"]

    assert "yes_dollars_fp" not in told
    assert all(low < high for low, high in pairwise(levels_of(told["no_dollars_fp"])))


async def test_every_reply_about_a_subscription_takes_a_number() -> None:
    exchange = exchange_of()
    one, two, three, *_ = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        frames = await reader.subscribed(["orderbook_delta"], [one])
        frames += await reader.updated(1, "add_markets", two, three)
        frames += await reader.updated(1, "fly_away", two)
        frames += await reader.updated(1, "delete_markets", one, skip_ticker_ack=True)
        happen(exchange, 200)
        await reader.send({"id": 5, "cmd": "unsubscribe", "params": {"sids": [1]}})
        frames += await reader.taken()
        happen(exchange, 50)
        after = await reader.taken()

    assert numbers(frames, 1) == list(range(1, len(frames)))
    oks = [frame for frame in frames if frame["type"] == "ok"]
    assert oks[0]["msg"] == {"market_tickers": [one, two, three]}
    assert "msg" not in oks[1]
    assert frames[-1] == {"id": 5, "type": "unsubscribed", "sid": 1, "seq": frames[-1]["seq"]}
    assert after == []


async def test_an_added_market_comes_with_its_snapshot_and_a_deleted_one_is_quiet() -> None:
    exchange = exchange_of(WorldConfig(markets=2))
    one, two = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], [one])
        added = await reader.updated(1, "add_markets", two, one)
        await reader.updated(1, "delete_markets", one)
        happen(exchange, 300)
        frames = await reader.taken()

    assert [frame["type"] for frame in added] == ["ok", "orderbook_snapshot"]
    assert added[1]["msg"]["market_ticker"] == two
    assert {frame["msg"]["market_ticker"] for frame in frames} == {two}


async def test_a_snapshot_that_was_asked_for_has_the_id_of_the_command() -> None:
    exchange = exchange_of(WorldConfig(markets=2))
    one, two = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], [one, two])
        happen(exchange, 300)
        before = await reader.taken()
        frames = await reader.updated(1, "get_snapshot", two)

    assert [(it["type"], it["id"]) for it in frames] == [("orderbook_snapshot", 2)]
    assert frames[0]["seq"] == before[-1]["seq"] + 1
    book = exchange.source.book(two)
    assert book is not None
    assert rebuilt(frames, two) == {"yes": book.yes, "no": book.no}


async def test_by_yes_prices_bids_for_no_are_told_as_asks() -> None:
    exchange = exchange_of(WorldConfig(markets=1))
    tickers = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        frames = await reader.subscribed(["orderbook_delta"], tickers, use_yes_price=True)
        happen(exchange, 500)
        frames += await reader.taken()

    book = exchange.source.book(tickers[0])
    assert book is not None
    assert rebuilt(frames, tickers[0]) == {
        "yes": book.yes,
        "no": {DOLLAR - price: size for price, size in book.no.items()},
    }


async def test_two_readers_hear_the_same_in_the_same_order_with_numbers_of_their_own() -> None:
    exchange = exchange_of()
    tickers = open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as one, reading(address) as two:
        await one.subscribed(["orderbook_delta"], tickers)
        await two.subscribed(["trade"])
        await two.subscribed(["orderbook_delta"], reversed(tickers))
        happen(exchange, 800)
        heard = [it["msg"] for it in await one.taken()]
        also = [it for it in await two.taken() if it["type"] == "orderbook_delta"]

    assert [frame["msg"] for frame in also] == heard
    assert {frame["sid"] for frame in also} == {2}


async def test_trades_and_summaries_of_all_markets_come_without_naming_them() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["ticker", "trade"])
        happen(exchange, 3000)
        frames = await reader.taken()

    truth = world_in(exchange).truth
    trades = [frame for frame in frames if frame["type"] == "trade"]
    assert [frame["msg"]["trade_id"] for frame in trades] == [it.trade_id for it in truth.trades]
    assert numbers(frames, 2) == list(range(1, len(trades) + 1))
    summaries = [frame for frame in frames if frame["type"] == "ticker"]
    assert [it["msg"]["market_ticker"] for it in summaries] == [it.ticker for it in truth.quotes]
    assert not any("seq" in frame for frame in summaries)


async def test_summaries_can_be_had_by_id_and_with_a_first_one() -> None:
    exchange = exchange_of()
    market = world_in(exchange).listed[3]
    async with exchange.serve() as address, reading(address) as reader:
        frames = await reader.subscribed(
            ["ticker"], market_ids=[market.market_id], send_initial_snapshot=True
        )

    assert [frame["type"] for frame in frames] == ["subscribed", "ticker"]
    assert frames[1]["msg"]["market_id"] == market.market_id


async def test_subscriptions_are_listed_with_their_channels() -> None:
    async with exchange_of().serve() as address, reading(address) as reader:
        await reader.subscribed(["trade", "market_lifecycle_v2"])
        await reader.send({"id": 6, "cmd": "list_subscriptions"})
        listed = await reader.take()

    assert listed == {
        "id": 6,
        "type": "ok",
        "msg": [{"channel": "trade", "sid": 1}, {"channel": "market_lifecycle_v2", "sid": 2}],
    }


async def test_numbers_and_sids_begin_anew_with_every_connection() -> None:
    exchange = exchange_of()
    tickers = open_tickers(exchange)
    async with exchange.serve() as address:
        async with reading(address) as first:
            before = await first.subscribed(["orderbook_delta"], tickers)
        async with reading(address) as second:
            after = await second.subscribed(["orderbook_delta"], tickers)

    assert after == before
    assert exchange.connections_made == 2


async def test_a_market_nobody_knows_is_subscribed_to_without_a_snapshot() -> None:
    async with exchange_of().serve() as address, reading(address) as reader:
        frames = await reader.subscribed(["orderbook_delta"], ["NONE"])

    assert [frame["type"] for frame in frames] == ["subscribed"]


@pytest.mark.parametrize("headers", [{}, {"KALSHI-ACCESS-KEY": KEY.key_id}])
async def test_a_handshake_without_a_good_signature_gets_401(headers: dict[str, str]) -> None:
    exchange = exchange_of(rules=ExchangeRules(keys={KEY.key_id: KEY.public}))
    async with exchange.serve() as address:
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with reading(address, headers):
                pass

    assert refused.value.response.status_code == 401


async def test_a_signed_handshake_is_let_in_and_one_of_a_barred_key_gets_403() -> None:
    keys = {KEY.key_id: KEY.public}
    good = exchange_of(rules=ExchangeRules(keys=keys))
    barred = exchange_of(rules=ExchangeRules(keys=keys, barred=(KEY.key_id,)))
    headers = signed(KEY, "GET", STREAM, int(SystemClock().epoch() * 1000))

    async with good.serve() as address, reading(address, headers) as reader:
        frames = await reader.subscribed(["trade"])
    async with barred.serve() as address:
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with reading(address, headers):
                pass

    assert [frame["type"] for frame in frames] == ["subscribed"]
    assert refused.value.response.status_code == 403


async def test_there_is_one_stream_and_no_other() -> None:
    async with exchange_of().serve() as address:
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with reading(address, path="/trade-api/ws/v1"):
                pass

    assert refused.value.response.status_code == 404


async def test_a_delta_may_lack_its_stamp_in_milliseconds() -> None:
    exchange = exchange_of(rules=ExchangeRules(unstamped_every=3))
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        happen(exchange, 300)
        frames = await reader.taken()

    stamped = ["ts_ms" in frame["msg"] for frame in frames]
    assert stamped[:6] == [True, True, False, True, True, False]


async def test_a_reader_that_takes_nothing_loses_its_subscriptions_with_error_25() -> None:
    limits = StreamLimits(waiting_bytes=100_000)
    exchange = exchange_of(rules=ExchangeRules(limits=limits))
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        reader.socket.transport.pause_reading()
        for _ in range(40):
            happen(exchange, 1000)
            await asyncio.sleep(0)
        reader.socket.transport.resume_reading()
        frames = await reader.taken()

    assert frames[-1]["type"] == "error"
    assert frames[-1]["msg"]["code"] == 25
    assert numbers(frames, 1) == list(range(frames[0]["seq"], frames[0]["seq"] + len(frames)))


async def test_a_world_with_a_pace_goes_on_by_itself() -> None:
    clock = SystemClock()
    exchange = Exchange(
        World(clock, WorldConfig(markets=12)),
        clock,
        pace=Pace(2000, lifecycle_every_seconds=0.01),
    )
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["market_lifecycle_v2"])
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        heard = {(await reader.take())["type"] for _ in range(400)}

    assert heard >= {"orderbook_delta", "market_lifecycle_v2"}


async def test_the_exchange_pings_with_a_word_of_its_own() -> None:
    exchange = exchange_of(rules=ExchangeRules(ping_seconds=0.05))
    asked = (
        f"GET {STREAM} HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    async with exchange.serve() as address:
        host, _, port = address.partition(":")
        incoming, outgoing = await asyncio.open_connection(host, int(port))
        outgoing.write(asked.encode())
        await incoming.readuntil(b"\r\n\r\n")
        ping = await incoming.readexactly(11)
        outgoing.close()

    assert ping == b"\x89\x09heartbeat"


async def test_an_exchange_that_is_down_lets_nobody_in() -> None:
    exchange = exchange_of()
    exchange.rest.exchange_active = False
    async with exchange.serve() as address:
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with reading(address):
                pass

    assert refused.value.response.status_code == 503
