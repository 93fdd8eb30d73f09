"""A global index can be made to lag exactly so far behind its table."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.base.clock import ManualClock
from grandstand.storage.tables.engines.sqlite import Faults, SqliteEngine
from grandstand.storage.tables.expressions.nodes import Literal, Update
from grandstand.storage.tables.requests import (
    DeleteItem,
    PutItem,
    Query,
    Scan,
    Transaction,
    UpdateItem,
)
from tests.storage.tables.engines.sqlite.making import (
    KEY,
    PLAYS,
    find,
    numbers,
    of_game,
    of_team,
    path,
    play,
    put,
)

LAGGING = Faults(index_delay_seconds=5)


@pytest.fixture
def lagging(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteEngine]:
    """An engine whose global indexes are five seconds behind."""
    engine = SqliteEngine.open(tmp_path / "tables.db", clock=clock, faults=LAGGING)
    engine.create_table(PLAYS)
    yield engine
    engine.close()


def reds(engine: SqliteEngine) -> list[int]:
    return numbers(engine.query(of_team("reds")).items)


def test_an_index_shows_the_table_as_it_was_the_delay_ago(
    lagging: SqliteEngine, clock: ManualClock
) -> None:
    put(lagging, play(1, team="reds", points=1))
    at_once, in_table = reds(lagging), find(lagging, play(1))
    clock.advance(4.9)
    put(lagging, play(2, team="reds", points=2))
    almost = reds(lagging)
    clock.advance(0.1)
    due = reds(lagging)
    clock.advance(4.9)

    assert in_table is not None
    assert (at_once, almost, due, reds(lagging)) == ([], [], [1], [1, 2])


def test_changes_and_removals_lag_alike(lagging: SqliteEngine, clock: ManualClock) -> None:
    put(lagging, *(play(n, team="reds", points=n) for n in (1, 2, 3)))
    clock.advance(10)
    change = Update(sets=((path("team"), Literal("blues")),))

    lagging.update(UpdateItem("plays", KEY, change))
    lagging.delete(DeleteItem("plays", {**KEY, "play": "p0002"}))
    lagging.transact_write(Transaction((PutItem("plays", play(4, team="reds", points=4)),)))
    lagging.batch_write([PutItem("plays", play(5, team="reds", points=5))])
    before = reds(lagging)
    clock.advance(5)

    assert before == [1, 2, 3]
    assert reds(lagging) == [3, 4, 5]


def test_local_indexes_and_the_table_itself_do_not_lag(lagging: SqliteEngine) -> None:
    put(lagging, play(1, day="d1"))

    local = lagging.query(Query("plays", of_game(), index="by-day"))

    assert numbers(local.items) == [1]
    assert lagging.scan(Scan("plays")).scanned == 1


def test_what_was_there_before_the_delay_is_there_at_once(
    tmp_path: Path, clock: ManualClock
) -> None:
    prompt = SqliteEngine.open(tmp_path / "old.db", clock=clock)
    prompt.create_table(PLAYS)
    put(prompt, play(1, team="reds", points=1))
    prompt.close()

    late = SqliteEngine.open(tmp_path / "old.db", clock=clock, faults=LAGGING)
    put(late, play(2, team="reds", points=2))

    assert reds(late) == [1]
    assert numbers(late.scan(Scan("plays", "by-team")).items) == [1]
    late.close()


def test_an_expired_item_leaves_the_index_after_the_delay(
    lagging: SqliteEngine, clock: ManualClock
) -> None:
    lagging.alter_table(replace(PLAYS, ttl="until"))
    put(lagging, play(1, team="reds", points=1, until=int(clock.epoch()) + 1))
    clock.advance(10)

    lagging.sweep("plays", 10)
    before = reds(lagging)
    clock.advance(5)

    assert (before, reds(lagging)) == ([1], [])
