"""Where DynamoDB Local answers otherwise than DynamoDB, with what each of them says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tests.storage.tables.dynamodb_server.common_cases import (
    Case,
    K,
    put,
    query,
    s,
    update,
    write,
)

VALIDATION: Final = "ValidationException"
INVALID: Final = "One or more parameter values were invalid: "
MISMATCH: Final = "The provided key element does not match the schema"


@dataclass(frozen=True)
class Difference:
    """One request; what Local says, and what DynamoDB says, as the error's name and sentence.

    An empty name means that the request is carried out.
    """

    case: Case
    local: tuple[str, str]
    aws: tuple[str, str]


def differ(case: Case, local: str, aws: str) -> Difference:
    """Two sentences for a ValidationException."""
    return Difference(case, (VALIDATION, local), (VALIDATION, aws))


def one(fault: str) -> str:
    """The sentence about one broken constraint."""
    return f"1 validation error detected: {fault}"


def get(**parameters: Any) -> Case:
    """A read of the item of `items`."""
    return "GetItem", {"TableName": "items", "Key": K, **parameters}


_FAILED: Final = (
    "InternalFailure",
    "The request processing has failed because of an unknown error, exception or failure.",
)
_NAMES: Final = (
    "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and "
    "may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
)

DIFFERENCES: Final[list[Difference]] = [
    differ(
        put(Item={**K, "a": {"N": "x"}}),
        "A value provided cannot be converted into a number",
        "The parameter cannot be converted to a numeric value: x",
    ),
    differ(
        put(Item={**K, "a": {"N": "1" * 39}}),
        "DynamoDB only supports precision up to 38 digits",
        "Attempting to store more than 38 significant digits in a Number",
    ),
    differ(
        put(Item={**K, "a": {"SS": ["a", "a"]}}),
        INVALID + "Input collection [a, a] contains duplicates",
        INVALID + "Input collection [a, a] contains duplicates.",
    ),
    differ(
        put(Item={**K, "a": {"BS": ["Yg==", "Yg=="]}}),
        INVALID + "Input collection of type BS contains duplicates.",
        INVALID + "Input collection [Yg==, Yg==]of type BS contains duplicates.",
    ),
    Difference(
        put(Item={**K, "a": {"SS": "a"}}),
        _FAILED,
        ("SerializationException", "Unexpected field type"),
    ),
    Difference(
        put(Item={**K, "a": {"B": "a"}}),
        _FAILED,
        (
            "SerializationException",
            "Base64 encoded length is expected a multiple of 4 bytes but found: 1",
        ),
    ),
    differ(
        put(Item={"a": s("x")}),
        "One of the required keys was not given a value",
        INVALID + "Missing the key p in the item",
    ),
    differ(
        put(Item={"p": {"N": "1"}}),
        INVALID + "Type mismatch for key",
        INVALID + "Type mismatch for key p expected: S actual: N",
    ),
    differ(
        put(Item={"p": s("x" * 2049)}),
        "Hash primary key values must be under 2048 bytes, and range primary key values must be "
        "under 1024 bytes",
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    ),
    differ(
        put(ReturnValues="ALL_NEW"),
        "Return values set to invalid value",
        "ReturnValues can only be ALL_OLD or NONE",
    ),
    differ(
        put(TableName="x!"),
        _NAMES,
        "2 validation errors detected: Value 'x!' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'x!' at "
        "'tableName' failed to satisfy constraint: Member must have length greater than or equal "
        "to 3",
    ),
    differ(
        put(
            TableName="comp",
            Item={"p": s("x"), "s": s("y"), "g": {"N": "1"}},
        ),
        INVALID + "Type mismatch for Index Key",
        INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi",
    ),
    differ(
        put(TableName="comp", Item={"p": s("x"), "s": s("y"), "l": {"BOOL": True}}),
        "Invalid attribute value type",
        INVALID + "Type mismatch for Index Key l Expected: S Actual: BOOL IndexName: lsi",
    ),
    differ(
        put(Expected={"a": {"ComparisonOperator": "BAD", "AttributeValueList": [s("1")]}}),
        "Comparison type does not exist in DynamoDB",
        one(
            "Value 'BAD' at 'expected.a.member.comparisonOperator' failed to satisfy constraint: "
            "Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, "
            "NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"
        ),
    ),
    differ(get(Key={}), "The number of conditions on the keys is invalid", MISMATCH),
    differ(get(Key={"q": s("1")}), "One of the required keys was not given a value", MISMATCH),
    differ(get(Key={"p": {"N": "1"}}), INVALID + "Type mismatch for key", MISMATCH),
    Difference(
        get(TableName="none"),
        ("ResourceNotFoundException", "Cannot do operations on a non-existent table"),
        ("ResourceNotFoundException", "Requested resource not found"),
    ),
    Difference(
        get(AttributesToGet=[]),
        ("", ""),
        (
            VALIDATION,
            one(
                "Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must have "
                "length greater than or equal to 1"
            ),
        ),
    ),
    differ(
        get(AttributesToGet=["a", "a"]),
        "Cannot have two attributes with the same name",
        INVALID + "Duplicate value in attribute name: a",
    ),
    Difference(
        update("SET size = :v", v=s("1")),
        ("", ""),
        (
            VALIDATION,
            (
                "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: "
                "size"
            ),
        ),
    ),
    differ(
        query(Limit=0),
        "Limit must be greater than or equal to 1",
        one(
            "Value at 'Limit' failed to satisfy constraint: Member must have value greater than "
            "or equal to 1"
        ),
    ),
    differ(
        ("Scan", {"TableName": "comp", "Limit": 0}),
        "Limit must be greater than or equal to 1",
        one(
            "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater "
            "than or equal to 1"
        ),
    ),
    differ(
        query("z = :p"),
        "Query condition missed key schema element",
        "Query condition missed key schema element: p",
    ),
    differ(
        query(ExclusiveStartKey={"p": s("a")}),
        "Exclusive Start Key must have same size as table's key schema",
        "The provided starting key is invalid",
    ),
    differ(
        query(ExclusiveStartKey={"p": s("b"), "s": s("1")}),
        "The provided starting key does not match the range key predicate",
        "The provided starting key is outside query boundaries based on provided conditions",
    ),
    differ(
        query(Select="SPECIFIC_ATTRIBUTES"),
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES",
        one(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        ),
    ),
    differ(
        ("Scan", {"TableName": "comp", "Segment": -1, "TotalSegments": 3}),
        one(
            "Value '-1' at 'segment' failed to satisfy constraint: Member must have value less "
            "than or equal to 2"
        ),
        one(
            "Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater "
            "than or equal to 0"
        ),
    ),
    differ(
        ("BatchWriteItem", {"RequestItems": {}}),
        "BatchWriteItem cannot have a null or no requests set",
        "The requestItems parameter is required for BatchWriteItem",
    ),
    differ(
        ("BatchGetItem", {"RequestItems": {}}),
        "BatchGetItem must have some requests set",
        "The requestItems parameter is required for BatchGetItem",
    ),
    differ(
        ("BatchWriteItem", {"RequestItems": {"items": [{"PutRequest": {"Item": {"q": s("1")}}}]}}),
        "One of the required keys was not given a value",
        MISMATCH,
    ),
    differ(
        ("BatchGetItem", {"RequestItems": {"items": {"Keys": []}}}),
        "The list of keys in RequestItems for BatchGetItem is required: items has empty list",
        one(
            "Value at 'RequestItems.items.member.Keys' failed to satisfy constraint: Member must "
            "have length greater than or equal to 1"
        ),
    ),
    Difference(
        write(Update={"TableName": "items", "Key": K, "UpdateExpression": "SET a = b"}),
        (
            VALIDATION,
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "TransactionCanceledException",
            (
                "Transaction cancelled, please refer cancellation reasons for specific reasons "
                "[ValidationError]"
            ),
        ),
    ),
    Difference(
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "items", "Key": {}}}]}),
        ("TransactionCanceledException", "The number of conditions on the keys is invalid"),
        (
            "TransactionCanceledException",
            (
                "Transaction cancelled, please refer cancellation reasons for specific reasons "
                "[ValidationError]"
            ),
        ),
    ),
    differ(
        ("CreateTable", {"TableName": "ab"}),
        _NAMES,
        "3 validation errors detected: Value null at 'attributeDefinitions' failed to satisfy "
        "constraint: Member must not be null; Value 'ab' at 'tableName' failed to satisfy "
        "constraint: Member must have length greater than or equal to 3; Value null at "
        "'keySchema' failed to satisfy constraint: Member must not be null",
    ),
    differ(
        ("UpdateTable", {"TableName": "items"}),
        "Nothing to update",
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
    ),
    differ(
        ("ListTables", {"Limit": 101}),
        "Limit in ListTables must be <= 100",
        one(
            "Value '101' at 'limit' failed to satisfy constraint: Member must have value less "
            "than or equal to 100"
        ),
    ),
    Difference(
        ("DescribeTable", {"TableName": "none"}),
        ("ResourceNotFoundException", "Cannot do operations on a non-existent table"),
        (
            "ResourceNotFoundException",
            "Requested resource not found: Table: none not found",
        ),
    ),
    Difference(
        ("DescribeContinuousBackups", {"TableName": "items"}),
        ("UnknownOperationException", "An unknown operation was requested."),
        ("", ""),
    ),
    Difference(
        ("DescribeEndpoints", {}),
        ("UnknownOperationException", "An unknown operation was requested."),
        ("", ""),
    ),
]
