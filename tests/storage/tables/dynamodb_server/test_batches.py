"""Batches: many items, each on its own."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller, index
from tests.storage.tables.unprocessed import leaving_unprocessed


def put(key: str, **attributes: Any) -> dict[str, Any]:
    return {"PutRequest": {"Item": {"p": {"S": key}, **attributes}}}


def delete(key: str) -> dict[str, Any]:
    return {"DeleteRequest": {"Key": {"p": {"S": key}}}}


def keys(*names: str) -> list[dict[str, Any]]:
    return [{"p": {"S": name}} for name in names]


@pytest.fixture
def two(call: ApiCaller) -> ApiCaller:
    """Two tables with an item each."""
    for name in ("one", "two"):
        call.table(name)
        call("PutItem", TableName=name, Item={"p": {"S": "here"}, "in": {"S": name}})
    return call


def test_items_of_several_tables_are_written_and_deleted_at_once(two: ApiCaller) -> None:
    response = two(
        "BatchWriteItem", RequestItems={"one": [put("new"), delete("here")], "two": [put("x")]}
    )

    assert response == {"UnprocessedItems": {}}
    assert two("Scan", TableName="one")["Items"] == [{"p": {"S": "new"}}]
    assert two("Scan", TableName="two")["Count"] == 2


def test_items_of_several_tables_are_read_at_once_and_missing_ones_left_out(two: ApiCaller) -> None:
    response = two(
        "BatchGetItem",
        RequestItems={
            "one": {"Keys": keys("here", "not")},
            "two": {"Keys": keys("here"), "ProjectionExpression": "p"},
        },
    )

    assert response == {
        "Responses": {
            "one": [{"p": {"S": "here"}, "in": {"S": "one"}}],
            "two": [{"p": {"S": "here"}}],
        },
        "UnprocessedKeys": {},
    }


def test_a_table_nothing_was_found_in_answers_an_empty_list(two: ApiCaller) -> None:
    response = two("BatchGetItem", RequestItems={"one": {"Keys": keys("not")}})

    assert response["Responses"] == {"one": []}


@pytest.mark.parametrize(
    ("writes", "message"),
    [
        ([put("a"), delete("a")], "Provided list of item keys contains duplicates"),
        (
            [put("a"), {"PutRequest": {"Item": {"p": {"N": "1"}}}}],
            "The provided key element does not match the schema",
        ),
        (
            [put("a"), {"PutRequest": {"Item": {}}}],
            "The provided key element does not match the schema",
        ),
        (
            [put("a"), put("")],
            (
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty string value. Key: p"
            ),
        ),
        (
            [put("a"), put("b", a={"S": "x" * 409_600})],
            "Item size has exceeded the maximum allowed size",
        ),
        (
            [put("a"), {}],
            (
                "Supplied AttributeValue has more than one datatypes set, must contain exactly one "
                "of the supported datatypes"
            ),
        ),
        (
            [put("a"), put("b", a={"NS": []})],
            "One or more parameter values were invalid: An number set  may not be empty",
        ),
    ],
)
def test_one_bad_member_keeps_the_whole_batch_from_being_written(
    two: ApiCaller, writes: list[dict[str, Any]], message: str
) -> None:
    response = two.message("BatchWriteItem", RequestItems={"one": writes})

    assert response == message
    assert two("Scan", TableName="one")["Count"] == 1


def test_a_missing_table_keeps_the_others_from_being_written(two: ApiCaller) -> None:
    found = two.refused("BatchWriteItem", RequestItems={"one": [put("a")], "none": [put("a")]})

    assert (found.name, found.message) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert two("Scan", TableName="one")["Count"] == 1


def test_more_than_25_writes_over_all_tables_are_too_many(two: ApiCaller) -> None:
    wanted = {
        "one": [put(str(number)) for number in range(13)],
        "two": [put(str(number)) for number in range(13)],
    }

    response = two.message("BatchWriteItem", RequestItems=wanted)

    assert response == "Too many items requested for the BatchWriteItem call"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"Keys": keys("a", "a")}, "Provided list of item keys contains duplicates"),
        (
            {"Keys": keys("a"), "ProjectionExpression": "a, a"},
            (
                "Invalid ProjectionExpression: Two document paths overlap with each other; must "
                "remove or rewrite one of these paths; path one: [a], path two: [a]"
            ),
        ),
        (
            {"Keys": keys("a"), "ProjectionExpression": "a", "AttributesToGet": ["a"]},
            (
                "Can not use both expression and non-expression parameters in the same request: "
                "Non-expression parameters: {AttributesToGet} Expression parameters: "
                "{ProjectionExpression}"
            ),
        ),
        (
            {"Keys": keys("a"), "ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
    ],
)
def test_a_batch_of_reads_that_does_not_fit_is_refused(
    two: ApiCaller, block: dict[str, Any], message: str
) -> None:
    response = two.message("BatchGetItem", RequestItems={"one": block})

    assert response == message


def test_old_and_new_projections_may_not_meet_even_across_tables(two: ApiCaller) -> None:
    response = two.message(
        "BatchGetItem",
        RequestItems={
            "one": {"Keys": keys("a"), "ProjectionExpression": "a"},
            "two": {"Keys": keys("a"), "AttributesToGet": ["a"]},
        },
    )

    assert response.startswith("Can not use both expression and non-expression parameters")


def test_capacity_is_reported_for_each_table(two: ApiCaller) -> None:
    written = two(
        "BatchWriteItem",
        RequestItems={"one": [put("a"), put("b")]},
        ReturnConsumedCapacity="TOTAL",
    )
    read = two(
        "BatchGetItem",
        RequestItems={"one": {"Keys": keys("a", "b"), "ConsistentRead": True}},
        ReturnConsumedCapacity="INDEXES",
    )

    assert written["ConsumedCapacity"] == [{"TableName": "one", "CapacityUnits": 2.0}]
    assert read["ConsumedCapacity"] == [
        {"TableName": "one", "CapacityUnits": 2.0, "Table": {"CapacityUnits": 2.0}}
    ]


def test_collections_are_told_by_table(call: ApiCaller) -> None:
    call.table("near", sort="s", LocalSecondaryIndexes=[index("lsi", "p", "l")])

    response = call(
        "BatchWriteItem",
        RequestItems={"near": [put("a", s={"S": "1"}), put("a", s={"S": "2"})]},
        ReturnItemCollectionMetrics="SIZE",
    )

    assert response["ItemCollectionMetrics"] == {
        "near": [{"ItemCollectionKey": {"p": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}]
    }


def test_what_was_left_undone_comes_back_ready_to_be_sent_again() -> None:
    clock = ManualClock()
    engine = leaving_unprocessed(3, clock)
    call = ApiCaller(DynamoDbServer(engine, clock=clock))
    call.table("one")

    # Every third member is left: of the writes "c", of the reads "b".
    wrote = call("BatchWriteItem", RequestItems={"one": [put("a"), put("b"), put("c")]})
    call("BatchWriteItem", RequestItems=wrote["UnprocessedItems"])
    wanted = {"one": {"Keys": keys("a", "b", "c"), "ProjectionExpression": "p"}}
    read = call("BatchGetItem", RequestItems=wanted)
    rest = call("BatchGetItem", RequestItems=read["UnprocessedKeys"])
    engine.close()

    assert wrote["UnprocessedItems"] == {"one": [put("c")]}
    assert read["UnprocessedKeys"] == {"one": {"Keys": keys("b"), "ProjectionExpression": "p"}}
    assert read["Responses"]["one"] + rest["Responses"]["one"] == keys("a", "c", "b")
