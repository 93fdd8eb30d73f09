"""A metered engine tells what each write did to the table and to each index."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.expressions.nodes import Literal, UpdateNode
from grandstand.storage.tables.requests import (
    DeleteItem,
    IndexWrite,
    PutItem,
    UpdateItem,
    Written,
)
from tests.storage.tables.engines.sqlite.plays import BY_DAY, BY_TEAM, KEY, PLAYS, path, play

FULL = play(1, team="reds", points=1, day="d1", note="a")
SHOWN = play(1, day="d1")


@pytest.fixture
def metered(clock: ManualClock) -> Iterator[SqliteEngine]:
    """An engine in memory that meters its writes."""
    engine = SqliteEngine.open(None, clock=clock, metered=True)
    engine.create_table(replace(PLAYS, indexes=(BY_TEAM, BY_DAY)))
    yield engine
    engine.close()


def setting(name: str, value: str) -> UpdateItem:
    return UpdateItem("plays", KEY, UpdateNode(sets=((path(name), Literal(value)),)))


def test_a_new_item_is_written_to_each_index_it_is_in(metered: SqliteEngine) -> None:
    whole, shown = item_size(FULL), item_size(SHOWN)

    written = metered.put(PutItem("plays", FULL))
    sparse = metered.put(PutItem("plays", play(2)))

    assert written == Written(
        None,
        0,
        whole,
        (
            IndexWrite("by-team", 0, whole, key_changed=False),
            IndexWrite("by-day", 0, shown, key_changed=False),
        ),
    )
    assert sparse == Written(None, 0, item_size(play(2)))


def test_an_index_whose_view_stays_the_same_is_not_written(metered: SqliteEngine) -> None:
    metered.put(PutItem("plays", FULL))

    again = metered.put(PutItem("plays", FULL))
    changed = metered.update(setting("note", "b"))

    assert again == Written(None, item_size(FULL), item_size(FULL))
    assert [write.index for write in changed.indexes] == ["by-team"]


def test_a_changed_index_key_is_told_and_so_is_one_that_went(metered: SqliteEngine) -> None:
    metered.put(PutItem("plays", FULL))

    moved = metered.update(setting("team", "blue"))
    left = metered.update(UpdateItem("plays", KEY, UpdateNode(removes=(path("points"),))))

    assert [(write.index, write.key_changed) for write in moved.indexes] == [("by-team", True)]
    assert [(write.index, write.new_bytes) for write in left.indexes] == [("by-team", 0)]


def test_a_removal_is_written_to_each_index_the_item_was_in(metered: SqliteEngine) -> None:
    metered.put(PutItem("plays", FULL))

    written = metered.delete(DeleteItem("plays", KEY))

    assert (written.old_bytes, written.new_bytes) == (item_size(FULL), 0)
    assert [write.index for write in written.indexes] == ["by-team", "by-day"]


def test_a_batch_is_metered_member_by_member(metered: SqliteEngine) -> None:
    written = metered.batch_write(
        [PutItem("plays", FULL), DeleteItem("plays", {**KEY, "play": "x"})]
    )

    assert [(table, each.new_bytes) for table, each in written.written] == [
        ("plays", item_size(FULL)),
        ("plays", 0),
    ]
