"""Kept here: an operation shown as DynamoDB would receive it, and what it would cost there."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from grandstand.storage.tables import requests
from grandstand.storage.tables.capacity import (
    Rates,
    dollars_a_month,
    read_units,
    total,
    write_units,
)
from grandstand.storage.tables.engines.dynamodb import items
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.operations.batches import AllOrNothing, GetMany, WriteMany
from grandstand.storage.tables.operations.queries import Query, Reading, Scan
from grandstand.storage.tables.operations.single import Delete, Get, Put
from grandstand.storage.tables.operations.updates import Update
from grandstand.storage.tables.session import Session

Shape = dict[str, Any]
DEFAULT_ITEM_BYTES: Final = 1_000
_CALLS: Final = {
    "put_item": "PutItem",
    "update_item": "UpdateItem",
    "delete_item": "DeleteItem",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The call DynamoDB would get: its name and its parameters, in DynamoDB's own form."""

    operation: str
    request: Shape


@dataclass(frozen=True, slots=True)
class Cost:
    """The capacity units of one call and, where a rate was given, dollars a month."""

    read_units: Decimal
    write_units: Decimal
    dollars: Decimal | None = None


def explain(session: Session, operation: object) -> Explanation:
    """Show the exact request an operation makes; raise DeclarationFault for what is none."""
    match operation:
        case Query():
            limit = operation.most if operation.filter is None else None
            request = operation.request(session, limit=limit)
            return Explanation("Query", items.query_parameters(request))
        case Scan():
            return Explanation("Scan", items.scan_parameters(operation.request(session)))
        case Get():
            return Explanation("GetItem", items.get_parameters(operation.request(session)))
        case Put() | Update() | Delete():
            call, shape = items.write_parameters(operation.request(session))
            return Explanation(_CALLS[call], shape)
        case GetMany():
            return Explanation("BatchGetItem", {"RequestItems": _reads(session, operation)})
        case WriteMany():
            return Explanation("BatchWriteItem", {"RequestItems": _writes(session, operation)})
        case AllOrNothing():
            actions = [items.write_action(a) for a in operation.request(session).actions]
            return Explanation("TransactWriteItems", {"TransactItems": actions})
    message = f"{operation!r} is no operation of a table"
    raise DeclarationFault(message)


def _reads(session: Session, batch: GetMany[Any]) -> Shape:
    asked: dict[str, list[requests.GetItem]] = {}
    for get in batch.gets:
        request = get.request(session)
        asked.setdefault(request.table, []).append(request)
    return {table: items.batch_keys(gets) for table, gets in asked.items()}


def _writes(session: Session, batch: WriteMany) -> Shape:
    asked: dict[str, list[Shape]] = {}
    for request in batch.actions(session):
        asked.setdefault(request.table, []).append(items.batch_write(request))
    return asked


def cost(
    operation: object,
    *,
    item_bytes: int = DEFAULT_ITEM_BYTES,
    found: int = 1,
    per_second: Decimal | None = None,
    rates: Rates | None = None,
) -> Cost:
    """Estimate an operation's units for items of that size; queries read `found` of them."""
    reads, writes = _units(operation, item_bytes, found)
    if per_second is None:
        return Cost(reads, writes)
    dollars = dollars_a_month(reads, per_second, write=False, rates=rates)
    dollars += dollars_a_month(writes, per_second, write=True, rates=rates)
    return Cost(reads, writes, dollars)


def _units(operation: object, size: int, found: int) -> tuple[Decimal, Decimal]:
    none = Decimal(0)
    match operation:
        case Reading():
            return read_units(size * found, consistent=operation.strong), none
        case Get():
            return read_units(size, consistent=operation.strong), none
        case GetMany():
            return total(read_units(size, consistent=g.strong) for g in operation.gets), none
        case Put() | Update() | Delete():
            return none, _write(operation, size, transactional=False)
        case WriteMany():
            return none, total(_write(w, size, transactional=False) for w in operation.writes)
        case AllOrNothing():
            return none, total(_write(w, size, transactional=True) for w in operation.writes)
    message = f"{operation!r} is no operation of a table"
    raise DeclarationFault(message)


def _write(write: Any, size: int, *, transactional: bool) -> Decimal:  # noqa: ANN401 - any write
    """Every index of the entity holds a copy that is written too; a demand only reads."""
    copies = len(write.entity.indexes) if isinstance(write, Put | Update | Delete) else 0
    return write_units(size, size, transactional=transactional) * (1 + copies)
