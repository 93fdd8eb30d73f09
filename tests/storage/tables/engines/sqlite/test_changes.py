"""The record of changes: each once, in order, kept as long as promised."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import Item, item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import (
    ChangesLost,
    ConditionFailed,
    InvalidRequest,
    TableNotFound,
    TransactionCancelled,
)
from grandstand.storage.tables.expressions.nodes import Literal, Missing, UpdateNode
from grandstand.storage.tables.requests import (
    Change,
    DeleteItem,
    PutItem,
    Transaction,
    UpdateItem,
)
from grandstand.storage.tables.schema import StreamView
from tests.storage.tables.engines.sqlite.plays import KEY, PLAYS, TEAMS, path, play, put

STREAMED = replace(PLAYS, stream="NEW_AND_OLD_IMAGES")
DAY = 24 * 3600


@pytest.fixture(autouse=True)
def _tables(engine: SqliteEngine) -> None:
    engine.create_table(STREAMED)
    engine.create_table(TEAMS)


def changes(engine: SqliteEngine, position: str | None = None) -> list[Change]:
    return list(engine.changes("plays", position, 1000).changes)


def images(engine: SqliteEngine) -> list[tuple[str, Item | None, Item | None]]:
    return [(change.kind, change.old, change.new) for change in changes(engine)]


def test_each_kind_of_write_is_recorded_with_what_was_and_what_is(engine: SqliteEngine) -> None:
    put(engine, play(1, n=1))
    engine.update(UpdateItem("plays", KEY, UpdateNode(sets=((path("n"), Literal(2)),))))
    engine.delete(DeleteItem("plays", KEY))

    assert images(engine) == [
        ("INSERT", None, play(1, n=1)),
        ("MODIFY", play(1, n=1), play(1, n=2)),
        ("REMOVE", play(1, n=2), None),
    ]


def test_a_change_tells_its_number_moment_keys_and_size(engine: SqliteEngine) -> None:
    start = int(engine.latest_position("plays"))
    put(engine, play(1, n=1))

    assert changes(engine) == [
        Change(
            sequence=str(start + 1),
            kind="INSERT",
            keys=KEY,
            old=None,
            new=play(1, n=1),
            at=datetime(2026, 1, 1, tzinfo=UTC),
            size_bytes=item_size(KEY) + item_size(play(1, n=1)),
        )
    ]


@pytest.mark.parametrize(
    ("view", "old", "new"),
    [
        ("KEYS_ONLY", None, None),
        ("NEW_IMAGE", None, play(1, n=2)),
        ("OLD_IMAGE", play(1, n=1), None),
        ("NEW_AND_OLD_IMAGES", play(1, n=1), play(1, n=2)),
    ],
)
def test_a_view_shows_what_it_promises_and_always_the_keys(
    engine: SqliteEngine, view: StreamView, old: Item | None, new: Item | None
) -> None:
    engine.alter_table(replace(PLAYS, stream=view))
    put(engine, play(1, n=1), play(1, n=2))

    change = changes(engine)[-1]

    assert (change.kind, change.keys) == ("MODIFY", KEY)
    assert (change.old, change.new) == (old, new)


def test_a_write_that_changes_nothing_is_not_recorded(engine: SqliteEngine) -> None:
    put(engine, play(1, a=1, b="x"))

    put(engine, play(1, b="x", a=1))
    engine.update(UpdateItem("plays", KEY, UpdateNode(sets=((path("a"), Literal(1)),))))
    engine.delete(DeleteItem("plays", {**KEY, "play": "none"}))
    engine.batch_write([PutItem("plays", play(1, a=1, b="x"))])
    engine.transact_write(Transaction((PutItem("plays", play(1, a=1, b="x")),)))

    assert len(changes(engine)) == 1


def test_a_write_that_was_refused_is_not_recorded(engine: SqliteEngine) -> None:
    put(engine, play(1))
    again = PutItem("plays", play(1, n=2), condition=Missing(path("game")))

    with pytest.raises(ConditionFailed):
        engine.put(again)
    with pytest.raises(TransactionCancelled):
        engine.transact_write(Transaction((PutItem("plays", play(2)), again)))

    assert images(engine) == [("INSERT", None, play(1))]


def test_batches_and_transactions_are_recorded_member_by_member(engine: SqliteEngine) -> None:
    engine.batch_write([PutItem("plays", play(n)) for n in range(3)])
    engine.transact_write(Transaction(tuple(PutItem("plays", play(n)) for n in (3, 4))))

    assert [change.new for change in changes(engine)] == [play(n) for n in range(5)]


def test_changes_are_read_on_from_where_one_stopped(engine: SqliteEngine) -> None:
    put(engine, *(play(n) for n in range(5)))

    first = engine.changes("plays", None, 3)
    second = engine.changes("plays", first.position, 3)
    third = engine.changes("plays", second.position, 3)

    assert ([c.new for c in first.changes], first.caught_up) == ([play(n) for n in range(3)], False)
    assert ([c.new for c in second.changes], second.caught_up) == ([play(3), play(4)], True)
    assert (third.changes, third.position, third.caught_up) == ((), second.position, True)


def test_the_latest_position_sees_only_what_is_still_to_come(engine: SqliteEngine) -> None:
    put(engine, play(1))
    latest = engine.latest_position("plays")

    put(engine, play(2))

    assert [change.new for change in changes(engine, latest)] == [play(2)]


def test_changes_go_after_a_day_and_who_needs_them_is_told(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    start = engine.latest_position("plays")
    put(engine, play(1), play(2))
    clock.advance(DAY - 10)
    put(engine, play(3))

    clock.advance(20)
    engine.sweep("plays", 100)

    assert [change.new for change in changes(engine)] == [play(3)]
    with pytest.raises(ChangesLost, match="were trimmed"):
        changes(engine, start)


def test_numbers_are_never_given_twice_though_everything_is_trimmed(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    put(engine, play(1), play(2))
    last = changes(engine)[-1].sequence
    clock.advance(DAY + 1)

    engine.sweep("plays", 100)
    nothing, latest = changes(engine), engine.latest_position("plays")
    put(engine, play(3))

    assert nothing == []
    assert latest == last
    assert [int(change.sequence) for change in changes(engine, latest)] == [int(last) + 1]


def test_what_a_consumer_still_needs_is_held_for_thirty_days(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    put(engine, *(play(n) for n in range(4)))
    _, second, _, fourth = (change.sequence for change in changes(engine))
    engine.hold_changes("plays", "settler", second)
    engine.hold_changes("plays", "quick", fourth)

    clock.advance(29 * DAY)
    engine.sweep("plays", 100)
    held = [change.new for change in changes(engine, second)]
    clock.advance(2 * DAY)
    engine.sweep("plays", 100)

    assert held == [play(2), play(3)]
    with pytest.raises(ChangesLost):
        changes(engine, second)


def test_a_forgotten_consumer_holds_nothing(engine: SqliteEngine, clock: ManualClock) -> None:
    put(engine, play(1))
    engine.hold_changes("plays", "settler", "0")
    clock.advance(2 * DAY)

    engine.hold_changes("plays", "settler", None)
    engine.sweep("plays", 100)

    assert changes(engine) == []


def test_old_changes_go_with_later_writes_even_where_nobody_sweeps(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    put(engine, *(play(n) for n in range(300)))
    clock.advance(2 * DAY)

    put(engine, *(play(n) for n in range(300, 600)))

    assert changes(engine)[0].new == play(300)


def test_a_disabled_stream_can_be_read_to_its_end(engine: SqliteEngine) -> None:
    put(engine, play(1))
    label = engine.describe_table("plays").stream_label

    engine.alter_table(PLAYS)
    put(engine, play(2))

    assert [change.new for change in changes(engine)] == [play(1)]
    assert engine.describe_table("plays").stream_label == label


def test_what_happened_while_a_stream_was_off_is_told_to_be_lost(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    put(engine, play(1))
    caught_up = engine.latest_position("plays")
    engine.alter_table(PLAYS)
    put(engine, play(2))

    clock.advance(1)
    told = engine.alter_table(STREAMED)
    put(engine, play(3))

    assert told.stream_label == "2026-01-01T00:00:01.000"
    assert [change.new for change in changes(engine)] == [play(3)]
    with pytest.raises(ChangesLost):
        changes(engine, caught_up)


def test_a_position_of_another_stream_is_told_to_be_lost(engine: SqliteEngine) -> None:
    put(engine, play(1), play(2))
    position = engine.latest_position("plays")

    engine.delete_table("plays")
    engine.create_table(STREAMED)
    put(engine, play(1), play(2), play(3), play(4))

    with pytest.raises(ChangesLost, match="were trimmed"):
        changes(engine, position)
    with pytest.raises(ChangesLost, match="is not in the current stream"):
        changes(engine, str(2**62))


def test_a_table_without_a_stream_has_no_changes_to_read(engine: SqliteEngine) -> None:
    with pytest.raises(TableNotFound, match="has no stream"):
        engine.changes("teams", None, 10)


def test_a_position_is_a_number(engine: SqliteEngine) -> None:
    with pytest.raises(InvalidRequest, match="Invalid stream position"):
        engine.changes("plays", "first", 10)
