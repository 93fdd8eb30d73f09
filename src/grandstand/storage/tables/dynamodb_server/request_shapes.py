"""Structure and constraints of the requests of all operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grandstand.storage.tables.dynamodb_server.validation import (
    ATTRIBUTES,
    NAME_PATTERN,
    AttributeValueRule,
    Boolean,
    Integer,
    ListOf,
    Location,
    MapOf,
    Member,
    Rule,
    StructRule,
    Text,
    violation,
)

ARN: Final = "arn:"


@dataclass(frozen=True)
class TableReference(Text):
    """The name or ARN of a table."""

    low: int = 3
    high: int | None = 255
    pattern: str | None = NAME_PATTERN

    def admits(self, value: object) -> bool:
        return super().admits(value) or (type(value) is str and value.startswith(ARN))

    def violations(self, value: str, location: Location) -> Iterator[str]:
        if value.startswith(ARN):
            return
        if not value:
            yield violation(
                self, value, location, "Member must have length greater than or equal to 1"
            )
            return
        yield from super().violations(value, location)


def required(rule: Rule) -> Member:
    """Return a required field."""
    return Member(rule, required=True)


def optional(rule: Rule) -> Member:
    """Return an optional field."""
    return Member(rule)


TABLE_NAME: Final = TableReference()
INDEX_NAME: Final = Text(3, 255, NAME_PATTERN)
RETURN_CAPACITY: Final = optional(Text(options=("INDEXES", "TOTAL", "NONE")))
RETURN_COLLECTIONS: Final = optional(Text(options=("SIZE", "NONE")))
RETURN_VALUES: Final = optional(
    Text(options=("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"))
)
ON_FAILURE: Final = optional(Text(options=("ALL_OLD", "NONE")))
SELECT: Final = optional(
    Text(
        options=(
            "SPECIFIC_ATTRIBUTES",
            "COUNT",
            "ALL_ATTRIBUTES",
            "ALL_PROJECTED_ATTRIBUTES",
        )
    )
)
EXPRESSION: Final = optional(Text())
NAMES: Final = optional(MapOf(Text(), "java.lang.String"))
VALUES: Final = optional(ATTRIBUTES)
FLAG: Final = optional(Boolean())
ATTRIBUTES_TO_GET: Final = optional(ListOf(Text(), 1, 255))
CONDITIONAL_OPERATOR: Final = optional(Text(options=("OR", "AND")))

_COMPARATORS: Final = (
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
)
CONDITIONS: Final = optional(
    MapOf(
        StructRule(
            "Condition",
            {
                "AttributeValueList": optional(ListOf(AttributeValueRule())),
                "ComparisonOperator": required(Text(options=_COMPARATORS)),
            },
        ),
        "Condition",
    )
)
EXPECTED: Final = optional(
    MapOf(
        StructRule(
            "ExpectedAttributeValue",
            {
                "AttributeValueList": optional(ListOf(AttributeValueRule())),
                "ComparisonOperator": optional(Text(options=_COMPARATORS)),
                "Exists": FLAG,
                "Value": optional(AttributeValueRule()),
            },
        ),
        "ExpectedAttributeValue",
    )
)


def request(members: dict[str, Member]) -> StructRule:
    """Return the structure of a request."""
    return StructRule("Request", members)


_CONDITION: Final = {
    "ConditionExpression": EXPRESSION,
    "ExpressionAttributeValues": VALUES,
    "ExpressionAttributeNames": NAMES,
    "ReturnValuesOnConditionCheckFailure": ON_FAILURE,
}
_PROJECTION: Final = {
    "ProjectionExpression": EXPRESSION,
    "ExpressionAttributeNames": NAMES,
}

PUT_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "TableName": required(TABLE_NAME),
        "Item": required(ATTRIBUTES),
        "ConditionalOperator": CONDITIONAL_OPERATOR,
        "Expected": EXPECTED,
        "ReturnValues": RETURN_VALUES,
        "ReturnItemCollectionMetrics": RETURN_COLLECTIONS,
        **_CONDITION,
    }
)
GET_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "AttributesToGet": ATTRIBUTES_TO_GET,
        "TableName": required(TABLE_NAME),
        "Key": required(ATTRIBUTES),
        "ConsistentRead": FLAG,
        **_PROJECTION,
    }
)
DELETE_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "TableName": required(TABLE_NAME),
        "ReturnItemCollectionMetrics": RETURN_COLLECTIONS,
        "ReturnValues": RETURN_VALUES,
        "Key": required(ATTRIBUTES),
        "ConditionalOperator": CONDITIONAL_OPERATOR,
        "Expected": EXPECTED,
        **_CONDITION,
    }
)
UPDATE_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "TableName": required(TABLE_NAME),
        "ReturnItemCollectionMetrics": RETURN_COLLECTIONS,
        "ReturnValues": RETURN_VALUES,
        "Key": required(ATTRIBUTES),
        "ConditionalOperator": CONDITIONAL_OPERATOR,
        "Expected": EXPECTED,
        "AttributeUpdates": optional(
            MapOf(
                StructRule(
                    "AttributeValueUpdate",
                    {
                        "Action": optional(Text(options=("ADD", "DELETE", "PUT"))),
                        "Value": optional(AttributeValueRule()),
                    },
                ),
                "AttributeValueUpdate",
            )
        ),
        "UpdateExpression": EXPRESSION,
        **_CONDITION,
    }
)

_READ_PARAMETERS: Final[dict[str, Member]] = {
    "ConditionalOperator": CONDITIONAL_OPERATOR,
    "AttributesToGet": ATTRIBUTES_TO_GET,
    "ExclusiveStartKey": optional(ATTRIBUTES),
    "ConsistentRead": FLAG,
    "FilterExpression": EXPRESSION,
    "ExpressionAttributeValues": VALUES,
    **_PROJECTION,
}
QUERY: Final = request(
    {
        "Select": SELECT,
        "IndexName": optional(INDEX_NAME),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "QueryFilter": CONDITIONS,
        "TableName": required(TABLE_NAME),
        "Limit": optional(Integer(low=1, terse=True)),
        "KeyConditions": CONDITIONS,
        "ScanIndexForward": FLAG,
        "KeyConditionExpression": EXPRESSION,
        **_READ_PARAMETERS,
    }
)
SCAN: Final = request(
    {
        "Select": SELECT,
        "IndexName": optional(INDEX_NAME),
        "TotalSegments": optional(Integer(low=1, high=1_000_000)),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "TableName": required(TABLE_NAME),
        "ScanFilter": CONDITIONS,
        "Segment": optional(Integer(low=0, high=999_999)),
        "Limit": optional(Integer(low=1)),
        **_READ_PARAMETERS,
    }
)

BATCH_GET_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "RequestItems": required(
            MapOf(
                StructRule(
                    "KeysAndAttributes",
                    {
                        "Keys": required(ListOf(ATTRIBUTES, 1, 100, terse=True)),
                        "AttributesToGet": ATTRIBUTES_TO_GET,
                        "ConsistentRead": FLAG,
                        **_PROJECTION,
                    },
                ),
                "KeysAndAttributes",
                keys=TABLE_NAME,
            )
        ),
    }
)
_WRITE_REQUESTS: Final = ListOf(
    StructRule(
        "WriteRequest",
        {
            "PutRequest": optional(StructRule("PutRequest", {"Item": required(ATTRIBUTES)})),
            "DeleteRequest": optional(StructRule("DeleteRequest", {"Key": required(ATTRIBUTES)})),
        },
    )
)
BATCH_WRITE_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": RETURN_COLLECTIONS,
        "RequestItems": required(
            MapOf(
                _WRITE_REQUESTS,
                "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>",
                keys=TABLE_NAME,
                values=ListOf(Text(), 1, 25),
            )
        ),
    }
)

_KEY_AND_TABLE: Final = {"Key": required(ATTRIBUTES), "TableName": required(TABLE_NAME)}
TRANSACT_WRITE_ITEMS: Final = request(
    {
        "TransactItems": required(
            ListOf(
                StructRule(
                    "TransactWriteItem",
                    {
                        "ConditionCheck": optional(
                            StructRule(
                                "ConditionCheck",
                                {
                                    **_KEY_AND_TABLE,
                                    **_CONDITION,
                                    "ConditionExpression": required(Text()),
                                },
                            )
                        ),
                        "Put": optional(
                            StructRule(
                                "Put",
                                {
                                    "Item": required(ATTRIBUTES),
                                    "TableName": required(TABLE_NAME),
                                    **_CONDITION,
                                },
                            )
                        ),
                        "Delete": optional(StructRule("Delete", {**_KEY_AND_TABLE, **_CONDITION})),
                        "Update": optional(
                            StructRule(
                                "Update",
                                {
                                    **_KEY_AND_TABLE,
                                    "UpdateExpression": required(Text()),
                                    **_CONDITION,
                                },
                            )
                        ),
                    },
                ),
                1,
                100,
            )
        ),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": RETURN_COLLECTIONS,
        "ClientRequestToken": optional(Text(1, 36)),
    }
)
TRANSACT_GET_ITEMS: Final = request(
    {
        "TransactItems": required(
            ListOf(
                StructRule(
                    "TransactGetItem",
                    {"Get": required(StructRule("Get", {**_KEY_AND_TABLE, **_PROJECTION}))},
                ),
                1,
                100,
            )
        ),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
    }
)


_ATTRIBUTE_NAME: Final = Text(1, 255)
_KEY_ELEMENT: Final = StructRule(
    "KeySchemaElement",
    {
        "AttributeName": required(_ATTRIBUTE_NAME),
        "KeyType": required(Text(options=("HASH", "RANGE"))),
    },
)
_ATTRIBUTE_DEFINITIONS: Final = ListOf(
    StructRule(
        "AttributeDefinition",
        {
            "AttributeName": required(_ATTRIBUTE_NAME),
            "AttributeType": required(Text(options=("B", "N", "S"))),
        },
    )
)
_CAPACITY_UNITS: Final = required(Integer("Long", 1))
_THROUGHPUT: Final = StructRule(
    "ProvisionedThroughput",
    {"WriteCapacityUnits": _CAPACITY_UNITS, "ReadCapacityUnits": _CAPACITY_UNITS},
)
_INDEX_PROJECTION: Final = StructRule(
    "Projection",
    {
        "ProjectionType": optional(Text(options=("ALL", "INCLUDE", "KEYS_ONLY"))),
        "NonKeyAttributes": optional(ListOf(Text(1, 255), 1, 20)),
    },
)
_ON_DEMAND_THROUGHPUT: Final = StructRule(
    "OnDemandThroughput",
    {
        "MaxReadRequestUnits": optional(Integer("Long")),
        "MaxWriteRequestUnits": optional(Integer("Long")),
    },
)
_WARM_THROUGHPUT: Final = StructRule(
    "WarmThroughput",
    {
        "ReadUnitsPerSecond": optional(Integer("Long", 1)),
        "WriteUnitsPerSecond": optional(Integer("Long", 1)),
    },
)
# An index key may have up to four partition and four sort attributes.
_GLOBAL_INDEX: Final[dict[str, Member]] = {
    "IndexName": required(INDEX_NAME),
    "KeySchema": required(ListOf(_KEY_ELEMENT, 1, 8)),
    "Projection": required(_INDEX_PROJECTION),
    "ProvisionedThroughput": optional(_THROUGHPUT),
    "OnDemandThroughput": optional(_ON_DEMAND_THROUGHPUT),
    "WarmThroughput": optional(_WARM_THROUGHPUT),
}
_TAGS: Final = ListOf(
    StructRule("Tag", {"Key": required(Text(1, 128)), "Value": required(Text(0, 256))})
)
_TABLE_SETTINGS: Final[dict[str, Member]] = {
    "BillingMode": optional(Text(options=("PROVISIONED", "PAY_PER_REQUEST"))),
    "ProvisionedThroughput": optional(_THROUGHPUT),
    "StreamSpecification": optional(
        StructRule(
            "StreamSpecification",
            {
                "StreamEnabled": required(Boolean()),
                "StreamViewType": optional(
                    Text(options=("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
                ),
            },
        )
    ),
    "SSESpecification": optional(
        StructRule(
            "SSESpecification",
            {
                "Enabled": FLAG,
                "SSEType": optional(Text(options=("AES256", "KMS"))),
                "KMSMasterKeyId": optional(Text()),
            },
        )
    ),
    "TableClass": optional(Text(options=("STANDARD", "STANDARD_INFREQUENT_ACCESS"))),
    "DeletionProtectionEnabled": FLAG,
    "OnDemandThroughput": optional(_ON_DEMAND_THROUGHPUT),
    "WarmThroughput": optional(_WARM_THROUGHPUT),
}

CREATE_TABLE: Final = request(
    {
        "AttributeDefinitions": required(_ATTRIBUTE_DEFINITIONS),
        "TableName": required(TABLE_NAME),
        "KeySchema": required(ListOf(_KEY_ELEMENT, 1, 2)),
        "LocalSecondaryIndexes": optional(
            ListOf(
                StructRule(
                    "LocalSecondaryIndex",
                    {
                        "IndexName": required(INDEX_NAME),
                        "KeySchema": required(ListOf(_KEY_ELEMENT, 1, 2)),
                        "Projection": required(_INDEX_PROJECTION),
                    },
                )
            )
        ),
        "GlobalSecondaryIndexes": optional(
            ListOf(StructRule("GlobalSecondaryIndex", _GLOBAL_INDEX))
        ),
        "Tags": optional(_TAGS),
        **_TABLE_SETTINGS,
    }
)
UPDATE_TABLE: Final = request(
    {
        "TableName": required(TABLE_NAME),
        "AttributeDefinitions": optional(_ATTRIBUTE_DEFINITIONS),
        **_TABLE_SETTINGS,
        "GlobalSecondaryIndexUpdates": optional(
            ListOf(
                StructRule(
                    "GlobalSecondaryIndexUpdate",
                    {
                        "Update": optional(
                            StructRule(
                                "UpdateGlobalSecondaryIndexAction",
                                {
                                    "IndexName": required(INDEX_NAME),
                                    "ProvisionedThroughput": optional(_THROUGHPUT),
                                    "OnDemandThroughput": optional(_ON_DEMAND_THROUGHPUT),
                                    "WarmThroughput": optional(_WARM_THROUGHPUT),
                                },
                            )
                        ),
                        "Create": optional(
                            StructRule("CreateGlobalSecondaryIndexAction", _GLOBAL_INDEX)
                        ),
                        "Delete": optional(
                            StructRule(
                                "DeleteGlobalSecondaryIndexAction",
                                {"IndexName": required(INDEX_NAME)},
                            )
                        ),
                    },
                )
            )
        ),
    }
)
ONE_TABLE: Final = request({"TableName": required(TABLE_NAME)})
LIST_TABLES: Final = request(
    {
        "ExclusiveStartTableName": optional(Text(3, 255, NAME_PATTERN)),
        "Limit": optional(Integer(low=1, high=100)),
    }
)
UPDATE_TIME_TO_LIVE: Final = request(
    {
        "TableName": required(TABLE_NAME),
        "TimeToLiveSpecification": required(
            StructRule(
                "TimeToLiveSpecification",
                {"Enabled": required(Boolean()), "AttributeName": required(Text(1, 255))},
            )
        ),
    }
)
UPDATE_CONTINUOUS_BACKUPS: Final = request(
    {
        "TableName": required(TABLE_NAME),
        "PointInTimeRecoverySpecification": required(
            StructRule(
                "PointInTimeRecoverySpecification",
                {
                    "PointInTimeRecoveryEnabled": required(Boolean()),
                    "RecoveryPeriodInDays": optional(Integer(low=1, high=35)),
                },
            )
        ),
    }
)
_ARN: Final = required(Text(1, 1283))
TAG_RESOURCE: Final = request({"ResourceArn": _ARN, "Tags": required(_TAGS)})
UNTAG_RESOURCE: Final = request({"ResourceArn": _ARN, "TagKeys": required(ListOf(Text(1, 128)))})
LIST_TAGS: Final = request({"ResourceArn": _ARN, "NextToken": optional(Text())})
EMPTY: Final = request({})


_STREAM_ARN: Final = Text(37, 1024)
_SHARD_ID: Final = Text(28, 65)
_PAGE_LIMIT: Final = optional(Integer(low=1, high=100))

LIST_STREAMS: Final = request(
    {
        "TableName": optional(TABLE_NAME),
        "Limit": _PAGE_LIMIT,
        "ExclusiveStartStreamArn": optional(_STREAM_ARN),
    }
)
DESCRIBE_STREAM: Final = request(
    {
        "StreamArn": required(_STREAM_ARN),
        "Limit": _PAGE_LIMIT,
        "ExclusiveStartShardId": optional(_SHARD_ID),
    }
)
GET_SHARD_ITERATOR: Final = request(
    {
        "StreamArn": required(_STREAM_ARN),
        "ShardId": required(_SHARD_ID),
        "ShardIteratorType": required(
            Text(
                options=(
                    "AFTER_SEQUENCE_NUMBER",
                    "LATEST",
                    "AT_SEQUENCE_NUMBER",
                    "TRIM_HORIZON",
                )
            )
        ),
        "SequenceNumber": optional(Text(21, 40)),
    }
)
GET_RECORDS: Final = request(
    {
        "ShardIterator": required(Text(1, 2048)),
        "Limit": optional(Integer(low=1, high=1000)),
    }
)
