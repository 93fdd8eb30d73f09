"""Requests that DynamoDB Local and our endpoint answer alike, on the tables of the comparison."""

from __future__ import annotations

from typing import Any, Final

from tests.storage.tables.dynamodb_server.sdk_client import index, key_schema

Case = tuple[str, dict[str, Any]]


def s(text: str) -> dict[str, str]:
    """A text."""
    return {"S": text}


def n(number: int) -> dict[str, str]:
    """A number."""
    return {"N": str(number)}


def defined(*names: str) -> list[dict[str, str]]:
    """Attribute definitions, all texts but `h`."""
    return [{"AttributeName": name, "AttributeType": "N" if name == "h" else "S"} for name in names]


KEYED: Final = index("gsi2", "g", "h", ProjectionType="INCLUDE", NonKeyAttributes=["i"])
TABLES: Final[list[dict[str, Any]]] = [
    {
        "TableName": "items",
        "KeySchema": key_schema("p"),
        "AttributeDefinitions": defined("p"),
        "BillingMode": "PAY_PER_REQUEST",
    },
    {
        "TableName": "comp",
        "KeySchema": key_schema("p", "s"),
        "AttributeDefinitions": defined("p", "s", "g", "h", "l"),
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [index("gsi", "g"), KEYED],
        "LocalSecondaryIndexes": [index("lsi", "p", "l", ProjectionType="KEYS_ONLY")],
    },
]
ITEMS: Final[dict[str, list[dict[str, Any]]]] = {
    "items": [{"p": s("k"), "a": s("1"), "n": n(5), "m": {"M": {"x": n(1)}}}],
    "comp": [
        {
            "p": s("a"),
            "s": s(f"{i:02}"),
            "g": s("x"),
            "h": n(i),
            "l": s(f"{9 - i}"),
            "z": s(f"v{i}"),
        }
        for i in range(10)
    ],
}

K: Final = {"p": s("k")}
P: Final = {":p": s("a")}


def put(**parameters: Any) -> Case:
    """A put of the item of `items` again."""
    return "PutItem", {"TableName": "items", "Item": ITEMS["items"][0], **parameters}


def update(expression: str, **values: Any) -> Case:
    """An update of that item."""
    parameters: dict[str, Any] = {"TableName": "items", "Key": K, "UpdateExpression": expression}
    if values:
        parameters["ExpressionAttributeValues"] = {f":{k}": v for k, v in values.items()}
    return "UpdateItem", parameters


def query(condition: str = "p = :p", values: dict[str, Any] | None = None, **other: Any) -> Case:
    """A query of `comp`."""
    parameters = {"TableName": "comp", "KeyConditionExpression": condition, **other}
    if values != {}:
        parameters["ExpressionAttributeValues"] = values or P
    return "Query", parameters


def write(**action: Any) -> Case:
    """A transaction of one action."""
    return "TransactWriteItems", {"TransactItems": [action]}


