"""That batches repeat only what was left, give up in the end, and say what remains."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.storage.tables.engines.dynamodb.client import RetryPolicy
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.errors import InvalidRequest, TableNotFound
from grandstand.storage.tables.expressions.nodes import Missing, Path
from grandstand.storage.tables.requests import DeleteItem, GetItem, PutItem
from tests.storage.tables.engines.dynamodb.services import (
    Call,
    EngineOn,
    Reply,
    Script,
    ServiceOf,
    ok,
)


def key(number: int) -> dict[str, Any]:
    return {"pk": "a", "sk": number}


def wire(number: int) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}}


def test_a_batch_writes_and_reads_items_of_one_table(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, key(99)))

    written = cloud.batch_write(
        [*(PutItem(table, key(number)) for number in range(24)), DeleteItem(table, key(99))]
    )
    read = cloud.batch_get([GetItem(table, key(number), consistent=True) for number in range(100)])

    assert (written.left, len(written.written)) == ((), 25)
    assert sorted(int(str(item["sk"])) for _, item in read.found) == list(range(24))
    assert read.left == ()


def test_items_of_one_table_can_be_read_in_different_manners(
    cloud: DynamoEngine, table: str
) -> None:
    cloud.put(PutItem(table, {**key(1), "n": 1}))
    cloud.put(PutItem(table, {**key(2), "n": 2}))

    read = cloud.batch_get(
        [
            GetItem(table, key(1), consistent=True),
            GetItem(table, key(2), projection=(Path(("n",)),)),
        ]
    )

    assert [item for _, item in read.found] == [{**key(1), "n": 1}, {"n": 2}]


def test_only_the_keys_left_are_asked_for_again(service_of: ServiceOf, engine_on: EngineOn) -> None:
    service = service_of(
        Script(
            [
                ok(
                    Responses={"some": [wire(1)]},
                    UnprocessedKeys={"some": {"Keys": [wire(2), wire(3)]}},
                ),
                ok(Responses={"some": [wire(3)]}, UnprocessedKeys={"some": {"Keys": [wire(2)]}}),
                ok(Responses={"some": [wire(2)]}, UnprocessedKeys={}),
            ]
        )
    )

    read = engine_on(service.endpoint).batch_get([GetItem("some", key(n)) for n in (1, 2, 3)])

    assert [item for _, item in read.found] == [key(1), key(3), key(2)]
    assert [call.body["RequestItems"]["some"]["Keys"] for call in service.calls[1:]] == [
        [wire(2), wire(3)],
        [wire(2)],
    ]


def test_keys_never_read_are_left_as_they_were_asked_for(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    def nothing(call: Call) -> Reply:
        return ok(Responses={}, UnprocessedKeys=call.body["RequestItems"])

    service = service_of(nothing)
    engine = engine_on(service.endpoint, retry_policy=RetryPolicy(attempts=3))
    asked = [GetItem("some", key(n), (Path(("n",)),), consistent=True) for n in (1, 2)]

    read = engine.batch_get(asked)

    assert read.found == ()
    assert list(read.left) == asked
    assert len(service.calls) == 3


def test_only_the_writes_left_are_repeated(service_of: ServiceOf, engine_on: EngineOn) -> None:
    left = {"some": [{"DeleteRequest": {"Key": wire(2)}}]}
    service = service_of(Script([ok(UnprocessedItems=left), ok(UnprocessedItems={})]))

    written = engine_on(service.endpoint).batch_write(
        [PutItem("some", key(1)), DeleteItem("some", key(2))]
    )

    assert written.left == ()
    assert service.calls[1].body["RequestItems"] == left


def test_writes_never_done_are_left(service_of: ServiceOf, engine_on: EngineOn) -> None:
    def nothing(call: Call) -> Reply:
        return ok(UnprocessedItems=call.body["RequestItems"])

    service = service_of(nothing)
    engine = engine_on(service.endpoint, retry_policy=RetryPolicy(attempts=3))
    asked: list[PutItem | DeleteItem] = [
        PutItem("some", {**key(1), "b": b"x"}),
        DeleteItem("some", key(2)),
    ]

    written = engine.batch_write(asked)

    assert list(written.left) == asked
    assert written.written == ()
    assert len(service.calls) == 3


def test_a_bad_member_fails_the_whole_batch(cloud: DynamoEngine, table: str) -> None:
    with pytest.raises(InvalidRequest):
        cloud.batch_write([PutItem(table, key(1)), PutItem(table, {"pk": "a", "sk": "text"})])

    assert cloud.get(GetItem(table, key(1), consistent=True)).item is None


@pytest.mark.parametrize("other", [key(1), {"sk": 1, "pk": "a"}])
def test_an_item_read_twice_in_a_batch_is_refused(
    cloud: DynamoEngine, table: str, other: dict[str, Any]
) -> None:
    requests = [GetItem(table, key(1)), GetItem(table, other, consistent=True)]

    with pytest.raises(InvalidRequest, match="Provided list of item keys contains duplicates"):
        cloud.batch_get(requests)


def test_an_item_written_twice_in_a_batch_is_refused(cloud: DynamoEngine, table: str) -> None:
    with pytest.raises(InvalidRequest, match="Provided list of item keys contains duplicates"):
        cloud.batch_write([PutItem(table, key(1)), DeleteItem(table, key(1))])


def test_more_than_a_hundred_reads_are_too_many(cloud: DynamoEngine, table: str) -> None:
    with pytest.raises(InvalidRequest, match="Too many items requested for the BatchGetItem call"):
        cloud.batch_get([GetItem(table, key(number)) for number in range(101)])


def test_more_than_twenty_five_writes_are_too_many(cloud: DynamoEngine, table: str) -> None:
    with pytest.raises(InvalidRequest, match="Too many items requested for the BatchWriteItem"):
        cloud.batch_write([PutItem(table, key(number)) for number in range(26)])


def test_an_empty_batch_is_refused(cloud: DynamoEngine) -> None:
    with pytest.raises(InvalidRequest, match="length greater than or equal to 1"):
        cloud.batch_get([])


def test_a_batch_cannot_keep_a_condition(cloud: DynamoEngine, table: str) -> None:
    with pytest.raises(InvalidRequest, match="conditions"):
        cloud.batch_write([PutItem(table, key(1), Missing(Path(("pk",))))])


def test_a_batch_on_a_table_that_is_not_there_is_not_found(cloud: DynamoEngine) -> None:
    with pytest.raises(TableNotFound):
        cloud.batch_write([PutItem("no-such-table", key(1))])
