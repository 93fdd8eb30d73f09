"""Windows, bars, Arrow tables and the status of a series on a server."""

import subprocess
import sys
from collections.abc import Callable
from itertools import islice

import polars as pl
import psycopg
import pytest

from grandstand.apps.gatherer.domain.rows import Ticker
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS, TICKERS, TRADES
from grandstand.core.errors import NotFound
from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.query import Bar, Bars, Window
from tests.storage.series.contract.schema_changes import MARKS
from tests.storage.series.engines.postgres.rows import DAY, HOUR, NOW, delta, snapshot, trade

DELTA_WINDOW = Window(DELTAS, NOW, NOW + DAY)


def test_a_long_window_is_streamed_while_rows_are_added(engine: PostgresEngine) -> None:
    engine.prepare(DELTAS)
    rows = [delta(NOW + number) for number in range(5_000)]
    engine.append(DELTAS, rows)

    reading = engine.read(DELTA_WINDOW)
    begun = [*islice(reading, 10)]
    added = engine.append(DELTAS, [delta(NOW + HOUR - 1)])
    ended = [*reading]

    assert added == 1
    assert begun + ended == rows


def test_a_reading_given_up_frees_its_connection(
    engine: PostgresEngine, look: psycopg.Connection[tuple[object, ...]], schema: str
) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(NOW + number) for number in range(5_000)])

    for _ in range(5):
        reading = engine.read(DELTA_WINDOW)
        next(reading)
        del reading

    busy = look.execute(
        "SELECT count(*), count(*) FILTER (WHERE state = 'idle in transaction') "
        "FROM pg_stat_activity WHERE application_name = %s",
        (schema,),
    ).fetchone()
    assert busy == (1, 0)


@pytest.mark.parametrize("way", ["read", "tables"])
def test_half_a_million_rows_are_read_in_a_few_megabytes(
    engine: PostgresEngine,
    look: psycopg.Connection[tuple[object, ...]],
    postgres_dsn: str,
    schema: str,
    way: str,
) -> None:
    engine.prepare(MARKS)
    look.execute(
        "INSERT INTO marks SELECT %s::bigint + at, 'place ' || at, at, repeat('note', 10) "
        "FROM generate_series(1, 500000) AS at",
        (NOW,),
    )

    program = "tests.storage.series.engines.postgres.reader"
    said = subprocess.run(
        [sys.executable, "-m", program, postgres_dsn, schema, way],
        capture_output=True,
        text=True,
        check=True,
    )

    rows, grown_kb = map(int, said.stdout.split())
    assert rows == 500_000
    assert grown_kb < 24 * 1024


def test_a_series_that_was_not_prepared_is_not_found(engine: PostgresEngine) -> None:
    with pytest.raises(NotFound, match="Prepare it first"):
        next(engine.read(DELTA_WINDOW))


def test_a_closed_engine_says_so(engine: PostgresEngine) -> None:
    engine.close()
    engine.close()

    with pytest.raises(SeriesUnavailable, match="closed"):
        engine.prepare(DELTAS)


def test_bars_open_and_close_by_time_then_identity(engine: PostgresEngine) -> None:
    engine.prepare(TRADES)
    engine.append(
        TRADES,
        [
            trade(3, NOW, price=30),
            trade(1, NOW, price=10),
            trade(2, NOW + 5, price=50),
            trade(4, NOW + 5, price=20),
            trade(5, NOW + HOUR, price=7),
            trade(6, NOW, "B", price=1),
        ],
    )

    bars = [*engine.bars(Bars(Window(TRADES, NOW, NOW + DAY), HOUR, "price", "size"))]

    assert bars == [
        Bar("A", NOW, 4, 1_000, 10, 50, 10, 20),
        Bar("A", NOW + HOUR, 1, 500, 7, 7, 7, 7),
        Bar("B", NOW, 1, 600, 1, 1, 1, 1),
    ]


