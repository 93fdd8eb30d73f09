"""Making, describing, listing and deleting tables."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.base.clock import ManualClock
from tests.storage.tables.front.asking import Asker, index, key_schema

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


def test_a_new_table_is_shown_as_being_created_and_then_as_active(ask: Asker) -> None:
    made = ask("CreateTable", **PLAIN)["TableDescription"]

    assert made["TableStatus"] == "CREATING"
    assert ask("DescribeTable", TableName="plain")["Table"]["TableStatus"] == "ACTIVE"


def test_a_description_has_what_was_asked_for_and_where_the_table_is(
    ask: Asker, clock: ManualClock
) -> None:
    ask("CreateTable", **PLAIN)

    told = ask("DescribeTable", TableName="plain")["Table"]

    moment = clock.epoch()
    assert told == {
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
        "TableId": told["TableId"],
        "DeletionProtectionEnabled": False,
        "BillingModeSummary": {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": moment,
        },
    }


def test_items_and_bytes_are_counted_for_the_table_and_each_index(ask: Asker) -> None:
    ask.table("counted", GlobalSecondaryIndexes=[index("byg", "g")])
    ask("PutItem", TableName="counted", Item={"p": {"S": "1"}, "g": {"S": "x"}})
    ask("PutItem", TableName="counted", Item={"p": {"S": "2"}})

    told = ask("DescribeTable", TableName="counted")["Table"]

    assert (told["ItemCount"], told["TableSizeBytes"]) == (2, 6)
    assert told["GlobalSecondaryIndexes"][0]["ItemCount"] == 1


def test_a_table_made_again_is_another_table(ask: Asker, clock: ManualClock) -> None:
    first = ask("CreateTable", **PLAIN)["TableDescription"]["TableId"]
    ask("DeleteTable", TableName="plain")
    clock.advance(1)

    second = ask("CreateTable", **PLAIN)["TableDescription"]["TableId"]

    assert first != second


def test_every_setting_is_told_again(ask: Asker) -> None:
    ask(
        "CreateTable",
        **PLAIN,
        DeletionProtectionEnabled=True,
        TableClass="STANDARD_INFREQUENT_ACCESS",
        SSESpecification={"Enabled": True},
        OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5},
    )

    told = ask("DescribeTable", TableName="plain")["Table"]

    assert told["DeletionProtectionEnabled"] is True
    assert told["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert told["SSEDescription"]["Status"] == "ENABLED"
    assert told["SSEDescription"]["KMSMasterKeyArn"].startswith("arn:aws:kms:local:")
    assert told["OnDemandThroughput"] == {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5}


def test_provisioned_capacity_is_told_for_the_table_and_its_indexes(ask: Asker) -> None:
    small = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    ask(
        "CreateTable",
        TableName="paid",
        KeySchema=key_schema("p"),
        AttributeDefinitions=defined("p", "g"),
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[{**index("byg", "g"), "ProvisionedThroughput": small}],
    )

    told = ask("DescribeTable", TableName="paid")["Table"]

    assert told["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    shown = told["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
    assert shown == {"NumberOfDecreasesToday": 0, **small}
    assert "BillingModeSummary" not in told


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
    ask: Asker, changes: dict[str, Any], message: str
) -> None:
    told = ask.message("CreateTable", **{**PLAIN, **changes})

    assert told == message
    assert ask("ListTables")["TableNames"] == []


def test_a_name_in_use_cannot_be_taken(ask: Asker) -> None:
    ask("CreateTable", **PLAIN)

    found = ask.refused("CreateTable", **PLAIN)

    assert found.body == {
        "__type": "com.amazonaws.dynamodb.v20120810#ResourceInUseException",
        "message": "Table already exists: plain",
    }


@pytest.mark.parametrize("operation", ["DescribeTable", "DeleteTable", "DescribeTimeToLive"])
def test_whoever_manages_a_missing_table_is_told_its_name(ask: Asker, operation: str) -> None:
    found = ask.refused(operation, TableName="gone")

    assert found.name == "ResourceNotFoundException"
    assert found.message == "Requested resource not found: Table: gone not found"


def test_whoever_uses_a_missing_table_is_told_only_that(ask: Asker) -> None:
    found = ask.refused("GetItem", TableName="gone", Key={"p": {"S": "x"}})

    assert found.name == "ResourceNotFoundException"
    assert found.message == "Requested resource not found"


def test_a_deleted_table_is_shown_as_being_deleted_and_is_gone(ask: Asker) -> None:
    ask("CreateTable", **PLAIN)

    told = ask("DeleteTable", TableName="plain")["TableDescription"]

    assert told["TableStatus"] == "DELETING"
    assert ask("ListTables") == {"TableNames": []}


def test_a_protected_table_is_kept(ask: Asker) -> None:
    ask("CreateTable", **PLAIN, DeletionProtectionEnabled=True)

    told = ask.message("DeleteTable", TableName="plain")

    assert "protected against deletion" in told
    assert ask("ListTables")["TableNames"] == ["plain"]


def test_names_are_listed_in_pages(ask: Asker) -> None:
    for name in ("bbb", "aaa", "ccc"):
        ask.table(name)

    first = ask("ListTables", Limit=2)
    second = ask("ListTables", Limit=2, ExclusiveStartTableName="bbb")

    assert first == {"TableNames": ["aaa", "bbb"], "LastEvaluatedTableName": "bbb"}
    assert second == {"TableNames": ["ccc"]}


def test_a_table_can_be_named_by_its_arn(ask: Asker) -> None:
    ask.table("plain")
    arn = ask("DescribeTable", TableName="plain")["Table"]["TableArn"]

    ask("PutItem", TableName=arn, Item={"p": {"S": "x"}})

    found = ask("GetItem", TableName="plain", Key={"p": {"S": "x"}})
    assert found == {"Item": {"p": {"S": "x"}}}


def test_a_table_of_another_place_is_not_ours_to_use(ask: Asker) -> None:
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/plain"

    found = ask.refused("DescribeTable", TableName=arn)

    assert found.name == "AccessDeniedException"


def test_what_is_no_arn_of_a_table_is_refused(ask: Asker) -> None:
    told = ask.message("DescribeTable", TableName="arn:aws:s3:::bucket")

    assert told == ("Invalid TableArn: Invalid ResourceArn provided as input arn:aws:s3:::bucket")
