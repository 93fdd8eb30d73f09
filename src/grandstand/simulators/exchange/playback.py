"""Plays recorded rows as a simulated exchange."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol, TypeAlias, cast
from uuid import NAMESPACE_URL, uuid5

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.exchange.market import (
    DOLLAR,
    SECOND,
    Book,
    BookReplaced,
    DeltaEvent,
    ExchangeEvent,
    Levels,
    ListedEvent,
    ListedSeries,
    Market,
    QuoteEvent,
    TradeEvent,
)
from grandstand.simulators.exchange.server import Exchange


class RecordedDelta(Protocol):
    """A change of a level; `side` is True for yes."""

    @property
    def exchange_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """In which market."""
        ...

    @property
    def side(self) -> bool:
        """On which side."""
        ...

    @property
    def price(self) -> int:
        """At which price, in hundred-thousandths."""
        ...

    @property
    def size_delta(self) -> int:
        """By how much, in hundredths."""
        ...


class RecordedTrade(Protocol):
    """A trade; `taker_side` is True for yes."""

    @property
    def trade_id(self) -> object:
        """Its id."""
        ...

    @property
    def exchange_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """In which market."""
        ...

    @property
    def price(self) -> int:
        """The price of yes, in hundred-thousandths."""
        ...

    @property
    def size(self) -> int:
        """How much, in hundredths."""
        ...

    @property
    def taker_side(self) -> bool:
        """Who came to the other."""
        ...

    @property
    def is_block(self) -> bool:
        """Whether it was made away from the book."""
        ...


class RecordedQuote(Protocol):
    """A market's summary."""

    @property
    def exchange_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """Of which market."""
        ...

    @property
    def yes_bid(self) -> int | None:
        """The best bid."""
        ...

    @property
    def yes_ask(self) -> int | None:
        """The best ask."""
        ...

    @property
    def last_price(self) -> int | None:
        """The price of the last trade."""
        ...

    @property
    def volume(self) -> int | None:
        """How much was traded."""
        ...

    @property
    def open_interest(self) -> int | None:
        """How much is held."""
        ...

    @property
    def dollar_volume(self) -> int | None:
        """What was paid."""
        ...

    @property
    def dollar_open_interest(self) -> int | None:
        """What is held, in dollars."""
        ...


class RecordedBook(Protocol):
    """A whole book; a side is the JSON of pairs of a price and a size."""

    @property
    def snapshot_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """Of which market."""
        ...

    @property
    def yes_bids(self) -> str:
        """The bids for yes."""
        ...

    @property
    def no_bids(self) -> str:
        """The bids for no."""
        ...


RecordedRow: TypeAlias = RecordedDelta | RecordedTrade | RecordedQuote | RecordedBook
# When a row is to be played, in microseconds, and the row.
TimedRow: TypeAlias = tuple[int, RecordedRow]

_MARKS: Final = (
    ("size_delta", "delta"),
    ("trade_id", "trade"),
    ("yes_bids", "book"),
    ("last_price", "quote"),
)


class RecordedListing(Protocol):
    """What somebody knows of a market whose recording is played; an empty text is not known."""

    @property
    def ticker(self) -> str:
        """Its own name."""
        ...

    @property
    def title(self) -> str:
        """What it is about."""
        ...

    @property
    def event_ticker(self) -> str:
        """The event it belongs to."""
        ...

    @property
    def series_ticker(self) -> str:
        """The series of that event."""
        ...

    @property
    def category(self) -> str:
        """The kind of that series."""
        ...


@dataclass(frozen=True, slots=True)
class PlaybackListing:
    """A market of which there may be nothing more to say than its name."""

    ticker: str
    title: str = ""
    event_ticker: str = ""
    series_ticker: str = ""
    category: str = ""


def row_kind(row: object) -> str:
    """Return what a row records, by the columns it has: delta, trade, book or quote."""
    return next((kind for mark, kind in _MARKS if hasattr(row, mark)), "")


def parse_levels(text: str) -> Levels:
    """Parse the levels of a side."""
    return msgspec.json.decode(text, type=list[tuple[int, int]])


_AT_ONCE: Final = 2000
_LEAST_WAIT: Final = 0.001
_MOST_WAIT: Final = 0.05
_NORMAL: Final = 1000
_FAILED: Final = 1011
_LAST_TRADES: Final = 10_000
_EVER: Final = 4_000_000_000 * SECOND


