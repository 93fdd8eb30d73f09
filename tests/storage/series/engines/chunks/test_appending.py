"""Many rows go into a file several hundred to a statement, as if they came one by one."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.declaration import Checked
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.sqlite import ROWS_PER_INSERT
from tests.storage.series.contract.builders import BASE
from tests.storage.series.contract.schema_changes import MARKS, WIDER, Mark, WiderMark
from tests.storage.series.engines.chunks.builders import EVERY, TICKS, opened, tick

MANY = ROWS_PER_INSERT[0]


@pytest.mark.parametrize("number", [9, 10, 99, 100, 111, MANY - 1, MANY, 2 * MANY + 3])
def test_only_new_rows_are_counted_whatever_their_number(tmp_path: Path, number: int) -> None:
    rows = [tick(at) for at in range(number)]

    with opened(tmp_path) as engine:
        before = engine.append(TICKS, rows[::3])
        added = engine.append(TICKS, [*rows, *rows])
        stored = [*engine.read(EVERY)]

    assert added == number - before
    assert stored == rows


def test_a_column_declared_since_is_added_for_many_rows(tmp_path: Path) -> None:
    many = [WiderMark(BASE + at, "a", at, 7) for at in range(1, MANY + 2)]

    with closing(ChunkEngine.open(tmp_path, clock=SystemClock())) as engine:
        engine.prepare(MARKS)
        engine.append(MARKS, [Mark(BASE, "a", 1)])
        engine.prepare(WIDER)
        added = engine.append(WIDER, many)

    assert added == len(many)


def test_rows_that_were_looked_at_are_kept_as_others_are(tmp_path: Path) -> None:
    rows = [tick(at) for at in range(5)]

    with opened(tmp_path) as engine:
        added = engine.append(TICKS, Checked(rows))
        stored = [*engine.read(EVERY)]

    assert added == 5
    assert stored == rows


def test_rows_in_lists_are_the_rows_one_by_one(tmp_path: Path) -> None:
    rows = [tick(at) for at in range(1500)]

    with opened(tmp_path) as engine:
        engine.append(TICKS, rows)
        listed = [*engine.lists(replace(EVERY, limit=1200))]

    assert [row for each in listed for row in each] == rows[:1200]
    assert all(listed)
