"""A series may be given more columns, empty in rows already kept; nothing else of it may change."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import SeriesChanged
from grandstand.storage.series.query import Bar, Bars, Window
from tests.storage.series.contract.builders import BASE, HOUR
from tests.storage.series.contract.schema_changes import MARKS, WIDER, WRONG, Mark, WiderMark

OLD = [Mark(BASE, "a", 1, "x"), Mark(BASE + 5, "b", 2), Mark(BASE + 30 * HOUR, "a", 3)]
OLD_SEEN = [WiderMark(row.at, row.place, row.number, note=row.note) for row in OLD]
NEW = [
    WiderMark(BASE + 2, "a", 4, 70, "y", sure=False),
    WiderMark(BASE + 30 * HOUR + 7, "c", 5, sure=True),
    WiderMark(BASE + 40 * HOUR, "a", 6, 80),
]
EVERYTHING = Window(WIDER, -(2**63), 2**63)


def seen(rows: list[WiderMark]) -> list[WiderMark]:
    return sorted(rows, key=lambda row: (row.at, row.place))


@pytest.fixture
def grown(another: Callable[[], SeriesEngine]) -> SeriesEngine:
    """An engine whose series had rows, some of them compressed, before it had more columns."""
    before = another()
    before.prepare(MARKS)
    before.append(MARKS, OLD)
    before.upkeep(MARKS)
    before.close()
    engine = another()
    engine.prepare(WIDER)
    return engine


def test_rows_already_kept_are_empty_in_the_new_columns(grown: SeriesEngine) -> None:
    table = grown.table(EVERYTHING)

    assert [*grown.read(EVERYTHING)] == seen(OLD_SEEN)
    assert [WiderMark(**row) for row in table.to_pylist()] == seen(OLD_SEEN)
    assert table.column_names == [*WIDER.fields]


def test_new_rows_fill_the_new_columns_whatever_chunk_they_are_for(grown: SeriesEngine) -> None:
    added = grown.append(WIDER, [*NEW, OLD_SEEN[0]])
    waiting = [*grown.read(EVERYTHING)]
    as_table = [WiderMark(**row) for row in grown.table(EVERYTHING).to_pylist()]
    grown.upkeep(WIDER)

    assert added == 3
    assert waiting == as_table == seen([*OLD_SEEN, *NEW])
    assert [*grown.read(EVERYTHING)] == seen([*OLD_SEEN, *NEW])


def test_the_newest_rows_of_a_key_are_found_across_old_and_new(grown: SeriesEngine) -> None:
    grown.append(WIDER, NEW)

    found = [*grown.read(replace(EVERYTHING, keys=("a",), order="newest", limit=3))]

    assert found == [NEW[2], OLD_SEEN[2], NEW[0]]


def test_bars_of_a_new_column_pass_over_old_rows(grown: SeriesEngine) -> None:
    grown.append(WIDER, NEW)
    window = Window(WIDER, BASE, BASE + HOUR, keys=("a",))

    found = [*grown.bars(Bars(window, 2**52, "weight", "weight"))]

    assert [(bar.count, bar.total, bar.open, bar.close) for bar in found] == [(2, 70, 70, 70)]


def test_bars_of_nothing_but_old_rows_have_no_values(grown: SeriesEngine) -> None:
    window = Window(WIDER, BASE, BASE + 1)

    found = [*grown.bars(Bars(window, 2**52, "weight", "weight"))]

    assert found == [Bar("a", BASE // 2**52 * 2**52, 1, None, None, None, None, None)]


def test_columns_are_added_only_once(grown: SeriesEngine) -> None:
    grown.append(WIDER, NEW)

    grown.prepare(WIDER)

    assert [*grown.read(EVERYTHING)] == seen([*OLD_SEEN, *NEW])


def test_whoever_has_the_old_declaration_cannot_take_columns_away(
    grown: SeriesEngine, another: Callable[[], SeriesEngine]
) -> None:
    grown.append(WIDER, NEW)

    with pytest.raises(SeriesChanged, match="sure, weight"):
        another().prepare(MARKS)

    assert [*grown.read(EVERYTHING)] == seen([*OLD_SEEN, *NEW])


@pytest.mark.parametrize(("changed", "why"), WRONG.values(), ids=WRONG.keys())
def test_any_other_change_is_refused_and_changes_nothing(
    another: Callable[[], SeriesEngine], changed: Series[Any], why: str
) -> None:
    engine = another()
    engine.prepare(MARKS)
    engine.append(MARKS, OLD)

    with pytest.raises(SeriesChanged, match=why):
        another().prepare(changed)

    assert [*engine.read(Window(MARKS, BASE, BASE + 100 * HOUR))] == OLD
    assert engine.append(MARKS, [Mark(BASE + 1, "a", 9)]) == 1


def test_what_only_says_how_long_rows_are_kept_may_change(engine: SeriesEngine) -> None:
    engine.prepare(MARKS)
    engine.append(MARKS, OLD)
    changed = replace(MARKS, compress_after=timedelta(hours=2), retain=timedelta(days=300))

    engine.prepare(changed)
    engine.upkeep(changed)

    assert [*engine.read(Window(changed, BASE, BASE + 100 * HOUR))] == OLD
