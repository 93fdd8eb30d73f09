"""Recorded rows, replayed over the exchange's protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID, uuid4

import httpx2
import pytest

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot, Ticker, Trade
from grandstand.apps.gatherer.services.replay import Playback, ReplayMarket, TimedRow
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import Unavailable
from grandstand.simulators.exchange.market import (
    DeltaEvent,
    ExchangeEvent,
    QuoteEvent,
    TradeEvent,
)
from grandstand.simulators.exchange.server import ReplayExchange
from grandstand.simulators.exchange.world import World, WorldConfig
from tests.simulators.exchange.stream_reader import REST, Frame, Reader, reading, rebuilt, world_of

pytestmark = pytest.mark.anyio

BEGIN = 1_793_534_400_000_000
TICKER = "KXA-26NOV01-YES"


def delta_row(at: int, size: int) -> OrderbookDelta:
    return OrderbookDelta(at, at + 9, TICKER, side=True, price=41_000, size_delta=size)


def trade(price: int) -> Trade:
    return Trade(uuid4(), BEGIN, BEGIN, TICKER, price, 100, taker_side=True)


def snapshot(at: int, yes_bids: str) -> OrderbookSnapshot:
    return OrderbookSnapshot(at, None, TICKER, "ws", yes_bids, "[]", "[]", "[]")


def recorded(event: ExchangeEvent) -> TimedRow:
    """Return an event of a world as a recorded row."""
    if isinstance(event, DeltaEvent):
        at = (event.at, event.at + 9)
        return event.at, OrderbookDelta(*at, event.ticker, event.yes, event.price, event.size)
    if isinstance(event, TradeEvent):
        row = Trade(
            UUID(event.trade_id),
            event.at,
            event.at + 9,
            event.ticker,
            event.price,
            event.size,
            event.taker_yes,
            is_block=event.is_block,
        )
        return event.at, row
    assert isinstance(event, QuoteEvent)
    ticker = Ticker(
        event.at,
        event.at + 9,
        event.ticker,
        event.yes_bid,
        event.yes_ask,
        event.last,
        event.volume,
        event.open_interest,
        event.dollar_volume,
        event.dollar_open_interest,
    )
    return event.at, ticker


def recording(world: World, count: int) -> list[TimedRow]:
    """Return the first books of a world's markets, and the events after them."""
    begin = world.now_us()
    rows: list[TimedRow] = []
    for market in world.listed:
        book = world.book(market.ticker)
        assert book is not None
        sides = (json.dumps(book.levels(yes=True)), json.dumps(book.levels(yes=False)))
        row = OrderbookSnapshot(begin, None, market.ticker, "ws", sides[0], "[]", sides[1], "[]")
        rows.append((begin, row))
    return rows + [recorded(event) for event in world.step(count, begin + 1_000_000)]


def played(
    rows: list[TimedRow], speed: float = 0.0, *listings: ReplayMarket
) -> tuple[Playback, ReplayExchange]:
    playback = Playback(rows, listings, speed=speed, settle_seconds=0.05)
    return playback, ReplayExchange(playback.run, SystemClock())


async def begin(reader: Reader, channels: list[str], tickers: list[str]) -> None:
    """Subscribe with one command, because the replay starts soon after."""
    params = {"channels": channels, "market_tickers": tickers}
    await reader.send({"id": 1, "cmd": "subscribe", "params": params})
    for _ in channels:
        await reader.take()


async def everything(reader: Reader, channels: list[str], tickers: list[str]) -> list[Frame]:
    """Subscribe, and return all frames until the exchange closes normally."""
    await begin(reader, channels, tickers)
    frames = [json.loads(text) async for text in reader.socket]
    assert reader.socket.close_code == 1000
    return frames


async def test_a_recording_is_replayed_unchanged() -> None:
    world = world_of(WorldConfig(markets=8))
    tickers = [market.ticker for market in world.listed]
    _, exchange = played(recording(world, 3000))
    async with exchange.serve() as address, reading(address) as reader:
        frames = await everything(reader, ["orderbook_delta", "trade", "ticker"], tickers)

    books = {ticker: world.book(ticker) for ticker in tickers}
    assert {ticker: rebuilt(frames, ticker) for ticker in tickers} == {
        ticker: {"yes": book.yes, "no": book.no} for ticker, book in books.items() if book
    }
    deltas = [frame for frame in frames if frame["sid"] == 1]
    assert [frame["seq"] for frame in deltas] == list(range(1, len(deltas) + 1))
    trades = [frame["msg"]["trade_id"] for frame in frames if frame["type"] == "trade"]
    assert trades == [trade.trade_id for trade in world.truth.trades]
    quotes = [frame["msg"]["yes_bid_dollars"] for frame in frames if frame["type"] == "ticker"]
    assert len(quotes) == len(world.truth.quotes)


async def test_stamps_are_those_of_the_recording() -> None:
    rows: list[TimedRow] = [
        (BEGIN, snapshot(BEGIN, "[[41000,500]]")),
        (BEGIN + 1, delta_row(BEGIN + 123_456, -250)),
    ]
    _, exchange = played(rows)
    async with exchange.serve() as address, reading(address) as reader:
        book, delta = await everything(reader, ["orderbook_delta"], [TICKER])

    assert book["msg"]["yes_dollars_fp"] == [["0.4100", "5.00"]]
    assert "no_dollars_fp" not in book["msg"]
    assert delta["msg"]["ts"] == "2026-11-01T12:00:00.123456Z"
    assert delta["msg"]["delta_fp"] == "-2.50"


