"""Helpers that call operations of a server under test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer, Reply

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
    """Return the X-Amz-Target of an operation."""
    service = "DynamoDBStreams" if operation in STREAM_CALLS else "DynamoDB"
    return f"{service}_20120810.{operation}"


@dataclass(frozen=True)
class Refusal:
    """An error as a client sees it."""

    name: str
    message: str
    body: dict[str, Any]


@dataclass(frozen=True)
class ApiCaller:
    """Calls operations of one server."""

    server: DynamoDbServer

    def reply(self, operation: str, parameters: object) -> Reply:
        body = msgspec.json.encode(parameters)
        return self.server.handle({**SIGNED, "X-Amz-Target": target(operation)}, body)

    def __call__(self, operation: str, **parameters: object) -> dict[str, Any]:
        """Call an operation that succeeds and return the response."""
        reply = self.reply(operation, parameters)
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = msgspec.json.decode(reply.body) if reply.body else {}
        return answer

    def refused(self, operation: str, **parameters: object) -> Refusal:
        """Call an operation that fails and return the error."""
        return refusal(self.reply(operation, parameters))

    def message(self, operation: str, **parameters: object) -> str:
        """Call an operation that is invalid and return the message."""
        found = self.refused(operation, **parameters)
        assert found.name == "ValidationException", found
        return found.message

    def table(self, name: str, **parameters: Any) -> None:
        """Create a table with the key `p`, or `p` and a sort key, of strings by default."""
        created = {"sort": None, "types": {}, **parameters}
        keys = ["p"] + ([created["sort"]] if created["sort"] else [])
        shape: dict[str, Any] = {
            "TableName": name,
            "KeySchema": key_schema(*keys),
            "BillingMode": "PAY_PER_REQUEST",
        }
        names = dict.fromkeys(keys)
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            if kind in created:
                shape[kind] = created[kind]
                for index in created[kind]:
                    names.update(dict.fromkeys(e["AttributeName"] for e in index["KeySchema"]))
        if "StreamSpecification" in created:
            shape["StreamSpecification"] = created["StreamSpecification"]
        shape["AttributeDefinitions"] = [
            {"AttributeName": each, "AttributeType": created["types"].get(each, "S")}
            for each in names
        ]
        self("CreateTable", **shape)


def refusal(reply: Reply) -> Refusal:
    """Parse an error reply."""
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
