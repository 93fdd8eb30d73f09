"""Chunks are closed, compressed, merged with late rows and dropped, and rows stay the same."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.errors import SeriesDamaged
from grandstand.storage.series.query import Upkeep, Window
from tests.storage.series.engines.chunks.builders import (
    DAY,
    EVERY,
    HOUR,
    SECOND,
    TICKS,
    clock_at,
    names,
    opened,
    tick,
)

ROWS = [
    tick(at, who, price)
    for at in range(0, 2 * HOUR, HOUR // 10)
    for who in "ab"
    for price in (1, 2)
]


def test_a_chunk_that_is_over_gets_its_index_and_keeps_its_rows(tmp_path: Path) -> None:
    with opened(tmp_path, HOUR + 61 * SECOND) as engine:
        engine.append(TICKS, ROWS)

        done = engine.upkeep(TICKS)

        assert done == Upkeep(closed=1)
        assert [chunk.state for chunk in engine.status(TICKS).chunks] == ["closed", "open"]
        assert [*engine.read(EVERY)] == ROWS
        assert engine.upkeep(TICKS) == Upkeep()


def test_one_key_is_found_by_the_index_of_a_closed_chunk(tmp_path: Path) -> None:
    with opened(tmp_path, 3 * HOUR) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)
        with sqlite3.connect(tmp_path / "ticks" / "0.db") as connection:
            plan = connection.execute(
                "EXPLAIN QUERY PLAN SELECT * FROM series_rows "
                "WHERE at BETWEEN 0 AND 9 AND who = 'a' ORDER BY at, who, price"
            ).fetchall()
        connection.close()

        found = [*engine.read(replace(EVERY, keys=("b",)))]

    assert [step[3] for step in plan] == [
        "SEARCH series_rows USING INDEX by_key (who=? AND at>? AND at<?)"
    ]
    assert found == [row for row in ROWS if row.who == "b"]


def test_an_old_chunk_is_compressed_and_its_rows_stay(tmp_path: Path) -> None:
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)

        done = engine.upkeep(TICKS)

        assert (done.compressed, done.repaired) == (2, ())
        assert names(tmp_path) == ["0.parquet", f"{HOUR}.parquet"]
        assert [*engine.read(EVERY)] == ROWS
        assert [*engine.read(replace(EVERY, order="newest", limit=7))] == ROWS[::-1][:7]
        assert [*engine.read(replace(EVERY, keys=("b",), start=HOUR))] == [
            row for row in ROWS if row.who == "b" and row.at >= HOUR
        ]
        assert [(chunk.state, chunk.rows) for chunk in engine.status(TICKS).chunks] == [
            ("compressed", 40),
            ("compressed", 40),
        ]


def test_late_rows_wait_beside_a_compressed_chunk_and_are_read_with_it(tmp_path: Path) -> None:
    late = [tick(7, "b"), tick(7, "a")]
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)

        added = [engine.append(TICKS, [*ROWS, *late]), engine.append(TICKS, late * 2)]

        assert added == [2, 0]
        assert names(tmp_path) == ["0.late.db", "0.parquet", f"{HOUR}.parquet"]
        assert [*engine.read(EVERY)] == sorted([*ROWS, *late])
        assert [*engine.read(replace(EVERY, order="newest"))] == sorted([*ROWS, *late])[::-1]
        assert engine.table(EVERY).num_rows == 82
        assert [(chunk.rows, chunk.late) for chunk in engine.status(TICKS).chunks] == [
            (40, 2),
            (40, 0),
        ]


def test_late_rows_are_merged(tmp_path: Path) -> None:
    late = [tick(7, "b"), tick(HOUR - 1, "")]
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)
        engine.append(TICKS, late)

        done = engine.upkeep(TICKS)

        assert done == Upkeep(merged=1)
        assert names(tmp_path) == ["0.parquet", f"{HOUR}.parquet"]
        assert [*engine.read(EVERY)] == sorted([*ROWS, *late])
        assert engine.append(TICKS, late) == 0


def test_chunks_past_their_time_are_dropped_compressed_or_not(tmp_path: Path) -> None:
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)
        engine.append(TICKS, [tick(7), tick(2 * DAY)])
    with opened(tmp_path, 7 * DAY + HOUR) as engine:
        done = engine.upkeep(TICKS)

        assert done.dropped == 1
        assert [*engine.read(EVERY)] == [*ROWS[40:], tick(2 * DAY)]


def test_rows_for_ever_are_never_dropped(tmp_path: Path) -> None:
    forever = replace(TICKS, retain=None, compress_after=None)
    with opened(tmp_path, 999 * DAY) as engine:
        engine.append(forever, ROWS)

        done = engine.upkeep(forever)

        assert done == Upkeep(closed=2)
        assert [*engine.read(Window(forever, 0, DAY))] == ROWS


def test_a_compression_stopped_before_its_old_file_was_removed_is_done_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "ticks"
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
    shutil.copy(folder / "0.db", tmp_path / "kept")
    with opened(tmp_path, DAY) as engine:
        engine.upkeep(TICKS)
        shutil.copy(tmp_path / "kept", folder / "0.db")

        added = engine.append(TICKS, [tick(7), *ROWS])
        before = [*engine.read(EVERY)]
        done = engine.upkeep(TICKS)

        assert added == 1
        assert done.repaired == ("0.parquet: incomplete; compressed again",)
        assert before == [*engine.read(EVERY)] == sorted([*ROWS, tick(7)])
        assert names(tmp_path) == ["0.parquet", f"{HOUR}.parquet"]


def test_a_merge_stopped_before_its_late_file_was_removed_is_recognised(tmp_path: Path) -> None:
    folder = tmp_path / "ticks"
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)
        engine.append(TICKS, [tick(7)])
    shutil.copy(folder / "0.late.db", tmp_path / "kept")
    with opened(tmp_path, DAY) as engine:
        engine.upkeep(TICKS)
        shutil.copy(tmp_path / "kept", folder / "0.late.db")

        before = [*engine.read(EVERY)]
        rows = sum(chunk.rows + chunk.late for chunk in engine.status(TICKS).chunks)
        done = engine.upkeep(TICKS)

        assert rows == 81
        assert done == Upkeep(repaired=("0.late.db: merged already; removed",))
        assert before == [*engine.read(EVERY)] == sorted([*ROWS, tick(7)])


def test_half_files_and_logs_of_no_file_are_removed_and_told(tmp_path: Path) -> None:
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)
        (tmp_path / "ticks" / "0.parquet.unfinished").write_bytes(b"PAR1 and no more")
        (tmp_path / "ticks" / "0.db-wal").write_bytes(b"log of a file that is gone")

        done = engine.upkeep(TICKS)

        assert [text.split(":")[0] for text in done.repaired] == [
            "0.db-wal",
            "0.parquet.unfinished",
        ]
        assert [*engine.read(EVERY)] == ROWS


def test_a_chunk_file_that_was_made_but_never_written_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path, DAY) as engine:
        sqlite3.connect(tmp_path / "ticks" / "0.db").close()
        (tmp_path / "ticks" / "0.db").touch()

        before = [*engine.read(EVERY)]
        events = engine.status(TICKS)
        done = engine.upkeep(TICKS)

        assert before == []
        assert events.chunks == ()
        assert done.repaired == ("0.db: created but never written; removed",)
        assert names(tmp_path) == []


def test_only_one_is_at_upkeep_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        directory, _ = engine.place(TICKS)
        with directory.try_maintenance_lock() as alone:
            done = engine.upkeep(TICKS)

    assert alone
    assert done == Upkeep()


def test_a_writer_that_had_the_file_open_writes_to_the_chunk_another_compressed(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, DAY) as writer, opened(tmp_path, DAY) as other:
        writer.append(TICKS, ROWS)
        other.upkeep(TICKS)

        added = writer.append(TICKS, [tick(7), *ROWS])

        assert added == 1
        assert [*other.read(EVERY)] == sorted([*ROWS, tick(7)])


def test_a_reader_that_began_before_a_compression_reads_to_its_end(tmp_path: Path) -> None:
    many = [tick(at) for at in range(20_000)]
    with opened(tmp_path, HOUR) as engine:
        engine.append(TICKS, many)
        rows = engine.read(EVERY)
        begun = [next(rows)]
    with opened(tmp_path, DAY) as engine:
        engine.upkeep(TICKS)

        assert [*begun, *rows] == many
        assert [*engine.read(EVERY)] == many


def test_a_damaged_compressed_file_is_told_as_such(tmp_path: Path) -> None:
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, ROWS)
        engine.upkeep(TICKS)
        (tmp_path / "ticks" / "0.parquet").write_bytes(b"not a parquet file at all")

        with pytest.raises(SeriesDamaged, match="damaged"):
            list(engine.read(EVERY))


def test_many_slabs_are_read_in_order(tmp_path: Path) -> None:
    many = [tick(at // 2, "ab"[at % 2], price=at % 5) for at in range(300_000)]
    with opened(tmp_path, DAY) as engine:
        engine.append(TICKS, many)
        engine.upkeep(TICKS)

        right = sorted(many)

        assert [*engine.read(EVERY)] == right
        assert [*engine.read(replace(EVERY, order="newest", limit=60_000))] == right[:-60_001:-1]
        assert engine.table(EVERY).column("at").to_pylist() == [row.at for row in right]


def test_the_clock_decides_what_is_due(tmp_path: Path) -> None:
    clock = clock_at(HOUR)
    engine = ChunkEngine.open(tmp_path, clock=clock)
    engine.prepare(TICKS)
    engine.append(TICKS, ROWS[:40])

    rounds = []
    for seconds in (59, 1, 6 * 3600 - 61, 1):
        clock.advance(seconds)
        rounds.append(engine.upkeep(TICKS))

    assert [(done.closed, done.compressed) for done in rounds] == [(0, 0), (1, 0), (0, 0), (0, 1)]
    engine.close()
