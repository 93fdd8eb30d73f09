"""Putting, getting, updating and deleting one item."""

from __future__ import annotations

from typing import Any

import pytest

from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller, index

KEY = {"p": {"S": "k"}}
ITEM: dict[str, Any] = {
    **KEY,
    "text": {"S": "é"},
    "number": {"N": "1.5"},
    "bytes": {"B": "AAEC"},
    "yes": {"BOOL": True},
    "none": {"NULL": True},
    "list": {"L": [{"S": "a"}, {"M": {"x": {"N": "1"}}}]},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "blobs": {"BS": ["AA==", "AQ=="]},
}


@pytest.fixture
def things(call: ApiCaller) -> ApiCaller:
    """A table with one item of every type in it."""
    call.table("things")
    call("PutItem", TableName="things", Item=ITEM)
    return call


def test_an_item_of_every_type_comes_back_as_it_was_put(things: ApiCaller) -> None:
    found = things("GetItem", TableName="things", Key=KEY)

    assert found == {"Item": ITEM}


def test_what_is_not_there_is_not_answered(things: ApiCaller) -> None:
    found = things("GetItem", TableName="things", Key={"p": {"S": "other"}})

    assert found == {}


def test_a_projection_that_finds_nothing_answers_an_empty_item(things: ApiCaller) -> None:
    found = things("GetItem", TableName="things", Key=KEY, ProjectionExpression="zzz")

    assert found == {"Item": {}}


def test_names_and_paths_choose_what_is_answered(things: ApiCaller) -> None:
    found = things(
        "GetItem",
        TableName="things",
        Key=KEY,
        ProjectionExpression="#l[1].x, yes",
        ExpressionAttributeNames={"#l": "list"},
    )

    assert found == {"Item": {"list": {"L": [{"M": {"x": {"N": "1"}}}]}, "yes": {"BOOL": True}}}


def test_a_put_answers_the_item_it_replaced(things: ApiCaller) -> None:
    first = things("PutItem", TableName="things", Item=KEY, ReturnValues="ALL_OLD")
    second = things("PutItem", TableName="things", Item={"p": {"S": "new"}}, ReturnValues="ALL_OLD")

    assert first == {"Attributes": ITEM}
    assert second == {}


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
def test_only_an_update_answers_new_values(things: ApiCaller, operation: str) -> None:
    response = things.message(
        operation, TableName="things", Item=KEY, Key=KEY, ReturnValues="ALL_NEW"
    )

    assert response == "ReturnValues can only be ALL_OLD or NONE"


