"""Kept here: the operations on one item: put, get, update and delete."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.capacity import read_units
from grandstand.storage.tables.encoding.attributes import item_from_wire, item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import Condition, Literal, Path, Update
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
    parse_update,
)
from grandstand.storage.tables.front.items.consumed import (
    asked,
    collections,
    local_names,
    read_report,
    wants_collections,
    write_report,
)
from grandstand.storage.tables.front.items.legacy import (
    attribute_paths,
    attribute_updates,
    expected_condition,
)
from grandstand.storage.tables.front.items.params import check_mixed, placeholders
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.requests import (
    DeleteItem,
    GetItem,
    PutItem,
    Returning,
    UpdateItem,
    Written,
)
from grandstand.storage.tables.values import MAX_ITEM_BYTES, Item, Key, item_size

_BARE_WRITE: Final = frozenset(
    (
        "Item",
        "Key",
        "ReturnConsumedCapacity",
        "ReturnItemCollectionMetrics",
        "ReturnValues",
        "TableName",
    )
)
_BARE_READ: Final = frozenset(("ConsistentRead", "Key", "ReturnConsumedCapacity", "TableName"))
# What an update adds to the bytes it writes: a fixed part, and so much an action.
_UPDATE_BYTES: Final = 3
_WRITING_BYTES: Final = 19
_REMOVING_BYTES: Final = 2
_WRONG_OPERAND: Final = "An operand in the update expression has an incorrect data type"
_LARGE: Final = (str, bytes, list, dict, frozenset)


def put_item(service: Service, request: Request) -> Answer:
    """Write one item; raise InvalidRequest, TableNotFound or ConditionFailed."""
    bare = request.keys() <= _BARE_WRITE
    if not bare:
        check_mixed(request, ("ConditionExpression",), ("Expected",))
    item = item_from_wire(request["Item"], text_binary=True)
    returning = _old_or_none(request)
    condition = None if bare else _only_condition(request)
    table = service.table_name(request["TableName"])
    written = service.engine.put(PutItem(table, item, condition, returning, show_conflict(request)))
    return _written(service, request, table, item, written)


def delete_item(service: Service, request: Request) -> Answer:
    """Remove one item; raise InvalidRequest, TableNotFound or ConditionFailed."""
    bare = request.keys() <= _BARE_WRITE
    if not bare:
        check_mixed(request, ("ConditionExpression",), ("Expected",))
    key = item_from_wire(request["Key"], text_binary=True)
    returning = _old_or_none(request)
    condition = None if bare else _only_condition(request)
    table = service.table_name(request["TableName"])
    written = service.engine.delete(
        DeleteItem(table, key, condition, returning, show_conflict(request))
    )
    return _written(service, request, table, key, written)


def update_item(service: Service, request: Request) -> Answer:
    """Change or make one item; raise InvalidRequest, TableNotFound or ConditionFailed."""
    check_mixed(
        request,
        ("UpdateExpression", "ConditionExpression"),
        ("AttributeUpdates", "Expected"),
    )
    key = item_from_wire(request["Key"], text_binary=True)
    legacy = attribute_updates(request.get("AttributeUpdates"))
    expected = expected_condition(request.get("Expected"), request.get("ConditionalOperator"))
    shared = placeholders(request)
    update, condition = legacy, expected
    if request.get("UpdateExpression") is not None:
        update = parse_update(request["UpdateExpression"], shared)
    if request.get("ConditionExpression") is not None:
        condition = parse_condition(request["ConditionExpression"], shared)
    shared.check_used()
    table = service.table_name(request["TableName"])
    check_update_bytes(update)
    returning: Returning = request.get("ReturnValues") or "NONE"
    action = UpdateItem(table, key, update, condition, returning, show_conflict(request))
    try:
        written = service.engine.update(action)
    except InvalidRequest as fault:
        if legacy.paths and str(fault) == _WRONG_OPERAND:
            raise InvalidRequest("Type mismatch for attribute to update") from fault
        raise
    return _written(service, request, table, key, written)


def get_item(service: Service, request: Request) -> Answer:
    """Read one item; raise InvalidRequest or TableNotFound."""
    projection: tuple[Path, ...] = ()
    if not request.keys() <= _BARE_READ:
        check_mixed(request, ("ProjectionExpression",), ("AttributesToGet",))
        projection = read_projection(request)
    key = item_from_wire(request["Key"], text_binary=True)
    table = service.table_name(request["TableName"])
    consistent = bool(request.get("ConsistentRead"))
    found = service.engine.get(GetItem(table, key, projection, consistent))
    told: Answer = {}
    if found.item is not None:
        told["Item"] = item_to_wire(found.item, text_binary=True)
    if asked(request):
        units = read_units(found.read_bytes, consistent=consistent)
        told["ConsumedCapacity"] = read_report(request, table, units)
    return told


def _old_or_none(request: Request) -> Returning:
    wanted: Returning = request.get("ReturnValues") or "NONE"
    if wanted not in ("NONE", "ALL_OLD"):
        raise InvalidRequest("ReturnValues can only be ALL_OLD or NONE")
    return wanted


def read_projection(request: Request) -> tuple[Path, ...]:
    """Read what of an item is wanted; raise InvalidRequest."""
    legacy = attribute_paths(request.get("AttributesToGet"))
    text = request.get("ProjectionExpression")
    shared = placeholders(request)
    projection = legacy if text is None else parse_projection(text, shared)
    shared.check_used()
    return projection


def show_conflict(request: Request) -> bool:
    """Tell whether a failed condition should show the item it failed on."""
    return bool(request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD")


def read_condition(request: Request, shared: Placeholders) -> Condition | None:
    """Read a request's ConditionExpression, if any; raise InvalidRequest."""
    text = request.get("ConditionExpression")
    return None if text is None else parse_condition(text, shared)


def _only_condition(request: Request) -> Condition | None:
    condition = expected_condition(request.get("Expected"), request.get("ConditionalOperator"))
    shared = placeholders(request)
    condition = read_condition(request, shared) or condition
    shared.check_used()
    return condition


def check_update_bytes(update: Update) -> None:
    """Raise InvalidRequest when what an update writes is, by itself, more than an item may be.

    Measured on DynamoDB: names and values written, with so much a clause, count up to the limit
    whatever the finished item would hold.
    """
    size = _UPDATE_BYTES + _REMOVING_BYTES * (len(update.removes) + len(update.deletes))
    for path, value in (*update.sets, *update.adds):
        size += _WRITING_BYTES
        if isinstance(value, Literal) and isinstance(value.value, _LARGE):
            size += item_size({path.root: value.value})
    if size > MAX_ITEM_BYTES:
        raise InvalidRequest("Item size to update has exceeded the maximum allowed size")


def _written(
    service: Service, request: Request, table: str, key: Key | Item, written: Written
) -> Answer:
    told: Answer = {}
    if written.attributes:
        told["Attributes"] = item_to_wire(written.attributes, text_binary=True)
    if asked(request):
        local = local_names(service.schema(table)) if written.indexes else frozenset[str]()
        told["ConsumedCapacity"] = write_report(request, table, (written,), local=local)
    if wants_collections(request):
        measured = collections(service, table, (key,))
        if measured:
            told["ItemCollectionMetrics"] = measured[0]
    return told
