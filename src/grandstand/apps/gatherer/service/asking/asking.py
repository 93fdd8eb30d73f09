"""Kept here: the questions about recorded markets, awaited: none of them runs in the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from grandstand.apps.gatherer.model.book import WHOLE
from grandstand.apps.gatherer.model.filling import Order, fill
from grandstand.apps.gatherer.service.asking.books import Books
from grandstand.apps.gatherer.service.asking.prices import Prices
from grandstand.apps.gatherer.service.asking.values import (
    BookAt,
    Candle,
    DepthPoint,
    FillAt,
    Volume,
)
from grandstand.apps.gatherer.store import MarketEvent, Trade
from grandstand.apps.gatherer.store.patterns import LATEST, market_history
from grandstand.storage.series.engines.protocol import SeriesEngine

DAY_US: Final = 86_400_000_000


class Asking:
    """What was recorded, asked by market and time; `merged` says whose store it is.

    Times are microseconds since 1970, of the exchange's clock. Every method raises Unavailable
    when the store does not answer.
    """

    def __init__(self, engine: SeriesEngine, *, merged: bool = False) -> None:
        self._engine = engine
        self.books = Books(engine, merged=merged)
        self.prices = Prices(engine, self.books)

    async def book(self, ticker: str, at_us: int | None = None) -> BookAt:
        """Answer a book at an instant, or after the last change kept."""
        if at_us is None:
            return await asyncio.to_thread(self.books.latest, ticker)
        return await asyncio.to_thread(self.books.at, ticker, at_us)

    async def books_at(self, ticker: str, instants: Iterable[int]) -> tuple[BookAt, ...]:
        """Answer a book at many instants, in their order, for little more than one costs."""
        return await asyncio.to_thread(lambda: tuple(self.books.each(ticker, instants)))

    async def fill(self, ticker: str, order: Order, at_us: int | None = None) -> FillAt:
        """Answer what an order would have got at an instant; raise OrderImpossible.

        As far as the book is in doubt, so is the answer.
        """
        found = await self.book(ticker, at_us)
        return FillAt(found, fill(found.book(), order))

    async def recent_trades(
        self, ticker: str, most: int = 100, before_us: int = LATEST
    ) -> tuple[Trade, ...]:
        """Answer the newest trades of a market before a moment, newest first."""
        return await asyncio.to_thread(self.prices.recent, ticker, most, before_us)

    async def volumes(
        self, now_us: int, most: int = 100, *, over_us: int = DAY_US, blocks: bool = False
    ) -> tuple[Volume, ...]:
        """Answer what was traded most in the last day, or so long, block trades left out."""

        def ask() -> tuple[Volume, ...]:
            return self.prices.volumes(now_us - over_us + 1, now_us + 1, most, blocks=blocks)

        return await asyncio.to_thread(ask)

    async def candles(
        self, ticker: str, start_us: int, end_us: int, every_us: int
    ) -> tuple[Candle, ...]:
        """Answer the candles of a market; raise TooManyPoints."""
        return await asyncio.to_thread(self.prices.candles, ticker, start_us, end_us, every_us)

    async def depth(
        self, ticker: str, start_us: int, end_us: int, every_us: int, *, within: int = WHOLE
    ) -> tuple[DepthPoint, ...]:
        """Answer best prices and depth of a book over time; raise TooManyPoints."""

        def ask() -> tuple[DepthPoint, ...]:
            return self.prices.depth(ticker, start_us, end_us, every_us, within=within)

        return await asyncio.to_thread(ask)

    async def history(self, ticker: str, most: int = 100) -> tuple[MarketEvent, ...]:
        """Answer what became known of a market or event, newest first."""

        def ask() -> tuple[MarketEvent, ...]:
            found = self._engine.read(market_history(ticker))
            return tuple(event for event, _ in zip(found, range(most), strict=False))

        return await asyncio.to_thread(ask)
