"""Windows as tables, from compressed chunks of several slabs, with and without an order."""

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import polars as pl
import pyarrow as pa
import pytest

from grandstand.storage.series.declaration import Int16, Json, Series, SeriesIndex
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.parquet import SLAB_ROWS
from grandstand.storage.series.query import Window
from tests.storage.series.engines.chunks.builders import DAY, HOUR, clock_at


class Note(NamedTuple):
    mark: UUID
    at: int
    who: str
    good: bool
    rank: Int16 | None
    size: int | None
    place: str | None
    more: Json | None


# Its identity does not go on with the key after the time, as that of deltas does.
NOTES = Series(
    name="notes",
    row=Note,
    time="at",
    identity=("mark", "at"),
    key="who",
    chunk=timedelta(hours=1),
    compress_after=timedelta(hours=6),
    indexes=(
        SeriesIndex("notes_by_size", ("-size", "place")),
        SeriesIndex("notes_by_who", ("who", "-at")),
    ),
)
EVERY = Window(NOTES, 0, 2**62)
MANY = SLAB_ROWS + 5_000


def _notes(number: int) -> list[Note]:
    chance = random.Random(1)
    return [
        Note(
            mark=UUID(int=chance.getrandbits(128)),
            at=n // 50,
            who="abcdef"[n % 6],
            good=n % 2 == 0,
            rank=None if n % 7 == 0 else n % 5 - 2,
            size=None if n % 3 == 0 else n,
            place=None if n % 4 == 0 else f"p{n % 9}",
            more=None if n % 5 else f"[{n}]",
        )
        for n in range(number)
    ]


def _in_order(rows: list[Note]) -> list[Note]:
    return sorted(rows, key=lambda row: (row.at, row.mark.bytes))


def _rows(table: pa.Table) -> list[Note]:
    return [Note(**{**row, "mark": UUID(bytes=row["mark"])}) for row in table.to_pylist()]


@pytest.fixture(scope="module")
def notes() -> list[Note]:
    return _notes(MANY)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, notes: list[Note]) -> Iterator[ChunkEngine]:
    opened = ChunkEngine.open(tmp_path_factory.mktemp("notes"), clock=clock_at(DAY))
    opened.prepare(NOTES)
    opened.append(NOTES, notes)
    assert opened.upkeep(NOTES).compressed == 1
    yield opened
    opened.close()


def test_every_kind_of_value_comes_back_from_several_slabs(
    engine: ChunkEngine, notes: list[Note]
) -> None:
    found = [*engine.read(EVERY)]

    assert found == _in_order(notes)


def test_one_key_is_in_order_both_ways(engine: ChunkEngine, notes: list[Note]) -> None:
    window = replace(EVERY, keys=("b",), start=10)

    found = _rows(engine.table(window))
    back = _rows(engine.table(replace(window, order="newest")))

    right = _in_order([row for row in notes if row.who == "b" and row.at >= 10])
    assert found == right
    assert back == right[::-1]


def test_two_keys_are_in_order_together(engine: ChunkEngine, notes: list[Note]) -> None:
    found = _rows(engine.table(replace(EVERY, keys=("b", "e"), order="newest")))

    assert found == _in_order([row for row in notes if row.who in "be"])[::-1]


def test_any_order_answers_the_same_rows_in_pieces(engine: ChunkEngine, notes: list[Note]) -> None:
    pieces = [*engine.tables(replace(EVERY, order="any"))]

    assert len(pieces) > 2
    assert max(piece.num_rows for piece in pieces) < SLAB_ROWS
    assert len({piece.schema for piece in pieces}) == 1
    assert _in_order([row for piece in pieces for row in _rows(piece)]) == _in_order(notes)


def test_pieces_follow_each_other_in_order_and_stop_at_the_most(
    engine: ChunkEngine, notes: list[Note]
) -> None:
    pieces = [*engine.tables(replace(EVERY, order="newest", limit=7_000))]

    assert [row for piece in pieces for row in _rows(piece)] == _in_order(notes)[::-1][:7_000]


def test_a_reader_that_stops_early_leaves_no_thread_at_work(engine: ChunkEngine) -> None:
    pieces = engine.tables(EVERY)

    first = next(pieces)
    pieces.close()  # type: ignore[attr-defined]

    assert first.num_rows == SLAB_ROWS
    assert [*pieces] == []


def test_open_and_compressed_chunks_give_one_schema(engine: ChunkEngine, tmp_path: Path) -> None:
    other = ChunkEngine.open(tmp_path, clock=clock_at(HOUR))
    other.prepare(NOTES)
    other.append(NOTES, _notes(10))

    live, compressed, none = (
        other.table(EVERY).schema,
        engine.table(EVERY).schema,
        engine.table(replace(EVERY, end=0)).schema,
    )

    other.close()
    assert live.equals(compressed, check_metadata=True)
    assert none.equals(compressed, check_metadata=True)
    assert compressed.field("who").type == pa.dictionary(pa.int32(), pa.string())


def test_polars_makes_a_frame_of_a_table(engine: ChunkEngine, notes: list[Note]) -> None:
    frame = pl.from_arrow(engine.table(replace(EVERY, order="any")))

    assert isinstance(frame, pl.DataFrame)
    assert frame.filter(pl.col("who") == "c").height == sum(row.who == "c" for row in notes)


def test_declared_indexes_are_built_when_a_chunk_closes(tmp_path: Path) -> None:
    engine = ChunkEngine.open(tmp_path, clock=clock_at(2 * HOUR))
    engine.prepare(NOTES)
    engine.append(NOTES, _notes(10))

    engine.upkeep(NOTES)

    engine.close()
    connection = sqlite3.connect(tmp_path / "notes" / "0.db")
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%INDEX%'")
    built = dict(found.fetchall())
    connection.close()
    assert built.keys() == {"notes_by_size", "by_key"}
    assert built["notes_by_size"].endswith('("size" DESC, "place")')
