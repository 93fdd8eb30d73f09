"""A full disk, a locked or closed place and other columns are told; reads go on."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.declaration import Series, SeriesFault
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.errors import SeriesChanged, SeriesDamaged, SeriesUnavailable
from tests.storage.series.engines.chunks.builders import EVERY, HOUR, TICKS, opened, tick


class Other(NamedTuple):
    at: int
    who: str
    volume: int


def filling(engine: ChunkEngine) -> Iterator[int]:
    for batch in range(1000):
        yield engine.append(TICKS, [tick(batch * 100 + at) for at in range(100)])


def test_a_full_disk_stops_appends_and_not_reads(tmp_path: Path) -> None:
    engine = ChunkEngine.open(tmp_path, clock=SystemClock(), max_bytes=64 * 1024)
    engine.prepare(TICKS)
    with pytest.raises(SeriesUnavailable, match="No space"):
        list(filling(engine))

    found = [*engine.read(EVERY)]
    assert len(found) > 300
    assert len(found) % 100 == 0
    assert found == [tick(at) for at in range(len(found))]
    engine.close()


def test_appending_goes_on_once_there_is_room_again(tmp_path: Path) -> None:
    engine = ChunkEngine.open(tmp_path, clock=SystemClock(), max_bytes=32 * 1024)
    engine.prepare(TICKS)
    rows = [tick(at) for at in range(2000)]
    with pytest.raises(SeriesUnavailable):
        engine.append(TICKS, rows)
    engine.close()

    with opened(tmp_path) as engine:
        added = engine.append(TICKS, rows)

        assert added == 2000
        assert [*engine.read(EVERY)] == rows


def test_a_file_that_is_no_database_is_told_as_damaged(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        (tmp_path / "ticks" / "0.db").write_bytes(b"nonsense" * 1000)

        with pytest.raises(SeriesDamaged):
            engine.append(TICKS, [tick(1)])
        with pytest.raises(SeriesDamaged):
            list(engine.read(EVERY))


def test_a_closed_engine_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        engine.append(TICKS, [tick(1)])
    engine.close()

    with pytest.raises(SeriesUnavailable, match="closed"):
        engine.append(TICKS, [tick(2)])
    with pytest.raises(SeriesUnavailable, match="closed"):
        list(engine.read(EVERY))


def test_a_writer_that_waits_too_long_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        directory, _ = engine.place(TICKS)
        with directory.write_lock(), pytest.raises(SeriesUnavailable, match="locked"):
            engine.append(TICKS, [tick(1)])


def test_other_columns_than_those_stored_are_told(tmp_path: Path) -> None:
    other = Series("ticks", Other, "at", ("at", "who"), "who", timedelta(hours=1))
    with opened(tmp_path) as engine:
        engine.append(TICKS, [tick(1)])

        with pytest.raises(SeriesChanged):
            engine.append(other, [Other(1, "a", 2)])


def test_a_name_that_cannot_be_a_folder_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as engine, pytest.raises(SeriesFault, match=r"\.\."):
        engine.prepare(replace(TICKS, name="../elsewhere"))


def test_a_reader_never_holds_up_the_writer(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        engine.append(TICKS, [tick(at) for at in range(10_000)])
        reader = sqlite3.connect(tmp_path / "ticks" / "0.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM series_rows").fetchone()

        added = engine.append(TICKS, [tick(HOUR - 1)])

        assert added == 1
        reader.close()


def test_power_durability_waits_for_the_disk(tmp_path: Path) -> None:
    engine = ChunkEngine.open(tmp_path, clock=SystemClock(), durability="power")
    engine.prepare(TICKS)

    engine.append(TICKS, [tick(1)])

    connection = engine._connections.open(tmp_path / "ticks" / "0.db", "SELECT 1")  # noqa: SLF001
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    engine.close()
