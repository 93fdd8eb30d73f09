"""Recorded data of one store: history queries, exports and replays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grandstand.apps.gatherer.domain.order_book import DOLLAR, Fill, Order, simulate_fill
from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.services.merge_sources import open_location
from grandstand.apps.gatherer.services.queries import prices
from grandstand.apps.gatherer.services.queries.books import BookHistory, HistoricalBook
from grandstand.apps.gatherer.services.replay import ReplayService
from grandstand.apps.gatherer.store import SERIES, MarketEvent, market_history
from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.export import Form, export
from grandstand.storage.series.query import Window

if TYPE_CHECKING:
    import pyarrow as pa

DAY_US: Final = 86_400_000_000
_SERIES: Final = {series.name: series for series in SERIES}


class MarketHistory:
    """Queries of recorded markets, each in a thread; times are exchange times in microseconds.

    book = await gatherer.recordings.history.book("KXBTCD-26NOV1617-T97500", at_us)
    if not book.exact:
        print(book.doubt)
    """

    def __init__(self, engine: SeriesEngine, *, merged: bool = False) -> None:
        self._engine = engine
        self.books = BookHistory(engine, merged=merged)
        self.prices = prices.PriceHistory(engine, self.books)

    async def book(self, ticker: str, at_us: int | None = None) -> HistoricalBook:
        """Return the book at an instant, or after the last recorded change."""
        if at_us is None:
            return await asyncio.to_thread(self.books.latest, ticker)
        return await asyncio.to_thread(self.books.at, ticker, at_us)

    async def books_at(self, ticker: str, instants: Iterable[int]) -> tuple[HistoricalBook, ...]:
        """Return the books at many instants, in their order, for little more than one costs."""
        return await asyncio.to_thread(lambda: tuple(self.books.each(ticker, instants)))

    async def simulate_fill(
        self, ticker: str, order: Order, at_us: int | None = None
    ) -> tuple[HistoricalBook, Fill]:
        """Return the book at an instant, and how it would have filled an order.

        Raises InvalidOrder if its size or limit is not possible.
        """
        book = await self.book(ticker, at_us)
        return book, simulate_fill(book.book(), order)

    async def recent_trades(
        self, ticker: str, limit: int = 100, before_us: int | None = None
    ) -> tuple[Trade, ...]:
        """Return the newest trades, newest first."""
        return await asyncio.to_thread(self.prices.recent_trades, ticker, limit, before_us)

    async def volumes(
        self, now_us: int, limit: int = 100, *, period_us: int = DAY_US, blocks: bool = False
    ) -> tuple[prices.Volume, ...]:
        """Return the most traded markets of a period, without block trades by default."""
        start = now_us - period_us + 1
        return await asyncio.to_thread(self.prices.volumes, start, now_us + 1, limit, blocks=blocks)

    async def candles(
        self, ticker: str, start_us: int, end_us: int, interval_us: int
    ) -> tuple[prices.Candle, ...]:
        """Return the candles of a period.

        Raises TooManyPoints.
        """
        return await asyncio.to_thread(self.prices.candles, ticker, start_us, end_us, interval_us)

    async def depth(
        self, ticker: str, start_us: int, end_us: int, interval_us: int, *, within: int = DOLLAR
    ) -> tuple[prices.DepthPoint, ...]:
        """Return best prices and depth at regular instants.

        Raises TooManyPoints.
        """
        return await asyncio.to_thread(
            self.prices.depth, ticker, start_us, end_us, interval_us, within=within
        )

    async def events(self, ticker: str, limit: int = 100) -> tuple[MarketEvent, ...]:
        """Return the lifecycle events of a market or event, newest first."""
        window = market_history(ticker, limit)
        return await asyncio.to_thread(lambda: tuple(self._engine.read(window)))


@dataclass(frozen=True, slots=True)
class ExportRange:
    """A period of a series, of some markets or all."""

    series: str
    start_us: int
    end_us: int
    tickers: tuple[str, ...] = ()


class ExportService:
    """Exports series to Parquet or CSV files, or as Arrow tables."""

    def __init__(self, engine: SeriesEngine) -> None:
        self._engine = engine

    @staticmethod
    def names() -> Sequence[str]:
        """Return the names of all series."""
        return tuple(_SERIES)

    async def write(
        self,
        selection: ExportRange,
        path: Path,
        form: Form,
        *,
        force: bool = False,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Write a file and return its number of rows; `on_progress` gets the count so far.

        Raises InvalidInput for an unknown series, and ExportExists if the file exists unless
        `force` is set.
        """
        window = _window(selection)
        return await asyncio.to_thread(
            export, self._engine, window, path, form, force=force, on_progress=on_progress
        )

    async def table(self, selection: ExportRange) -> pa.Table:
        """Return an Arrow table in order of time; `polars.from_arrow` makes a frame of it."""
        return await asyncio.to_thread(self._engine.table, _window(selection))


def _window(selection: ExportRange) -> Window[Any]:
    series = _SERIES.get(selection.series)
    if series is None:
        names = ", ".join(_SERIES)
        raise InvalidInput(f"Unknown series {selection.series!r}. Use one of: {names}.")
    return Window(series, selection.start_us, selection.end_us, selection.tickers)


class Recordings:
    """The recordings in one store: of one gatherer, or `merged` from several."""

    def __init__(self, engine: SeriesEngine, *, merged: bool = False) -> None:
        self.history = MarketHistory(engine, merged=merged)
        self.exports = ExportService(engine)
        self.replay = ReplayService(engine, merged=merged)


@contextmanager
def open_merged(location: str, clock: Clock) -> Iterator[Recordings]:
    """Open merged recordings: a folder, or a PostgreSQL connection string.

    Raises InvalidLocation, and Unavailable if a server does not answer.
    """
    with closing(open_location(location, clock)) as engine:
        yield Recordings(engine, merged=True)
