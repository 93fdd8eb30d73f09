"""Making, describing, listing and deleting tables."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller, index, key_schema

INVALID = "One or more parameter values were invalid: "
PLAIN: dict[str, Any] = {
    "TableName": "plain",
    "KeySchema": key_schema("p"),
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


def defined(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def test_a_new_table_is_shown_as_being_created_and_then_as_active(call: ApiCaller) -> None:
    created = call("CreateTable", **PLAIN)["TableDescription"]

    assert created["TableStatus"] == "CREATING"
    assert call("DescribeTable", TableName="plain")["Table"]["TableStatus"] == "ACTIVE"


def test_a_description_has_what_was_asked_for_and_where_the_table_is(
    call: ApiCaller, clock: ManualClock
) -> None:
    call("CreateTable", **PLAIN)

    response = call("DescribeTable", TableName="plain")["Table"]

    moment = clock.epoch()
    assert response == {
        "AttributeDefinitions": defined("p"),
        "TableName": "plain",
        "KeySchema": key_schema("p"),
        "TableStatus": "ACTIVE",
        "CreationDateTime": moment,
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": 0,
            "WriteCapacityUnits": 0,
        },
        "TableSizeBytes": 0,
        "ItemCount": 0,
        "TableArn": "arn:aws:dynamodb:local:000000000000:table/plain",
        "TableId": response["TableId"],
        "DeletionProtectionEnabled": False,
        "BillingModeSummary": {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": moment,
        },
    }


def test_items_and_bytes_are_counted_for_the_table_and_each_index(call: ApiCaller) -> None:
    call.table("counted", GlobalSecondaryIndexes=[index("byg", "g")])
    call("PutItem", TableName="counted", Item={"p": {"S": "1"}, "g": {"S": "x"}})
    call("PutItem", TableName="counted", Item={"p": {"S": "2"}})

    response = call("DescribeTable", TableName="counted")["Table"]

    assert (response["ItemCount"], response["TableSizeBytes"]) == (2, 6)
    assert response["GlobalSecondaryIndexes"][0]["ItemCount"] == 1


def test_a_table_made_again_is_another_table(call: ApiCaller, clock: ManualClock) -> None:
    first = call("CreateTable", **PLAIN)["TableDescription"]["TableId"]
    call("DeleteTable", TableName="plain")
    clock.advance(1)

    second = call("CreateTable", **PLAIN)["TableDescription"]["TableId"]

    assert first != second


def test_every_setting_is_told_again(call: ApiCaller) -> None:
    call(
        "CreateTable",
        **PLAIN,
        DeletionProtectionEnabled=True,
        TableClass="STANDARD_INFREQUENT_ACCESS",
        SSESpecification={"Enabled": True},
        OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5},
    )

    response = call("DescribeTable", TableName="plain")["Table"]

    assert response["DeletionProtectionEnabled"] is True
    assert response["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert response["SSEDescription"]["Status"] == "ENABLED"
    assert response["SSEDescription"]["KMSMasterKeyArn"].startswith("arn:aws:kms:local:")
    assert response["OnDemandThroughput"] == {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5}


def test_provisioned_capacity_is_told_for_the_table_and_its_indexes(call: ApiCaller) -> None:
    small = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    call(
        "CreateTable",
        TableName="paid",
        KeySchema=key_schema("p"),
        AttributeDefinitions=defined("p", "g"),
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[{**index("byg", "g"), "ProvisionedThroughput": small}],
    )

    response = call("DescribeTable", TableName="paid")["Table"]

    assert response["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    shown = response["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
    assert shown == {"NumberOfDecreasesToday": 0, **small}
    assert "BillingModeSummary" not in response


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"BillingMode": "PROVISIONED"},
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
        ),
        (
            {"ProvisionedThroughput": UNITS},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
        ),
        (
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": {**UNITS, "ReadCapacityUnits": 10**12 + 1},
            },
            "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        ),
        (
            {"KeySchema": key_schema("p", "p")},
            "Invalid KeySchema: Some index key attribute have no definition",
        ),
        (
            {"KeySchema": key_schema("p", "p"), "AttributeDefinitions": defined("p", "q")},
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ),
        (
            {"KeySchema": key_schema("z")},
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [z], AttributeDefinitions: [p]",
        ),
        (
            {"KeySchema": [{"AttributeName": "p", "KeyType": "RANGE"}]},
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            {
                "KeySchema": [*key_schema("p"), *key_schema("q")],
                "AttributeDefinitions": defined("p", "q"),
            },
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        ),
        (
            {"AttributeDefinitions": defined("p", "q")},
            INVALID + "Number of attributes in KeySchema does not exactly match number of "
            "attributes defined in AttributeDefinitions",
        ),
        (
            {"AttributeDefinitions": defined("p", "p")},
            INVALID + "Duplicate AttributeName in AttributeDefinitions: p",
        ),
        ({"LocalSecondaryIndexes": []}, INVALID + "List of LocalSecondaryIndexes is empty"),
        ({"GlobalSecondaryIndexes": []}, INVALID + "List of GlobalSecondaryIndexes is empty"),
        (
            {
                "AttributeDefinitions": defined("p", "l"),
                "LocalSecondaryIndexes": [index("lsi", "p", "l")],
            },
            INVALID + "Table KeySchema does not have a range key, which is required when "
            "specifying a LocalSecondaryIndex",
        ),
        (
            {
                "KeySchema": key_schema("p", "s"),
                "AttributeDefinitions": defined("p", "s", "l"),
                "LocalSecondaryIndexes": [index("lsi", "s", "l")],
            },
            INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema "
            "for index: lsi. index hash key: s, table hash key: p",
        ),
        (
            {
                "KeySchema": key_schema("p", "s"),
                "AttributeDefinitions": defined("p", "s"),
                "LocalSecondaryIndexes": [index("lsi", "p")],
            },
            INVALID + "Index KeySchema does not have a range key for index: lsi",
        ),
        (
            {
                "AttributeDefinitions": defined("p", "g"),
                "GlobalSecondaryIndexes": [index("one", "g"), index("one", "g")],
            },
            INVALID + "Duplicate index name: one",
        ),
        (
            {
                "AttributeDefinitions": defined("p", "g"),
                "GlobalSecondaryIndexes": [index("one", "g", ProjectionType="INCLUDE")],
            },
            INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            {
                "AttributeDefinitions": defined("p", "g"),
                "GlobalSecondaryIndexes": [
                    index("one", "g", ProjectionType="KEYS_ONLY", NonKeyAttributes=["x"])
                ],
            },
            INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        ),
        (
            {
                "AttributeDefinitions": defined("p", "g"),
                "GlobalSecondaryIndexes": [index("one", "g", NonKeyAttributes=["x"])],
            },
            INVALID + "Unknown ProjectionType: null",
        ),
        (
            {
                "AttributeDefinitions": defined("p", "g"),
                "GlobalSecondaryIndexes": [index(f"i{n:02}", "g") for n in range(21)],
            },
            INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
        ),
        (
            {
                "AttributeDefinitions": defined("p", "g", "x"),
                "GlobalSecondaryIndexes": [index("one", "g")],
            },
            INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [p, g, x], "
            "keys used: [g, p]",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}},
            INVALID + "Table is being created with a stream disabled, UpdateViewType should not "
            "be specified",
        ),
        (
            {"KeySchema": [{"AttributeName": "p", "KeyType": "KEY"}]},
            (
                "1 validation error detected: Value 'KEY' at 'keySchema.1.member.keyType' failed "
                "to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]"
            ),
        ),
        (
            {"AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "BOOL"}]},
            (
                "1 validation error detected: Value 'BOOL' at "
                "'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: "
                "Member must satisfy enum value set: [B, N, S]"
            ),
        ),
        (
            {
                "KeySchema": [*key_schema("p", "s"), {"AttributeName": "x", "KeyType": "RANGE"}],
                "AttributeDefinitions": defined("p", "s", "x"),
            },
            (
                "1 validation error detected: Value '[KeySchemaElement(attributeName=p, "
                "keyType=HASH), KeySchemaElement(attributeName=s, keyType=RANGE), "
                "KeySchemaElement(attributeName=x, keyType=RANGE)]' at 'keySchema' failed to "
                "satisfy constraint: Member must have length less than or equal to 2"
            ),
        ),
    ],
)
def test_a_table_dynamodb_would_not_make_is_refused_in_its_words(
    call: ApiCaller, changes: dict[str, Any], message: str
) -> None:
    response = call.message("CreateTable", **{**PLAIN, **changes})

    assert response == message
    assert call("ListTables")["TableNames"] == []


def test_a_name_in_use_cannot_be_taken(call: ApiCaller) -> None:
    call("CreateTable", **PLAIN)

    found = call.refused("CreateTable", **PLAIN)

    assert found.body == {
        "__type": "com.amazonaws.dynamodb.v20120810#ResourceInUseException",
        "message": "Table already exists: plain",
    }


@pytest.mark.parametrize("operation", ["DescribeTable", "DeleteTable", "DescribeTimeToLive"])
def test_whoever_manages_a_missing_table_is_told_its_name(call: ApiCaller, operation: str) -> None:
    found = call.refused(operation, TableName="gone")

    assert found.name == "ResourceNotFoundException"
    assert found.message == "Requested resource not found: Table: gone not found"


def test_whoever_uses_a_missing_table_is_told_only_that(call: ApiCaller) -> None:
    found = call.refused("GetItem", TableName="gone", Key={"p": {"S": "x"}})

    assert found.name == "ResourceNotFoundException"
    assert found.message == "Requested resource not found"


def test_a_deleted_table_is_shown_as_being_deleted_and_is_gone(call: ApiCaller) -> None:
    call("CreateTable", **PLAIN)

    response = call("DeleteTable", TableName="plain")["TableDescription"]

    assert response["TableStatus"] == "DELETING"
    assert call("ListTables") == {"TableNames": []}


def test_a_protected_table_is_kept(call: ApiCaller) -> None:
    call("CreateTable", **PLAIN, DeletionProtectionEnabled=True)

    response = call.message("DeleteTable", TableName="plain")

    assert "protected against deletion" in response
    assert call("ListTables")["TableNames"] == ["plain"]


def test_names_are_listed_in_pages(call: ApiCaller) -> None:
    for name in ("bbb", "aaa", "ccc"):
        call.table(name)

    first = call("ListTables", Limit=2)
    second = call("ListTables", Limit=2, ExclusiveStartTableName="bbb")

    assert first == {"TableNames": ["aaa", "bbb"], "LastEvaluatedTableName": "bbb"}
    assert second == {"TableNames": ["ccc"]}


def test_a_table_can_be_named_by_its_arn(call: ApiCaller) -> None:
    call.table("plain")
    arn = call("DescribeTable", TableName="plain")["Table"]["TableArn"]

    call("PutItem", TableName=arn, Item={"p": {"S": "x"}})

    found = call("GetItem", TableName="plain", Key={"p": {"S": "x"}})
    assert found == {"Item": {"p": {"S": "x"}}}


def test_a_table_of_another_place_is_not_ours_to_use(call: ApiCaller) -> None:
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/plain"

    found = call.refused("DescribeTable", TableName=arn)

    assert found.name == "AccessDeniedException"


def test_what_is_no_arn_of_a_table_is_refused(call: ApiCaller) -> None:
    response = call.message("DescribeTable", TableName="arn:aws:s3:::bucket")

    assert response == (
        "Invalid TableArn: Invalid ResourceArn provided as input arn:aws:s3:::bucket"
    )
