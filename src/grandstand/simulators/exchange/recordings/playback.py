"""Kept here: a floor where everything has happened already: recorded rows, played again."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Final, cast
from uuid import NAMESPACE_URL, uuid5

from grandstand.base.clock import Clock
from grandstand.simulators.exchange.exchange import Exchange
from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.events import (
    BookReplaced,
    DeltaMade,
    Event,
    QuoteMade,
    TradeMade,
)
from grandstand.simulators.exchange.floor.market import EventListed, Market, SeriesListed
from grandstand.simulators.exchange.floor.numbers import DOLLAR, SECOND
from grandstand.simulators.exchange.recordings.recorded import (
    Listing,
    Recorded,
    RecordedBook,
    RecordedDelta,
    RecordedListing,
    RecordedQuote,
    RecordedRow,
    RecordedTrade,
    kind_of,
    levels_of,
)

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
        rows: Iterable[Recorded],
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
        self._quotes: dict[str, QuoteMade] = {}
        self._trades: deque[TradeMade] = deque(maxlen=_LAST_TRADES)
        self._series: dict[str, SeriesListed] = {}
        self._kinds: dict[type, Callable[[RecordedRow], Event | None]] = {}
        self.played = 0
        self.baseless = 0
        self.finished = asyncio.Event()
        for listing in listings:
            self._list(listing)

    def now_us(self) -> int:
        """Answer the moment that is being played."""
        return self._at

    @property
    def listed(self) -> Sequence[Market]:
        """Every market that is known by now."""
        return list(self._markets.values())

    @property
    def series(self) -> Sequence[SeriesListed]:
        """Every series that is known by now."""
        return list(self._series.values())

    @property
    def trades(self) -> Sequence[TradeMade]:
        """The last trades that were played."""
        return self._trades

    def market(self, ticker: str) -> Market | None:
        """Answer a market, None if it is not known yet."""
        return self._markets.get(ticker)

    def book(self, ticker: str) -> Book | None:
        """Answer the book of a market, None if none was played yet."""
        return self._books.get(ticker)

    def quote(self, ticker: str) -> QuoteMade | None:
        """Answer the last summary of a market, None if none was played yet."""
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

    def _next_rows(self) -> list[Recorded]:
        return list(islice(self._rows, _AT_ONCE))

    def _events(self, rows: Sequence[Recorded]) -> list[Event]:
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

    def _maker(self, row: RecordedRow) -> Callable[[RecordedRow], Event | None]:
        makers = {
            "delta": self._delta,
            "trade": self._trade,
            "book": self._book,
            "quote": self._quote,
        }
        return cast("Callable[[RecordedRow], Event | None]", makers[kind_of(row)])

    def _delta(self, row: RecordedDelta) -> DeltaMade | None:
        book = self._books.get(row.ticker)
        if book is None:
            self.baseless += 1
            return None
        yes, price, size = row.side, row.price, row.size_delta
        book.change(price, size, yes=yes)
        market_id = self._markets[row.ticker].market_id
        return DeltaMade(row.exchange_ts, row.ticker, market_id, yes, price, size)

    def _trade(self, row: RecordedTrade) -> TradeMade:
        market = self._known(row.ticker)
        market.last, market.last_size = row.price, row.size
        market.volume += row.size
        trade = TradeMade(
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
        yes, no = levels_of(row.yes_bids), levels_of(row.no_bids)
        book = Book.of(yes, no)
        if self._books.get(row.ticker) == book:
            return None
        self._known(row.ticker).book = self._books[row.ticker] = book
        return BookReplaced(row.snapshot_ts, row.ticker, yes, no)

    def _quote(self, row: RecordedQuote) -> QuoteMade:
        market = self._known(row.ticker)
        book = self._books.get(row.ticker, Book())
        bid, ask = row.yes_bid, row.yes_ask
        quote = QuoteMade(
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
        return self._list(Listing(ticker)) if market is None else market

    def _list(self, listing: RecordedListing) -> Market:
        parts = listing.ticker.split("-")
        name = listing.series_ticker or parts[0]
        series = self._series.setdefault(
            name, SeriesListed(name, name, listing.category, "custom", ())
        )
        event_ticker = listing.event_ticker or "-".join(parts[:-1]) or listing.ticker
        event = EventListed(event_ticker, series, event_ticker, "")
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
class Playing:
    """A server that plays: where it is, as `http://HOST:PORT`, and what it plays."""

    address: str
    playback: Playback

    @property
    def finished(self) -> asyncio.Event:
        """Set when everything was played."""
        return self.playback.finished


@contextlib.asynccontextmanager
async def playing(
    rows: Iterable[Recorded],
    listings: Iterable[RecordedListing] = (),
    *,
    clock: Clock,
    speed: float = 1.0,
    port: int = 0,
) -> AsyncIterator[Playing]:
    """Serve a recording on loopback, at `speed` as Playback has it."""
    playback = Playback(rows, listings, speed=speed)
    async with Exchange(playback, clock, running=playback.run).served(port) as address:
        yield Playing(f"http://{address}", playback)


def _due(rows: Sequence[Recorded], done: int, horizon: int) -> int:
    """Answer up to which row it is time by now."""
    upto = done
    while upto < len(rows) and rows[upto][0] <= horizon:
        upto += 1
    return upto
