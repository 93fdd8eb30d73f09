"""That changes are read from a stream in order, once, across shards, and from where one stopped."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.errors import ChangesLost, InvalidRequest
from grandstand.storage.tables.requests import ChangeBatch, DeleteItem, PutItem
from grandstand.storage.tables.schema import TableSchema
from tests.storage.tables.engines.dynamodb.services import EngineOn, Script, ServiceOf, ok
from tests.storage.tables.engines.dynamodb.streaming import Pieces, StreamService

KEY: Key = {"pk": "a", "sk": 1}
ITEM: Item = {**KEY, "raw": b"x", "n": 1}


def numbers(batch: ChangeBatch) -> list[int]:
    return [int(change.sequence) for change in batch.changes]


def test_changes_hold_what_was_and_what_is(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, ITEM))
    cloud.put(PutItem(table, ITEM))
    cloud.put(PutItem(table, {**ITEM, "n": 2}))
    cloud.delete(DeleteItem(table, KEY))

    batch = cloud.changes(table, None, 100)

    assert [(change.kind, change.old, change.new) for change in batch.changes] == [
        ("INSERT", None, ITEM),
        ("MODIFY", ITEM, {**ITEM, "n": 2}),
        ("REMOVE", {**ITEM, "n": 2}, None),
    ]
    assert [change.keys for change in batch.changes] == [KEY] * 3
    assert batch.caught_up
    assert not batch.changes[2].expired


def test_reading_goes_on_after_the_position_given(
    cloud: DynamoEngine, table: str, engine_on: EngineOn, dynamodb_local: str
) -> None:
    for number in range(5):
        cloud.put(PutItem(table, {"pk": "a", "sk": number}))
    another = engine_on(dynamodb_local)

    first = cloud.changes(table, None, 2)
    second = another.changes(table, first.position, 2)
    third = another.changes(table, second.position, 2)
    again = cloud.changes(table, first.position, 100)

    read = [[change.keys["sk"] for change in batch.changes] for batch in (first, second, third)]
    assert read == [[0, 1], [2, 3], [4]]
    assert (first.caught_up, third.caught_up) == (False, True)
    assert [change.keys["sk"] for change in again.changes] == [2, 3, 4]


def test_after_the_latest_position_only_what_comes_is_read(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, {"pk": "a", "sk": 1}))
    position = cloud.latest_position(table)

    before = cloud.changes(table, position, 10)
    cloud.put(PutItem(table, {"pk": "a", "sk": 2}))
    after = cloud.changes(table, before.position, 10)

    assert before.changes == ()
    assert [change.keys["sk"] for change in after.changes] == [2]


def test_a_table_without_a_stream_says_so(cloud: DynamoEngine, table_name: str) -> None:
    cloud.create_table(TableSchema(table_name, "pk", types={"pk": "S"}))

    with pytest.raises(InvalidRequest, match="stream"):
        cloud.changes(table_name, None, 10)


def test_a_position_of_an_earlier_table_of_that_name_is_lost(
    cloud: DynamoEngine, table_name: str
) -> None:
    schema = TableSchema(table_name, "pk", types={"pk": "S"}, stream="KEYS_ONLY")
    cloud.create_table(schema)
    position = cloud.latest_position(table_name)
    cloud.delete_table(table_name)
    cloud.create_table(schema)

    with pytest.raises(ChangesLost):
        cloud.changes(table_name, position, 10)


@pytest.mark.parametrize("position", ["17", "{}", "nonsense"])
def test_a_position_another_engine_kept_is_lost(
    cloud: DynamoEngine, table: str, position: str
) -> None:
    with pytest.raises(ChangesLost):
        cloud.changes(table, position, 10)


def test_holding_changes_and_sweeping_are_left_to_the_service(
    cloud: DynamoEngine, table: str
) -> None:
    cloud.hold_changes(table, "consumer", None)

    assert cloud.sweep(table, 100) == 0


def test_a_deletion_by_expiry_is_told_from_one_by_hand(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService({"one": Pieces(numbers=[1])})
    record = {
        "eventName": "REMOVE",
        "userIdentity": {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "ApproximateCreationDateTime": 1_800_000_000,
            "Keys": {"pk": {"S": "a"}},
            "OldImage": {"pk": {"S": "a"}, "ttl": {"N": "1"}},
            "SequenceNumber": "1",
            "SizeBytes": 5,
        },
    }
    script = Script([ok(Records=[record]), ok(Records=[])])
    service = service_of(
        lambda call: script(call) if call.operation == "GetRecords" else stream(call)
    )

    (change,) = engine_on(service.endpoint).changes("some", None, 10).changes

    assert change.expired
    assert change.at == datetime(2027, 1, 15, 8, tzinfo=UTC)
    assert (change.old, change.new, change.size_bytes) == ({"pk": "a", "ttl": 1}, None, 5)


def test_a_parent_is_read_to_its_end_before_its_children(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService(
        {
            "right": Pieces(parent="root", numbers=[5, 6], first=5),
            "left": Pieces(parent="root", numbers=[4], first=4),
            "root": Pieces(numbers=[1, 2, 3], closed=True),
        },
        page=2,
    )

    batch = engine_on(service_of(stream).endpoint).changes("some", None, 100)

    assert numbers(batch)[:3] == [1, 2, 3]
    assert sorted(numbers(batch)[3:]) == [4, 5, 6]
    assert batch.caught_up


def test_a_limit_stops_between_parent_and_children_without_losing_any(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService(
        {
            "root": Pieces(numbers=[1, 2, 3], closed=True),
            "child": Pieces(parent="root", numbers=[4, 5], first=4),
        }
    )
    endpoint = service_of(stream).endpoint

    first = engine_on(endpoint).changes("some", None, 2)
    second = engine_on(endpoint).changes("some", first.position, 2)
    third = engine_on(endpoint).changes("some", second.position, 2)

    assert [numbers(batch) for batch in (first, second, third)] == [[1, 2], [3, 4], [5]]


def test_a_split_that_happens_while_reading_is_followed(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    root = Pieces(numbers=[1])
    stream = StreamService({"root": root})
    engine = engine_on(service_of(stream).endpoint)

    before = engine.changes("some", None, 10)
    root.numbers.append(2)
    root.closed = True
    stream.shards["left"] = Pieces(parent="root", numbers=[3], first=3)
    stream.shards["right"] = Pieces(parent="root", first=3)
    after = engine.changes("some", before.position, 10)
    stream.shards["right"].numbers.append(4)
    later = engine.changes("some", after.position, 10)

    assert [numbers(batch) for batch in (before, after, later)] == [[1], [2, 3], [4]]


def test_a_finished_shard_is_not_read_again_while_it_is_still_listed(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService(
        {
            "root": Pieces(numbers=[1], closed=True),
            "child": Pieces(parent="root", numbers=[2], first=2),
        }
    )
    endpoint = service_of(stream).endpoint
    position = engine_on(endpoint).changes("some", None, 10).position

    batch = engine_on(endpoint).changes("some", position, 10)

    assert numbers(batch) == []


def test_a_finished_shard_may_vanish_from_the_list(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService(
        {
            "root": Pieces(numbers=[1], closed=True),
            "child": Pieces(parent="root", numbers=[2], first=2),
        }
    )
    endpoint = service_of(stream).endpoint
    position = engine_on(endpoint).changes("some", None, 10).position
    del stream.shards["root"]
    stream.shards["child"].numbers.append(3)

    batch = engine_on(endpoint).changes("some", position, 10)

    assert numbers(batch) == [3]


def test_an_expired_iterator_is_replaced(service_of: ServiceOf, engine_on: EngineOn) -> None:
    root = Pieces(numbers=[1])
    stream = StreamService({"root": root})
    engine = engine_on(service_of(stream).endpoint)
    position = engine.changes("some", None, 10).position
    stream.expire_iterators = True
    root.numbers.append(2)

    batch = engine.changes("some", position, 1)

    assert numbers(batch) == [2]


def test_iterators_are_kept_from_one_call_to_the_next(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(StreamService({"root": Pieces(numbers=[1])}))
    engine = engine_on(service.endpoint)
    position = engine.changes("some", None, 10).position
    asked = len(service.calls)

    engine.changes("some", position, 10)

    assert service.operations[asked:] == ["GetRecords"]


def test_empty_pages_before_a_record_are_passed_over(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService({"root": Pieces(numbers=[1], empty_pages=2)})

    batch = engine_on(service_of(stream).endpoint).changes("some", None, 10)

    assert numbers(batch) == [1]


def test_records_trimmed_after_the_position_are_lost(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    root = Pieces(numbers=[1, 2, 3])
    stream = StreamService({"root": root})
    endpoint = service_of(stream).endpoint
    position = engine_on(endpoint).changes("some", None, 1).position
    root.numbers, root.trimmed_below = [3], 3

    with pytest.raises(ChangesLost):
        engine_on(endpoint).changes("some", position, 10)


def test_the_first_records_of_a_child_trimmed_before_they_were_read_are_lost(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    root = Pieces(numbers=[1])
    stream = StreamService({"root": root})
    endpoint = service_of(stream).endpoint
    position = engine_on(endpoint).changes("some", None, 10).position
    root.closed = True
    stream.shards["child"] = Pieces(parent="root", numbers=[4], first=2, trimmed_below=4)

    with pytest.raises(ChangesLost):
        engine_on(endpoint).changes("some", position, 10)


def test_a_shard_that_vanished_before_it_was_read_is_lost(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    stream = StreamService({"root": Pieces(numbers=[1])})
    endpoint = service_of(stream).endpoint
    position = engine_on(endpoint).changes("some", None, 10).position
    stream.shards = {"grandchild": Pieces(parent="child", numbers=[9], first=9)}

    with pytest.raises(ChangesLost):
        engine_on(endpoint).changes("some", position, 10)


def test_another_process_takes_the_latest_position_by_its_moment(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    clock = ManualClock(datetime(2027, 1, 15, 9, tzinfo=UTC))
    root = Pieces(numbers=list(range(1, 3000)))
    stream = StreamService({"root": root})
    endpoint = service_of(stream).endpoint
    position = engine_on(endpoint, clock=clock).latest_position("some")
    root.numbers.append(3601)

    batch = engine_on(endpoint, clock=clock).changes("some", position, 10)

    assert numbers(batch) == [3601]
