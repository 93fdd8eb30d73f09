"""How these tests speak to a front: an operation and its parameters in, what it answers out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from grandstand.storage.tables.front import Front, Reply

SIGNED = {
    "Authorization": (
        "AWS4-HMAC-SHA256 Credential=key/20260101/local/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=00"
    ),
    "X-Amz-Date": "20260101T000000Z",
    "Content-Type": "application/x-amz-json-1.0",
}
STREAM_CALLS = ("ListStreams", "DescribeStream", "GetShardIterator", "GetRecords")


def target(operation: str) -> str:
    """The name of an operation on the wire."""
    service = "DynamoDBStreams" if operation in STREAM_CALLS else "DynamoDB"
    return f"{service}_20120810.{operation}"


@dataclass(frozen=True)
class Refusal:
    """An error as a client sees it."""

    name: str
    message: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Asker:
    """Asks one front."""

    front: Front

    def reply(self, operation: str, parameters: object) -> Reply:
        body = msgspec.json.encode(parameters)
        return self.front.answer({**SIGNED, "X-Amz-Target": target(operation)}, body)

    def __call__(self, operation: str, **parameters: object) -> dict[str, Any]:
        """Ask for something that works; what is answered."""
        reply = self.reply(operation, parameters)
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = msgspec.json.decode(reply.body) if reply.body else {}
        return answer

    def refused(self, operation: str, **parameters: object) -> Refusal:
        """Ask for something that does not work; what is said against it."""
        return refusal(self.reply(operation, parameters))

    def message(self, operation: str, **parameters: object) -> str:
        """Ask for what breaks a rule; the sentence of the ValidationException."""
        found = self.refused(operation, **parameters)
        assert found.name == "ValidationException", found
        return found.message

    def table(self, name: str, **parameters: Any) -> None:
        """Make a table with the key `p`, or `p` and `s`, all strings, unless told otherwise."""
        made = {"sort": None, "types": {}, **parameters}
        keys = ["p"] + ([made["sort"]] if made["sort"] else [])
        shape: dict[str, Any] = {
            "TableName": name,
            "KeySchema": key_schema(*keys),
            "BillingMode": "PAY_PER_REQUEST",
        }
        names = dict.fromkeys(keys)
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            if kind in made:
                shape[kind] = made[kind]
                for index in made[kind]:
                    names.update(dict.fromkeys(e["AttributeName"] for e in index["KeySchema"]))
        if "StreamSpecification" in made:
            shape["StreamSpecification"] = made["StreamSpecification"]
        shape["AttributeDefinitions"] = [
            {"AttributeName": each, "AttributeType": made["types"].get(each, "S")} for each in names
        ]
        self("CreateTable", **shape)


def refusal(reply: Reply) -> Refusal:
    """Read an error reply."""
    assert reply.status != 200, reply.body
    body = msgspec.json.decode(reply.body)
    name = body["__type"].partition("#")[2]
    return Refusal(name, body.get("message", body.get("Message", "")), body)


def key_schema(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    """A key as CreateTable writes it."""
    parts = [{"AttributeName": partition, "KeyType": "HASH"}]
    if sort is not None:
        parts.append({"AttributeName": sort, "KeyType": "RANGE"})
    return parts


def index(name: str, partition: str, sort: str | None = None, **projection: Any) -> dict[str, Any]:
    """An index as CreateTable writes it."""
    return {
        "IndexName": name,
        "KeySchema": key_schema(partition, sort),
        "Projection": projection or {"ProjectionType": "ALL"},
    }
