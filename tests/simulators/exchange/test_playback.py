"""Recorded rows, played again over the same protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple
from uuid import UUID, uuid4

import httpx2
import pytest

from grandstand.apps.gatherer.domain import rows as rows_of
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.replay import ReplayMarket as Lent
from grandstand.apps.gatherer.services.replay import ReplayServer
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import Unavailable
from grandstand.simulators.exchange.market import (
    DeltaEvent,
    ExchangeEvent,
    QuoteEvent,
    TradeEvent,
)
from grandstand.simulators.exchange.playback import (
    Playback,
    PlaybackListing,
    TimedRow,
    serve_playback,
)
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from tests.simulators.exchange.stream_reader import REST, Frame, Reader, reading, rebuilt, world_of

pytestmark = pytest.mark.anyio

BEGIN = 1_793_534_400_000_000
TICKER = "KXA-26NOV01-YES"


class Delta(NamedTuple):
    """A row of deltas, with a column nobody plays."""

    exchange_ts: int
    received_at: int
    ticker: str
    side: bool
    price: int
    size_delta: int


class Trade(NamedTuple):
    """A row of trades."""

    trade_id: UUID
    exchange_ts: int
    ticker: str
    price: int
    size: int
    taker_side: bool
    is_block: bool


class Snapshot(NamedTuple):
    """A row of whole books."""

    snapshot_ts: int
    ticker: str
    yes_bids: str
    no_bids: str


class Summary(NamedTuple):
    """A row of summaries."""

    exchange_ts: int
    ticker: str
    yes_bid: int | None
    yes_ask: int | None
    last_price: int | None
    volume: int | None
    open_interest: int | None
    dollar_volume: int | None
    dollar_open_interest: int | None


def recorded(event: ExchangeEvent) -> TimedRow:
    """An event of a world as a row somebody recorded."""
    if isinstance(event, DeltaEvent):
        row = Delta(event.at, event.at + 9, event.ticker, event.yes, event.price, event.size)
        return event.at, row
    if isinstance(event, TradeEvent):
        made = (event.ticker, event.price, event.size, event.taker_yes, event.is_block)
        return event.at, Trade(UUID(event.trade_id), event.at, *made)
    assert isinstance(event, QuoteEvent)
    row_of = Summary(
        event.at,
        event.ticker,
        event.yes_bid,
        event.yes_ask,
        event.last,
        event.volume,
        event.open_interest,
        event.dollar_volume,
        event.dollar_open_interest,
    )
    return event.at, row_of


def recording(world: World, count: int) -> list[TimedRow]:
    """The first books of a world's markets, and what happened then."""
    begin = world.now_us()
    rows: list[TimedRow] = []
    for market in world.listed:
        book = world.book(market.ticker)
        assert book is not None
        sides = (json.dumps(book.levels(yes=True)), json.dumps(book.levels(yes=False)))
        rows.append((begin, Snapshot(begin, market.ticker, *sides)))
    return rows + [recorded(event) for event in world.step(count, begin + 1_000_000)]


def played(
    rows: list[TimedRow], speed: float = 0.0, *listings: PlaybackListing
) -> tuple[Playback, Exchange]:
    playback = Playback(rows, listings, speed=speed, settle_seconds=0.05)
    return playback, Exchange(playback, SystemClock(), running=playback.run)


async def begin(reader: Reader, channels: list[str], tickers: list[str]) -> None:
    """Subscribe to all that is wanted with one command, for the playing begins soon after."""
    params = {"channels": channels, "market_tickers": tickers}
    await reader.send({"id": 1, "cmd": "subscribe", "params": params})
    for _ in channels:
        await reader.take()


async def everything(reader: Reader, channels: list[str], tickers: list[str]) -> list[Frame]:
    """Subscribe, and answer all frames until the exchange closes as one does who has finished."""
    await begin(reader, channels, tickers)
    frames = [json.loads(text) async for text in reader.socket]
    assert reader.socket.close_code == 1000
    return frames


async def test_what_was_recorded_is_told_again_in_the_same_words() -> None:
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
    told = [frame["msg"]["yes_bid_dollars"] for frame in frames if frame["type"] == "ticker"]
    assert len(told) == len(world.truth.quotes)


async def test_stamps_are_those_of_the_recording() -> None:
    rows: list[TimedRow] = [
        (BEGIN, Snapshot(BEGIN, TICKER, "[[41000,500]]", "[]")),
        (BEGIN + 1, Delta(BEGIN + 123_456, 0, TICKER, True, 41_000, -250)),
    ]
    _, exchange = played(rows)
    async with exchange.serve() as address, reading(address) as reader:
        snapshot, delta = await everything(reader, ["orderbook_delta"], [TICKER])

    assert snapshot["msg"]["yes_dollars_fp"] == [["0.4100", "5.00"]]
    assert "no_dollars_fp" not in snapshot["msg"]
    assert delta["msg"]["ts"] == "2026-11-01T12:00:00.123456Z"
    assert delta["msg"]["delta_fp"] == "-2.50"


def torn() -> Iterator[TimedRow]:
    """A recording that cannot be read to its end."""
    yield BEGIN, Trade(uuid4(), BEGIN, TICKER, 41_000, 100, True, False)
    raise Unavailable("The disk is gone")


async def listened(exchange: Exchange, codes: list[int | None]) -> None:
    """Listen until the connection is closed, and note by which code."""
    async with exchange.serve() as address, reading(address) as reader:
        await begin(reader, ["trade"], [TICKER])
        await reader.socket.wait_closed()
        codes.append(reader.socket.close_code)


