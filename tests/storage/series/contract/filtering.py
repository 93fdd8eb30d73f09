"""Windows and bars answered by looking at every row, to hold the engines' answers against."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.apps.gatherer.store import DELTAS
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.query import Bar, Bars, Window
from tests.storage.series.contract.builders import BASE, HOUR, SECOND, delta

# Chunks of half a day: some of these are compressed by the next upkeep, and some are not yet.
HALF_DAY = 12 * HOUR
STREAM: Series[OrderbookDelta] = replace(
    DELTAS, name="stream", chunk=timedelta(hours=12), indexes=()
)
START = STREAM.chunk_of(BASE)
MOMENTS = st.sampled_from([0, 1, 2, SECOND, HALF_DAY - 1, HALF_DAY, HALF_DAY + 1, 2 * HALF_DAY])
TICKERS = ["AAA", "AAB", "a", "é"]
ROWS = st.builds(
    delta,
    MOMENTS.map(lambda moment: START - BASE + moment),
    st.sampled_from(TICKERS),
    st.sampled_from([-5, 0, 99_000]),
    size=st.sampled_from([-100, 100]),
    order=st.integers(0, 1),
)
EDGES = st.one_of(MOMENTS.map(lambda moment: START + moment), st.sampled_from([-(2**70), 2**70]))


def windows(series: Series[OrderbookDelta]) -> st.SearchStrategy[Window[OrderbookDelta]]:
    """Windows of every kind, some of them empty."""
    return st.builds(
        Window,
        series=st.just(series),
        start=EDGES,
        end=EDGES,
        keys=st.lists(st.sampled_from([*TICKERS, "none"]), max_size=3).map(tuple),
        order=st.sampled_from(["oldest", "newest"]),
        limit=st.none() | st.integers(0, 9),
    )


def identity(row: OrderbookDelta) -> tuple[object, ...]:
    """What makes a delta the same delta, led by the time."""
    return (row.exchange_ts, row.ticker, row.price, row.side, row.size_delta, row.ord)


def inside(
    rows: Iterable[OrderbookDelta], requested: Window[OrderbookDelta]
) -> list[OrderbookDelta]:
    """The rows a window must answer."""
    found = [
        row
        for row in sorted(set(rows), key=identity, reverse=requested.order == "newest")
        if requested.start <= row.exchange_ts < requested.end
        and (not requested.keys or row.ticker in requested.keys)
    ]
    return found[: requested.limit]


def in_buckets(rows: Iterable[OrderbookDelta], requested: Bars[OrderbookDelta]) -> list[Bar]:
    """The bars a window must answer."""
    buckets: dict[tuple[str, int], list[OrderbookDelta]] = {}
    for row in sorted(inside(rows, requested.window), key=identity):
        start = row.exchange_ts // requested.bucket_us * requested.bucket_us
        buckets.setdefault((row.ticker, start), []).append(row)
    return [_bar(*place, held, requested) for place, held in sorted(buckets.items())]


def _bar(key: str, start: int, held: list[OrderbookDelta], requested: Bars[OrderbookDelta]) -> Bar:
    values = [
        value for row in held if (value := getattr(row, requested.value or "", None)) is not None
    ]
    adding = [
        value for row in held if (value := getattr(row, requested.total or "", None)) is not None
    ]
    return Bar(
        key=key,
        start=start,
        count=len(held),
        total=sum(adding) if adding else None,
        open=values[0] if values else None,
        high=max(values, default=None),
        low=min(values, default=None),
        close=values[-1] if values else None,
    )
