"""Queries and scans."""

from __future__ import annotations

from typing import Any

import pytest

from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller, index

INVALID = "One or more parameter values were invalid: "


@pytest.fixture
def shelf(call: ApiCaller) -> ApiCaller:
    """Ten items in one partition, with an index of either kind that shows only keys."""
    call.table(
        "shelf",
        sort="s",
        GlobalSecondaryIndexes=[index("wide", "g", ProjectionType="KEYS_ONLY")],
        LocalSecondaryIndexes=[index("near", "p", "l", ProjectionType="KEYS_ONLY")],
    )
    for number in range(10):
        call("PutItem", TableName="shelf", Item=item(number))
    return call


def item(number: int) -> dict[str, Any]:
    return {
        "p": {"S": "a"},
        "s": {"S": str(number)},
        "g": {"S": "x"},
        "l": {"S": str(9 - number)},
        "even": {"BOOL": number % 2 == 0},
    }


def partition(**parameters: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "TableName": "shelf",
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    return {**given, **parameters}


def sorts(answer: dict[str, Any]) -> str:
    return "".join(found["s"]["S"] for found in answer["Items"])


def test_a_partition_is_read_in_order_and_backwards(shelf: ApiCaller) -> None:
    forward = shelf("Query", **partition())
    backward = shelf("Query", **partition(ScanIndexForward=False))

    assert (sorts(forward), forward["Count"], forward["ScannedCount"]) == ("0123456789", 10, 10)
    assert sorts(backward) == "9876543210"
    assert "LastEvaluatedKey" not in forward


@pytest.mark.parametrize(
    ("condition", "values", "found"),
    [
        ("s = :s", {":s": "3"}, "3"),
        ("s < :s", {":s": "3"}, "012"),
        (":s <= s", {":s": "7"}, "789"),
        ("s BETWEEN :s AND :t", {":s": "3", ":t": "5"}, "345"),
        ("begins_with(s, :s)", {":s": "4"}, "4"),
    ],
)
def test_a_range_of_the_sort_key_is_read(
    shelf: ApiCaller, condition: str, values: dict[str, str], found: str
) -> None:
    given = {":p": {"S": "a"}, **{name: {"S": value} for name, value in values.items()}}

    answer = shelf(
        "Query",
        **partition(
            KeyConditionExpression=f"p = :p AND {condition}", ExpressionAttributeValues=given
        ),
    )

    assert sorts(answer) == found


def test_pages_end_at_the_limit_even_when_nothing_follows(shelf: ApiCaller) -> None:
    last = {"p": {"S": "a"}, "s": {"S": "9"}}

    exact = shelf("Query", **partition(Limit=10))
    after = shelf("Query", **partition(Limit=10, ExclusiveStartKey=last))

    assert exact["LastEvaluatedKey"] == last
    assert after == {"Count": 0, "ScannedCount": 0, "Items": []}


def test_a_filter_comes_after_the_limit(shelf: ApiCaller) -> None:
    answer = shelf(
        "Query",
        **partition(
            FilterExpression="even = :e",
            ExpressionAttributeValues={":p": {"S": "a"}, ":e": {"BOOL": True}},
            Limit=3,
        ),
    )

    assert (sorts(answer), answer["Count"], answer["ScannedCount"]) == ("02", 2, 3)


def test_counting_answers_no_items(shelf: ApiCaller) -> None:
    answer = shelf("Query", **partition(Select="COUNT"))

    assert answer == {"Count": 10, "ScannedCount": 10}


def test_an_index_shows_what_it_projects_and_pages_by_both_keys(shelf: ApiCaller) -> None:
    answer = shelf(
        "Query",
        **partition(
            IndexName="wide",
            KeyConditionExpression="g = :p",
            ExpressionAttributeValues={":p": {"S": "x"}},
            Limit=1,
        ),
    )

    assert answer["Items"] == [{"p": {"S": "a"}, "s": {"S": "0"}, "g": {"S": "x"}}]
    assert answer["LastEvaluatedKey"] == {"g": {"S": "x"}, "p": {"S": "a"}, "s": {"S": "0"}}


def test_a_local_index_fetches_the_rest_from_its_table(shelf: ApiCaller) -> None:
    shown = shelf("Query", **partition(IndexName="near", Limit=1))
    whole = shelf("Query", **partition(IndexName="near", Limit=1, Select="ALL_ATTRIBUTES"))
    chosen = shelf("Query", **partition(IndexName="near", Limit=1, ProjectionExpression="even"))

    assert shown["Items"] == [{"p": {"S": "a"}, "s": {"S": "9"}, "l": {"S": "0"}}]
    assert whole["Items"] == [item(9)]
    assert chosen["Items"] == [{"even": {"BOOL": False}}]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"KeyConditionExpression": "s = :p"},
            "Query condition missed key schema element: p",
        ),
        ({"IndexName": "none"}, "The table does not have the specified index: none"),
        (
            {"KeyConditionExpression": "g = :p", "IndexName": "wide", "ConsistentRead": True},
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            {"KeyConditionExpression": "g = :p", "IndexName": "wide", "Select": "ALL_ATTRIBUTES"},
            INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            "wide because its projection type is not ALL",
        ),
        (
            {
                "KeyConditionExpression": "g = :p",
                "IndexName": "wide",
                "ProjectionExpression": "even",
            },
            INVALID + "Global secondary index wide does not project [even]",
        ),
        (
            {"FilterExpression": "s = :p"},
            (
                "Filter Expression can only contain non-primary key attributes: "
                "Primary key attribute: s"
            ),
        ),
        ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            (
                "1 validation error detected: Must specify the AttributesToGet or "
                "ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
            ),
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "even"},
            (
                "1 validation error detected: Cannot specify the ProjectionExpression when "
                "choosing to get only the Count"
            ),
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            (
                "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when "
                "Querying using an IndexName"
            ),
        ),
        ({"ExclusiveStartKey": {"bad": {"S": "x"}}}, "The provided starting key is invalid"),
        (
            {"ExclusiveStartKey": {"p": {"S": "b"}, "s": {"S": "1"}}},
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
        (
            {"ExclusiveStartKey": {"p": {}, "s": {"S": "1"}}},
            (
                "The provided starting key is invalid: Supplied AttributeValue is empty, must "
                "contain exactly one of the supported datatypes"
            ),
        ),
    ],
)
def test_a_query_that_does_not_fit_is_refused(
    shelf: ApiCaller, parameters: dict[str, Any], message: str
) -> None:
    response = shelf.message("Query", **partition(**parameters))

    assert response == message


