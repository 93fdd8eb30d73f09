"""Windows written to Parquet and CSV from every engine, whole or not at all."""

import csv
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from grandstand.apps.gatherer.domain.rows import OrderbookSnapshot
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS, TRADES
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.export import ExportExists, export
from grandstand.storage.series.query import Window
from tests.storage.series.contract.builders import BASE, HOUR, all_deltas, delta, trade

ROWS = [delta(number % 5 * HOUR + number, f"T{number % 7}", size=number) for number in range(500)]
WINDOW = all_deltas()


@pytest.fixture
def filled(engine: SeriesEngine) -> SeriesEngine:
    """An engine with deltas over several chunks, some of them compressed."""
    engine.prepare(DELTAS)
    engine.append(DELTAS, ROWS[:300])
    engine.upkeep(DELTAS)
    engine.append(DELTAS, ROWS[300:])
    return engine


def test_parquet_holds_the_rows_of_the_window_in_order(
    filled: SeriesEngine, tmp_path: Path
) -> None:
    events: list[int] = []

    rows = export(filled, WINDOW, tmp_path / "d.parquet", "parquet", on_progress=events.append)

    table = pq.read_table(tmp_path / "d.parquet")
    assert rows == events[-1] == 500
    assert [DELTAS.row(**row) for row in table.to_pylist()] == [*filled.read(WINDOW)]
    assert pl.read_parquet(tmp_path / "d.parquet").height == 500
    assert str(table.schema.field("ticker").type) == "string"


def test_csv_holds_the_rows_of_the_keys_and_times_asked_for(
    filled: SeriesEngine, tmp_path: Path
) -> None:
    window = replace(WINDOW, start=BASE + HOUR, end=BASE + 3 * HOUR, keys=("T1", "T2"))

    rows = export(filled, window, tmp_path / "d.csv", "csv")

    expected = [*filled.read(window)]
    with (tmp_path / "d.csv").open(newline="") as file:
        found = [*csv.DictReader(file)]
    assert rows == len(expected) > 10
    assert [(int(row["exchange_ts"]), row["ticker"], row["seq"]) for row in found] == [
        (row.exchange_ts, row.ticker, "" if row.seq is None else str(row.seq)) for row in expected
    ]


def test_uuids_and_documents_are_readable_in_csv(engine: SeriesEngine, tmp_path: Path) -> None:
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(7)])
    engine.prepare(SNAPSHOTS)
    quoted = '[["a, \\"b\\"", 1]]'
    engine.append(
        SNAPSHOTS, [OrderbookSnapshot(BASE, None, "é,\n", "", quoted, "[]", "[]", "[]", spread=-1)]
    )

    export(engine, Window(TRADES, 0, 2**62), tmp_path / "t.csv", "csv")
    export(engine, Window(SNAPSHOTS, 0, 2**62), tmp_path / "s.csv", "csv")

    with (tmp_path / "t.csv").open(newline="") as file:
        [traded] = csv.DictReader(file)
    with (tmp_path / "s.csv").open(newline="", encoding="utf-8") as file:
        [seen] = csv.DictReader(file)
    assert traded["trade_id"] == "00000000-0000-0000-0000-000000000007"
    assert (traded["taker_side"], traded["gatherer"]) == ("false", "")
    assert (seen["ticker"], seen["yes_bids"], seen["spread"]) == ("é,\n", quoted, "-1")


def test_a_window_without_rows_gives_a_file_with_columns_only(
    engine: SeriesEngine, tmp_path: Path
) -> None:
    engine.prepare(DELTAS)

    rows = [
        export(engine, WINDOW, tmp_path / "e.parquet", "parquet"),
        export(engine, WINDOW, tmp_path / "e.csv", "csv"),
    ]

    assert rows == [0, 0]
    assert tuple(pl.read_parquet(tmp_path / "e.parquet").columns) == DELTAS.fields
    assert tuple(pl.read_csv(tmp_path / "e.csv").columns) == DELTAS.fields


def test_a_file_that_is_there_is_only_replaced_by_force(
    filled: SeriesEngine, tmp_path: Path
) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("mine")

    with pytest.raises(ExportExists, match="--force"):
        export(filled, WINDOW, path, "csv")
    before = path.read_text()
    export(filled, WINDOW, path, "csv", force=True)

    assert before == "mine"
    assert path.read_text().count("\n") == 501


def test_an_export_that_breaks_off_leaves_nothing_behind(
    filled: SeriesEngine, tmp_path: Path
) -> None:
    path = tmp_path / "kept.parquet"
    path.write_text("mine")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(filled, WINDOW, path, "parquet", force=True, on_progress=interrupt)

    assert path.read_text() == "mine"
    assert [*tmp_path.glob("*unfinished*")] == []


def test_a_folder_that_is_not_there_is_told(filled: SeriesEngine, tmp_path: Path) -> None:
    with pytest.raises(SeriesUnavailable, match="cannot be written"):
        export(filled, WINDOW, tmp_path / "none" / "d.csv", "csv")
