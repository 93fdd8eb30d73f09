"""Recorded prices over time: trades, volumes, candles, spread and depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, ClassVar, Final

from pydantic import Field

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.messages import Time
from grandstand.apps.gatherer.domain.order_book import DOLLAR, BookSide, Price, Size
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, Trade
from grandstand.apps.gatherer.services.queries.books import BookBase, BookHistory
from grandstand.core.errors import InvalidInput
from grandstand.storage.series.engines.protocol import SeriesEngine

MAX_POINTS: Final = 10_000
_MAX_DELAY_US: Final = 60_000_000


class TooManyPoints(InvalidInput):
    """A query would return too many points."""

    code: ClassVar[str] = "too-many-points"


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """Best prices and depth of a book at an instant.

    Depths are sizes within a range of the best price, of the yes bids and the yes asks.
    """

    at_us: Annotated[Time, Field(serialization_alias="at")]
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None
    bid_depth: Size
    ask_depth: Size


@dataclass(frozen=True, slots=True)
class Volume:
    """The number and total size of the trades of a market."""

    ticker: str
    trades: int
    size: Size


@dataclass(frozen=True, slots=True)
class Candle:
    """A candle of trades."""

    start_us: Annotated[Time, Field(serialization_alias="start")]
    open: Price
    high: Price
    low: Price
    close: Price
    trades: int
    size: Size


class PriceHistory:
    """Queries of recorded trades and depths."""

    def __init__(self, engine: SeriesEngine, books: BookHistory) -> None:
        self._engine = engine
        self._books = books

    def recent_trades(
        self, ticker: str, limit: int = 100, before_us: int | None = None
    ) -> tuple[Trade, ...]:
        """Return the newest trades before a time, newest first.

        Trades of one instant are in the order of receipt, as in `candles`.
        """
        end = store.LATEST if before_us is None else before_us
        trades = self._engine.read(store.recent_trades(ticker, end, limit))
        return tuple(sorted(trades, key=_order, reverse=True))

    def volumes(
        self, start_us: int, end_us: int, limit: int = 100, *, blocks: bool = False
    ) -> tuple[Volume, ...]:
        """Return the most traded markets, largest first.

        Block trades are agreed away from the book and count only with `blocks`.
        """
        import pyarrow.compute as pc

        sums: dict[str, list[int]] = {}
        for table in self._engine.tables(store.all_trades(start_us, end_us)):
            trades = table if blocks else table.filter(pc.invert(table["is_block"]))
            tickers = trades["ticker"].cast("string")
            grouped = trades.set_column(0, "ticker_text", tickers).group_by("ticker_text")
            for row in grouped.aggregate([("size", "sum"), ("size", "count")]).to_pylist():
                total = sums.setdefault(row["ticker_text"], [0, 0])
                total[0] += row["size_count"]
                total[1] += row["size_sum"]
        ranked = sorted(sums.items(), key=lambda item: (-item[1][1], item[0]))
        return tuple(Volume(ticker, *total) for ticker, total in ranked[:limit])

    def candles(
        self, ticker: str, start_us: int, end_us: int, interval_us: int, *, blocks: bool = False
    ) -> tuple[Candle, ...]:
        """Return the candles that contain trades, oldest first.

        They start at multiples of the interval since 1970. Trades of one instant are in the order
        of receipt. Raises TooManyPoints.
        """
        _check_points(start_us, end_us, interval_us)
        trades = (
            trade
            for trade in self._engine.read(store.trades_between(ticker, start_us, end_us))
            if blocks or not trade.is_block
        )
        ordered = (
            trade
            for _, same_instant in groupby(trades, key=lambda trade: trade.exchange_ts)
            for trade in sorted(same_instant, key=_order)
        )
        return tuple(
            _candle(start, [*members])
            for start, members in groupby(
                ordered, key=lambda trade: trade.exchange_ts - trade.exchange_ts % interval_us
            )
        )

    def depth(
        self, ticker: str, start_us: int, end_us: int, interval_us: int, *, within: int = DOLLAR
    ) -> tuple[DepthPoint, ...]:
        """Return best prices and depth at regular instants, both ends included.

        Depths count levels at most `within` hundred-thousandths from the best price. Instants
        before the first snapshot are left out. Raises TooManyPoints.
        """
        _check_points(start_us, end_us, interval_us)
        base, _ = self._books.base_for(ticker, start_us)
        instants = range(start_us, end_us + 1, interval_us)
        if base is not None and base.at > start_us:
            # There is no book before a market was followed, even if it did not change until then.
            since = self._books.base(ticker, start_us + 1)
            first = base.at if since is None else start_us
            instants = range(
                start_us - (start_us - first) // interval_us * interval_us, end_us + 1, interval_us
            )
        return tuple(_points(instants, self._steps(ticker, base, start_us, end_us), base, within))

    def _steps(
        self, ticker: str, base: BookBase | None, start_us: int, end_us: int
    ) -> list[tuple[int, BookBase | OrderbookDelta]]:
        """Return bases and deltas in the order of the store, each with its position."""
        since = start_us if base is None else base.at
        until = end_us + _MAX_DELAY_US
        steps: list[tuple[int, BookBase | OrderbookDelta]] = []
        first = base
        for at, snapshot in self._books.snapshots(ticker, since, until):
            if base is None or at > base.at:
                steps.append((at, snapshot))
                first = snapshot if base is None else base
        if first is not None:
            rows = self._books.deltas_after(ticker, first, until, store.LATEST)
            steps.extend((self._books.position(row), row) for row in rows)
        return sorted(steps, key=lambda step: step[0])


def _check_points(start_us: int, end_us: int, interval_us: int) -> None:
    if interval_us <= 0 or (end_us - start_us) // interval_us > MAX_POINTS:
        raise TooManyPoints(
            f"More than {MAX_POINTS} points. Use a shorter period or a longer interval."
        )


def _order(trade: Trade) -> tuple[int, int]:
    return trade.exchange_ts, trade.received_at


def _candle(start: int, trades: list[Trade]) -> Candle:
    prices = [trade.price for trade in trades]
    return Candle(
        start_us=start,
        open=prices[0],
        high=max(prices),
        low=min(prices),
        close=prices[-1],
        trades=len(prices),
        size=sum(trade.size for trade in trades),
    )


def _points(
    instants: range,
    steps: Iterable[tuple[int, BookBase | OrderbookDelta]],
    base: BookBase | None,
    within: int,
) -> Iterator[DepthPoint]:
    """Yield a point per instant: the book before the first later delta."""
    yes, no = BookSide(), BookSide()
    known = base is not None
    if base is not None:
        yes.replace(base.yes.items())
        no.replace(base.no.items())
    remaining = iter(instants)
    instant = next(remaining, None)
    for _, step in steps:
        if isinstance(step, BookBase):
            while not known and instant is not None and instant < step.at:
                instant = next(remaining, None)
            yes.replace(step.yes.items())
            no.replace(step.no.items())
            known = True
            continue
        while instant is not None and step.exchange_ts > instant:
            if known:
                yield _point(instant, yes, no, within)
            instant = next(remaining, None)
        (yes if step.side else no).change(step.price, step.size_delta)
    while instant is not None:
        if known:
            yield _point(instant, yes, no, within)
        instant = next(remaining, None)


def _point(at_us: int, yes: BookSide, no: BookSide, within: int) -> DepthPoint:
    ask = None if no.best is None else DOLLAR - no.best
    return DepthPoint(
        at_us=at_us,
        best_yes_bid=yes.best,
        best_yes_ask=ask,
        spread=None if ask is None or yes.best is None else ask - yes.best,
        bid_depth=_depth(yes, within),
        ask_depth=_depth(no, within),
    )


def _depth(side: BookSide, within: int) -> int:
    best = side.best
    if best is None:
        return 0
    return sum(size for price, size in side.sizes.items() if best - price <= within)
