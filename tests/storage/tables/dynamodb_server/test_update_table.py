"""Changing tables with UpdateTable."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller, index, key_schema

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
G = [{"AttributeName": "g", "AttributeType": "S"}]


def create(created: dict[str, Any]) -> dict[str, Any]:
    return {"AttributeDefinitions": G, "GlobalSecondaryIndexUpdates": [{"Create": created}]}


def provisioned(call: ApiCaller) -> None:
    call(
        "CreateTable",
        TableName="paid",
        KeySchema=key_schema("p"),
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        ProvisionedThroughput=UNITS,
    )


def test_capacity_is_changed_and_the_change_remembered(call: ApiCaller, clock: ManualClock) -> None:
    provisioned(call)
    more = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 5}

    response = call("UpdateTable", TableName="paid", ProvisionedThroughput=more)["TableDescription"]

    assert response["TableStatus"] == "UPDATING"
    assert call("DescribeTable", TableName="paid")["Table"]["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "LastIncreaseDateTime": clock.epoch(),
        **more,
    }


def test_a_table_goes_on_demand_and_back(call: ApiCaller, clock: ManualClock) -> None:
    provisioned(call)
    clock.advance(60)

    call("UpdateTable", TableName="paid", BillingMode="PAY_PER_REQUEST")
    on_demand = call("DescribeTable", TableName="paid")["Table"]
    call("UpdateTable", TableName="paid", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)

    assert on_demand["BillingModeSummary"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "LastUpdateToPayPerRequestDateTime": clock.epoch(),
    }
    assert on_demand["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    back = call("DescribeTable", TableName="paid")["Table"]
    assert back["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert back["ProvisionedThroughput"]["ReadCapacityUnits"] == 5


def test_staying_on_demand_is_no_fault(call: ApiCaller) -> None:
    call.table("plain")

    response = call("UpdateTable", TableName="plain", BillingMode="PAY_PER_REQUEST")

    assert response["TableDescription"]["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_an_index_is_made_over_what_is_there(call: ApiCaller) -> None:
    call.table("plain")
    call("PutItem", TableName="plain", Item={"p": {"S": "1"}, "g": {"S": "x"}})

    response = call("UpdateTable", TableName="plain", **create(index("byg", "g")))

    shown = response["TableDescription"]["GlobalSecondaryIndexes"][0]
    assert (shown["IndexStatus"], shown["Backfilling"]) == ("CREATING", True)
    found = call(
        "Query",
        TableName="plain",
        IndexName="byg",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": "x"}},
    )
    assert found["Count"] == 1
    described = call("DescribeTable", TableName="plain")["Table"]
    assert described["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"


def test_an_index_is_taken_away_with_the_types_only_it_needed(call: ApiCaller) -> None:
    call.table("plain", GlobalSecondaryIndexes=[index("byg", "g")])

    call(
        "UpdateTable",
        TableName="plain",
        GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "byg"}}],
    )

    response = call("DescribeTable", TableName="plain")["Table"]
    assert "GlobalSecondaryIndexes" not in response
    assert response["AttributeDefinitions"] == [{"AttributeName": "p", "AttributeType": "S"}]


def test_an_index_keeps_its_capacity_when_the_tables_changes(call: ApiCaller) -> None:
    provisioned(call)
    call(
        "UpdateTable",
        TableName="paid",
        **create({**index("byg", "g"), "ProvisionedThroughput": UNITS}),
    )
    more = {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}

    call("UpdateTable", TableName="paid", ProvisionedThroughput=more)

    response = call("DescribeTable", TableName="paid")["Table"]
    shown = response["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
    assert (shown["ReadCapacityUnits"], shown["WriteCapacityUnits"]) == (5, 5)


def test_a_stream_is_switched_on_and_off(call: ApiCaller) -> None:
    call.table("plain")
    on = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}

    call("UpdateTable", TableName="plain", StreamSpecification=on)
    streaming = call("DescribeTable", TableName="plain")["Table"]
    call("UpdateTable", TableName="plain", StreamSpecification={"StreamEnabled": False})

    assert streaming["StreamSpecification"] == on
    stopped = call("DescribeTable", TableName="plain")["Table"]
    assert "StreamSpecification" not in stopped
    assert stopped["LatestStreamArn"] == streaming["LatestStreamArn"]


def test_protection_can_be_taken_off(call: ApiCaller) -> None:
    call.table("plain")
    call("UpdateTable", TableName="plain", DeletionProtectionEnabled=True)

    call("UpdateTable", TableName="plain", DeletionProtectionEnabled=False)

    assert call("DeleteTable", TableName="plain")["TableDescription"]["TableName"] == "plain"


@pytest.mark.parametrize(
    ("changes", "name", "message"),
    [
        (
            {},
            "ValidationException",
            (
                "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
                "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
            ),
        ),
        (
            {"BillingMode": "PROVISIONED"},
            "ValidationException",
            INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        ),
        (
            {"ProvisionedThroughput": UNITS},
            "ValidationException",
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS},
            "ValidationException",
            INVALID + "ProvisionedThroughput must be specified for index: byg",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{}]},
            "ValidationException",
            INVALID + "One of GlobalSecondaryIndexUpdate.Update, "
            "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be "
            "null",
        ),
        (
            create(index("byg", "g")),
            "ValidationException",
            "Attempting to create an index which already exists",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Create": index("byx", "x")}]},
            "ValidationException",
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [x], AttributeDefinitions: [p, g]",
        ),
        (
            {
                "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
            "ValidationException",
            (
                INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [x], "
                "keys used: [g, p]"
            ),
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "none"}}]},
            "ResourceNotFoundException",
            "Requested resource not found",
        ),
        (
            {
                "AttributeDefinitions": G,
                "GlobalSecondaryIndexUpdates": [
                    {"Create": index("one", "g")},
                    {"Create": index("two", "g")},
                ],
            },
            "LimitExceededException",
            (
                "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                "simultaneously per table"
            ),
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Delete": {"IndexName": "byg"}},
                    {"Delete": {"IndexName": "byg"}},
                ]
            },
            "ValidationException",
            INVALID + "Only one global secondary index update per index is allowed "
            "simultaneously. Index: byg",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": False}},
            "ValidationException",
            "Table has no stream to disable: TableName: plain",
        ),
    ],
)
def test_a_change_dynamodb_would_not_make_is_refused_in_its_words(
    call: ApiCaller, changes: dict[str, Any], name: str, message: str
) -> None:
    call.table("plain", GlobalSecondaryIndexes=[index("byg", "g")])
    before = call("DescribeTable", TableName="plain")

    found = call.refused("UpdateTable", TableName="plain", **changes)

    assert (found.name, found.message) == (name, message)
    assert call("DescribeTable", TableName="plain") == before


def test_asking_for_the_capacity_there_is_already_is_refused(call: ApiCaller) -> None:
    provisioned(call)

    response = call.message("UpdateTable", TableName="paid", ProvisionedThroughput=UNITS)

    assert response.startswith(
        "The provisioned throughput for the table will not change. The requested value equals the "
        "current value. Current ReadCapacityUnits provisioned for the table: 5. "
    )


def test_a_second_stream_is_refused(call: ApiCaller) -> None:
    on = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    call.table("plain", StreamSpecification=on)

    response = call.message("UpdateTable", TableName="plain", StreamSpecification=on)

    assert response == "Table already has an enabled stream: TableName: plain"
