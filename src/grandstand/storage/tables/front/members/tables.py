"""Kept here: what requests about tables, expiry and tags are made of."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.front.members.common import (
    FLAG,
    INDEX_NAME,
    TABLE_NAME,
    optional,
    request,
    required,
)
from grandstand.storage.tables.front.members.kinds import Listing, Member, Struct
from grandstand.storage.tables.front.members.scalars import NAME_PATTERN, Flag, Text, Whole

_ATTRIBUTE_NAME: Final = Text(1, 255)
_KEY_ELEMENT: Final = Struct(
    "KeySchemaElement",
    {
        "AttributeName": required(_ATTRIBUTE_NAME),
        "KeyType": required(Text(options=("HASH", "RANGE"))),
    },
)
_DEFINITIONS: Final = Listing(
    Struct(
        "AttributeDefinition",
        {
            "AttributeName": required(_ATTRIBUTE_NAME),
            "AttributeType": required(Text(options=("B", "N", "S"))),
        },
    )
)
_UNITS: Final = required(Whole("Long", 1))
_THROUGHPUT: Final = Struct(
    "ProvisionedThroughput", {"WriteCapacityUnits": _UNITS, "ReadCapacityUnits": _UNITS}
)
_PROJECTION: Final = Struct(
    "Projection",
    {
        "ProjectionType": optional(Text(options=("ALL", "INCLUDE", "KEYS_ONLY"))),
        "NonKeyAttributes": optional(Listing(Text(1, 255), 1, 20)),
    },
)
_ON_DEMAND: Final = Struct(
    "OnDemandThroughput",
    {
        "MaxReadRequestUnits": optional(Whole("Long")),
        "MaxWriteRequestUnits": optional(Whole("Long")),
    },
)
_WARM: Final = Struct(
    "WarmThroughput",
    {
        "ReadUnitsPerSecond": optional(Whole("Long", 1)),
        "WriteUnitsPerSecond": optional(Whole("Long", 1)),
    },
)
# An index key may have up to four partition and four sort attributes.
_GLOBAL_INDEX: Final[dict[str, Member]] = {
    "IndexName": required(INDEX_NAME),
    "KeySchema": required(Listing(_KEY_ELEMENT, 1, 8)),
    "Projection": required(_PROJECTION),
    "ProvisionedThroughput": optional(_THROUGHPUT),
    "OnDemandThroughput": optional(_ON_DEMAND),
    "WarmThroughput": optional(_WARM),
}
_TAGS: Final = Listing(
    Struct("Tag", {"Key": required(Text(1, 128)), "Value": required(Text(0, 256))})
)
_SETTINGS: Final[dict[str, Member]] = {
    "BillingMode": optional(Text(options=("PROVISIONED", "PAY_PER_REQUEST"))),
    "ProvisionedThroughput": optional(_THROUGHPUT),
    "StreamSpecification": optional(
        Struct(
            "StreamSpecification",
            {
                "StreamEnabled": required(Flag()),
                "StreamViewType": optional(
                    Text(options=("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
                ),
            },
        )
    ),
    "SSESpecification": optional(
        Struct(
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
    "OnDemandThroughput": optional(_ON_DEMAND),
    "WarmThroughput": optional(_WARM),
}

CREATE_TABLE: Final = request(
    {
        "AttributeDefinitions": required(_DEFINITIONS),
        "TableName": required(TABLE_NAME),
        "KeySchema": required(Listing(_KEY_ELEMENT, 1, 2)),
        "LocalSecondaryIndexes": optional(
            Listing(
                Struct(
                    "LocalSecondaryIndex",
                    {
                        "IndexName": required(INDEX_NAME),
                        "KeySchema": required(Listing(_KEY_ELEMENT, 1, 2)),
                        "Projection": required(_PROJECTION),
                    },
                )
            )
        ),
        "GlobalSecondaryIndexes": optional(Listing(Struct("GlobalSecondaryIndex", _GLOBAL_INDEX))),
        "Tags": optional(_TAGS),
        **_SETTINGS,
    }
)
UPDATE_TABLE: Final = request(
    {
        "TableName": required(TABLE_NAME),
        "AttributeDefinitions": optional(_DEFINITIONS),
        **_SETTINGS,
        "GlobalSecondaryIndexUpdates": optional(
            Listing(
                Struct(
                    "GlobalSecondaryIndexUpdate",
                    {
                        "Update": optional(
                            Struct(
                                "UpdateGlobalSecondaryIndexAction",
                                {
                                    "IndexName": required(INDEX_NAME),
                                    "ProvisionedThroughput": optional(_THROUGHPUT),
                                    "OnDemandThroughput": optional(_ON_DEMAND),
                                    "WarmThroughput": optional(_WARM),
                                },
                            )
                        ),
                        "Create": optional(
                            Struct("CreateGlobalSecondaryIndexAction", _GLOBAL_INDEX)
                        ),
                        "Delete": optional(
                            Struct(
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
        "Limit": optional(Whole(low=1, high=100)),
    }
)
UPDATE_TIME_TO_LIVE: Final = request(
    {
        "TableName": required(TABLE_NAME),
        "TimeToLiveSpecification": required(
            Struct(
                "TimeToLiveSpecification",
                {"Enabled": required(Flag()), "AttributeName": required(Text(1, 255))},
            )
        ),
    }
)
UPDATE_BACKUPS: Final = request(
    {
        "TableName": required(TABLE_NAME),
        "PointInTimeRecoverySpecification": required(
            Struct(
                "PointInTimeRecoverySpecification",
                {
                    "PointInTimeRecoveryEnabled": required(Flag()),
                    "RecoveryPeriodInDays": optional(Whole(low=1, high=35)),
                },
            )
        ),
    }
)
_ARN: Final = required(Text(1, 1283))
TAG_RESOURCE: Final = request({"ResourceArn": _ARN, "Tags": required(_TAGS)})
UNTAG_RESOURCE: Final = request({"ResourceArn": _ARN, "TagKeys": required(Listing(Text(1, 128)))})
LIST_TAGS: Final = request({"ResourceArn": _ARN, "NextToken": optional(Text())})
NOTHING: Final = request({})
