"""The parameters from before expressions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller

INVALID = "One or more parameter values were invalid: "
KEY = {"p": {"S": "k"}}


def compared(operator: str, *values: dict[str, Any]) -> dict[str, Any]:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.fixture
def things(call: ApiCaller) -> ApiCaller:
    """A table with one item."""
    call.table("things")
    item = {**KEY, "a": {"S": "hello"}, "n": {"N": "5"}, "set": {"SS": ["x", "y"]}}
    call("PutItem", TableName="things", Item=item)
    return call


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"zzz": {"Exists": False}}, True),
        ({"a": {"Exists": False}}, False),
        ({"a": {"Value": {"S": "hello"}}}, True),
        ({"a": {"Exists": True, "Value": {"S": "bye"}}}, False),
        ({"a": compared("EQ", {"S": "hello"})}, True),
        ({"a": compared("NE", {"S": "hello"})}, False),
        ({"zzz": compared("NE", {"S": "x"})}, True),
        ({"n": compared("LT", {"N": "6"})}, True),
        ({"n": compared("GE", {"N": "6"})}, False),
        ({"n": compared("LE", {"S": "6"})}, False),
        ({"n": compared("BETWEEN", {"N": "5"}, {"N": "6"})}, True),
        ({"n": compared("IN", {"N": "1"}, {"N": "5.0"})}, True),
        ({"a": compared("BEGINS_WITH", {"S": "hel"})}, True),
        ({"a": compared("CONTAINS", {"S": "ell"})}, True),
        ({"set": compared("CONTAINS", {"S": "x"})}, True),
        ({"set": compared("NOT_CONTAINS", {"S": "x"})}, False),
        ({"zzz": compared("NOT_CONTAINS", {"S": "x"})}, False),
        ({"zzz": compared("NULL")}, True),
        ({"a": compared("NOT_NULL")}, True),
    ],
)
def test_an_expectation_lets_a_write_through_or_not(
    things: ApiCaller,
    expected: dict[str, Any],
    holds: bool,  # noqa: FBT001
) -> None:
    reply = things.reply("PutItem", {"TableName": "things", "Item": KEY, "Expected": expected})

    assert (reply.status == 200) is holds
    assert (b"ConditionalCheckFailedException" in reply.body) is not holds


@pytest.mark.parametrize(("operator", "status"), [("AND", 400), ("OR", 200)])
def test_several_expectations_are_joined_as_asked(
    things: ApiCaller, operator: str, status: int
) -> None:
    expected = {"a": {"Value": {"S": "hello"}}, "n": {"Value": {"N": "0"}}}

    reply = things.reply(
        "DeleteItem",
        {
            "TableName": "things",
            "Key": KEY,
            "Expected": expected,
            "ConditionalOperator": operator,
        },
    )

    assert reply.status == status


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (
            {"a": {"Value": {"S": "x"}, "AttributeValueList": [{"S": "x"}]}},
            INVALID + "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"a": {"ComparisonOperator": "EQ", "Exists": True}},
            INVALID + "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"a": {"ComparisonOperator": "EQ"}},
            INVALID + "Value or AttributeValueList must be used with ComparisonOperator: EQ for "
            "Attribute: a",
        ),
        (
            {"a": {"AttributeValueList": [{"S": "x"}]}},
            INVALID + "AttributeValueList can only be used with a ComparisonOperator for "
            "Attribute: a",
        ),
        ({"a": {}}, INVALID + "Value must be provided when Exists is null for Attribute: a"),
        (
            {"a": {"Exists": True}},
            INVALID + "Value must be provided when Exists is true for Attribute: a",
        ),
        (
            {"a": {"Exists": False, "Value": {"S": "x"}}},
            INVALID + "Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            {"a": compared("BETWEEN", {"S": "x"})},
            INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
        (
            {"a": compared("IN", {"S": "x"}, {"N": "1"})},
            INVALID + "AttributeValues inside AttributeValueList must be of same type",
        ),
        (
            {"a": compared("BEGINS_WITH", {"N": "1"})},
            INVALID + "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type",
        ),
        (
            {"a": compared("BETWEEN", {"S": "b"}, {"S": "a"})},
            (
                "The BETWEEN condition was provided a range where the lower bound is greater than "
                "the upper bound"
            ),
        ),
    ],
)
def test_an_expectation_that_makes_no_sense_is_refused(
    things: ApiCaller, expected: dict[str, Any], message: str
) -> None:
    response = things.message("PutItem", TableName="things", Item=KEY, Expected=expected)

    assert response == message


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({}, "ConditionalOperator cannot be used without Filter or Expected"),
        (
            {"Expected": {"a": {"Exists": False}}},
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        ),
    ],
)
def test_an_operator_needs_something_to_join(
    things: ApiCaller, expected: dict[str, Any], message: str
) -> None:
    response = things.message(
        "PutItem", TableName="things", Item=KEY, ConditionalOperator="AND", **expected
    )

    assert response == message


@pytest.mark.parametrize(
    ("updates", "attributes"),
    [
        ({"a": {"Value": {"S": "x"}}}, {"a": {"S": "x"}}),
        ({"a": {"Action": "PUT", "Value": {"S": "x"}}}, {"a": {"S": "x"}}),
        ({"n": {"Action": "ADD", "Value": {"N": "2"}}}, {"n": {"N": "7"}}),
        ({"set": {"Action": "ADD", "Value": {"SS": ["z"]}}}, {"set": {"SS": ["x", "y", "z"]}}),
        ({"set": {"Action": "DELETE", "Value": {"SS": ["x"]}}}, {"set": {"SS": ["y"]}}),
        (
            {"list": {"Action": "ADD", "Value": {"L": [{"S": "1"}]}}},
            {"list": {"L": [{"S": "1"}]}},
        ),
    ],
)
def test_an_attribute_is_put_added_to_or_taken_from(
    things: ApiCaller, updates: dict[str, Any], attributes: dict[str, Any]
) -> None:
    response = things(
        "UpdateItem",
        TableName="things",
        Key=KEY,
        AttributeUpdates=updates,
        ReturnValues="UPDATED_NEW",
    )

    assert response["Attributes"] == attributes


def test_a_deletion_without_a_value_removes_the_attribute(things: ApiCaller) -> None:
    things("UpdateItem", TableName="things", Key=KEY, AttributeUpdates={"a": {"Action": "DELETE"}})

    assert "a" not in things("GetItem", TableName="things", Key=KEY)["Item"]


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        (
            {"a": {"Action": "PUT"}},
            INVALID + "Only DELETE action is allowed when no attribute value is specified",
        ),
        (
            {"a": {"Action": "DELETE", "Value": {"S": "x"}}},
            INVALID + "DELETE action with value is not supported for the type S",
        ),
        (
            {"a": {"Action": "ADD", "Value": {"S": "x"}}},
            INVALID + "ADD action is not supported for the type S",
        ),
        (
            {"p": {"Value": {"S": "x"}}},
            INVALID + "Cannot update attribute p. This attribute is part of the key",
        ),
        ({"a": {"Action": "ADD", "Value": {"N": "1"}}}, "Type mismatch for attribute to update"),
    ],
)
def test_an_update_that_makes_no_sense_is_refused(
    things: ApiCaller, updates: dict[str, Any], message: str
) -> None:
    response = things.message("UpdateItem", TableName="things", Key=KEY, AttributeUpdates=updates)

    assert response == message


@pytest.fixture
def shelf(call: ApiCaller) -> ApiCaller:
    """Five items in one partition."""
    call.table("shelf", sort="s")
    for number in range(5):
        call(
            "PutItem",
            TableName="shelf",
            Item={"p": {"S": "a"}, "s": {"S": str(number)}, "n": {"N": str(number)}},
        )
    return call


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ({}, "01234"),
        ({"s": compared("GT", {"S": "2"})}, "34"),
        ({"s": compared("BETWEEN", {"S": "1"}, {"S": "2"})}, "12"),
        ({"s": compared("BEGINS_WITH", {"S": "3"})}, "3"),
    ],
)
def test_key_conditions_read_a_partition(
    shelf: ApiCaller, sort: dict[str, Any], found: str
) -> None:
    conditions = {"p": compared("EQ", {"S": "a"}), **sort}

    answer = shelf("Query", TableName="shelf", KeyConditions=conditions)

    assert "".join(item["s"]["S"] for item in answer["Items"]) == found


def test_filters_and_names_work_on_queries_and_scans(shelf: ApiCaller) -> None:
    wanted = {"n": compared("GE", {"N": "3"})}

    queried = shelf(
        "Query",
        TableName="shelf",
        KeyConditions={"p": compared("EQ", {"S": "a"})},
        QueryFilter=wanted,
        AttributesToGet=["n"],
    )
    scanned = shelf("Scan", TableName="shelf", ScanFilter=wanted, Select="COUNT")

    assert queried["Items"] == [{"n": {"N": "3"}}, {"n": {"N": "4"}}]
    assert (scanned["Count"], scanned["ScannedCount"]) == (2, 5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"KeyConditions": {"p": compared("NE", {"S": "a"})}},
            "Attempted conditional constraint is not an indexable operation",
        ),
        (
            {"KeyConditions": {"s": compared("EQ", {"S": "a"})}},
            "Query condition missed key schema element: p",
        ),
        (
            {"KeyConditions": {"p": compared("GT", {"S": "a"})}},
            "Query key condition not supported",
        ),
        ({"KeyConditions": {}}, "Conditions can be of length 1 or 2 only"),
        (
            {
                "KeyConditions": {"p": compared("EQ", {"S": "a"})},
                "QueryFilter": {"s": compared("EQ", {"S": "a"})},
            },
            "QueryFilter can only contain non-primary key attributes: Primary key attribute: s",
        ),
        (
            {"KeyConditions": {"p": compared("EQ", {"S": "a"})}, "AttributesToGet": ["n", "n"]},
            INVALID + "Duplicate value in attribute name: n",
        ),
    ],
)
def test_an_old_query_that_does_not_fit_is_refused(
    shelf: ApiCaller, parameters: dict[str, Any], message: str
) -> None:
    response = shelf.message("Query", TableName="shelf", **parameters)

    assert response == message