class Playback:
    """Plays rows in the order they come, `speed` times as fast as they happened.

    Speed 0 is as fast as readers take them. Playing begins `settle_seconds` after somebody has
    begun to listen, and closes every connection at its end. A delta of a market whose book was not
    yet played cannot be used by anybody: it is counted in `baseless`, and not sent; nor is a book
    that is as everybody has it already.
    """

    def __init__(
        self,
        rows: Iterable[TimedRow],
        listings: Iterable[RecordedListing] = (),
        *,
        speed: float = 1.0,
        settle_seconds: float = 0.25,
    ) -> None:
        self._rows = iter(rows)
        self._speed = speed
        self._settle_seconds = settle_seconds
        self._at = 0
        self._markets: dict[str, Market] = {}
        self._books: dict[str, Book] = {}
        self._quotes: dict[str, QuoteEvent] = {}
        self._trades: deque[TradeEvent] = deque(maxlen=_LAST_TRADES)
        self._series: dict[str, ListedSeries] = {}
        self._kinds: dict[type, Callable[[RecordedRow], ExchangeEvent | None]] = {}
        self.played = 0
        self.baseless = 0
        self.finished = asyncio.Event()
        for listing in listings:
            self._list(listing)

    def now_us(self) -> int:
        """Return the moment that is being played."""
        return self._at

    @property
    def listed(self) -> Sequence[Market]:
        """Every market that is known by now."""
        return list(self._markets.values())

    @property
    def series(self) -> Sequence[ListedSeries]:
        """Every series that is known by now."""
        return list(self._series.values())

    @property
    def trades(self) -> Sequence[TradeEvent]:
        """The last trades that were played."""
        return self._trades

    def market(self, ticker: str) -> Market | None:
        """Return a market, None if it is not known yet."""
        return self._markets.get(ticker)

    def book(self, ticker: str) -> Book | None:
        """Return the book of a market, None if none was played yet."""
        return self._books.get(ticker)

    def quote(self, ticker: str) -> QuoteEvent | None:
        """Return the last summary of a market, None if none was played yet."""
        return self._quotes.get(ticker)

    async def run(self, exchange: Exchange) -> None:
        """Play everything once there is somebody to hear it, then close all connections.

        Where reading the rows fails they are closed as after a fault, and the error goes on.
        """
        while not exchange.hub.listening:  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(_LEAST_WAIT * 10)
        await asyncio.sleep(self._settle_seconds)
        code = _FAILED
        try:
            with ThreadPoolExecutor(1, "playback") as reader:
                await self._play(exchange, reader)
            await exchange.drained()
            code = _NORMAL
        finally:
            for connection in [*exchange.hub.connections.values()]:
                connection.line.close(code)
            self.finished.set()

    async def _play(self, exchange: Exchange, reader: ThreadPoolExecutor) -> None:
        loop, clock = asyncio.get_running_loop(), exchange.clock
        began, first = clock.monotonic(), None
        coming = loop.run_in_executor(reader, self._next_rows)
        while rows := await coming:
            coming = loop.run_in_executor(reader, self._next_rows)
            first = rows[0][0] if first is None else first
            done = 0
            while done < len(rows):
                upto = len(rows)
                if self._speed:
                    horizon = first + int((clock.monotonic() - began) * self._speed * SECOND)
                    upto = _due(rows, done, horizon)
                exchange.tell(self._events(rows[done:upto]))
                await exchange.drained()
                wait = 0.0
                if upto < len(rows):
                    wait = (rows[upto][0] - horizon) / SECOND / self._speed
                    wait = min(max(wait, _LEAST_WAIT), _MOST_WAIT)
                done = upto
                await asyncio.sleep(wait)

    def _next_rows(self) -> list[TimedRow]:
        return list(islice(self._rows, _AT_ONCE))

    def _events(self, rows: Sequence[TimedRow]) -> list[ExchangeEvent]:
        events = []
        kinds = self._kinds
        for at, row in rows:
            made = kinds.get(type(row))
            if made is None:
                made = kinds[type(row)] = self._maker(row)
            self._at = max(self._at, at)
            event = made(row)
            if event is not None:
                events.append(event)
        self.played += len(rows)
        return events

    def _maker(self, row: RecordedRow) -> Callable[[RecordedRow], ExchangeEvent | None]:
        makers = {
            "delta": self._delta,
            "trade": self._trade,
            "book": self._book,
            "quote": self._quote,
        }
        return cast("Callable[[RecordedRow], ExchangeEvent | None]", makers[row_kind(row)])

    def _delta(self, row: RecordedDelta) -> DeltaEvent | None:
        book = self._books.get(row.ticker)
        if book is None:
            self.baseless += 1
            return None
        yes, price, size = row.side, row.price, row.size_delta
        book.change(price, size, yes=yes)
        market_id = self._markets[row.ticker].market_id
        return DeltaEvent(row.exchange_ts, row.ticker, market_id, yes, price, size)

    def _trade(self, row: RecordedTrade) -> TradeEvent:
        market = self._known(row.ticker)
        market.last, market.last_size = row.price, row.size
        market.volume += row.size
        trade = TradeEvent(
            row.exchange_ts,
            str(row.trade_id),
            row.ticker,
            row.price,
            row.size,
            row.taker_side,
            row.is_block,
        )
        self._trades.append(trade)
        return trade

    def _book(self, row: RecordedBook) -> BookReplaced | None:
        yes, no = parse_levels(row.yes_bids), parse_levels(row.no_bids)
        book = Book.of(yes, no)
        if self._books.get(row.ticker) == book:
            return None
        self._known(row.ticker).book = self._books[row.ticker] = book
        return BookReplaced(row.snapshot_ts, row.ticker, yes, no)

    def _quote(self, row: RecordedQuote) -> QuoteEvent:
        market = self._known(row.ticker)
        book = self._books.get(row.ticker, Book())
        bid, ask = row.yes_bid, row.yes_ask
        quote = QuoteEvent(
            row.exchange_ts,
            row.ticker,
            market.market_id,
            row.last_price,
            bid,
            ask,
            0 if bid is None else book.yes.get(bid, 0),
            0 if ask is None else book.no.get(DOLLAR - ask, 0),
            market.last_size,
            row.volume or 0,
            row.open_interest or 0,
            row.dollar_volume or 0,
            row.dollar_open_interest or 0,
        )
        self._quotes[row.ticker] = quote
        return quote

    def _known(self, ticker: str) -> Market:
        market = self._markets.get(ticker)
        return self._list(PlaybackListing(ticker)) if market is None else market

    def _list(self, listing: RecordedListing) -> Market:
        parts = listing.ticker.split("-")
        name = listing.series_ticker or parts[0]
        series = self._series.setdefault(
            name, ListedSeries(name, name, listing.category, "custom", ())
        )
        event_ticker = listing.event_ticker or "-".join(parts[:-1]) or listing.ticker
        event = ListedEvent(event_ticker, series, event_ticker, "")
        market = Market(
            ticker=listing.ticker,
            market_id=str(uuid5(NAMESPACE_URL, listing.ticker)),
            event=event,
            title=listing.title or listing.ticker,
            subtitle="",
            created_at=0,
            opens_at=0,
            closes_at=_EVER,
        )
        self._markets[listing.ticker] = market
        return market


@dataclass(frozen=True, slots=True)
class PlaybackServer:
    """A server that plays: where it is, as `http://HOST:PORT`, and what it plays."""

    address: str
    playback: Playback

    @property
    def finished(self) -> asyncio.Event:
        """Set when everything was played."""
        return self.playback.finished


@contextlib.asynccontextmanager
async def serve_playback(
    rows: Iterable[TimedRow],
    listings: Iterable[RecordedListing] = (),
    *,
    clock: Clock,
    speed: float = 1.0,
    port: int = 0,
) -> AsyncIterator[PlaybackServer]:
    """Serve a recording on loopback, at `speed` as Playback has it."""
    playback = Playback(rows, listings, speed=speed)
    async with Exchange(playback, clock, running=playback.run).serve(port) as address:
        yield PlaybackServer(f"http://{address}", playback)


def _due(rows: Sequence[TimedRow], done: int, horizon: int) -> int:
    """Return up to which row it is time by now."""
    upto = done
    while upto < len(rows) and rows[upto][0] <= horizon:
        upto += 1
    return upto
