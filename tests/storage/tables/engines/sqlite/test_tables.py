"""Tables as a whole: made, described, altered and deleted, also by somebody else."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import InvalidRequest, TableInUse, TableNotFound
from grandstand.storage.tables.requests import PutItem, QueryRequest, ScanRequest
from grandstand.storage.tables.schema import Capacity, IndexSchema, TableDescription, TableSchema
from tests.storage.tables.engines.sqlite.plays import (
    BY_DAY,
    BY_TEAM,
    PLACES,
    PLAYS,
    TEAMS,
    find,
    numbers,
    of_game,
    of_team,
    play,
    put,
)

BARE = replace(PLAYS, indexes=(BY_DAY,))


@pytest.fixture
def other(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteEngine]:
    """Another engine on the file of `on_file`, as another process would have."""
    opened = SqliteEngine.open(tmp_path / "tables.db", clock=clock)
    yield opened
    opened.close()


def test_a_table_is_described_as_it_was_made(engine: SqliteEngine) -> None:
    schema = replace(PLACES, ttl="until", stream="KEYS_ONLY", capacity=Capacity(5, 6))

    made = engine.create_table(schema)

    assert made == engine.describe_table("places")
    assert made == TableDescription(
        schema=schema,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        items=0,
        size_bytes=0,
        stream_label="2026-01-01T00:00:00.000",
        index_counts={"by-place": (0, 0)},
    )


def test_tables_are_named_in_order(engine: SqliteEngine) -> None:
    for schema in (TEAMS, PLACES, PLAYS):
        engine.create_table(schema)

    assert engine.list_tables() == ("places", "plays", "teams")


def test_a_description_counts_items_and_bytes_of_the_table_and_its_indexes(
    engine: SqliteEngine,
) -> None:
    engine.create_table(PLAYS)
    items = [play(n, team="reds", points=n) for n in range(3)] + [play(3, team="reds")]
    put(engine, *items)

    told = engine.describe_table("plays")

    assert (told.items, told.size_bytes) == (4, sum(map(item_size, items)))
    assert told.index_counts == {
        "by-team": (3, sum(map(item_size, items[:3]))),
        "by-day": (0, 0),
    }


def test_a_large_table_is_counted_by_estimate(engine: SqliteEngine) -> None:
    engine.create_table(
        replace(
            TEAMS, types={"team": "S", "half": "S"}, indexes=(IndexSchema("by-half", ("half",)),)
        )
    )
    for start in range(0, 20_000, 25):
        engine.batch_write(
            [
                PutItem("teams", {"team": f"{n:06d}", **({"half": "h"} if n % 2 else {})})
                for n in range(start, start + 25)
            ]
        )

    told = engine.describe_table("teams")

    assert told.items == pytest.approx(20_000, rel=0.02)
    assert told.size_bytes == pytest.approx(20_000 * 12.5, rel=0.02)
    assert told.index_counts["by-half"][0] == pytest.approx(10_000, rel=0.02)


def test_a_name_is_used_once(engine: SqliteEngine) -> None:
    engine.create_table(TEAMS)

    with pytest.raises(TableInUse, match="Table already exists: teams"):
        engine.create_table(TEAMS)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (replace(TEAMS, name="no"), "between 3 and 255 characters"),
        (replace(TEAMS, name="no spaces"), "may contain only the characters"),
        (replace(TEAMS, types={}), "give the key attribute team the type S, N or B"),
        (replace(PLAYS, sort="game"), "have the same name"),
        (replace(PLAYS, indexes=(BY_TEAM, BY_TEAM)), "Duplicate index name: by-team"),
        (replace(PLAYS, indexes=(replace(BY_TEAM, partition=()),)), "names no key"),
        (
            replace(PLAYS, indexes=(replace(BY_DAY, partition=("team",)),)),
            "index by-day does not have the table's hash key",
        ),
        (
            replace(PLAYS, indexes=tuple(replace(BY_TEAM, name=f"by-{n:02d}") for n in range(21))),
            "GlobalSecondaryIndex count exceeds the per-table limit of 20",
        ),
        (
            replace(PLAYS, indexes=tuple(replace(BY_DAY, name=f"by-{n:02d}") for n in range(6))),
            "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        ),
    ],
)
def test_a_table_dynamodb_could_not_keep_is_refused(
    engine: SqliteEngine, schema: TableSchema, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        engine.create_table(schema)

    assert engine.list_tables() == ()


def test_a_deleted_table_is_gone_with_all_in_it(engine: SqliteEngine) -> None:
    engine.create_table(PLAYS)
    put(engine, play(1))

    went = engine.delete_table("plays")
    engine.create_table(PLAYS)

    assert went.items == 1
    assert find(engine, play(1)) is None


@pytest.mark.parametrize("work", ["describe_table", "delete_table"])
def test_what_is_not_there_is_not_found(engine: SqliteEngine, work: str) -> None:
    with pytest.raises(TableNotFound, match="Table: plays not found"):
        getattr(engine, work)("plays")


def test_a_new_index_is_filled_from_the_items_that_are_there(engine: SqliteEngine) -> None:
    engine.create_table(BARE)
    put(engine, play(1, team="reds", points=2), play(2, team="reds", points=1), play(3, team=7))

    told = engine.alter_table(PLAYS)

    assert told.schema == PLAYS
    assert numbers(engine.query(of_team("reds")).items) == [2, 1]


def test_an_item_with_a_wrong_index_key_is_left_out_of_a_new_index_until_it_is_written(
    engine: SqliteEngine,
) -> None:
    engine.create_table(BARE)
    put(engine, play(1, team=7, points=1))

    engine.alter_table(PLAYS)
    with pytest.raises(InvalidRequest, match="Type mismatch for Index Key team"):
        put(engine, play(1, team=7, points=1))

    assert engine.scan(ScanRequest("plays", index="by-team")).scanned == 0
    assert engine.scan(ScanRequest("plays")).scanned == 1


def test_a_dropped_index_is_gone_and_its_place_serves_another(engine: SqliteEngine) -> None:
    by_city = IndexSchema("by-city", ("city",), ("play",))
    engine.create_table(PLAYS)
    put(engine, play(1, team="reds", points=1, city="rome"))

    engine.alter_table(BARE)
    with pytest.raises(InvalidRequest, match="does not have the specified index: by-team"):
        engine.query(of_team("reds"))
    put(engine, play(2, team=7, city="rome"))
    engine.alter_table(replace(PLAYS, indexes=(BY_DAY, by_city)))

    rome = QueryRequest("plays", replace(of_game(), equals=(("city", "rome"),)), index="by-city")
    assert numbers(engine.query(rome).items) == [1, 2]


def test_the_key_of_a_table_and_its_local_indexes_cannot_be_altered(engine: SqliteEngine) -> None:
    engine.create_table(PLAYS)

    for schema in (replace(PLAYS, sort="team"), replace(PLAYS, indexes=(BY_TEAM,))):
        with pytest.raises(InvalidRequest, match="cannot be changed"):
            engine.alter_table(schema)

    assert engine.describe_table("plays").schema == PLAYS


def test_texts_beside_a_description_are_kept_through_changes(engine: SqliteEngine) -> None:
    engine.create_table(BARE)

    engine.put_settings("plays", {"tags": "a", "class": "x"})
    engine.put_settings("plays", {"tags": "b"})
    engine.alter_table(replace(PLAYS, capacity=Capacity(1, 2)))

    told = engine.describe_table("plays")
    assert told.settings == {"tags": "b", "class": "x"}
    assert told.schema.capacity == Capacity(1, 2)


def test_an_index_added_by_another_process_is_filled_by_writes_of_this_one(
    on_file: SqliteEngine, other: SqliteEngine
) -> None:
    on_file.create_table(BARE)
    put(on_file, play(1, team="reds", points=1))

    other.alter_table(PLAYS)
    put(on_file, play(2, team="reds", points=2))

    assert numbers(on_file.query(of_team("reds")).items) == [1, 2]
    assert numbers(other.query(of_team("reds")).items) == [1, 2]


def test_a_stream_enabled_by_another_process_records_writes_of_this_one(
    on_file: SqliteEngine, other: SqliteEngine
) -> None:
    on_file.create_table(BARE)
    put(on_file, play(1))

    other.alter_table(replace(BARE, stream="NEW_IMAGE"))
    put(on_file, play(2))

    recorded = [change.new for change in other.changes("plays", None, 10).changes]
    assert recorded == [play(2)]


def test_a_table_made_anew_by_another_process_is_the_new_one_here(
    on_file: SqliteEngine, other: SqliteEngine
) -> None:
    on_file.create_table(PLAYS)
    put(on_file, play(1))

    other.delete_table("plays")
    with pytest.raises(TableNotFound):
        find(on_file, play(1))
    other.create_table(PLAYS)
    put(other, play(2))

    assert find(on_file, play(1)) is None
    assert find(on_file, play(2)) == play(2)
