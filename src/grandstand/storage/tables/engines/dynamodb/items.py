"""Kept here: our requests on items as the parameters of DynamoDB's calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from grandstand.storage.tables.encoding.attributes import item_to_wire, to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import Condition
from grandstand.storage.tables.expressions.render import Rendering
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    GetItem,
    PutItem,
    Query,
    Scan,
    UpdateItem,
    WriteAction,
)

Shape: TypeAlias = dict[str, Any]


def get_parameters(request: GetItem) -> Shape:
    """Write the parameters of GetItem."""
    shape = get_action(request)
    if request.consistent:
        shape["ConsistentRead"] = True
    return shape


def get_action(request: GetItem) -> Shape:
    """Write the Get of a transaction."""
    rendering = Rendering()
    shape: Shape = {"TableName": request.table, "Key": item_to_wire(request.key)}
    if request.projection:
        shape["ProjectionExpression"] = rendering.projection(request.projection)
    return _with_placeholders(shape, rendering)


def write_parameters(request: PutItem | UpdateItem | DeleteItem) -> tuple[str, Shape]:
    """Name the call for a write, and write its parameters."""
    ((kind, shape),) = write_action(request).items()
    if request.returning != "NONE":
        shape["ReturnValues"] = request.returning
    return _CALLS[kind], shape


_CALLS = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}


def write_action(request: WriteAction) -> Shape:
    """Write one action of a transaction: {"Put": {...}}, and so on."""
    rendering = Rendering()
    shape: Shape = {"TableName": request.table}
    match request:
        case PutItem():
            kind = "Put"
            shape["Item"] = item_to_wire(request.item)
        case UpdateItem():
            kind = "Update"
            shape["Key"] = item_to_wire(request.key)
            if request.update.paths:
                shape["UpdateExpression"] = rendering.update(request.update)
        case DeleteItem():
            kind = "Delete"
            shape["Key"] = item_to_wire(request.key)
        case CheckItem():
            kind = "ConditionCheck"
            shape["Key"] = item_to_wire(request.key)
    _conditioned(shape, rendering, request.condition)
    if request.show_conflict:
        shape["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {kind: _with_placeholders(shape, rendering)}


def query_parameters(request: Query) -> Shape:
    """Write the parameters of Query."""
    rendering = Rendering()
    shape: Shape = {
        "TableName": request.table,
        "KeyConditionExpression": rendering.key_condition(request.where),
    }
    if not request.forward:
        shape["ScanIndexForward"] = False
    return _read_many(shape, rendering, request)


def scan_parameters(request: Scan) -> Shape:
    """Write the parameters of Scan."""
    shape: Shape = {"TableName": request.table}
    if request.segments != 1:
        shape["Segment"] = request.segment
        shape["TotalSegments"] = request.segments
    return _read_many(shape, Rendering(), request)


def batch_keys(requests: list[GetItem]) -> Shape:
    """Write one table's part of BatchGetItem; the requests ask alike but for their keys."""
    rendering = Rendering()
    shape: Shape = {"Keys": [item_to_wire(request.key) for request in requests]}
    if requests[0].projection:
        shape["ProjectionExpression"] = rendering.projection(requests[0].projection)
    if requests[0].consistent:
        shape["ConsistentRead"] = True
    return _with_placeholders(shape, rendering)


def batch_write(request: PutItem | DeleteItem) -> Shape:
    """Write one action of BatchWriteItem; raise InvalidRequest when it has a condition."""
    if request.condition is not None or request.returning != "NONE":
        raise InvalidRequest("A batch write takes neither conditions nor returned values")
    if isinstance(request, PutItem):
        return {"PutRequest": {"Item": item_to_wire(request.item)}}
    return {"DeleteRequest": {"Key": item_to_wire(request.key)}}


def _read_many(shape: Shape, rendering: Rendering, request: Query | Scan) -> Shape:
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


def _conditioned(shape: Shape, rendering: Rendering, condition: Condition | None) -> None:
    if condition is not None:
        shape["ConditionExpression"] = rendering.condition(condition)


def _with_placeholders(shape: Shape, rendering: Rendering) -> Shape:
    if rendering.names:
        shape["ExpressionAttributeNames"] = dict(rendering.names)
    if rendering.values:
        shape["ExpressionAttributeValues"] = {
            name: to_wire(value) for name, value in rendering.values.items()
        }
    return shape