def test_a_failed_condition_shows_the_item_when_asked_to(things: ApiCaller) -> None:
    wanted = {"TableName": "things", "ConditionExpression": "attribute_not_exists(p)"}

    plain = things.refused("PutItem", **wanted, Item=KEY)
    shown = things.refused(
        "DeleteItem",
        TableName="things",
        Key=KEY,
        ConditionExpression="attribute_not_exists(p)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )

    assert plain.body == {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "message": "The conditional request failed",
    }
    assert shown.body["Item"] == ITEM


@pytest.mark.parametrize(
    ("returning", "attributes"),
    [
        ("NONE", None),
        ("ALL_OLD", {**KEY, "a": {"N": "1"}, "b": {"S": "x"}}),
        ("UPDATED_OLD", {"a": {"N": "1"}}),
        ("ALL_NEW", {**KEY, "a": {"N": "3"}, "b": {"S": "x"}}),
        ("UPDATED_NEW", {"a": {"N": "3"}}),
    ],
)
def test_an_update_answers_what_it_is_asked_to(
    things: ApiCaller, returning: str, attributes: dict[str, Any] | None
) -> None:
    things("PutItem", TableName="things", Item={**KEY, "a": {"N": "1"}, "b": {"S": "x"}})

    response = things(
        "UpdateItem",
        TableName="things",
        Key=KEY,
        UpdateExpression="SET a = a + :two",
        ExpressionAttributeValues={":two": {"N": "2"}},
        ReturnValues=returning,
    )

    assert response.get("Attributes") == attributes


def test_an_update_of_nothing_makes_the_bare_item(things: ApiCaller) -> None:
    things("UpdateItem", TableName="things", Key={"p": {"S": "bare"}})

    found = things("GetItem", TableName="things", Key={"p": {"S": "bare"}})
    assert found == {"Item": {"p": {"S": "bare"}}}


def test_a_delete_takes_the_item_and_answers_it_when_asked(things: ApiCaller) -> None:
    response = things("DeleteItem", TableName="things", Key=KEY, ReturnValues="ALL_OLD")

    assert response == {"Attributes": ITEM}
    assert things("GetItem", TableName="things", Key=KEY) == {}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"ExpressionAttributeNames": {"#a": "b"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeValues": {":a": {"S": "b"}}},
            (
                "ExpressionAttributeValues can only be specified when using expressions: "
                "ConditionExpression is null"
            ),
        ),
        (
            {"ConditionExpression": "a = :v", "Expected": {"a": {"Exists": False}}},
            (
                "Can not use both expression and non-expression parameters in the same request: "
                "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
            ),
        ),
        (
            {"ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": {}}},
            (
                "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is "
                "empty, must contain exactly one of the supported datatypes for key :v"
            ),
        ),
        (
            {"ConditionExpression": ""},
            "Invalid ConditionExpression: The expression can not be empty;",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {"#x": "y"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}",
        ),
        (
            {
                "ConditionExpression": "attribute_exists(p.x)",
            },
            (
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are "
                "not allowed: Key: p"
            ),
        ),
    ],
)
def test_a_wrong_condition_is_refused_and_nothing_written(
    things: ApiCaller, parameters: dict[str, Any], message: str
) -> None:
    response = things.message("PutItem", TableName="things", Item=KEY, **parameters)

    assert response == message
    assert things("GetItem", TableName="things", Key=KEY) == {"Item": ITEM}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({}, "The provided key element does not match the schema"),
        ({"q": {"S": "x"}}, "The provided key element does not match the schema"),
        ({"p": {"N": "1"}}, "The provided key element does not match the schema"),
        (
            {"p": {"S": ""}},
            (
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty string value. Key: p"
            ),
        ),
    ],
)
def test_a_key_that_does_not_fit_is_refused(
    things: ApiCaller, key: dict[str, Any], message: str
) -> None:
    response = things.message("GetItem", TableName="things", Key=key)

    assert response == message


def test_an_item_of_exactly_400_kilobytes_is_kept_and_one_byte_more_is_not(
    things: ApiCaller,
) -> None:
    room = 409_600 - len("p") - len("k") - len("a")

    things("PutItem", TableName="things", Item={**KEY, "a": {"S": "x" * room}})
    response = things.message(
        "PutItem", TableName="things", Item={**KEY, "a": {"S": "x" * (room + 1)}}
    )

    assert response == "Item size has exceeded the maximum allowed size"


def test_an_update_counts_its_clauses_towards_the_largest_item(things: ApiCaller) -> None:
    # 3 bytes for the update, 19 for a SET; the key is not counted.
    room = 409_600 - 3 - 19 - len("a")
    wanted: dict[str, Any] = {
        "TableName": "things",
        "Key": {"p": {"S": "K"}},
        "UpdateExpression": "SET a = :a",
    }

    things("UpdateItem", **wanted, ExpressionAttributeValues={":a": {"S": "x" * room}})
    response = things.message(
        "UpdateItem", **wanted, ExpressionAttributeValues={":a": {"S": "x" * (room + 1)}}
    )

    assert response == "Item size to update has exceeded the maximum allowed size"


@pytest.mark.parametrize(
    ("parameters", "units"),
    [({}, 0.5), ({"ConsistentRead": True}, 1.0), ({"ProjectionExpression": "p"}, 0.5)],
)
def test_a_read_reports_what_it_consumed(
    things: ApiCaller, parameters: dict[str, Any], units: float
) -> None:
    response = things(
        "GetItem", TableName="things", Key=KEY, ReturnConsumedCapacity="TOTAL", **parameters
    )

    assert response["ConsumedCapacity"] == {"TableName": "things", "CapacityUnits": units}


