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


def struct(java_type: str, **members: Rule | Member) -> StructRule:
    """Return a structure whose fields are optional unless they are `required`."""
    return StructRule(
        java_type,
        {name: m if isinstance(m, Member) else Member(m) for name, m in members.items()},
    )


def request(**members: Rule | Member) -> StructRule:
    """Return the structure of a request."""
    return struct("Request", **members)


def one_of(*options: str) -> Text:
    """Return a text that is one of the options, in the order in which messages list them."""
    return Text(options=options)


TABLE_NAME: Final = TableReference()
INDEX_NAME: Final = Text(3, 255, NAME_PATTERN)
_TABLE: Final = required(TABLE_NAME)
_CAPACITY: Final = one_of("INDEXES", "TOTAL", "NONE")
_COLLECTIONS: Final = one_of("SIZE", "NONE")
_RETURN_VALUES: Final = one_of("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
_SELECT: Final = one_of(
    "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"
)
_NAMES: Final = MapOf(Text(), "java.lang.String")
_ATTRIBUTES_TO_GET: Final = ListOf(Text(), 1, 255)
_OPERATOR: Final = one_of("OR", "AND")
_VALUE: Final = AttributeValueRule()
_COMPARATOR: Final = one_of(
    *("IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE"),
    *("BEGINS_WITH", "GE", "CONTAINS"),
)
_CONDITIONS: Final = MapOf(
    struct(
        "Condition", AttributeValueList=ListOf(_VALUE), ComparisonOperator=required(_COMPARATOR)
    ),
    "Condition",
)
_EXPECTED: Final = MapOf(
    struct(
        "ExpectedAttributeValue",
        AttributeValueList=ListOf(_VALUE),
        ComparisonOperator=_COMPARATOR,
        Exists=Boolean(),
        Value=_VALUE,
    ),
    "ExpectedAttributeValue",
)
_CONDITION: Final[dict[str, Rule]] = {
    "ConditionExpression": Text(),
    "ExpressionAttributeValues": ATTRIBUTES,
    "ExpressionAttributeNames": _NAMES,
    "ReturnValuesOnConditionCheckFailure": one_of("ALL_OLD", "NONE"),
}
_PROJECTION: Final[dict[str, Rule]] = {
    "ProjectionExpression": Text(),
    "ExpressionAttributeNames": _NAMES,
}

PUT_ITEM: Final = request(
    ReturnConsumedCapacity=_CAPACITY,
    TableName=_TABLE,
    Item=required(ATTRIBUTES),
    ConditionalOperator=_OPERATOR,
    Expected=_EXPECTED,
    ReturnValues=_RETURN_VALUES,
    ReturnItemCollectionMetrics=_COLLECTIONS,
    **_CONDITION,
)
GET_ITEM: Final = request(
    ReturnConsumedCapacity=_CAPACITY,
    AttributesToGet=_ATTRIBUTES_TO_GET,
    TableName=_TABLE,
    Key=required(ATTRIBUTES),
    ConsistentRead=Boolean(),
    **_PROJECTION,
)
_KEY_WRITE: Final[dict[str, Rule | Member]] = {
    "ReturnConsumedCapacity": _CAPACITY,
    "TableName": _TABLE,
    "ReturnItemCollectionMetrics": _COLLECTIONS,
    "ReturnValues": _RETURN_VALUES,
    "Key": required(ATTRIBUTES),
    "ConditionalOperator": _OPERATOR,
    "Expected": _EXPECTED,
}
DELETE_ITEM: Final = request(**_KEY_WRITE, **_CONDITION)
UPDATE_ITEM: Final = request(
    **_KEY_WRITE,
    AttributeUpdates=MapOf(
        struct("AttributeValueUpdate", Action=one_of("ADD", "DELETE", "PUT"), Value=_VALUE),
        "AttributeValueUpdate",
    ),
    UpdateExpression=Text(),
    **_CONDITION,
)

_READ_PARAMETERS: Final[dict[str, Rule]] = {
    "ConditionalOperator": _OPERATOR,
    "AttributesToGet": _ATTRIBUTES_TO_GET,
    "ExclusiveStartKey": ATTRIBUTES,
    "ConsistentRead": Boolean(),
    "FilterExpression": Text(),
    "ExpressionAttributeValues": ATTRIBUTES,
    **_PROJECTION,
}
QUERY: Final = request(
    Select=_SELECT,
    IndexName=INDEX_NAME,
    ReturnConsumedCapacity=_CAPACITY,
    QueryFilter=_CONDITIONS,
    TableName=_TABLE,
    Limit=Integer(low=1, terse=True),
    KeyConditions=_CONDITIONS,
    ScanIndexForward=Boolean(),
    KeyConditionExpression=Text(),
    **_READ_PARAMETERS,
)
SCAN: Final = request(
    Select=_SELECT,
    IndexName=INDEX_NAME,
    TotalSegments=Integer(low=1, high=1_000_000),
    ReturnConsumedCapacity=_CAPACITY,
    TableName=_TABLE,
    ScanFilter=_CONDITIONS,
    Segment=Integer(low=0, high=999_999),
    Limit=Integer(low=1),
    **_READ_PARAMETERS,
)

_KEYS_AND_ATTRIBUTES: Final = struct(
    "KeysAndAttributes",
    Keys=required(ListOf(ATTRIBUTES, 1, 100, terse=True)),
    AttributesToGet=_ATTRIBUTES_TO_GET,
    ConsistentRead=Boolean(),
    **_PROJECTION,
)
BATCH_GET_ITEM: Final = request(
    ReturnConsumedCapacity=_CAPACITY,
    RequestItems=required(MapOf(_KEYS_AND_ATTRIBUTES, "KeysAndAttributes", keys=TABLE_NAME)),
)
_WRITE_REQUEST: Final = struct(
    "WriteRequest",
    PutRequest=struct("PutRequest", Item=required(ATTRIBUTES)),
    DeleteRequest=struct("DeleteRequest", Key=required(ATTRIBUTES)),
)
BATCH_WRITE_ITEM: Final = request(
    ReturnConsumedCapacity=_CAPACITY,
    ReturnItemCollectionMetrics=_COLLECTIONS,
    RequestItems=required(
        MapOf(
            ListOf(_WRITE_REQUEST),
            "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>",
            keys=TABLE_NAME,
            values=ListOf(Text(), 1, 25),
        )
    ),
)

_KEY_AND_TABLE: Final = {"Key": required(ATTRIBUTES), "TableName": _TABLE}
_CHECK: Final[dict[str, Rule | Member]] = {
    **_KEY_AND_TABLE,
    **_CONDITION,
    "ConditionExpression": required(Text()),
}
_TRANSACT_WRITE: Final = struct(
    "TransactWriteItem",
    ConditionCheck=struct("ConditionCheck", **_CHECK),
    Put=struct("Put", Item=required(ATTRIBUTES), TableName=_TABLE, **_CONDITION),
    Delete=struct("Delete", **_KEY_AND_TABLE, **_CONDITION),
    Update=struct("Update", **_KEY_AND_TABLE, UpdateExpression=required(Text()), **_CONDITION),
)
TRANSACT_WRITE_ITEMS: Final = request(
    TransactItems=required(ListOf(_TRANSACT_WRITE, 1, 100)),
    ReturnConsumedCapacity=_CAPACITY,
    ReturnItemCollectionMetrics=_COLLECTIONS,
    ClientRequestToken=Text(1, 36),
)
_TRANSACT_GET: Final = struct(
    "TransactGetItem", Get=required(struct("Get", **_KEY_AND_TABLE, **_PROJECTION))
)
TRANSACT_GET_ITEMS: Final = request(
    TransactItems=required(ListOf(_TRANSACT_GET, 1, 100)), ReturnConsumedCapacity=_CAPACITY
)

_KEY_ELEMENT: Final = struct(
    "KeySchemaElement",
    AttributeName=required(Text(1, 255)),
    KeyType=required(one_of("HASH", "RANGE")),
)
_ATTRIBUTE_DEFINITIONS: Final = ListOf(
    struct(
        "AttributeDefinition",
        AttributeName=required(Text(1, 255)),
        AttributeType=required(one_of("B", "N", "S")),
    )
)
_UNITS: Final = required(Integer("Long", 1))
_THROUGHPUT: Final = struct(
    "ProvisionedThroughput", WriteCapacityUnits=_UNITS, ReadCapacityUnits=_UNITS
)
_INDEX_PROJECTION: Final = struct(
    "Projection",
    ProjectionType=one_of("ALL", "INCLUDE", "KEYS_ONLY"),
    NonKeyAttributes=ListOf(Text(1, 255), 1, 20),
)
_ON_DEMAND_THROUGHPUT: Final = struct(
    "OnDemandThroughput",
    MaxReadRequestUnits=Integer("Long"),
    MaxWriteRequestUnits=Integer("Long"),
)
_WARM_THROUGHPUT: Final = struct(
    "WarmThroughput",
    ReadUnitsPerSecond=Integer("Long", 1),
    WriteUnitsPerSecond=Integer("Long", 1),
)
# An index key may have up to four partition and four sort attributes.
_GLOBAL_INDEX: Final[dict[str, Rule | Member]] = {
    "IndexName": required(INDEX_NAME),
    "KeySchema": required(ListOf(_KEY_ELEMENT, 1, 8)),
    "Projection": required(_INDEX_PROJECTION),
    "ProvisionedThroughput": _THROUGHPUT,
    "OnDemandThroughput": _ON_DEMAND_THROUGHPUT,
    "WarmThroughput": _WARM_THROUGHPUT,
}
_LOCAL_INDEX: Final = struct(
    "LocalSecondaryIndex",
    IndexName=required(INDEX_NAME),
    KeySchema=required(ListOf(_KEY_ELEMENT, 1, 2)),
    Projection=required(_INDEX_PROJECTION),
)
_TAGS: Final = ListOf(struct("Tag", Key=required(Text(1, 128)), Value=required(Text(0, 256))))
_TABLE_SETTINGS: Final[dict[str, Rule]] = {
    "BillingMode": one_of("PROVISIONED", "PAY_PER_REQUEST"),
    "ProvisionedThroughput": _THROUGHPUT,
    "StreamSpecification": struct(
        "StreamSpecification",
        StreamEnabled=required(Boolean()),
        StreamViewType=one_of("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"),
    ),
    "SSESpecification": struct(
        "SSESpecification",
        Enabled=Boolean(),
        SSEType=one_of("AES256", "KMS"),
        KMSMasterKeyId=Text(),
    ),
    "TableClass": one_of("STANDARD", "STANDARD_INFREQUENT_ACCESS"),
    "DeletionProtectionEnabled": Boolean(),
    "OnDemandThroughput": _ON_DEMAND_THROUGHPUT,
    "WarmThroughput": _WARM_THROUGHPUT,
}

CREATE_TABLE: Final = request(
    AttributeDefinitions=required(_ATTRIBUTE_DEFINITIONS),
    TableName=_TABLE,
    KeySchema=required(ListOf(_KEY_ELEMENT, 1, 2)),
    LocalSecondaryIndexes=ListOf(_LOCAL_INDEX),
    GlobalSecondaryIndexes=ListOf(struct("GlobalSecondaryIndex", **_GLOBAL_INDEX)),
    Tags=_TAGS,
    **_TABLE_SETTINGS,
)
_INDEX_UPDATE: Final = struct(
    "GlobalSecondaryIndexUpdate",
    Update=struct(
        "UpdateGlobalSecondaryIndexAction",
        IndexName=required(INDEX_NAME),
        ProvisionedThroughput=_THROUGHPUT,
        OnDemandThroughput=_ON_DEMAND_THROUGHPUT,
        WarmThroughput=_WARM_THROUGHPUT,
    ),
    Create=struct("CreateGlobalSecondaryIndexAction", **_GLOBAL_INDEX),
    Delete=struct("DeleteGlobalSecondaryIndexAction", IndexName=required(INDEX_NAME)),
)
UPDATE_TABLE: Final = request(
    TableName=_TABLE,
    AttributeDefinitions=_ATTRIBUTE_DEFINITIONS,
    **_TABLE_SETTINGS,
    GlobalSecondaryIndexUpdates=ListOf(_INDEX_UPDATE),
)
ONE_TABLE: Final = request(TableName=_TABLE)
LIST_TABLES: Final = request(ExclusiveStartTableName=INDEX_NAME, Limit=Integer(low=1, high=100))
_TIME_TO_LIVE: Final = struct(
    "TimeToLiveSpecification", Enabled=required(Boolean()), AttributeName=required(Text(1, 255))
)
UPDATE_TIME_TO_LIVE: Final = request(
    TableName=_TABLE, TimeToLiveSpecification=required(_TIME_TO_LIVE)
)
_RECOVERY: Final = struct(
    "PointInTimeRecoverySpecification",
    PointInTimeRecoveryEnabled=required(Boolean()),
    RecoveryPeriodInDays=Integer(low=1, high=35),
)
UPDATE_CONTINUOUS_BACKUPS: Final = request(
    TableName=_TABLE, PointInTimeRecoverySpecification=required(_RECOVERY)
)
_ARN: Final = required(Text(1, 1283))
TAG_RESOURCE: Final = request(ResourceArn=_ARN, Tags=required(_TAGS))
UNTAG_RESOURCE: Final = request(ResourceArn=_ARN, TagKeys=required(ListOf(Text(1, 128))))
LIST_TAGS: Final = request(ResourceArn=_ARN, NextToken=Text())
EMPTY: Final = request()

_STREAM_ARN: Final = Text(37, 1024)
_SHARD_ID: Final = Text(28, 65)
LIST_STREAMS: Final = request(
    TableName=TABLE_NAME,
    Limit=Integer(low=1, high=100),
    ExclusiveStartStreamArn=_STREAM_ARN,
)
DESCRIBE_STREAM: Final = request(
    StreamArn=required(_STREAM_ARN),
    Limit=Integer(low=1, high=100),
    ExclusiveStartShardId=_SHARD_ID,
)
GET_SHARD_ITERATOR: Final = request(
    StreamArn=required(_STREAM_ARN),
    ShardId=required(_SHARD_ID),
    ShardIteratorType=required(
        one_of("AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON")
    ),
    SequenceNumber=Text(21, 40),
)
GET_RECORDS: Final = request(ShardIterator=required(Text(1, 2048)), Limit=Integer(low=1, high=1000))
