"""A window answers its rows in order, from either end, as rows or as a table."""

from itertools import product

import polars as pl
import pyarrow as pa
import pytest

from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS, TRADES
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Order, Window
from tests.storage.series.contract.builders import (
    BASE,
    DAY,
    HOUR,
    NOW,
    SECOND,
    all_deltas,
    delta,
    trade,
)

ROWS = sorted(
    (
        delta(at, ticker, price)
        for at, ticker, price in product(
            (0, 1, 5, HOUR - 1, HOUR, 3 * HOUR), ("AAA", "BBB", "ZÉ"), (-1000, 2000)
        )
    ),
    key=lambda row: (row.exchange_ts, row.ticker, row.price),
)


def filled(engine: SeriesEngine) -> SeriesEngine:
    engine.prepare(DELTAS)
    engine.append(DELTAS, ROWS[::-1])
    return engine


def test_a_window_begins_at_its_start_and_ends_before_its_end(engine: SeriesEngine) -> None:
    window = Window(DELTAS, BASE + 1, BASE + HOUR)

    found = [*filled(engine).read(window)]

    assert found == [row for row in ROWS if BASE + 1 <= row.exchange_ts < BASE + HOUR]


@pytest.mark.parametrize("keys", [("AAA",), ("ZÉ", "BBB"), ("AAA", "AAA"), ("nobody",)])
def test_a_window_is_of_some_keys(engine: SeriesEngine, keys: tuple[str, ...]) -> None:
    window = Window(DELTAS, BASE, NOW, keys=keys)

    found = [*filled(engine).read(window)]

    assert found == [row for row in ROWS if row.ticker in keys]


@pytest.mark.parametrize("limit", [0, 1, 7, 13, 1000])
def test_the_newest_come_first_when_asked_so(engine: SeriesEngine, limit: int) -> None:
    window = Window(DELTAS, BASE, NOW, order="newest", limit=limit)

    found = [*filled(engine).read(window)]

    assert found == ROWS[::-1][:limit]


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_a_table_has_the_rows_of_the_window(engine: SeriesEngine, order: Order) -> None:
    window = Window(DELTAS, BASE, NOW, keys=("BBB",), order=order, limit=5)

    table = filled(engine).table(window)

    assert table.column_names == list(DELTAS.fields)
    assert [OrderbookDelta(**row) for row in table.to_pylist()] == [*engine.read(window)]
    assert pl.from_arrow(table).shape == (5, 11)


def test_a_table_has_the_same_types_from_every_engine(engine: SeriesEngine) -> None:
    engine.prepare(SNAPSHOTS)
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(1)])

    books = engine.table(Window(SNAPSHOTS, BASE, NOW))
    trades = engine.table(Window(TRADES, BASE, NOW))

    text = pa.dictionary(pa.int32(), pa.string())
    assert [books.schema.field(name).type for name in ("source", "yes_bids", "spread")] == [
        text,
        pa.string(),
        pa.int32(),
    ]
    assert [trades.schema.field(name).type for name in ("trade_id", "ticker", "is_block")] == [
        pa.binary(16),
        text,
        pa.bool_(),
    ]
    assert not trades.schema.field("size").nullable
    assert trades.schema.field("sid").nullable


def test_an_empty_window_is_an_empty_table_with_the_same_columns(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)

    table = engine.table(all_deltas())

    assert table.num_rows == 0
    assert table.column_names == list(DELTAS.fields)


def test_rows_of_one_moment_come_in_the_order_of_their_uuid(engine: SeriesEngine) -> None:
    engine.prepare(TRADES)
    numbers = [2**127, 1, 2**64, 255, 256]
    engine.append(TRADES, [trade(number) for number in numbers])

    found = [row.trade_id.int for row in engine.read(Window(TRADES, BASE, BASE + 1))]

    assert found == sorted(numbers)


def test_the_widest_window_is_the_whole_series(engine: SeriesEngine) -> None:
    window = Window(DELTAS, -(2**80), 2**80)

    found = [*filled(engine).read(window)]

    assert found == ROWS


def test_upkeep_changes_no_row(engine: SeriesEngine) -> None:
    filled(engine).upkeep(DELTAS)
    engine.append(DELTAS, [*ROWS, delta(2)])

    engine.upkeep(DELTAS)

    assert sorted(engine.read(all_deltas())) == sorted([*ROWS, delta(2)])


def test_the_status_counts_rows_and_shows_gaps(engine: SeriesEngine) -> None:
    status = filled(engine).status(DELTAS)

    assert status.name == DELTAS.name
    assert [(chunk.start, chunk.rows) for chunk in status.chunks if chunk.rows] == [
        (BASE, 24),
        (BASE + HOUR, 6),
        (BASE + 3 * HOUR, 6),
    ]
    assert status.gaps == ((BASE + 2 * HOUR, BASE + 3 * HOUR),)
    assert all(chunk.size_bytes for chunk in status.chunks if chunk.rows)


def test_a_series_without_rows_has_no_gaps(engine: SeriesEngine) -> None:
    engine.prepare(TRADES)

    status = engine.status(TRADES)

    assert sum(chunk.rows for chunk in status.chunks) == 0
    assert status.gaps == ()


def test_a_reader_that_stops_early_leaves_nothing_behind(engine: SeriesEngine) -> None:
    rows = filled(engine).read(Window(DELTAS, BASE, BASE + DAY))
    first = next(rows)

    rows.close()  # type: ignore[attr-defined]

    assert first == ROWS[0]
    assert engine.append(DELTAS, [delta(SECOND)]) == 1
