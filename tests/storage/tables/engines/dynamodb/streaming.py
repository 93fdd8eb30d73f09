"""A table's stream whose shards a test splits, closes and trims as it likes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.storage.tables.engines.dynamodb.services import Call, Reply, ok, refusal

STREAM = "arn:table/some/stream/1"


@dataclass
class Pieces:
    """One shard: its records by sequence number, and whether it still grows."""

    parent: str | None = None
    numbers: list[int] = field(default_factory=list)
    closed: bool = False
    first: int = 0
    trimmed_below: int = 0
    empty_pages: int = 0


@dataclass
class StreamService:
    """Answers for one table, `some`, and its stream."""

    shards: dict[str, Pieces]
    stream: str = STREAM
    created_at: float = 1_800_000_000
    expire_iterators: bool = False
    page: int = 1000

    def __call__(self, call: Call) -> Reply:
        answers = {
            "DescribeTable": self._table,
            "DescribeStream": self._description,
            "GetShardIterator": self._iterator,
            "GetRecords": self._records,
        }
        return answers[call.operation](call.body)

    def _table(self, _body: dict[str, Any]) -> Reply:
        setting = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        return ok(
            Table={
                "TableName": "some",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "StreamSpecification": setting,
                "LatestStreamArn": self.stream,
            }
        )

    def _description(self, body: dict[str, Any]) -> Reply:
        names = list(self.shards)
        start = names.index(body["ExclusiveStartShardId"]) + 1 if len(body) > 1 else 0
        listed = names[start : start + 2]
        description = {"Shards": [self._listed(name) for name in listed]}
        more = {"LastEvaluatedShardId": listed[-1]} if start + 2 < len(names) else {}
        return ok(StreamDescription={**description, **more})

    def _listed(self, name: str) -> dict[str, Any]:
        shard = self.shards[name]
        span = {"StartingSequenceNumber": str(shard.first)}
        end = {"EndingSequenceNumber": "9"} if shard.closed else {}
        parent = {"ParentShardId": shard.parent} if shard.parent else {}
        return {"ShardId": name, "SequenceNumberRange": {**span, **end}, **parent}

    def _iterator(self, body: dict[str, Any]) -> Reply:
        shard = self.shards.get(body["ShardId"])
        if shard is None:
            return refusal("ResourceNotFoundException")
        number = int(body.get("SequenceNumber", 0))
        at = {
            "TRIM_HORIZON": shard.trimmed_below,
            "LATEST": max(shard.numbers, default=0) + 1,
            "AT_SEQUENCE_NUMBER": number,
            "AFTER_SEQUENCE_NUMBER": number + 1,
        }[body["ShardIteratorType"]]
        if at < shard.trimmed_below:
            return refusal("TrimmedDataAccessException")
        return ok(ShardIterator=json.dumps([body["ShardId"], at, "fresh"]))

    def _records(self, body: dict[str, Any]) -> Reply:
        name, at, age = json.loads(body["ShardIterator"])
        if self.expire_iterators and age == "used":
            return refusal("ExpiredIteratorException")
        shard = self.shards[name]
        if shard.empty_pages:
            shard.empty_pages -= 1
            return ok(Records=[], NextShardIterator=json.dumps([name, at, "used"]))
        every = [number for number in shard.numbers if number >= at]
        numbers = every[: min(self.page, body["Limit"])]
        after = numbers[-1] + 1 if numbers else at
        ended = shard.closed and len(numbers) == len(every)
        onward = {} if ended else {"NextShardIterator": json.dumps([name, after, "used"])}
        return ok(Records=[self._record(number) for number in numbers], **onward)

    def _record(self, number: int) -> dict[str, Any]:
        return {
            "eventName": "INSERT",
            "dynamodb": {
                "ApproximateCreationDateTime": self.created_at + number,
                "Keys": {"pk": {"S": f"item {number}"}},
                "SequenceNumber": str(number),
                "SizeBytes": 7,
            },
        }