async def test_a_recording_that_cannot_be_read_ends_as_a_fault_and_says_so() -> None:
    playback = Playback(torn(), speed=0.0, settle_seconds=0.0)
    exchange = Exchange(playback, SystemClock(), running=playback.run)
    codes: list[int | None] = []

    with pytest.raises(Unavailable, match="The disk is gone"):
        await listened(exchange, codes)

    assert codes == [1011]


async def test_a_recording_can_be_served_with_one_word() -> None:
    rows = [(BEGIN, Trade(uuid4(), BEGIN, TICKER, 41_000, 100, True, False))]
    async with serve_playback(rows, clock=SystemClock(), speed=0.0) as server:
        async with reading(server.address.removeprefix("http://")) as reader:
            frames = await everything(reader, ["trade"], [TICKER])
        await server.finished.wait()

    assert [frame["msg"]["yes_price_dollars"] for frame in frames] == ["0.4100"]


async def test_a_book_that_is_as_everybody_has_it_is_not_sent_again() -> None:
    told = [Snapshot(BEGIN, TICKER, levels, "[]") for levels in ("[[9,1]]", "[[9,1]]", "[[9,2]]")]
    playback, exchange = played([(BEGIN, row) for row in told])
    async with exchange.serve() as address, reading(address) as reader:
        frames = await everything(reader, ["orderbook_delta"], [TICKER])

    assert [it["msg"]["yes_dollars_fp"][0][1] for it in frames] == ["0.01", "0.02"]
    assert playback.played == 3


async def test_the_gatherer_can_be_lent_this_server() -> None:
    server: ReplayServer = partial(serve_playback, clock=SystemClock())
    rows: list[tuple[int, rows_of.Row]] = [
        (BEGIN, OrderbookSnapshot(BEGIN, None, TICKER, "ws", "[[41000,500]]", "[]", "[]", "[]")),
        (BEGIN, OrderbookDelta(BEGIN, BEGIN, TICKER, side=True, price=41_000, size_delta=100)),
        (BEGIN, rows_of.Trade(uuid4(), BEGIN, BEGIN, TICKER, 41_000, 100, taker_side=True)),
        (BEGIN, rows_of.Ticker(BEGIN, BEGIN, TICKER, yes_bid=41_000)),
    ]
    async with (
        server(rows, [Lent(TICKER, "A title")], speed=0.0, port=0) as lent,
        reading(lent.address.removeprefix("http://")) as reader,
    ):
        frames = await everything(reader, ["orderbook_delta", "trade", "ticker"], [TICKER])

    assert [frame["type"] for frame in frames] == [
        "orderbook_snapshot",
        "orderbook_delta",
        "trade",
        "ticker",
    ]


async def test_a_delta_before_its_book_is_counted_and_not_sent() -> None:
    rows: list[TimedRow] = [
        (BEGIN, Delta(BEGIN, 0, TICKER, True, 41_000, 100)),
        (BEGIN + 1, Snapshot(BEGIN + 1, TICKER, "[[41000,100]]", "[]")),
    ]
    playback, exchange = played(rows)
    async with exchange.serve() as address, reading(address) as reader:
        frames = await everything(reader, ["orderbook_delta"], [TICKER])

    assert [frame["type"] for frame in frames] == ["orderbook_snapshot"]
    assert (playback.baseless, playback.played) == (1, 2)


async def test_a_recording_is_played_at_the_speed_asked_for() -> None:
    rows: list[TimedRow] = [
        (BEGIN + second * 1_000_000, Trade(uuid4(), BEGIN, TICKER, second, 100, True, False))
        for second in range(9)
    ]
    clock = ManualClock()
    playback = Playback(rows, speed=20.0, settle_seconds=0.0)
    exchange = Exchange(playback, clock, running=playback.run)
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
        (BEGIN, Snapshot(BEGIN, TICKER, "[[41000,500]]", "[]")),
        (BEGIN + 1, Delta(BEGIN + 1, 0, TICKER, True, 41_000, -250)),
        (BEGIN + 600_000_000, Delta(BEGIN, 0, TICKER, True, 41_000, -250)),
    ]
    _, exchange = played(rows, 1.0)
    async with exchange.serve() as address, reading(address) as first:
        await begin(first, ["orderbook_delta"], [TICKER])
        heard = [await first.take(), await first.take()]
        async with reading(address) as late:
            frames = await late.subscribed(["orderbook_delta"], [TICKER])

    assert [frame["type"] for frame in heard] == ["orderbook_snapshot", "orderbook_delta"]
    assert frames[1]["msg"]["yes_dollars_fp"] == [["0.4100", "2.50"]]


async def test_what_is_known_of_markets_can_be_asked_for_before_they_are_played() -> None:
    listing = PlaybackListing(TICKER, "Will it rain?", "KXA-26NOV01", "KXA", "Climate and Weather")
    _, exchange = played([], 0.0, listing)
    async with exchange.serve() as address, httpx2.AsyncClient() as client:
        market = (await client.get(f"http://{address}{REST}/markets/{TICKER}")).json()["market"]
        series = (await client.get(f"http://{address}{REST}/series")).json()["series"]
        truth = await client.get(f"http://{address}/simulator/truth")

    assert (market["title"], market["status"]) == ("Will it rain?", "active")
    assert [(it["ticker"], it["category"]) for it in series] == [("KXA", "Climate and Weather")]
    assert truth.status_code == 404