def torn() -> Iterator[TimedRow]:
    """A recording that cannot be read to its end."""
    yield BEGIN, trade(41_000)
    raise Unavailable("The disk is gone")


async def listened(exchange: ReplayExchange, codes: list[int | None]) -> None:
    """Listen until the connection is closed, and add its close code."""
    async with exchange.serve() as address, reading(address) as reader:
        await begin(reader, ["trade"], [TICKER])
        await reader.socket.wait_closed()
        codes.append(reader.socket.close_code)


async def test_a_recording_that_cannot_be_read_ends_as_a_fault_and_says_so() -> None:
    playback = Playback(torn(), speed=0.0, settle_seconds=0.0)
    exchange = ReplayExchange(playback.run, SystemClock())
    codes: list[int | None] = []

    with pytest.raises(Unavailable, match="The disk is gone"):
        await listened(exchange, codes)

    assert codes == [1011]


async def test_a_book_that_is_as_everybody_has_it_is_not_sent_again() -> None:
    rows = [snapshot(BEGIN, levels) for levels in ("[[9,1]]", "[[9,1]]", "[[9,2]]")]
    playback, exchange = played([(BEGIN, row) for row in rows])
    async with exchange.serve() as address, reading(address) as reader:
        frames = await everything(reader, ["orderbook_delta"], [TICKER])

    assert [it["msg"]["yes_dollars_fp"][0][1] for it in frames] == ["0.01", "0.02"]
    assert playback.played == 3


async def test_every_kind_of_row_is_replayed() -> None:
    rows: list[TimedRow] = [
        (BEGIN, snapshot(BEGIN, "[[41000,500]]")),
        (BEGIN, delta_row(BEGIN, 100)),
        (BEGIN, trade(41_000)),
        (BEGIN, Ticker(BEGIN, BEGIN, TICKER, yes_bid=41_000)),
    ]
    playback, exchange = played(rows, 0.0, ReplayMarket(TICKER, "A title"))
    async with exchange.serve() as address, reading(address) as reader:
        frames = await everything(reader, ["orderbook_delta", "trade", "ticker"], [TICKER])
        await playback.finished.wait()

    assert [frame["type"] for frame in frames] == [
        "orderbook_snapshot",
        "orderbook_delta",
        "trade",
        "ticker",
    ]
    assert frames[2]["msg"]["yes_price_dollars"] == "0.4100"


async def test_a_delta_before_its_book_is_counted_and_not_sent() -> None:
    rows: list[TimedRow] = [
        (BEGIN, delta_row(BEGIN, 100)),
        (BEGIN + 1, snapshot(BEGIN + 1, "[[41000,100]]")),
    ]
    playback, exchange = played(rows)
    async with exchange.serve() as address, reading(address) as reader:
        frames = await everything(reader, ["orderbook_delta"], [TICKER])

    assert [frame["type"] for frame in frames] == ["orderbook_snapshot"]
    assert (playback.skipped, playback.played) == (1, 2)


async def test_a_recording_is_played_at_the_speed_asked_for() -> None:
    rows: list[TimedRow] = [(BEGIN + second * 1_000_000, trade(second)) for second in range(9)]
    clock = ManualClock()
    playback = Playback(rows, speed=20.0, settle_seconds=0.0)
    exchange = ReplayExchange(playback.run, clock)
    async with exchange.serve() as address, reading(address) as reader:
        await begin(reader, ["trade"], [TICKER])
        first = await reader.take()
        clock.advance(3 / 20)
        heard = [await reader.take() for _ in range(3)]
        more = await reader.taken()

    assert first["seq"] == 1
    assert [frame["seq"] for frame in heard] == [2, 3, 4]
    assert more == []


async def test_a_reader_that_comes_late_gets_the_book_as_it_is_then() -> None:
    rows: list[TimedRow] = [
        (BEGIN, snapshot(BEGIN, "[[41000,500]]")),
        (BEGIN + 1, delta_row(BEGIN + 1, -250)),
        (BEGIN + 600_000_000, delta_row(BEGIN, -250)),
    ]
    _, exchange = played(rows, 1.0)
    async with exchange.serve() as address, reading(address) as first:
        await begin(first, ["orderbook_delta"], [TICKER])
        heard = [await first.take(), await first.take()]
        async with reading(address) as late:
            frames = await late.subscribed(["orderbook_delta"], [TICKER])

    assert [frame["type"] for frame in heard] == ["orderbook_snapshot", "orderbook_delta"]
    assert frames[1]["msg"]["yes_dollars_fp"] == [["0.4100", "2.50"]]


async def test_recorded_markets_are_listed_before_they_are_played() -> None:
    listing = ReplayMarket(TICKER, "Will it rain?", "KXA-26NOV01", "KXA", "Climate and Weather")
    _, exchange = played([], 0.0, listing)
    async with exchange.serve() as address, httpx2.AsyncClient() as client:
        market = (await client.get(f"http://{address}{REST}/markets/{TICKER}")).json()["market"]
        series = (await client.get(f"http://{address}{REST}/series")).json()["series"]
        truth = await client.get(f"http://{address}/simulator/truth")

    assert (market["title"], market["status"]) == ("Will it rain?", "active")
    assert [(it["ticker"], it["category"]) for it in series] == [("KXA", "Climate and Weather")]
    assert truth.status_code == 404
