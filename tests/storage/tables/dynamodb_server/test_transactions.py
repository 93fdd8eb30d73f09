"""Transactions: all or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller, index

CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons "


def put(key: str, **parameters: Any) -> dict[str, Any]:
    return {
        "Put": {"TableName": "things", "Item": {"p": {"S": key}, "v": {"N": "1"}}, **parameters}
    }


def on(kind: str, key: Any, **parameters: Any) -> dict[str, Any]:
    return {kind: {"TableName": "things", "Key": {"p": key}, **parameters}}


def get(key: str, **parameters: Any) -> dict[str, Any]:
    return on("Get", {"S": key}, **parameters)


@pytest.fixture
def things(call: ApiCaller) -> ApiCaller:
    """A table with one item."""
    call.table("things", GlobalSecondaryIndexes=[index("byg", "g")])
    call("PutItem", TableName="things", Item={"p": {"S": "old"}, "v": {"N": "1"}})
    return call


def count(call: ApiCaller) -> int:
    found: int = call("Scan", TableName="things")["Count"]
    return found


def test_every_kind_of_action_is_carried_out_together(things: ApiCaller) -> None:
    things("PutItem", TableName="things", Item={"p": {"S": "gone"}})

    response = things(
        "TransactWriteItems",
        TransactItems=[
            put("new"),
            on("Delete", {"S": "gone"}),
            on(
                "Update",
                {"S": "old"},
                UpdateExpression="ADD v :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            ),
            on("ConditionCheck", {"S": "absent"}, ConditionExpression="attribute_not_exists(p)"),
        ],
    )

    assert response == {}
    found = {item["p"]["S"]: item["v"]["N"] for item in things("Scan", TableName="things")["Items"]}
    assert found == {"new": "1", "old": "2"}


def test_one_failed_condition_cancels_all_and_says_which(things: ApiCaller) -> None:
    found = things.refused(
        "TransactWriteItems",
        TransactItems=[
            put("new"),
            put(
                "old",
                ConditionExpression="attribute_not_exists(p)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
        ],
    )

    assert found.name == "TransactionCanceledException"
    assert found.message == CANCELLED + "[None, ConditionalCheckFailed]"
    assert found.body["CancellationReasons"] == [
        {"Code": "None"},
        {
            "Code": "ConditionalCheckFailed",
            "Message": "The conditional request failed",
            "Item": {"p": {"S": "old"}, "v": {"N": "1"}},
        },
    ]
    assert count(things) == 1


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            {"Put": {"TableName": "things", "Item": {"p": {"N": "5"}}}},
            (
                "One or more parameter values were invalid: Type mismatch for key p expected: S "
                "actual: N"
            ),
        ),
        (
            {"Put": {"TableName": "things", "Item": {"p": {"S": "x"}, "g": {"N": "5"}}}},
            (
                "One or more parameter values were invalid: Type mismatch for Index Key g "
                "Expected: S Actual: N IndexName: byg"
            ),
        ),
        (on("Delete", {"N": "5"}), "The provided key element does not match the schema"),
        (
            on("ConditionCheck", {"L": []}, ConditionExpression="attribute_exists(p)"),
            "The provided key element does not match the schema",
        ),
        (
            on(
                "Update",
                {"S": "x"},
                UpdateExpression="SET p = :v",
                ExpressionAttributeValues={":v": {"S": "1"}},
            ),
            (
                "One or more parameter values were invalid: Cannot update attribute p. This "
                "attribute is part of the key"
            ),
        ),
    ],
)
def test_an_action_that_does_not_fit_its_table_cancels_with_a_validation_error(
    things: ApiCaller, action: dict[str, Any], message: str
) -> None:
    found = things.refused("TransactWriteItems", TransactItems=[action])

    assert found.message == CANCELLED + "[ValidationError]"
    assert found.body["CancellationReasons"] == [{"Code": "ValidationError", "Message": message}]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            {"Put": {"TableName": "things", "Item": {"p": {"S": ""}}}},
            (
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty string value. Key: p"
            ),
        ),
        (
            {"Put": {"TableName": "things", "Item": {"p": {"S": "x"}, "g": {"S": ""}}}},
            (
                "One or more parameter values are not valid. A value specified for a secondary "
                "index key is not supported. The AttributeValue for a key attribute cannot contain "
                "an empty string value. IndexName: byg, IndexKey: g"
            ),
        ),
        (
            put("x", Item={"p": {"S": "x"}, "a": {"S": "x" * 409_600}}),
            "Item size has exceeded the maximum allowed size",
        ),
        (
            on("Update", {"S": "x"}, UpdateExpression="SETT a = b"),
            'Invalid UpdateExpression: Syntax error; token: "SETT", near: "SETT a"',
        ),
        ({}, "TransactItems can only contain one of Check, Put, Update or Delete"),
        (
            put("x", ExpressionAttributeNames={"#a": "b"}),
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
    ],
)
def test_what_needs_no_look_at_the_items_is_refused_outright(
    things: ApiCaller, action: dict[str, Any], message: str
) -> None:
    response = things.message("TransactWriteItems", TransactItems=[put("other"), action])

    assert response == message
    assert count(things) == 1


def test_one_item_may_be_named_once(things: ApiCaller) -> None:
    written = things.message("TransactWriteItems", TransactItems=[put("a"), put("a")])
    read = things.message("TransactGetItems", TransactItems=[get("a"), get("a")])

    assert written == read == "Transaction request cannot include multiple operations on one item"


def test_a_missing_table_is_told_and_nothing_written(things: ApiCaller) -> None:
    found = things.refused(
        "TransactWriteItems",
        TransactItems=[put("a"), {"Put": {"TableName": "none", "Item": {"p": {"S": "x"}}}}],
    )

    assert (found.name, found.message) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert count(things) == 1


def test_a_token_is_carried_out_once_and_means_one_thing(
    things: ApiCaller, clock: ManualClock
) -> None:
    add = on(
        "Update",
        {"S": "old"},
        UpdateExpression="ADD v :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    wanted: dict[str, Any] = {"TransactItems": [add], "ClientRequestToken": "token"}

    things("TransactWriteItems", **wanted)
    things("TransactWriteItems", **wanted)
    other = things.refused(
        "TransactWriteItems", TransactItems=[put("x")], ClientRequestToken="token"
    )
    once = things("GetItem", TableName="things", Key={"p": {"S": "old"}})
    clock.advance(601)
    things("TransactWriteItems", **wanted)

    assert other.name == "IdempotentParameterMismatchException"
    assert once["Item"]["v"] == {"N": "2"}
    later = things("GetItem", TableName="things", Key={"p": {"S": "old"}})
    assert later["Item"]["v"] == {"N": "3"}


def test_more_than_four_megabytes_are_too_many(things: ApiCaller) -> None:
    actions = [
        put(str(number), Item={"p": {"S": str(number)}, "a": {"S": "x" * 350_000}})
        for number in range(12)
    ]

    found = things.refused("TransactWriteItems", TransactItems=actions)

    assert found.name == "ValidationException"
    assert count(things) == 1


def test_items_are_read_together_and_missing_ones_answer_nothing(things: ApiCaller) -> None:
    response = things(
        "TransactGetItems", TransactItems=[get("old", ProjectionExpression="v"), get("not")]
    )

    assert response == {"Responses": [{"Item": {"v": {"N": "1"}}}, {}]}


def test_a_read_that_does_not_fit_its_table_cancels(things: ApiCaller) -> None:
    found = things.refused("TransactGetItems", TransactItems=[get("old"), on("Get", {"N": "1"})])

    assert found.message == CANCELLED + "[None, ValidationError]"


def test_transactions_cost_twice_and_say_what_was_read_or_written(things: ApiCaller) -> None:
    written = things(
        "TransactWriteItems", TransactItems=[put("a")], ReturnConsumedCapacity="INDEXES"
    )
    read = things(
        "TransactGetItems", TransactItems=[get("a"), get("not")], ReturnConsumedCapacity="TOTAL"
    )

    assert written["ConsumedCapacity"] == [
        {
            "TableName": "things",
            "CapacityUnits": 2.0,
            "WriteCapacityUnits": 2.0,
            "Table": {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
        }
    ]
    assert read["ConsumedCapacity"] == [
        {"TableName": "things", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}
    ]
