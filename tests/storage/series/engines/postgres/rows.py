"""Rows of the gatherer's series for tests, and windows answered by looking at every row."""

import json
from collections.abc import Iterable, Sequence
from uuid import UUID

from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot, Trade
from grandstand.apps.gatherer.store import DELTAS
from grandstand.storage.series.query import Window

# The moment a manual clock starts at.
NOW = 1_767_225_600_000_000
HOUR = 3_600_000_000
DAY = 24 * HOUR


def delta(at: int = NOW, ticker: str = "A", size: int = 100, **rest: int) -> OrderbookDelta:
    return OrderbookDelta(at, at + 5, ticker, True, 52_000, size, seq=1, sid=2, **rest)  # type: ignore[arg-type]


def trade(number: int, at: int = NOW, ticker: str = "A", price: int = 52_000) -> Trade:
    return Trade(UUID(int=number), at, at + 7, ticker, price, 100 * number, taker_side=True)


def snapshot(at: int = NOW, ticker: str = "A") -> OrderbookSnapshot:
    empty, levels = "[]", json.dumps([[52_000, 100], [51_000, 250]])
    return OrderbookSnapshot(at, None, ticker, "ws", levels, empty, empty, empty, 52_000)


def identity(row: OrderbookDelta) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in DELTAS.identity)


def brute_force(
    rows: Iterable[OrderbookDelta], window: Window[OrderbookDelta]
) -> Sequence[OrderbookDelta]:
    """What a window must answer, found by looking at every row."""
    stored = {identity(row): row for row in reversed([*rows])}
    found = [
        row
        for key, row in sorted(stored.items(), reverse=window.order == "newest")
        if window.start <= row.exchange_ts < window.end
        and (not window.keys or row.ticker in window.keys)
    ]
    return found[: window.limit]


deltas = st.builds(
    OrderbookDelta,
    exchange_ts=st.integers(NOW - HOUR, NOW + HOUR).map(lambda at: at - at % 600_000_000),
    received_at=st.just(NOW),
    ticker=st.sampled_from(["A", "B", "a", "é", "KX-1"]),
    side=st.booleans(),
    price=st.sampled_from([0, 52_000, 100_000]),
    size_delta=st.sampled_from([-(2**40), -1, 100]),
    seq=st.just(None),
    sid=st.just(None),
    ord=st.integers(0, 2),
    gatherer=st.sampled_from([None, "g1"]),
    conn=st.just(None),
)
