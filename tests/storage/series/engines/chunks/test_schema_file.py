"""What the files of a series depend on is written down, and cannot change under them."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.directory import SeriesDirectory
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.errors import SeriesChanged, SeriesDamaged, SeriesUnavailable
from grandstand.storage.series.query import Window
from tests.storage.series.contract.builders import BASE, HOUR
from tests.storage.series.contract.schema_changes import MARKS, WIDER, Mark, WiderMark

EVERYTHING = Window(WIDER, -(2**63), 2**63)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ChunkEngine]:
    """An engine that has one row."""
    with closing(ChunkEngine.open(tmp_path, clock=SystemClock())) as opened:
        opened.prepare(MARKS)
        opened.append(MARKS, [Mark(BASE, "a", 1)])
        yield opened


@pytest.mark.parametrize(
    "changed",
    [
        replace(MARKS, chunk=timedelta(hours=2)),
        replace(MARKS, key="note"),
        replace(MARKS, time="at", identity=("at",)),
    ],
    ids=["chunk", "key", "identity"],
)
def test_what_says_where_a_row_is_cannot_change(engine: ChunkEngine, changed: Series[Any]) -> None:
    with pytest.raises(SeriesChanged, match="Restore the previous declaration"):
        engine.prepare(changed)


def test_upkeep_by_an_older_program_compresses_nothing_without_the_new_columns(
    engine: ChunkEngine, tmp_path: Path
) -> None:
    with closing(ChunkEngine.open(tmp_path, clock=SystemClock())) as newer:
        newer.prepare(WIDER)
        newer.append(WIDER, [WiderMark(BASE + 1, "a", 2, 70)])

    with pytest.raises(SeriesChanged, match="weight"):
        engine.upkeep(MARKS)

    assert [row.weight for row in engine.read(EVERYTHING)] == [None, 70]
    assert [chunk.state for chunk in engine.status(WIDER).chunks] == ["open"]


def test_an_older_program_still_appends(engine: ChunkEngine, tmp_path: Path) -> None:
    with closing(ChunkEngine.open(tmp_path, clock=SystemClock())) as newer:
        newer.prepare(WIDER)
        newer.append(WIDER, [WiderMark(BASE + 1, "a", 2, 70)])

    added = engine.append(MARKS, [Mark(BASE + 2, "a", 3), Mark(BASE + HOUR, "a", 4)])

    assert added == 2
    assert [row.number for row in engine.read(EVERYTHING)] == [1, 2, 3, 4]


class Impatient(SystemClock):
    """A clock on which sleeping takes no time."""

    def sleep(self, seconds: float) -> None:
        """Return at once."""


def test_columns_are_not_added_during_upkeep(engine: ChunkEngine, tmp_path: Path) -> None:
    directory = SeriesDirectory(tmp_path / "marks", SystemClock())
    hurried = ChunkEngine.open(tmp_path, clock=Impatient())

    with (
        directory.try_maintenance_lock(),
        closing(hurried),
        pytest.raises(SeriesUnavailable, match="columns"),
    ):
        hurried.prepare(WIDER)

    assert engine.append(MARKS, [Mark(BASE + 2, "a", 3)]) == 1


def test_a_damaged_declaration_is_told(engine: ChunkEngine, tmp_path: Path) -> None:
    (tmp_path / "marks" / "schema.json").write_text("{")

    with pytest.raises(SeriesDamaged, match=r"schema\.json"):
        engine.prepare(MARKS)


def test_a_folder_of_before_is_taken_as_it_is_declared(engine: ChunkEngine, tmp_path: Path) -> None:
    (tmp_path / "marks" / "schema.json").unlink()

    engine.prepare(MARKS)

    assert [*engine.read(Window(MARKS, BASE, BASE + 1))] == [Mark(BASE, "a", 1)]
    assert (tmp_path / "marks" / "schema.json").exists()
