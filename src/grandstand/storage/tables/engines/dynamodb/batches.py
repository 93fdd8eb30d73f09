"""Kept here: batch reads and writes, and the patient repetition of what was left unprocessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from grandstand.storage.tables.encoding.attributes import item_from_wire, item_to_wire
from grandstand.storage.tables.engines.dynamodb.calls import Calls
from grandstand.storage.tables.engines.dynamodb.items import batch_keys, batch_write
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import Path
from grandstand.storage.tables.requests import (
    BatchRead,
    BatchWritten,
    DeleteItem,
    GetItem,
    PutItem,
    Written,
)
from grandstand.storage.tables.values import Item

Shape: TypeAlias = dict[str, Any]
Manner: TypeAlias = tuple[tuple[Path, ...], bool]

MAX_READS: Final = 100
MAX_WRITES: Final = 25


def read_batch(calls: Calls, requests: Sequence[GetItem]) -> BatchRead:
    """Read the items, asking again for what was left; what remains after the last try is `left`.

    Raises InvalidRequest for more than 100 requests, for none, and for one asked twice.
    """
    _check_number(len(requests), MAX_READS, "BatchGetItem")
    if len({_identity(request) for request in requests}) < len(requests):
        raise InvalidRequest("Provided list of item keys contains duplicates")
    found: list[tuple[str, Item]] = []
    left: list[GetItem] = []
    for round_ in _rounds(requests):
        some, remaining = _read_round(calls, round_)
        found += some
        left += remaining
    return BatchRead(tuple(found), tuple(left))


def _identity(request: GetItem) -> str:
    return repr((request.table, sorted(item_to_wire(request.key).items())))


def _rounds(requests: Sequence[GetItem]) -> list[dict[str, list[GetItem]]]:
    """Deal the requests into calls: one call asks one table in one manner only."""
    rounds: list[dict[str, list[GetItem]]] = []
    for request in requests:
        for round_ in rounds:
            others = round_.get(request.table)
            if others is None or _manner(others[0]) == _manner(request):
                round_.setdefault(request.table, []).append(request)
                break
        else:
            rounds.append({request.table: [request]})
    return rounds


def _manner(request: GetItem) -> Manner:
    return request.projection, request.consistent


def _read_round(
    calls: Calls, asked: dict[str, list[GetItem]]
) -> tuple[list[tuple[str, Item]], list[GetItem]]:
    found: list[tuple[str, Item]] = []
    waiting: Shape = {table: batch_keys(requests) for table, requests in asked.items()}
    tries = calls.tries()
    while True:
        answer = calls.send("batch_get_item", {"RequestItems": waiting})
        for table, items in answer.get("Responses", {}).items():
            found += ((table, item_from_wire(item)) for item in items)
        waiting = answer.get("UnprocessedKeys") or {}
        if not waiting or not tries.again():
            break
    left = [
        GetItem(table, item_from_wire(key), *_manner(asked[table][0]))
        for table, part in waiting.items()
        for key in part["Keys"]
    ]
    return found, left


def write_batch(calls: Calls, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
    """Write the items, repeating what was left; what remains after the last try is `left`.

    Raises InvalidRequest for more than 25 requests, for none, and for one with a condition.
    """
    _check_number(len(requests), MAX_WRITES, "BatchWriteItem")
    waiting: dict[str, list[Shape]] = {}
    for request in requests:
        waiting.setdefault(request.table, []).append(batch_write(request))
    tries = calls.tries()
    while True:
        answer = calls.send("batch_write_item", {"RequestItems": waiting})
        waiting = answer.get("UnprocessedItems") or {}
        if not waiting or not tries.again():
            break
    left = tuple(_action(table, action) for table, part in waiting.items() for action in part)
    done = _difference([r.table for r in requests], [r.table for r in left])
    return BatchWritten(left, tuple((table, Written()) for table in done))


def _action(table: str, action: Shape) -> PutItem | DeleteItem:
    if "PutRequest" in action:
        return PutItem(table, item_from_wire(action["PutRequest"]["Item"]))
    return DeleteItem(table, item_from_wire(action["DeleteRequest"]["Key"]))


def _difference(tables: list[str], without: list[str]) -> list[str]:
    remaining = list(tables)
    for table in without:
        remaining.remove(table)
    return remaining


def _check_number(number: int, most: int, call: str) -> None:
    if number > most:
        raise InvalidRequest(f"Too many items requested for the {call} call")
    if not number:
        raise InvalidRequest(
            "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1"
        )
