"""Kept here: what requests about items are made of, in the order faults are reported."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.front.members.common import (
    ATTRIBUTES_TO_GET,
    CONDITIONAL_OPERATOR,
    CONDITIONS,
    EXPECTED,
    EXPRESSION,
    FLAG,
    INDEX_NAME,
    NAMES,
    ON_FAILURE,
    RETURN_CAPACITY,
    RETURN_COLLECTIONS,
    RETURN_VALUES,
    SELECT,
    TABLE_NAME,
    VALUES,
    optional,
    request,
    required,
)
from grandstand.storage.tables.front.members.kinds import (
    ATTRIBUTES,
    Attribute,
    Listing,
    Mapped,
    Member,
    Struct,
)
from grandstand.storage.tables.front.members.scalars import Text, Whole

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
            Mapped(
                Struct(
                    "AttributeValueUpdate",
                    {
                        "Action": optional(Text(options=("ADD", "DELETE", "PUT"))),
                        "Value": optional(Attribute()),
                    },
                ),
                "AttributeValueUpdate",
            )
        ),
        "UpdateExpression": EXPRESSION,
        **_CONDITION,
    }
)

_READ: Final[dict[str, Member]] = {
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
        "Limit": optional(Whole(low=1, terse=True)),
        "KeyConditions": CONDITIONS,
        "ScanIndexForward": FLAG,
        "KeyConditionExpression": EXPRESSION,
        **_READ,
    }
)
SCAN: Final = request(
    {
        "Select": SELECT,
        "IndexName": optional(INDEX_NAME),
        "TotalSegments": optional(Whole(low=1, high=1_000_000)),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "TableName": required(TABLE_NAME),
        "ScanFilter": CONDITIONS,
        "Segment": optional(Whole(low=0, high=999_999)),
        "Limit": optional(Whole(low=1)),
        **_READ,
    }
)

BATCH_GET_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "RequestItems": required(
            Mapped(
                Struct(
                    "KeysAndAttributes",
                    {
                        "Keys": required(Listing(ATTRIBUTES, 1, 100, terse=True)),
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
_WRITES: Final = Listing(
    Struct(
        "WriteRequest",
        {
            "PutRequest": optional(Struct("PutRequest", {"Item": required(ATTRIBUTES)})),
            "DeleteRequest": optional(Struct("DeleteRequest", {"Key": required(ATTRIBUTES)})),
        },
    )
)
BATCH_WRITE_ITEM: Final = request(
    {
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": RETURN_COLLECTIONS,
        "RequestItems": required(
            Mapped(
                _WRITES,
                "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>",
                keys=TABLE_NAME,
                values=Listing(Text(), 1, 25),
            )
        ),
    }
)

_TARGET: Final = {"Key": required(ATTRIBUTES), "TableName": required(TABLE_NAME)}
TRANSACT_WRITE_ITEMS: Final = request(
    {
        "TransactItems": required(
            Listing(
                Struct(
                    "TransactWriteItem",
                    {
                        "ConditionCheck": optional(
                            Struct(
                                "ConditionCheck",
                                {
                                    **_TARGET,
                                    **_CONDITION,
                                    "ConditionExpression": required(Text()),
                                },
                            )
                        ),
                        "Put": optional(
                            Struct(
                                "Put",
                                {
                                    "Item": required(ATTRIBUTES),
                                    "TableName": required(TABLE_NAME),
                                    **_CONDITION,
                                },
                            )
                        ),
                        "Delete": optional(Struct("Delete", {**_TARGET, **_CONDITION})),
                        "Update": optional(
                            Struct(
                                "Update",
                                {
                                    **_TARGET,
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
            Listing(
                Struct(
                    "TransactGetItem",
                    {"Get": required(Struct("Get", {**_TARGET, **_PROJECTION}))},
                ),
                1,
                100,
            )
        ),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
    }
)
