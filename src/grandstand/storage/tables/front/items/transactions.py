"""Kept here: the operations that read or write several items as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from grandstand.storage.tables.capacity import read_units, total
from grandstand.storage.tables.encoding.attributes import item_from_wire, item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_update,
)
from grandstand.storage.tables.front.items.consumed import (
    all_collections,
    asked,
    local_names,
    transact_read_report,
    wants_collections,
    write_report,
)
from grandstand.storage.tables.front.items.params import check_mixed, placeholders
from grandstand.storage.tables.front.items.single import (
    read_condition,
    read_projection,
    show_conflict,
)
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    Transaction,
    UpdateItem,
    WriteAction,
    Written,
)


def transact_write_items(service: Service, request: Request) -> Answer:
    """Write all or nothing; raise InvalidRequest, TableNotFound or TransactionCancelled."""
    actions = tuple(_action(service, one) for one in request["TransactItems"])
    written = service.engine.transact_write(Transaction(actions, request.get("ClientRequestToken")))
    told: Answer = {}
    if asked(request):
        by_table: dict[str, list[Written]] = {}
        for action, one in zip(actions, written, strict=True):
            by_table.setdefault(action.table, []).append(one)
        told["ConsumedCapacity"] = [
            write_report(
                request,
                table,
                those,
                local=local_names(service.schema(table)),
                transactional=True,
            )
            for table, those in by_table.items()
        ]
    if wants_collections(request):
        told["ItemCollectionMetrics"] = all_collections(service, actions)
    return told


def _action(service: Service, one: Request) -> WriteAction:
    given = [(kind, one[kind]) for kind in _ACTIONS if one.get(kind) is not None]
    if len(given) != 1:
        raise InvalidRequest("TransactItems can only contain one of Check, Put, Update or Delete")
    kind, parameters = given[0]
    shared = placeholders(parameters)
    table = service.table_name(parameters["TableName"])
    action = _ACTIONS[kind](table, parameters, shared)
    shared.check_used()
    return action


def _put(table: str, parameters: Request, shared: Placeholders) -> PutItem:
    check_mixed(parameters, ("ConditionExpression",), ())
    item = item_from_wire(parameters["Item"], text_binary=True)
    condition = read_condition(parameters, shared)
    return PutItem(table, item, condition, show_conflict=show_conflict(parameters))


def _delete(table: str, parameters: Request, shared: Placeholders) -> DeleteItem:
    check_mixed(parameters, ("ConditionExpression",), ())
    key = item_from_wire(parameters["Key"], text_binary=True)
    condition = read_condition(parameters, shared)
    return DeleteItem(table, key, condition, show_conflict=show_conflict(parameters))


def _update(table: str, parameters: Request, shared: Placeholders) -> UpdateItem:
    key = item_from_wire(parameters["Key"], text_binary=True)
    update = parse_update(parameters["UpdateExpression"], shared)
    condition = read_condition(parameters, shared)
    return UpdateItem(table, key, update, condition, show_conflict=show_conflict(parameters))


def _check(table: str, parameters: Request, shared: Placeholders) -> CheckItem:
    key = item_from_wire(parameters["Key"], text_binary=True)
    condition = parse_condition(parameters["ConditionExpression"], shared)
    return CheckItem(table, key, condition, show_conflict(parameters))


_ACTIONS: Final[dict[str, Callable[[str, Any, Placeholders], WriteAction]]] = {
    "ConditionCheck": _check,
    "Put": _put,
    "Delete": _delete,
    "Update": _update,
}


def transact_get_items(service: Service, request: Request) -> Answer:
    """Read several items as of one moment; raise as `transact_write_items` does."""
    reads = tuple(_get(service, one["Get"]) for one in request["TransactItems"])
    found = service.engine.transact_get(reads)
    told: Answer = {"Responses": [_response(one) for one in found]}
    if asked(request):
        by_table: dict[str, list[int]] = {}
        for read, one in zip(reads, found, strict=True):
            by_table.setdefault(read.table, []).append(one.read_bytes)
        told["ConsumedCapacity"] = [
            transact_read_report(
                request, table, total(read_units(size, transactional=True) for size in sizes)
            )
            for table, sizes in by_table.items()
        ]
    return told


def _get(service: Service, parameters: Request) -> GetItem:
    check_mixed(parameters, ("ProjectionExpression",), ())
    projection = read_projection(parameters)
    table = service.table_name(parameters["TableName"])
    key = item_from_wire(parameters["Key"], text_binary=True)
    return GetItem(table, key, projection, consistent=True)


def _response(found: Found) -> Answer:
    if found.item is None:
        return {}
    return {"Item": item_to_wire(found.item, text_binary=True)}
