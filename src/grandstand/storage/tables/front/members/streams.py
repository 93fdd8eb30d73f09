"""Kept here: what requests about streams are made of."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.front.members.common import TABLE_NAME, optional, request, required
from grandstand.storage.tables.front.members.scalars import Text, Whole

_STREAM_ARN: Final = Text(37, 1024)
_SHARD_ID: Final = Text(28, 65)
_PAGE: Final = optional(Whole(low=1, high=100))

LIST_STREAMS: Final = request(
    {
        "TableName": optional(TABLE_NAME),
        "Limit": _PAGE,
        "ExclusiveStartStreamArn": optional(_STREAM_ARN),
    }
)
DESCRIBE_STREAM: Final = request(
    {
        "StreamArn": required(_STREAM_ARN),
        "Limit": _PAGE,
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
        "Limit": optional(Whole(low=1, high=1000)),
    }
)
