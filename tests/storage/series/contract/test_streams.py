"""Any split, order and repetition of a stream is one set of rows, and any window a part of it."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Bars, Window
from tests.storage.series.contract.builders import SECOND
from tests.storage.series.contract.filtering import (
    HALF_DAY,
    ROWS,
    STREAM,
    in_buckets,
    inside,
    windows,
)

Act: TypeAlias = Literal["append", "restart", "upkeep"]
Script: TypeAlias = list[tuple[Act, list[OrderbookDelta]]]

_numbers = itertools.count(1)
_examples = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
EVERYTHING = Window(STREAM, -(2**70), 2**70)


@dataclass(slots=True)
class Writer:
    """One program that appends, stops and starts again, and keeps the series in order."""

    another: Callable[[], SeriesEngine]
    series: Series[OrderbookDelta]
    added: int = 0
    failures: list[Exception] = field(default_factory=list)

    def run(self, script: Script, start: threading.Barrier) -> None:
        engine = self.another()
        start.wait()
        try:
            for act, rows in script:
                engine = getattr(self, f"_{act}")(engine, rows)
        except Exception as failure:  # noqa: BLE001 - any failure at all is what is looked for
            self.failures.append(failure)
        engine.close()

    def _append(self, engine: SeriesEngine, rows: list[OrderbookDelta]) -> SeriesEngine:
        self.added += engine.append(self.series, rows)
        return engine

    def _restart(self, engine: SeriesEngine, _rows: list[OrderbookDelta]) -> SeriesEngine:
        engine.close()
        engine = self.another()
        engine.prepare(self.series)
        return engine

    def _upkeep(self, engine: SeriesEngine, _rows: list[OrderbookDelta]) -> SeriesEngine:
        engine.upkeep(self.series)
        return engine


def named(engine: SeriesEngine) -> Series[OrderbookDelta]:
    """A series without rows."""
    series = replace(STREAM, name=f"stream_{next(_numbers)}")
    engine.prepare(series)
    return series


def _script(batches: list[list[OrderbookDelta]]) -> st.SearchStrategy[Script]:
    appends: Script = [("append", batch) for batch in batches]
    acts: Script = [("restart", []), ("upkeep", [])]
    others = st.lists(st.sampled_from(acts), max_size=3)
    return others.flatmap(lambda drawn: st.permutations([*appends, *drawn]))


@st.composite
def scripts(draw: st.DrawFn) -> tuple[set[OrderbookDelta], list[Script]]:
    """What three writers of one stream do: each row is given to one of them at least."""
    batches = draw(st.lists(st.lists(ROWS, max_size=12), max_size=6))
    parts = [
        [*batches[writer::3], *draw(st.lists(st.sampled_from(batches or [[]]), max_size=2))]
        for writer in range(3)
    ]
    every = {row for batch in batches for row in batch}
    return every, [draw(_script(part)) for part in parts]


@given(drawn=scripts())
@_examples
def test_three_writers_their_restarts_and_upkeep_make_one_set_of_rows(
    another: Callable[[], SeriesEngine], drawn: tuple[set[OrderbookDelta], list[Script]]
) -> None:
    every, programs = drawn
    engine = another()
    series = named(engine)
    writers = [Writer(another, series) for _ in programs]
    start = threading.Barrier(len(programs))
    threads = [
        threading.Thread(target=writer.run, args=(script, start))
        for writer, script in zip(writers, programs, strict=True)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    whole = replace(EVERYTHING, series=series)
    found = [*engine.read(whole)]
    engine.close()
    assert [failure for writer in writers for failure in writer.failures] == []
    assert found == inside(every, whole)
    assert sum(writer.added for writer in writers) == len(every)


@given(
    first=st.lists(ROWS, max_size=25),
    late=st.lists(ROWS, max_size=10),
    requested=st.lists(windows(STREAM), min_size=1, max_size=6),
)
@_examples
def test_every_window_is_what_a_filter_of_all_rows_would_answer(
    engine: SeriesEngine,
    first: list[OrderbookDelta],
    late: list[OrderbookDelta],
    requested: list[Window[OrderbookDelta]],
) -> None:
    series = named(engine)
    ours = [replace(window, series=series) for window in requested]
    engine.append(series, first)
    engine.upkeep(series)
    added = engine.append(series, late)

    before = [[*engine.read(window)] for window in ours]
    engine.upkeep(series)
    after = [[*engine.read(window)] for window in ours]

    right = [inside([*first, *late], window) for window in ours]
    assert (before, after) == (right, right)
    assert added == len({*late} - {*first})


@given(
    first=st.lists(ROWS, max_size=25),
    late=st.lists(ROWS, max_size=10),
    requested=st.lists(windows(STREAM), min_size=1, max_size=4),
)
@_examples
def test_every_window_is_the_same_as_a_table_as_tables_and_in_any_order(
    engine: SeriesEngine,
    first: list[OrderbookDelta],
    late: list[OrderbookDelta],
    requested: list[Window[OrderbookDelta]],
) -> None:
    series = named(engine)
    ours = [replace(window, series=series) for window in requested]
    loose = [replace(window, order="any", limit=None) for window in ours]
    engine.append(series, first)
    engine.upkeep(series)
    engine.append(series, late)

    table = [engine.table(window).to_pylist() for window in ours]
    tables = [[*engine.tables(window)] for window in ours]
    any_order = [Counter(engine.read(window)) for window in loose]
    any_tables = [sum(one.num_rows for one in engine.tables(window)) for window in loose]

    right = [[row._asdict() for row in engine.read(window)] for window in ours]
    assert table == right
    assert [[row for one in several for row in one.to_pylist()] for several in tables] == right
    assert all(one.num_rows for several in tables for one in several)
    assert any_order == [Counter(inside([*first, *late], window)) for window in loose]
    assert any_tables == [len(inside([*first, *late], window)) for window in loose]


@given(
    rows=st.lists(ROWS, max_size=30),
    window=windows(STREAM),
    bucket_us=st.sampled_from([1, 2, SECOND, 7 * HALF_DAY // 3, HALF_DAY, 2**50]),
    value=st.sampled_from([None, "price", "seq", "size_delta"]),
    total=st.sampled_from([None, "size_delta", "seq", "received_at"]),
)
@_examples
def test_bars_are_what_counting_all_rows_would_answer(
    engine: SeriesEngine,
    rows: list[OrderbookDelta],
    window: Window[OrderbookDelta],
    bucket_us: int,
    value: str | None,
    total: str | None,
) -> None:
    series = named(engine)
    requested = Bars(replace(window, series=series), bucket_us, value, total)
    engine.append(series, rows[::2])
    engine.upkeep(series)
    engine.append(series, rows[1::2])

    found = [*engine.bars(requested)]

    assert found == in_buckets(rows, requested)


@given(rows=st.lists(ROWS, max_size=20), limit=st.integers(0, 12))
@_examples
def test_any_few_rows_are_rows_of_the_window_each_once(
    engine: SeriesEngine, rows: list[OrderbookDelta], limit: int
) -> None:
    series = named(engine)
    engine.append(series, rows)
    engine.upkeep(series)

    found = [*engine.read(replace(EVERYTHING, series=series, order="any", limit=limit))]

    assert len(found) == len({*found}) == min(limit, len({*rows}))
    assert {*found} <= {*rows}
