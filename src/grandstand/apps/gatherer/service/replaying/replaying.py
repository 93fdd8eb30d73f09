"""Kept here: a recorded stretch played again, as rows in order or to a server that speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from grandstand.apps.gatherer.model.lines import level_columns
from grandstand.apps.gatherer.model.rows import OrderbookDelta, OrderbookSnapshot, Row
from grandstand.apps.gatherer.service.asking.books import Books
from grandstand.apps.gatherer.service.asking.values import BookAt
from grandstand.apps.gatherer.service.replaying.columns import batches
from grandstand.apps.gatherer.service.replaying.ordering import (
    Position,
    Step,
    happened,
    heard,
    woven,
)
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS, TICKERS, TRADES
from grandstand.apps.gatherer.store.patterns import market_history
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window

R = TypeVar("R", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of a market that is played."""

    ticker: str
    title: str = ""
    event_ticker: str = ""
    series_ticker: str = ""
    category: str = ""


class Playing(Protocol):
    """A server that plays: where it is, and when it has played everything."""

    @property
    def address(self) -> str:
        """Where its REST and WebSocket are, as `http://HOST:PORT`."""
        ...

    @property
    def finished(self) -> asyncio.Event:
        """Set when everything was played."""
        ...


class ReplayServer(Protocol):
    """What the host lends: a server of the exchange's protocol that plays recorded rows."""

    def __call__(
        self, rows: Iterable[Step], listings: Iterable[Listing], *, speed: float, port: int
    ) -> AbstractAsyncContextManager[Playing]:
        """Serve rows at that speed, 1 as they happened and 0 as fast as they are taken."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """From an instant of exchange time up to but without another; no tickers means all."""

    start_us: int
    end_us: int
    tickers: tuple[str, ...] = ()

    def window(self, series: Series[R]) -> Window[R]:
        """Answer the window of a series."""
        return Window(series, self.start_us, self.end_us, self.tickers)


class Replaying:
    """Recorded rows in the order a listener heard them, or of a merged store as they happened."""

    def __init__(self, engine: SeriesEngine, *, merged: bool = False) -> None:
        self._engine = engine
        self._merged = merged
        self._books = Books(engine, merged=merged)

    def deltas(self, stretch: Stretch) -> Iterator[OrderbookDelta]:
        """Answer the changes of a stretch one by one, in order."""
        return chain.from_iterable(self._deltas(stretch))

    def rows(self, stretch: Stretch) -> Iterator[Step]:
        """Answer everything of a stretch in order, each row with its moment.

        It begins with the book of every market at the start, so that each change has something to
        change.
        """
        others = (self._trades(stretch), self._tickers(stretch), self._snapshots(stretch))
        woven_rows = woven(self._deltas(stretch), self._position(), others)
        return chain(self._first_books(stretch), woven_rows)

    def markets(self, stretch: Stretch) -> tuple[str, ...]:
        """Answer the markets of which something is kept in a stretch."""
        if stretch.tickers:
            return stretch.tickers
        found: set[str] = set()
        kept: tuple[Series[Any], ...] = (DELTAS, TRADES, TICKERS)
        for series in kept:
            window = Window(series, stretch.start_us, stretch.end_us, order="any")
            for table in self._engine.tables(window):
                found.update(table["ticker"].unique().to_pylist())
        return tuple(sorted(found))

    def listings(self, tickers: Sequence[str]) -> tuple[Listing, ...]:
        """Answer what became known of markets, as far as it did."""
        return tuple(map(self._listing, tickers))

    async def serve(
        self, server: ReplayServer, stretch: Stretch, *, speed: float = 1.0, port: int = 0
    ) -> AbstractAsyncContextManager[Playing]:
        """Have a stretch played by a server, and answer the server, to be entered."""
        markets = await asyncio.to_thread(self.markets, stretch)
        listings = await asyncio.to_thread(self.listings, markets)
        chosen = Stretch(stretch.start_us, stretch.end_us, stretch.tickers)
        return server(self.rows(chosen), listings, speed=speed, port=port)

    def _deltas(self, stretch: Stretch) -> Iterator[list[OrderbookDelta]]:
        window = stretch.window(DELTAS)
        return happened(self._engine, window) if self._merged else heard(self._engine, window)

    def _position(self) -> Position:
        return attrgetter("exchange_ts" if self._merged else "received_at")

    def _trades(self, stretch: Stretch) -> Iterator[Step]:
        return self._placed(stretch.window(TRADES))

    def _tickers(self, stretch: Stretch) -> Iterator[Step]:
        return self._placed(stretch.window(TICKERS))

    def _placed(self, window: Window[R]) -> Iterator[Step]:
        found = batches(self._engine, window) if self._merged else heard(self._engine, window)
        position = self._position()
        rows: Iterator[Any] = chain.from_iterable(found)
        return ((position(row), row) for row in rows)

    def _snapshots(self, stretch: Stretch) -> Iterator[Step]:
        rows = chain.from_iterable(batches(self._engine, stretch.window(SNAPSHOTS)))
        return ((row.snapshot_ts, row) for row in rows if row.source == "ws")

    def _first_books(self, stretch: Stretch) -> Iterator[Step]:
        for ticker in self.markets(stretch):
            found = self._books.at(ticker, stretch.start_us - 1)
            if found.base_us is not None:
                yield stretch.start_us, _row(found, stretch.start_us)

    def _listing(self, ticker: str) -> Listing:
        title = event = series = ""
        for told in self._engine.read(market_history(ticker)):
            title = title or told.title or ""
            event = event or told.event_ticker or ""
            series = series or told.series_ticker or ""
            if title and event:
                break
        return Listing(ticker, title, event, series)


def _row(book: BookAt, at_us: int) -> Row:
    columns = level_columns(book.yes, book.no)
    return OrderbookSnapshot(
        snapshot_ts=at_us,
        exchange_ts=None,
        ticker=book.ticker,
        source="ws",
        yes_bids=columns["yes_bids"],
        yes_asks=columns["yes_asks"],
        no_bids=columns["no_bids"],
        no_asks=columns["no_asks"],
        best_yes_bid=book.best_yes_bid,
        best_yes_ask=book.best_yes_ask,
        spread=book.spread,
    )
