"""Any split, order and repetition of a stream is one set of rows, and any window a part of it."""

import itertools
from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.store import DELTAS, OrderbookDelta
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window
from tests.storage.series.contract.making import BASE, HOUR, delta

_names = itertools.count(1)
_moments = st.sampled_from([0, 1, 2, HOUR - 1, HOUR, HOUR + 1, 2 * HOUR])
DELTA = st.builds(
    delta,
    _moments,
    st.sampled_from(["AAA", "AAB", "é"]),
    st.sampled_from([-5, 0, 99_000]),
    size=st.sampled_from([-100, 100]),
    order=st.integers(0, 1),
)


def in_order(row: OrderbookDelta) -> tuple[object, ...]:
    return (row.exchange_ts, row.ticker, row.price, row.side, row.size_delta, row.ord)


@given(
    batches=st.lists(st.lists(DELTA, max_size=12), max_size=5),
    again=st.randoms(use_true_random=False),
    span=st.tuples(_moments, _moments),
    keys=st.lists(st.sampled_from(["AAA", "AAB", "é", "none"]), max_size=2),
    most=st.none() | st.integers(0, 9),
    newest=st.booleans(),
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_window_is_what_a_filter_of_all_rows_would_answer(
    engine: SeriesEngine,
    batches: list[list[OrderbookDelta]],
    again: Random,
    span: tuple[int, int],
    keys: list[str],
    most: int | None,
    newest: bool,  # noqa: FBT001
) -> None:
    series = replace(DELTAS, name=f"deltas_{next(_names)}", indexes=())
    engine.prepare(series)
    every = {row for batch in batches for row in batch}
    repeated = [*batches, *batches]
    again.shuffle(repeated)
    start, end = BASE + min(span), BASE + max(span)
    window = Window(series, start, end, tuple(keys), "newest" if newest else "oldest", most)

    added = sum(engine.append(series, batch) for batch in repeated)

    right = [
        row
        for row in sorted(every, key=in_order, reverse=newest)
        if start <= row.exchange_ts < end and (not keys or row.ticker in keys)
    ]
    assert added == len(every)
    assert [*engine.read(window)] == right[:most]
