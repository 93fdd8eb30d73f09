"""Columns are added to a table that is there, once, and nothing else of it is ever changed."""

import threading
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import psycopg
import pytest

from grandstand.core.errors import Broken
from grandstand.storage.series.declaration import SeriesIndex
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.schema import steps
from grandstand.storage.series.errors import SeriesChanged
from grandstand.storage.series.query import Window
from tests.storage.series.contract.schema_changes import MARKS, WIDER, Mark, WiderMark
from tests.storage.series.engines.postgres.rows import HOUR, NOW

Looking = psycopg.Connection[tuple[object, ...]]
EVERYTHING = Window(WIDER, -(2**63), 2**63)


def _ledger(look: Looking) -> list[tuple[object, ...]]:
    return look.execute("SELECT number, name FROM _grandstand_migrations ORDER BY 1").fetchall()


def test_new_columns_are_numbered_steps_before_what_needs_them(
    engine: PostgresEngine, look: Looking
) -> None:
    engine.prepare(MARKS)

    pending = [(step.number, step.name) for step in engine.pending(WIDER)]
    before = _ledger(look)
    engine.prepare(WIDER)

    assert pending == [(3, "column weight"), (4, "column sure"), (5, "index marks_by_weight")]
    assert before == [(1, "table"), (2, "time index")]
    assert _ledger(look) == before + pending
    assert engine.pending(WIDER) == ()


def test_partitions_of_before_and_after_hold_the_new_columns(engine: PostgresEngine) -> None:
    engine.prepare(MARKS)
    engine.append(MARKS, [Mark(NOW, "a", 1, "x"), Mark(NOW - 9 * HOUR, "a", 2)])

    engine.prepare(WIDER)
    new = [WiderMark(NOW + 1, "a", 3, 70, "y", sure=True), WiderMark(NOW + 9 * HOUR, "a", 4, 80)]
    engine.append(WIDER, new)

    assert [*engine.read(EVERYTHING)] == [
        WiderMark(NOW - 9 * HOUR, "a", 2),
        WiderMark(NOW, "a", 1, note="x"),
        *new,
    ]


def test_whoever_still_has_the_old_declaration_reads_and_appends_as_before(
    engine: PostgresEngine, another: Callable[[], PostgresEngine]
) -> None:
    engine.prepare(MARKS)
    another().prepare(WIDER)

    added = engine.append(MARKS, [Mark(NOW, "a", 1, "x")])

    assert added == 1
    assert [*engine.read(Window(MARKS, NOW, NOW + 1))] == [Mark(NOW, "a", 1, "x")]
    assert [*engine.read(EVERYTHING)] == [WiderMark(NOW, "a", 1, note="x")]


def test_rows_with_columns_that_were_not_prepared_are_refused_clearly(
    engine: PostgresEngine,
) -> None:
    engine.prepare(MARKS)

    with pytest.raises(SeriesChanged, match="Prepare the series first"):
        engine.append(WIDER, [WiderMark(NOW, "a", 1, 70)])


def test_four_who_add_the_same_columns_at_once_add_them_once(
    another: Callable[[], PostgresEngine], look: Looking
) -> None:
    another().prepare(MARKS)
    failures: list[Exception] = []
    start = threading.Barrier(4)

    def prepare(engine: PostgresEngine) -> None:
        start.wait()
        try:
            engine.prepare(WIDER)
        except Exception as failure:  # noqa: BLE001 - any failure at all is what is looked for
            failures.append(failure)

    threads = [threading.Thread(target=prepare, args=(another(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert [name for _, name in _ledger(look)][2:] == [
        "column weight",
        "column sure",
        "index marks_by_weight",
    ]


def test_columns_come_while_rows_are_appended(
    engine: PostgresEngine, another: Callable[[], PostgresEngine]
) -> None:
    engine.prepare(MARKS)
    counts: list[int] = []
    writer = another()

    def write() -> None:
        counts.extend(
            writer.append(MARKS, [Mark(NOW + 100 * batch + at, "a", at) for at in range(100)])
            for batch in range(30)
        )

    thread = threading.Thread(target=write)
    thread.start()
    engine.prepare(WIDER)
    thread.join()

    assert counts == [100] * 30
    assert len([*engine.read(EVERYTHING)]) == 3_000


def test_a_step_that_fails_leaves_nothing_of_the_others(
    engine: PostgresEngine, look: Looking
) -> None:
    engine.prepare(MARKS)
    too_long_for_an_index = "".join(sha256(bytes([at])).hexdigest() for at in range(200))
    engine.append(MARKS, [Mark(NOW, "a", 1, too_long_for_an_index)])
    before = _ledger(look)

    with pytest.raises(Broken, match="index row"):
        engine.prepare(replace(WIDER, indexes=(SeriesIndex("marks_by_note", ("note",)),)))

    assert _ledger(look) == before
    assert [step.name for step in engine.pending(WIDER)][:1] == ["column weight"]


def test_a_table_with_partitions_by_something_else_is_refused(
    engine: PostgresEngine, look: Looking
) -> None:
    look.execute(steps(MARKS, "timescale")[0].sql)

    with pytest.raises(SeriesChanged, match="not partitioned by at"):
        engine.prepare(MARKS)


def test_a_table_made_by_hand_from_the_statements_is_taken_over(
    engine: PostgresEngine, look: Looking
) -> None:
    for step in steps(MARKS, "plain"):
        look.execute(step.sql)

    engine.prepare(MARKS)
    added = engine.append(MARKS, [Mark(NOW, "a", 1)])

    assert added == 1
    assert _ledger(look) == [(1, "time index")]


def test_a_table_removed_by_hand_is_made_again_whole(engine: PostgresEngine, look: Looking) -> None:
    engine.prepare(WIDER)
    look.execute("DROP TABLE marks")

    pending = [step.name for step in engine.pending(WIDER)]
    engine.prepare(WIDER)

    assert pending == ["table", "time index", "index marks_by_weight"]
    assert engine.append(WIDER, [WiderMark(NOW, "a", 1, 70)]) == 1


def test_a_column_removed_by_hand_is_added_again(engine: PostgresEngine, look: Looking) -> None:
    engine.prepare(MARKS)
    engine.prepare(WIDER)
    look.execute("ALTER TABLE marks DROP COLUMN sure")

    engine.prepare(WIDER)

    assert engine.append(WIDER, [WiderMark(NOW, "a", 1, sure=False)]) == 1
    assert [*engine.read(EVERYTHING)] == [WiderMark(NOW, "a", 1, sure=False)]