@pytest.fixture
def indexed(call: ApiCaller) -> ApiCaller:
    """A table with an index of either kind."""
    call.table(
        "indexed",
        sort="s",
        GlobalSecondaryIndexes=[
            index("wide", "g", ProjectionType="INCLUDE", NonKeyAttributes=["shown"])
        ],
        LocalSecondaryIndexes=[index("near", "p", "l")],
    )
    return call


FULL = {"p": {"S": "1"}, "s": {"S": "1"}, "g": {"S": "g"}, "l": {"S": "l"}, "shown": {"S": "x"}}


@pytest.mark.parametrize(
    ("item", "report"),
    [
        (FULL, {"total": 3.0, "wide": 1.0, "near": 1.0}),
        ({"p": {"S": "2"}, "s": {"S": "1"}}, {"total": 1.0}),
        ({"p": {"S": "2"}, "s": {"S": "1"}, "g": {"S": "g"}}, {"total": 2.0, "wide": 1.0}),
        ({"p": {"S": "2"}, "s": {"S": "1"}, "l": {"S": "l"}}, {"total": 2.0, "near": 1.0}),
    ],
)
def test_a_write_reports_each_index_it_changed_and_no_other(
    indexed: ApiCaller, item: dict[str, Any], report: dict[str, float]
) -> None:
    response = indexed("PutItem", TableName="indexed", Item=item, ReturnConsumedCapacity="INDEXES")

    consumed = response["ConsumedCapacity"]
    arms = {
        **consumed.get("GlobalSecondaryIndexes", {}),
        **consumed.get("LocalSecondaryIndexes", {}),
    }
    found = {name: arm["CapacityUnits"] for name, arm in arms.items()}
    assert {"total": consumed["CapacityUnits"], **found} == report
    assert consumed["Table"] == {"CapacityUnits": 1.0}


@pytest.mark.parametrize(
    ("expression", "report"),
    [
        ("SET extra = :v", (2.0, None, 1.0)),
        ("SET shown = :v", (3.0, 1.0, 1.0)),
        ("SET g = :v", (4.0, 2.0, 1.0)),
        ("SET l = :v", (3.0, None, 2.0)),
    ],
)
def test_an_index_is_charged_for_what_it_holds_twice_when_its_key_moves(
    indexed: ApiCaller, expression: str, report: tuple[float, float | None, float | None]
) -> None:
    indexed("PutItem", TableName="indexed", Item=FULL)

    response = indexed(
        "UpdateItem",
        TableName="indexed",
        Key={"p": {"S": "1"}, "s": {"S": "1"}},
        UpdateExpression=expression,
        ExpressionAttributeValues={":v": {"S": "new"}},
        ReturnConsumedCapacity="INDEXES",
    )["ConsumedCapacity"]

    wide = response.get("GlobalSecondaryIndexes", {}).get("wide", {}).get("CapacityUnits")
    near = response.get("LocalSecondaryIndexes", {}).get("near", {}).get("CapacityUnits")
    assert (response["CapacityUnits"], wide, near) == report


def test_the_same_item_again_costs_the_table_alone(indexed: ApiCaller) -> None:
    indexed("PutItem", TableName="indexed", Item=FULL)

    response = indexed("PutItem", TableName="indexed", Item=FULL, ReturnConsumedCapacity="INDEXES")

    assert response["ConsumedCapacity"] == {
        "TableName": "indexed",
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 1.0},
    }


def test_collections_are_told_only_where_there_are_local_indexes(
    indexed: ApiCaller, things: ApiCaller
) -> None:
    near = indexed("PutItem", TableName="indexed", Item=FULL, ReturnItemCollectionMetrics="SIZE")
    none = things("PutItem", TableName="things", Item=KEY, ReturnItemCollectionMetrics="SIZE")

    assert near == {
        "ItemCollectionMetrics": {
            "ItemCollectionKey": {"p": {"S": "1"}},
            "SizeEstimateRangeGB": [0.0, 1.0],
        }
    }
    assert none == {}