def test_a_query_needs_a_condition(shelf: ApiCaller) -> None:
    response = shelf.message("Query", TableName="shelf")

    assert response == (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
        "request."
    )


def test_placeholders_are_counted_before_the_key_is_looked_at(shelf: ApiCaller) -> None:
    response = shelf.message(
        "Query",
        TableName="shelf",
        KeyConditionExpression="#p = x",
        ExpressionAttributeNames={"#p": "p", "#c": "c"},
    )

    assert (
        response == "Value provided in ExpressionAttributeNames unused in expressions: keys: {#c}"
    )


def test_a_scan_reads_everything_whatever_it_is_cut_into(shelf: ApiCaller) -> None:
    for number in range(20):
        shelf("PutItem", TableName="shelf", Item={"p": {"S": str(number)}, "s": {"S": "0"}})

    parts = [
        shelf("Scan", TableName="shelf", Segment=segment, TotalSegments=4)["Items"]
        for segment in range(4)
    ]

    keys = [(found["p"]["S"], found["s"]["S"]) for part in parts for found in part]
    assert len(keys) == len(set(keys)) == 30


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"Segment": 0},
            (
                "The TotalSegments parameter is required but was not present in the request when "
                "Segment parameter is present"
            ),
        ),
        (
            {"TotalSegments": 4},
            (
                "The Segment parameter is required but was not present in the request when "
                "parameter TotalSegments is present"
            ),
        ),
        (
            {"Segment": 5, "TotalSegments": 5},
            (
                "The Segment parameter is zero-based and must be less than parameter "
                "TotalSegments: Segment: 5 is not less than TotalSegments: 5"
            ),
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            (
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
                "SPECIFIC_ATTRIBUTES"
            ),
        ),
        (
            {"ExclusiveStartKey": {"bad": {"S": "x"}}},
            (
                "The provided starting key is invalid: The provided key element does not match the "
                "schema"
            ),
        ),
        (
            {
                "FilterExpression": "begins_with(a, :n)",
                "ExpressionAttributeValues": {":n": {"N": "1"}},
            },
            (
                "Invalid FilterExpression: Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
    ],
)
def test_a_scan_that_does_not_fit_is_refused(
    shelf: ApiCaller, parameters: dict[str, Any], message: str
) -> None:
    response = shelf.message("Scan", TableName="shelf", **parameters)

    assert response == message


def test_reading_an_index_is_reported_as_such(shelf: ApiCaller) -> None:
    near = shelf("Query", **partition(IndexName="near", ReturnConsumedCapacity="INDEXES"))
    wide = shelf("Scan", TableName="shelf", IndexName="wide", ReturnConsumedCapacity="INDEXES")

    assert near["ConsumedCapacity"] == {
        "TableName": "shelf",
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "LocalSecondaryIndexes": {"near": {"CapacityUnits": 0.5}},
    }
    assert wide["ConsumedCapacity"]["GlobalSecondaryIndexes"] == {"wide": {"CapacityUnits": 0.5}}


def test_filters_and_projections_do_not_make_a_read_cheaper(call: ApiCaller) -> None:
    call.table("heavy")
    for number in range(3):
        call("PutItem", TableName="heavy", Item={"p": {"S": str(number)}, "a": {"S": "x" * 4000}})

    whole = call("Scan", TableName="heavy", ReturnConsumedCapacity="TOTAL")
    narrow = call(
        "Scan",
        TableName="heavy",
        FilterExpression="attribute_exists(zzz)",
        ProjectionExpression="p",
        ReturnConsumedCapacity="TOTAL",
    )

    assert whole["ConsumedCapacity"] == narrow["ConsumedCapacity"]
    assert whole["ConsumedCapacity"]["CapacityUnits"] == 1.5


def test_a_page_ends_at_a_megabyte(call: ApiCaller) -> None:
    call.table("large", sort="s")
    for number in range(20):
        call(
            "PutItem",
            TableName="large",
            Item={"p": {"S": "a"}, "s": {"S": f"{number:02}"}, "a": {"S": "x" * 60_000}},
        )

    first = call("Query", **partition(TableName="large"))
    second = call(
        "Query", **partition(TableName="large", ExclusiveStartKey=first["LastEvaluatedKey"])
    )

    assert 0 < first["Count"] < 20
    assert first["Count"] + second["Count"] == 20
