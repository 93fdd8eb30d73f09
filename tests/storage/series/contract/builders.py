"""Rows for the tests of the contract, around two days ago so that upkeep may compress them."""

from uuid import UUID

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, Trade
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import SystemClock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.query import Window

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
NOW = int(SystemClock().epoch()) * SECOND
BASE = DELTAS.chunk_of(NOW - 2 * DAY)


def delta(
    after_us: int, ticker: str = "AAA", price: int = 50_000, *, size: int = 100, order: int = 0
) -> OrderbookDelta:
    """Make a delta so long after the base; what is not identity follows from what is."""
    return OrderbookDelta(
        exchange_ts=BASE + after_us,
        received_at=BASE + after_us + price,
        ticker=ticker,
        side=size > 0,
        price=price,
        size_delta=size,
        seq=after_us % 7 or None,
        ord=order,
    )


def trade(number: int, after_us: int = 0, ticker: str = "AAA") -> Trade:
    """Make a trade whose identifier is that number."""
    return Trade(
        trade_id=UUID(int=number),
        exchange_ts=BASE + after_us,
        received_at=BASE + after_us + 5,
        ticker=ticker,
        price=number % 100 * 1000,
        size=number % 1000 + 1,
        taker_side=number % 2 == 0,
    )


def all_deltas(series: Series[OrderbookDelta] = DELTAS) -> Window[OrderbookDelta]:
    """Ask for every delta."""
    return Window(series, BASE - DAY, NOW + DAY)
