"""Kept here: prices over time: recent trades, volumes, candles, spread and depth."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from grandstand.apps.gatherer.model.book import WHOLE, Ladder
from grandstand.apps.gatherer.service.asking.books import Books, Origin
from grandstand.apps.gatherer.service.asking.values import Candle, DepthPoint, Volume
from grandstand.apps.gatherer.store import OrderbookDelta, Trade
from grandstand.apps.gatherer.store.patterns import (
    LATEST,
    all_trades,
    recent_trades,
    trades_between,
)
from grandstand.base.errors import InvalidInput
from grandstand.storage.series.engines.protocol import SeriesEngine

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_POINTS: Final = 10_000
_MOST_LATE_US: Final = 60_000_000


class TooManyPoints(InvalidInput):
    """A stretch was to be cut into more pieces than anybody can look at."""


class Prices:
    """What the recorded trades and books say of prices over time."""

    def __init__(self, engine: SeriesEngine, books: Books) -> None:
        self._engine = engine
        self._books = books

    def recent(self, ticker: str, most: int = 100, before_us: int = LATEST) -> tuple[Trade, ...]:
        """Answer the newest trades of a market before a moment, newest first.

        Trades of one instant stand in the order of their receipt, as in `candles`.
        """
        found = self._engine.read(recent_trades(ticker, before_us, most))
        return tuple(sorted(found, key=_order, reverse=True))

    def volumes(
        self, start_us: int, end_us: int, most: int = 100, *, blocks: bool = False
    ) -> tuple[Volume, ...]:
        """Answer what was traded most, largest first; block trades only count when asked for.

        They are agreed away from the book, and would make its markets look livelier than they are.
        """
        sums: dict[str, list[int]] = {}
        for table in self._engine.tables(all_trades(start_us, end_us)):
            kept = table if blocks else table.filter(_no_block(table))
            tickers = kept["ticker"].cast("string")
            grouped = kept.set_column(0, "ticker_text", tickers).group_by("ticker_text")
            found = grouped.aggregate([("size", "sum"), ("size", "count")]).to_pylist()
            for row in found:
                total = sums.setdefault(row["ticker_text"], [0, 0])
                total[0] += row["size_count"]
                total[1] += row["size_sum"]
        ranked = sorted(sums.items(), key=lambda item: (-item[1][1], item[0]))
        return tuple(Volume(ticker, *total) for ticker, total in ranked[:most])

    def candles(
        self, ticker: str, start_us: int, end_us: int, every_us: int, *, blocks: bool = False
    ) -> tuple[Candle, ...]:
        """Answer the candles of a market that hold trades, oldest first.

        They begin at multiples of their length since 1970. Trades of one instant count in the
        order of their receipt. Raises TooManyPoints.
        """
        _check_points(start_us, end_us, every_us)
        trades = (
            trade
            for trade in self._engine.read(trades_between(ticker, start_us, end_us))
            if blocks or not trade.is_block
        )
        ordered = (
            each
            for _, same in groupby(trades, key=lambda trade: trade.exchange_ts)
            for each in sorted(same, key=_order)
        )
        return tuple(
            _candle(start, [*members])
            for start, members in groupby(
                ordered, key=lambda trade: trade.exchange_ts - trade.exchange_ts % every_us
            )
        )

    def depth(
        self, ticker: str, start_us: int, end_us: int, every_us: int, *, within: int = WHOLE
    ) -> tuple[DepthPoint, ...]:
        """Answer the top of a book from one instant to another, both included.

        Depths are sizes at most `within` hundred-thousandths from the best price. Instants before
        the first snapshot are left out. Raises TooManyPoints.
        """
        _check_points(start_us, end_us, every_us)
        base, _ = self._books.begun(ticker, start_us)
        instants = range(start_us, end_us + 1, every_us)
        if base is not None and base.at > start_us:
            # Of a market that was not followed yet there is no book, however still it was later.
            since = self._books.base(ticker, start_us + 1)
            first = base.at if since is None else start_us
            instants = range(
                start_us - (start_us - first) // every_us * every_us, end_us + 1, every_us
            )
        return tuple(_points(instants, self._steps(ticker, base, start_us, end_us), base, within))

    def _steps(
        self, ticker: str, base: Origin | None, start_us: int, end_us: int
    ) -> list[tuple[int, Origin | OrderbookDelta]]:
        """Answer bases and changes in the order of the store, each with its position."""
        since = start_us if base is None else base.at
        until = end_us + _MOST_LATE_US
        steps: list[tuple[int, Origin | OrderbookDelta]] = []
        first = base
        for at, snapshot in self._books.snapshots(ticker, since, until):
            if base is None or at > base.at:
                steps.append((at, snapshot))
                first = snapshot if base is None else base
        if first is not None:
            rows = self._books.changes(ticker, first, until, LATEST)
            steps.extend((self._books.position(row), row) for row in rows)
        return sorted(steps, key=lambda step: step[0])


def _no_block(table: object) -> object:
    import pyarrow.compute as pc

    return pc.invert(table["is_block"])  # type: ignore[index]


def _check_points(start_us: int, end_us: int, every_us: int) -> None:
    if every_us <= 0 or (end_us - start_us) // every_us > MOST_POINTS:
        message = f"That makes more than {MOST_POINTS} points: take a shorter stretch, longer steps"
        raise TooManyPoints(message)


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
    steps: Iterable[tuple[int, Origin | OrderbookDelta]],
    base: Origin | None,
    within: int,
) -> Iterator[DepthPoint]:
    """Answer a point an instant: the book before the first change that is later than it."""
    yes, no = Ladder(), Ladder()
    known = base is not None
    if base is not None:
        yes.replace(base.yes.items())
        no.replace(base.no.items())
    left = iter(instants)
    instant = next(left, None)
    for _, step in steps:
        if isinstance(step, Origin):
            while not known and instant is not None and instant < step.at:
                instant = next(left, None)
            yes.replace(step.yes.items())
            no.replace(step.no.items())
            known = True
            continue
        while instant is not None and step.exchange_ts > instant:
            if known:
                yield _point(instant, yes, no, within)
            instant = next(left, None)
        (yes if step.side else no).change(step.price, step.size_delta)
    while instant is not None:
        if known:
            yield _point(instant, yes, no, within)
        instant = next(left, None)


def _point(at_us: int, yes: Ladder, no: Ladder, within: int) -> DepthPoint:
    return DepthPoint(
        at_us=at_us,
        best_yes_bid=yes.best,
        best_yes_ask=None if no.best is None else WHOLE - no.best,
        bid_depth=_near(yes, within),
        ask_depth=_near(no, within),
    )


def _near(ladder: Ladder, within: int) -> int:
    best = ladder.best
    if best is None:
        return 0
    return sum(size for price, size in ladder.sizes.items() if best - price <= within)
