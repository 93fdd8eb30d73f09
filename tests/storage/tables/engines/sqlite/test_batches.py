"""Batches: many at once, each on its own, none when one is wrong."""

import pytest

from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import InvalidRequest, TableNotFound
from grandstand.storage.tables.expressions.nodes import Missing
from grandstand.storage.tables.requests import BatchRead, DeleteItem, GetItem, PutItem, ScanRequest
from tests.storage.tables.engines.sqlite.plays import PLAYS, TEAMS, numbers, path, play, put


@pytest.fixture(autouse=True)
def _tables(engine: SqliteEngine) -> None:
    engine.create_table(PLAYS)
    engine.create_table(TEAMS)


def key(number: int) -> GetItem:
    return GetItem("plays", {"game": "g1", "play": f"p{number:04d}"})


def test_a_batch_puts_and_deletes_in_several_tables(engine: SqliteEngine) -> None:
    put(engine, play(1), play(2))

    written = engine.batch_write(
        [
            PutItem("plays", play(3)),
            DeleteItem("plays", key(1).key),
            PutItem("teams", {"team": "reds"}),
        ]
    )

    assert written.left == ()
    assert [table for table, _ in written.written] == ["plays", "plays", "teams"]
    assert numbers(engine.scan(ScanRequest("plays")).items) == [2, 3]
    assert engine.scan(ScanRequest("teams")).items == ({"team": "reds"},)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (PutItem("plays", {"game": "g"}), "The provided key element does not match the schema"),
        (
            PutItem("plays", {"game": 1, "play": "p"}),
            "The provided key element does not match the schema",
        ),
        (PutItem("plays", play(2, team=1)), "Type mismatch for Index Key team"),
        (PutItem("plays", play(2, note="x" * 409_600)), "Item size has exceeded"),
        (DeleteItem("plays", {"game": "g"}), "The provided key element does not match the schema"),
        (DeleteItem("plays", key(1).key), "Provided list of item keys contains duplicates"),
        (PutItem("plays", play(2), condition=Missing(path("game"))), "have no conditions"),
    ],
)
def test_one_bad_member_fails_the_batch_and_nothing_is_written(
    engine: SqliteEngine, bad: PutItem | DeleteItem, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        engine.batch_write([PutItem("plays", play(1)), bad])

    assert engine.scan(ScanRequest("plays")).scanned == 0


def test_a_table_that_is_not_there_fails_the_batch(engine: SqliteEngine) -> None:
    with pytest.raises(TableNotFound):
        engine.batch_write([PutItem("plays", play(1)), PutItem("none", play(1))])

    assert engine.scan(ScanRequest("plays")).scanned == 0


def test_a_batch_has_its_limits(engine: SqliteEngine) -> None:
    with pytest.raises(InvalidRequest, match="Too many items requested for the BatchWriteItem"):
        engine.batch_write([PutItem("plays", play(n)) for n in range(26)])
    with pytest.raises(InvalidRequest, match="Too many items requested for the BatchGetItem"):
        engine.batch_get([key(n) for n in range(101)])
    with pytest.raises(InvalidRequest, match="contains duplicates"):
        engine.batch_get([key(1), key(1)])

    assert engine.scan(ScanRequest("plays")).scanned == 0


def test_a_batch_reads_what_is_there_and_tells_the_size_of_each(engine: SqliteEngine) -> None:
    put(engine, play(1, note="a"), play(2))

    read = engine.batch_get(
        [key(1), key(3), GetItem("plays", key(2).key, projection=(path("play"),))]
    )

    assert read == BatchRead(
        found=(("plays", play(1, note="a")), ("plays", {"play": "p0002"})),
        read_bytes={"plays": (item_size(play(1, note="a")), 0, item_size(play(2)))},
        found_bytes=(item_size(play(1, note="a")), item_size(play(2))),
    )


def test_a_batch_read_ends_at_16_megabytes_and_leaves_the_rest(engine: SqliteEngine) -> None:
    for n in range(44):
        put(engine, play(n, note="x" * 400_000))

    first = engine.batch_get([key(n) for n in range(44)])
    second = engine.batch_get(first.left)

    assert len(first.found) == 41
    assert [request.key["play"] for request in first.left] == ["p0041", "p0042", "p0043"]
    assert (len(second.found), second.left) == (3, ())
