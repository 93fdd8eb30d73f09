"""How the comparison speaks to both sides: the same JSON to our front and to DynamoDB Local."""

from __future__ import annotations

import http.client
import itertools
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from tests.storage.tables.dynamodb_server.sdk_client import SIGNED, target

Shape = dict[str, Any]

table_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """What one side said: a body, or the name and sentence of an error."""

    error: str | None
    message: str
    body: Shape


class Amazon:
    """DynamoDB Local, over one kept connection."""

    def __init__(self, endpoint: str) -> None:
        self._address = urlsplit(endpoint).netloc
        self._connection = http.client.HTTPConnection(self._address, timeout=30)

    def ask(self, operation: str, parameters: Shape) -> Answer:
        headers = {**SIGNED, "X-Amz-Target": target(operation)}
        self._connection.request("POST", "/", json.dumps(parameters), headers)
        response = self._connection.getresponse()
        return answer(response.status, response.read())

    def close(self) -> None:
        self._connection.close()


class Ours:
    """Our front, called as the function it is."""

    def __init__(self, front: DynamoDbServer) -> None:
        self._front = front

    def ask(self, operation: str, parameters: Shape) -> Answer:
        headers = {**SIGNED, "X-Amz-Target": target(operation)}
        reply = self._front.handle(headers, json.dumps(parameters).encode())
        return answer(reply.status, reply.body)


def answer(status: int, raw: bytes) -> Answer:
    """Read a reply of either side."""
    body = json.loads(raw) if raw else {}
    if status == 200:
        return Answer(None, "", body)
    name = body["__type"].rpartition("#")[2]
    return Answer(name, body.get("message") or body.get("Message") or "", body)