def test_bars_before_1970_begin_before_their_rows(engine: PostgresEngine) -> None:
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(1, -1)])

    bars = [*engine.bars(Bars(Window(TRADES, -DAY, 0), HOUR))]

    assert bars == [Bar("A", -HOUR, 1, None, None, None, None, None)]


def test_rows_without_a_value_are_counted_and_give_no_price(engine: PostgresEngine) -> None:
    engine.prepare(TICKERS)
    bids = [None, 5, 9, None]
    engine.append(TICKERS, [Ticker(NOW + at, NOW, "A", bid) for at, bid in enumerate(bids)])

    bars = [*engine.bars(Bars(Window(TICKERS, NOW, NOW + DAY), HOUR, "yes_bid", "volume"))]

    assert bars == [Bar("A", NOW, 4, None, 5, 9, 5, 9)]


def test_bars_of_the_newest_rows_leave_out_the_others(engine: PostgresEngine) -> None:
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(number, NOW + number) for number in range(1, 5)])

    window = Window(TRADES, NOW, NOW + DAY, order="newest", limit=2)

    assert [*engine.bars(Bars(window, HOUR, total="size"))] == [
        Bar("A", NOW, 2, 700, None, None, None, None)
    ]


@pytest.mark.parametrize(
    ("bucket", "value"), [(0, "price"), (HOUR, "ticker"), (HOUR, "price; DROP TABLE trades")]
)
def test_bars_of_what_is_no_number_are_refused(
    engine: PostgresEngine, bucket: int, value: str
) -> None:
    with pytest.raises(SeriesFault):
        next(engine.bars(Bars(Window(TRADES, NOW, NOW + DAY), bucket, value)))


def test_a_window_is_had_as_an_arrow_table_and_a_frame(engine: PostgresEngine) -> None:
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(2), trade(1)])

    table = engine.table(Window(TRADES, NOW, NOW + 1))

    assert table.column_names == [*TRADES.fields]
    assert [str(table.schema.field(name).type) for name in ("trade_id", "price", "size")] == [
        "fixed_size_binary[16]",
        "int32",
        "int64",
    ]
    assert table["trade_id"].to_pylist() == [trade(1).trade_id.bytes, trade(2).trade_id.bytes]
    assert pl.DataFrame(table)["size"].to_list() == [100, 200]


def test_an_empty_window_is_a_table_with_the_same_columns(engine: PostgresEngine) -> None:
    engine.prepare(SNAPSHOTS)
    engine.append(SNAPSHOTS, [snapshot()])

    full, empty = (engine.table(Window(SNAPSHOTS, at, at + 1)) for at in (NOW, NOW + 1))

    assert (full.num_rows, empty.num_rows) == (1, 0)
    assert full.schema == empty.schema


def test_the_status_tells_of_chunks_with_rows_and_of_gaps(engine: PostgresEngine) -> None:
    engine.prepare(DELTAS)
    times = [NOW - 5 * HOUR, NOW - 4 * HOUR, NOW - 4 * HOUR + 1, NOW - HOUR, NOW, NOW + HOUR]
    engine.append(DELTAS, [delta(at) for at in times])

    events = engine.status(DELTAS)

    assert [(chunk.start, chunk.end, chunk.state, chunk.rows) for chunk in events.chunks] == [
        (NOW - 5 * HOUR, NOW - 4 * HOUR, "closed", 1),
        (NOW - 4 * HOUR, NOW - 3 * HOUR, "closed", 2),
        (NOW - HOUR, NOW, "closed", 1),
        (NOW, NOW + HOUR, "open", 1),
        (NOW + HOUR, NOW + 2 * HOUR, "open", 1),
    ]
    assert min(chunk.size_bytes for chunk in events.chunks) > 0
    assert events.gaps == ((NOW - 3 * HOUR, NOW - HOUR),)


def test_a_series_without_rows_has_no_chunks(another: Callable[[], PostgresEngine]) -> None:
    engine = another()
    engine.prepare(DELTAS)

    events = engine.status(DELTAS)

    assert (events.chunks, events.gaps) == ((), ())
