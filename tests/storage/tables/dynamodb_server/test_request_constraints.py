"""What is told about requests whose members are missing, of the wrong kind, or out of bounds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller

KEY = {"p": {"S": "x"}}


def one(place: str, value: str, rule: str) -> str:
    return (
        f"1 validation error detected: Value {value} at '{place}' failed to satisfy constraint: "
        f"Member must {rule}"
    )


@pytest.mark.parametrize(
    ("operation", "parameters", "message"),
    [
        ("PutItem", {"Item": KEY}, one("tableName", "null", "not be null")),
        ("PutItem", {"TableName": None, "Item": KEY}, one("tableName", "null", "not be null")),
        (
            "PutItem",
            {"TableName": "", "Item": {}},
            one("tableName", "''", "have length greater than or equal to 1"),
        ),
        (
            "PutItem",
            {"TableName": "ab", "Item": KEY},
            one("tableName", "'ab'", "have length greater than or equal to 3"),
        ),
        (
            "PutItem",
            {"TableName": "a" * 256, "Item": KEY},
            one("tableName", f"'{'a' * 256}'", "have length less than or equal to 255"),
        ),
        (
            "PutItem",
            {"TableName": "bad table!@#", "Item": KEY},
            one(
                "tableName",
                "'bad table!@#'",
                "satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
            ),
        ),
        ("GetItem", {"TableName": "abc"}, one("key", "null", "not be null")),
        (
            "Query",
            {"TableName": "abc", "Select": "EVERYTHING"},
            one(
                "select",
                "'EVERYTHING'",
                "satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, "
                "ALL_PROJECTED_ATTRIBUTES]",
            ),
        ),
        (
            "Scan",
            {"TableName": "abc", "Limit": 0},
            one("limit", "'0'", "have value greater than or equal to 1"),
        ),
        (
            "Scan",
            {"TableName": "abc", "Segment": -1, "TotalSegments": 4},
            one("segment", "'-1'", "have value greater than or equal to 0"),
        ),
        (
            "Scan",
            {"TableName": "abc", "Segment": 0, "TotalSegments": 1_000_001},
            one("totalSegments", "'1000001'", "have value less than or equal to 1000000"),
        ),
        (
            "ListTables",
            {"Limit": 101},
            one("limit", "'101'", "have value less than or equal to 100"),
        ),
        (
            "TransactWriteItems",
            {"TransactItems": []},
            one("transactItems", "'[]'", "have length greater than or equal to 1"),
        ),
        (
            "TransactGetItems",
            {"TransactItems": []},
            one("transactItems", "'[]'", "have length greater than or equal to 1"),
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{}]},
            one("transactItems.1.member.get", "null", "not be null"),
        ),
    ],
)
def test_a_member_out_of_bounds_is_named_with_its_value_and_its_rule(
    call: ApiCaller, operation: str, parameters: dict[str, Any], message: str
) -> None:
    response = call.message(operation, **parameters)

    assert response == message


def test_a_query_names_its_limit_without_quoting_it(call: ApiCaller) -> None:
    response = call.message("Query", TableName="abc", Limit=0)

    assert response == (
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


def test_several_faults_are_told_together(call: ApiCaller) -> None:
    response = call.message(
        "PutItem",
        TableName="abc",
        Item=KEY,
        ReturnConsumedCapacity="a",
        ReturnItemCollectionMetrics="b",
        ReturnValues="c",
    )

    assert response == (
        "3 validation errors detected: Value 'a' at 'returnConsumedCapacity' failed to satisfy "
        "constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value 'c' at "
        "'returnValues' failed to satisfy constraint: Member must satisfy enum value set: "
        "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]; Value 'b' at "
        "'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum "
        "value set: [SIZE, NONE]"
    )


def test_no_more_than_ten_faults_are_told(call: ApiCaller) -> None:
    tags = [{"Key": "", "Value": "v"} for _ in range(11)]

    response = call.message("TagResource", ResourceArn="arn:x", Tags=tags)

    assert response.startswith("10 validation errors detected: ")


def test_an_empty_table_name_is_told_alone(call: ApiCaller) -> None:
    response = call.message("PutItem", TableName="", Item={}, ReturnValues="no")

    assert response == one("tableName", "''", "have length greater than or equal to 1")


def test_an_update_tells_a_wrong_return_value_alone(call: ApiCaller) -> None:
    response = call.message(
        "UpdateItem", TableName="abc", Key=KEY, ReturnValues="no", ReturnConsumedCapacity="no"
    )

    assert response.startswith("1 validation error detected: Value 'no' at 'returnValues'")


def test_too_many_writes_are_quoted_as_the_structures_they_are(call: ApiCaller) -> None:
    writes = [{"DeleteRequest": {"Key": {"p": {"S": str(n)}}}} for n in range(26)]

    response = call.message("BatchWriteItem", RequestItems={"abc": writes})

    assert response.startswith(
        "1 validation error detected: Value '{abc=[WriteRequest(putRequest=null, deleteRequest="
        "DeleteRequest(key={p=AttributeValue(s=0, n=null, b=null, sS=null, nS=null, bS=null, "
        "m=null, l=null, nULL=null, bOOL=null)})), "
    )
    assert response.endswith(
        " at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, Member must have length greater than "
        "or equal to 1]"
    )


def test_too_many_keys_are_counted_within_their_table(call: ApiCaller) -> None:
    keys = [{"p": {"S": str(n)}} for n in range(101)]

    response = call.message("BatchGetItem", RequestItems={"abc": {"Keys": keys}})

    assert response == (
        "1 validation error detected: Value at 'RequestItems.abc.member.Keys' failed to satisfy "
        "constraint: Member must have length less than or equal to 100"
    )


@pytest.mark.parametrize("operation", ["BatchGetItem", "BatchWriteItem"])
def test_a_batch_of_nothing_lacks_its_items(call: ApiCaller, operation: str) -> None:
    response = call.message(operation, RequestItems={})

    assert response == f"The requestItems parameter is required for {operation}"


@pytest.mark.parametrize(
    "operation", ["CreateTable", "UpdateTable", "DescribeTable", "DeleteTable"]
)
def test_managing_a_table_needs_its_name(call: ApiCaller, operation: str) -> None:
    response = call.message(operation)

    assert response == "The parameter 'TableName' is required but was not present in the request"


@pytest.mark.parametrize(
    ("operation", "parameters", "message"),
    [
        ("GetItem", {"TableName": 23}, "NUMBER_VALUE cannot be converted to String"),
        ("GetItem", {"TableName": 23.5}, "DECIMAL_VALUE cannot be converted to String"),
        ("GetItem", {"TableName": True}, "TRUE_VALUE cannot be converted to String"),
        (
            "GetItem",
            {"TableName": []},
            "Unrecognized collection type class java.lang.String",
        ),
        ("GetItem", {"TableName": {}}, "Start of structure or map found where not expected"),
        ("Scan", {"Limit": "1"}, "STRING_VALUE cannot be converted to Integer"),
        ("Scan", {"Limit": False}, "FALSE_VALUE cannot be converted to Integer"),
        ("GetItem", {"ConsistentRead": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ("GetItem", {"ConsistentRead": "maybe"}, "Unexpected token received from parser"),
        ("GetItem", {"AttributesToGet": "a"}, "Unexpected field type"),
        (
            "GetItem",
            {"AttributesToGet": {}},
            "Start of structure or map found where not expected",
        ),
        ("GetItem", {"Key": "a"}, "Unexpected field type"),
        (
            "GetItem",
            {"Key": []},
            (
                "Unrecognized collection type java.util.Map<java.lang.String, "
                "com.amazonaws.dynamodb.v20120810.AttributeValue>"
            ),
        ),
        ("GetItem", {"Key": {"a": "b"}}, "Unexpected value type in payload"),
        (
            "GetItem",
            {"Key": {"a": []}},
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        ("GetItem", {"Key": {"a": {"S": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        (
            "PutItem",
            {"Item": {"a": {"B": "abc"}}},
            "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
        ),
        ("CreateTable", {"KeySchema": ["a"]}, "Unexpected value type in payload"),
        (
            "CreateTable",
            {"ProvisionedThroughput": []},
            (
                "Unrecognized collection type class "
                "com.amazonaws.dynamodb.v20120810.ProvisionedThroughput"
            ),
        ),
        (
            "BatchWriteItem",
            {"RequestItems": []},
            (
                "Unrecognized collection type java.util.Map<java.lang.String, "
                "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>"
            ),
        ),
    ],
)
def test_a_value_of_the_wrong_json_kind_cannot_be_read(
    call: ApiCaller, operation: str, parameters: dict[str, Any], message: str
) -> None:
    found = call.refused(operation, **parameters)

    assert found.body == {
        "__type": "com.amazon.coral.service#SerializationException",
        "Message": message,
    }


def test_a_wrong_kind_anywhere_is_told_before_a_broken_rule_elsewhere(call: ApiCaller) -> None:
    call.table("abc")

    found = call.refused("PutItem", TableName="abc", Item={"a": {"N": "x"}, "p": {"S": 7}})

    assert found.name == "SerializationException"


def test_words_for_true_and_numbers_with_fractions_are_taken(call: ApiCaller) -> None:
    call.table("abc")
    call("PutItem", TableName="abc", Item=KEY)

    found = call("Scan", TableName="abc", ConsistentRead="TRUE", Limit=1.9)

    assert found["Count"] == 1


def test_members_nobody_knows_are_passed_over(call: ApiCaller) -> None:
    call.table("abc")

    found = call("Scan", TableName="abc", Colour="red")

    assert found["Count"] == 0
