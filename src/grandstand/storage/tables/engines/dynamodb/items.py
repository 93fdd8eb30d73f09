"""Parameters of item calls, batches, and recovery of writes whose response was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, same
from grandstand.storage.tables.encoding import item_from_wire, item_to_wire, to_wire
from grandstand.storage.tables.engines.dynamodb.client import DynamoClient
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.evaluate import apply, makes_item, touched
from grandstand.storage.tables.expressions.render import Rendering

Shape: TypeAlias = dict[str, Any]


def get_parameters(request: requests.GetItem) -> Shape:
    """Return the parameters of GetItem."""
    shape = get_action(request)
    if request.consistent:
        shape["ConsistentRead"] = True
    return shape


def get_action(request: requests.GetItem) -> Shape:
    """Return the Get of a transaction."""
    rendering = Rendering()
    shape: Shape = {"TableName": request.table, "Key": item_to_wire(request.key)}
    if request.projection:
        shape["ProjectionExpression"] = rendering.projection(request.projection)
    return _with_placeholders(shape, rendering)


def write_parameters(
    request: requests.PutItem | requests.UpdateItem | requests.DeleteItem,
) -> tuple[str, Shape]:
    """Return the operation and the parameters of a write."""
    ((kind, shape),) = write_action(request).items()
    if request.returning != "NONE":
        shape["ReturnValues"] = request.returning
    return f"{kind.lower()}_item", shape


def write_action(request: requests.WriteAction) -> Shape:
    """Return one action of a transaction, such as {"Put": {...}}."""
    rendering = Rendering()
    shape: Shape = {"TableName": request.table}
    match request:
        case requests.PutItem():
            kind = "Put"
            shape["Item"] = item_to_wire(request.item)
        case requests.UpdateItem():
            kind = "Update"
            shape["Key"] = item_to_wire(request.key)
            if request.update.paths:
                shape["UpdateExpression"] = rendering.update(request.update)
        case requests.DeleteItem():
            kind = "Delete"
            shape["Key"] = item_to_wire(request.key)
        case requests.CheckItem():
            kind = "ConditionCheck"
            shape["Key"] = item_to_wire(request.key)
    if request.condition is not None:
        shape["ConditionExpression"] = rendering.condition(request.condition)
    if request.show_conflict:
        shape["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {kind: _with_placeholders(shape, rendering)}


def query_parameters(request: requests.QueryRequest) -> Shape:
    """Return the parameters of Query."""
    rendering = Rendering()
    shape: Shape = {
        "TableName": request.table,
        "KeyConditionExpression": rendering.key_condition(request.where),
    }
    if not request.forward:
        shape["ScanIndexForward"] = False
    return _add_read_parameters(shape, rendering, request)


def scan_parameters(request: requests.ScanRequest) -> Shape:
    """Return the parameters of Scan."""
    shape: Shape = {"TableName": request.table}
    if request.segments != 1:
        shape["Segment"] = request.segment
        shape["TotalSegments"] = request.segments
    return _add_read_parameters(shape, Rendering(), request)


def batch_keys(requests: list[requests.GetItem]) -> Shape:
    """Return the part of BatchGetItem for one table; the requests differ only in their keys."""
    rendering = Rendering()
    shape: Shape = {"Keys": [item_to_wire(request.key) for request in requests]}
    if requests[0].projection:
        shape["ProjectionExpression"] = rendering.projection(requests[0].projection)
    if requests[0].consistent:
        shape["ConsistentRead"] = True
    return _with_placeholders(shape, rendering)


def batch_write(request: requests.PutItem | requests.DeleteItem) -> Shape:
    """Return one action of BatchWriteItem.

    Raises InvalidRequest if it has a condition.
    """
    if request.condition is not None or request.returning != "NONE":
        raise InvalidRequest("Batch writes support neither conditions nor return values.")
    if isinstance(request, requests.PutItem):
        return {"PutRequest": {"Item": item_to_wire(request.item)}}
    return {"DeleteRequest": {"Key": item_to_wire(request.key)}}


def _add_read_parameters(
    shape: Shape, rendering: Rendering, request: requests.QueryRequest | requests.ScanRequest
) -> Shape:
    optional: Mapping[str, object] = {
        "IndexName": request.index,
        "Limit": request.limit,
        "ExclusiveStartKey": None if request.start is None else item_to_wire(request.start),
        "ConsistentRead": request.consistent or None,
    }
    shape |= {name: value for name, value in optional.items() if value is not None}
    if request.filter is not None:
        shape["FilterExpression"] = rendering.condition(request.filter)
    if request.projection:
        shape["ProjectionExpression"] = rendering.projection(request.projection)
    return _with_placeholders(shape, rendering)


def _with_placeholders(shape: Shape, rendering: Rendering) -> Shape:
    if rendering.names:
        shape["ExpressionAttributeNames"] = dict(rendering.names)
    if rendering.values:
        shape["ExpressionAttributeValues"] = {
            name: to_wire(value) for name, value in rendering.values.items()
        }
    return shape


ReadMode: TypeAlias = tuple[tuple[nodes.Path, ...], bool]


def read_batch(client: DynamoClient, gets: Sequence[requests.GetItem]) -> requests.BatchRead:
    """Read items and repeat unprocessed keys; what remains unprocessed is `left`.

    Raises InvalidRequest for more than 100 requests, for none, and for duplicates.
    """
    _check_count(len(gets), 100, "BatchGetItem")
    keys = {repr((get.table, sorted(item_to_wire(get.key).items()))) for get in gets}
    if len(keys) < len(gets):
        raise InvalidRequest("Provided list of item keys contains duplicates")
    items: list[tuple[str, Item]] = []
    left: list[requests.GetItem] = []
    for batch in _split_by_mode(gets):
        found, remaining = _read_keys(client, batch)
        items += found
        left += remaining
    return requests.BatchRead(tuple(items), tuple(left))


def _split_by_mode(gets: Sequence[requests.GetItem]) -> list[dict[str, list[requests.GetItem]]]:
    """Distribute requests to calls, each of which reads a table in one mode."""
    batches: list[dict[str, list[requests.GetItem]]] = []
    for request in gets:
        for batch in batches:
            others = batch.get(request.table)
            if others is None or _read_mode(others[0]) == _read_mode(request):
                batch.setdefault(request.table, []).append(request)
                break
        else:
            batches.append({request.table: [request]})
    return batches


def _read_mode(request: requests.GetItem) -> ReadMode:
    return request.projection, request.consistent


def _read_keys(
    client: DynamoClient, batch: dict[str, list[requests.GetItem]]
) -> tuple[list[tuple[str, Item]], list[requests.GetItem]]:
    found: list[tuple[str, Item]] = []
    pending: Shape = {table: batch_keys(requests) for table, requests in batch.items()}
    retries = client.start_retries()
    while True:
        response = client.send("batch_get_item", {"RequestItems": pending})
        for table, items in response.get("Responses", {}).items():
            found += ((table, item_from_wire(item)) for item in items)
        pending = response.get("UnprocessedKeys") or {}
        if not pending or not retries.wait():
            break
    left = [
        requests.GetItem(table, item_from_wire(key), *_read_mode(batch[table][0]))
        for table, part in pending.items()
        for key in part["Keys"]
    ]
    return found, left


def write_batch(
    client: DynamoClient, actions: Sequence[requests.PutItem | requests.DeleteItem]
) -> requests.BatchWritten:
    """Write items and repeat unprocessed ones; what remains unprocessed is `left`.

    Raises InvalidRequest for more than 25 requests, for none, and for one with a condition.
    """
    _check_count(len(actions), 25, "BatchWriteItem")
    pending: dict[str, list[Shape]] = {}
    for request in actions:
        pending.setdefault(request.table, []).append(batch_write(request))
    retries = client.start_retries()
    while True:
        response = client.send("batch_write_item", {"RequestItems": pending})
        pending = response.get("UnprocessedItems") or {}
        if not pending or not retries.wait():
            break
    left = tuple(_decode_write(table, action) for table, part in pending.items() for action in part)
    done = [action.table for action in actions]
    for action in left:
        done.remove(action.table)
    return requests.BatchWritten(left, tuple((table, requests.Written()) for table in done))


def _decode_write(table: str, action: Shape) -> requests.PutItem | requests.DeleteItem:
    if "PutRequest" in action:
        return requests.PutItem(table, item_from_wire(action["PutRequest"]["Item"]))
    return requests.DeleteItem(table, item_from_wire(action["DeleteRequest"]["Key"]))


def _check_count(count: int, limit: int, operation: str) -> None:
    if count > limit:
        raise InvalidRequest(f"Too many items requested for the {operation} call")
    if not count:
        raise InvalidRequest(
            "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1"
        )


def is_repeatable(request: requests.PutItem | requests.UpdateItem | requests.DeleteItem) -> bool:
    """Return whether executing the write twice has the same result as once."""
    return not isinstance(request, requests.UpdateItem) or _is_idempotent(request.update)


def _is_idempotent(update: nodes.UpdateNode) -> bool:
    return (
        all(_is_constant(assigned) for _, assigned in update.sets)
        and all(isinstance(literal.value, frozenset) for _, literal in update.adds)
        and not any(isinstance(step, int) for path in update.paths for step in path.steps)
    )


def _is_constant(assigned: nodes.Assigned) -> bool:
    if isinstance(assigned, nodes.IfMissing):
        return _is_constant(assigned.other)
    return isinstance(assigned, nodes.Literal)


def is_applied(
    request: requests.PutItem | requests.UpdateItem | requests.DeleteItem, stored: Item | None
) -> bool:
    """Return whether the stored item is the result of a repeatable write."""
    match request:
        case requests.PutItem():
            return stored is not None and same(request.item, stored)
        case requests.DeleteItem():
            return stored is None
        case requests.UpdateItem():
            if stored is None:
                return not makes_item(request.update)
            return same(apply(request.update, stored), stored)


def new_attributes(
    request: requests.PutItem | requests.UpdateItem | requests.DeleteItem, stored: Item | None
) -> Item:
    """Return the new attributes a write returns; the old ones are unknown."""
    if stored is None or not isinstance(request, requests.UpdateItem):
        return {}
    if request.returning == "UPDATED_NEW":
        return touched(request.update, stored)
    return stored if request.returning == "ALL_NEW" else {}
