"""The same requests to DynamoDB Local and to our endpoint, and what each answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.storage.tables.dynamodb_server.common_cases import ALIKE, ITEMS, TABLES, Case
from tests.storage.tables.dynamodb_server.differences import DIFFERENCES, Difference
from tests.storage.tables.dynamodb_server.sdk_client import SIGNED, target

Answer = tuple[str, str, Any]
# Local keeps the tables of each access key apart.
OWN_KEY = SIGNED["Authorization"].replace("Credential=key/", "Credential=comparison/")


def answer(address: str, case: Case) -> Answer:
    """The error's name and sentence, empty when there is none, and the rest of the answer."""
    operation, parameters = case
    headers = {**SIGNED, "Authorization": OWN_KEY, "X-Amz-Target": target(operation)}
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("POST", "/", json.dumps(parameters), headers)
    body = json.loads(connection.getresponse().read())
    connection.close()
    if "__type" not in body:
        return "", "", body
    name = body.pop("__type").partition("#")[2]
    message = body.pop("message", body.pop("Message", ""))
    return name, message, body


@pytest.fixture(scope="module")
def both(dynamodb_local: str, endpoint: str) -> Iterator[tuple[str, str]]:
    """Both endpoints, with the same tables and items."""
    addresses = (dynamodb_local, endpoint)
    for address in addresses:
        for table in TABLES:
            answer(address, ("CreateTable", table))
        for name, items in ITEMS.items():
            for item in items:
                answer(address, ("PutItem", {"TableName": name, "Item": item}))
    yield addresses
    for address in addresses:
        for name in ITEMS:
            answer(address, ("DeleteTable", {"TableName": name}))


def shown(case: Case) -> str:
    return f"{case[0]} {json.dumps(case[1])[:80]}"


@pytest.mark.parametrize("case", ALIKE, ids=shown)
def test_both_answer_alike(both: tuple[str, str], case: Case) -> None:
    local, ours = both

    theirs, own = answer(local, case), answer(ours, case)

    assert own == theirs


@pytest.mark.parametrize(
    "difference", DIFFERENCES, ids=[shown(difference.case) for difference in DIFFERENCES]
)
def test_where_local_differs_we_answer_as_dynamodb(
    both: tuple[str, str], difference: Difference
) -> None:
    local, ours = both

    theirs, own = answer(local, difference.case), answer(ours, difference.case)

    assert theirs[:2] == difference.local
    assert own[:2] == difference.aws