ALIKE: Final[list[Case]] = [
    put(Item={**K, "a": {}}),
    put(Item={**K, "a": {"S": "x", "N": "1"}}),
    put(Item={**K, "a": {"N": "1e126"}}),
    put(Item={**K, "a": {"N": "1e-131"}}),
    put(Item={**K, "a": {"NULL": False}}),
    put(Item={**K, "a": {"SS": []}}),
    put(Item={**K, "a": {"NS": []}}),
    put(Item={**K, "a": {"BS": []}}),
    put(Item={**K, "a": {"NS": ["1", "1.0"]}}),
    put(Item={"p": s("")}),
    put(ConditionExpression=""),
    put(ConditionExpression="a"),
    put(ConditionExpression="a = :v"),
    put(ConditionExpression="#a = :v"),
    put(ConditionExpression="attribute_exists(a)", ExpressionAttributeNames={"#x": "y"}),
    put(
        ConditionExpression="a = :v",
        ExpressionAttributeValues={":v": s("1"), ":w": s("1")},
    ),
    put(ExpressionAttributeNames={"#x": "y"}),
    put(ExpressionAttributeValues={":x": s("1")}),
    put(ConditionExpression="a = :v", ExpressionAttributeValues={}),
    put(ConditionExpression="a = :v", ExpressionAttributeValues={"v": s("1")}),
    put(ConditionExpression="attribute_not_exists(p)"),
    put(
        ConditionExpression="attribute_not_exists(p)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    ),
    put(ConditionExpression="attribute_exists(p)", Expected={"a": {"Exists": False}}),
    put(ConditionExpression="((attribute_exists(p)))"),
    put(ConditionExpression="contains(a, a)"),
    put(ReturnValues="ALL_OLD"),
    put(ReturnConsumedCapacity="INDEXES"),
    put(Expected={"a": {"Exists": False}}),
    put(Expected={"a": {"Value": s("1")}}),
    put(Expected={"a": {}}),
    put(Expected={"a": {"ComparisonOperator": "EQ"}}),
    put(Expected={"a": {"ComparisonOperator": "EQ", "AttributeValueList": []}}),
    put(Expected={"zz": {"ComparisonOperator": "NE", "AttributeValueList": [s("1")]}}),
    put(Expected={"zz": {"ComparisonOperator": "NOT_CONTAINS", "AttributeValueList": [s("1")]}}),
    put(ConditionalOperator="AND"),
    ("GetItem", {"TableName": "items", "Key": K}),
    ("GetItem", {"TableName": "items", "Key": {"p": s("none")}}),
    ("GetItem", {"TableName": "items", "Key": {"p": s("")}}),
    ("GetItem", {"TableName": "items", "Key": K, "ProjectionExpression": "a, a"}),
    ("GetItem", {"TableName": "items", "Key": K, "ProjectionExpression": "m.x, zz"}),
    ("GetItem", {"TableName": "items", "Key": K, "ProjectionExpression": "zz"}),
    ("GetItem", {"TableName": "items", "Key": K, "ProjectionExpression": "p.q"}),
    ("GetItem", {"TableName": "items", "Key": K, "ProjectionExpression": "!!!"}),
    ("GetItem", {"TableName": "items", "Key": K, "AttributesToGet": ["zz"]}),
    ("GetItem", {"TableName": "items", "Key": K, "ReturnConsumedCapacity": "TOTAL"}),
    update(""),
    update("SET a"),
    update("SET p = :v", v=s("1")),
    update("SET a.b = :v", v=s("1")),
    update("SET a = b"),
    update("ADD n :v", v=s("1")),
    update("ADD a :v", v=n(1)),
    update("SET a = :v SET b = :v", v=s("1")),
    update("SET a = :v, a = :v", v=s("1")),
    update("SET a = foo(:v)", v=s("1")),
    update("SET a = if_not_exists(:v, :v)", v=s("1")),
    query(),
    query(Limit=3),
    query(Limit=10),
    query(Limit=11),
    query(ScanIndexForward=False, Limit=2),
    query(Limit=2, ExclusiveStartKey={"p": s("a"), "s": s("05")}),
    query(ReturnConsumedCapacity="INDEXES"),
    query(ConsistentRead=True, ReturnConsumedCapacity="TOTAL"),
    query(Select="COUNT"),
    query(FilterExpression="z = :z", values={**P, ":z": s("v3")}, Limit=5),
    query("p = :p AND s BETWEEN :s AND :t", {**P, ":s": s("03"), ":t": s("05")}),
    query("p = :p AND s BETWEEN :s AND :t", {**P, ":s": s("05"), ":t": s("03")}),
    query("p = :p AND begins_with(s, :s)", {**P, ":s": s("0")}),
    query("p = :p AND begins_with(s, :s)", {**P, ":s": n(1)}),
    query("p = :p AND s <> :s", {**P, ":s": s("1")}),
    query("p = :p OR s = :s", {**P, ":s": s("1")}),
    query("p > :p"),
    query("p = :p AND p = :p"),
    query("p = :p AND size(s) = :s", {**P, ":s": n(2)}),
    query(":s < s AND p = :p", {**P, ":s": s("07")}),
    query("p = :p AND s = :p AND z = :p"),
    query("p = :p", {":p": n(1)}),
    query("p = :p", {":p": s("")}),
    query(FilterExpression="s = :p"),
    query(IndexName="none"),
    query("g = :g", {":g": s("x")}, IndexName="gsi", ConsistentRead=True),
    query("g = :g", {":g": s("x")}, IndexName="gsi2", Select="ALL_ATTRIBUTES"),
    query("g = :g", {":g": s("x")}, IndexName="gsi2", ProjectionExpression="z"),
    query("g = :g", {":g": s("x")}, IndexName="gsi2", FilterExpression="z = :g"),
    query("g = :g AND h > :h", {":g": s("x"), ":h": n(6)}, IndexName="gsi2"),
    query("g = :g", {":g": s("x")}, IndexName="gsi2", Limit=2, ReturnConsumedCapacity="INDEXES"),
    query(IndexName="lsi", Limit=2),
    query(IndexName="lsi", Limit=2, ProjectionExpression="z"),
    query(IndexName="lsi", Limit=2, Select="ALL_ATTRIBUTES"),
    query(IndexName="lsi", FilterExpression="z = :p"),
    ("Query", {"TableName": "comp"}),
    ("Query", {"TableName": "comp", "ExpressionAttributeValues": P}),
    ("Scan", {"TableName": "comp", "Select": "COUNT", "ReturnConsumedCapacity": "INDEXES"}),
    ("Scan", {"TableName": "comp", "Select": "SPECIFIC_ATTRIBUTES"}),
    ("Scan", {"TableName": "comp", "Select": "ALL_PROJECTED_ATTRIBUTES"}),
    ("Scan", {"TableName": "comp", "Select": "COUNT", "ProjectionExpression": "z"}),
    ("Scan", {"TableName": "comp", "IndexName": "gsi", "ConsistentRead": True}),
    ("Scan", {"TableName": "comp", "Segment": 0, "TotalSegments": 1_000_001}),
    (
        "BatchWriteItem",
        {"RequestItems": {"items": [{"PutRequest": {"Item": K}}, {"DeleteRequest": {"Key": K}}]}},
    ),
    ("BatchGetItem", {"RequestItems": {"items": {"Keys": [K, K]}}}),
    ("BatchGetItem", {"RequestItems": {"items": {"Keys": [K], "ProjectionExpression": "a"}}}),
    ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "items", "Item": K}}] * 2}),
    write(Put={"TableName": "items", "Item": K, "ConditionExpression": "attribute_exists(zz)"}),
    write(Put={"TableName": "items", "Item": {"p": s("")}}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "items", "Key": K}}] * 2}),
    (
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "items", "Key": K, "ProjectionExpression": "a"}},
                {"Get": {"TableName": "items", "Key": {"p": s("none")}}},
            ]
        },
    ),
    ("DescribeTimeToLive", {"TableName": "items"}),
    ("DescribeLimits", {}),
]
