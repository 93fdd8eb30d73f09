"""The DynamoDB request of an operation, and what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from grandstand.storage.tables import capacity, requests
from grandstand.storage.tables.engines.dynamodb import items
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.operations import item_ops
from grandstand.storage.tables.operations.queries import Query, ReadQuery, Scan
from grandstand.storage.tables.store import Session

Shape = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The DynamoDB call: its name and parameters."""

    operation: str
    request: Shape


@dataclass(frozen=True, slots=True)
class Cost:
    """Capacity units of one call and, if a rate was given, dollars per month."""

    read_units: Decimal
    write_units: Decimal
    dollars: Decimal | None = None


def explain(session: Session, operation: object) -> Explanation:
    """Return the DynamoDB request of an operation. Raises DeclarationFault for anything else."""
    match operation:
        case Query():
            limit = operation.max_items if operation.filter is None else None
            request = operation.request(session, limit=limit)
            return Explanation("Query", items.query_parameters(request))
        case Scan():
            return Explanation("Scan", items.scan_parameters(operation.request(session)))
        case item_ops.Get():
            return Explanation("GetItem", items.get_parameters(operation.request(session)))
        case item_ops.Put() | item_ops.Update() | item_ops.Delete():
            call, shape = items.write_parameters(operation.request(session))
            return Explanation(call.title().replace("_", ""), shape)
        case item_ops.GetMany():
            return Explanation("BatchGetItem", {"RequestItems": _reads(session, operation)})
        case item_ops.WriteMany():
            return Explanation("BatchWriteItem", {"RequestItems": _writes(session, operation)})
        case item_ops.TransactWrite():
            actions = [items.write_action(a) for a in operation.request(session).actions]
            return Explanation("TransactWriteItems", {"TransactItems": actions})
    raise DeclarationFault(f"{operation!r} is not a table operation.")


def _reads(session: Session, batch: item_ops.GetMany[Any]) -> Shape:
    by_table: dict[str, list[requests.GetItem]] = {}
    for get in batch.gets:
        request = get.request(session)
        by_table.setdefault(request.table, []).append(request)
    return {table: items.batch_keys(gets) for table, gets in by_table.items()}


def _writes(session: Session, batch: item_ops.WriteMany) -> Shape:
    by_table: dict[str, list[Shape]] = {}
    for request in batch.actions(session):
        by_table.setdefault(request.table, []).append(items.batch_write(request))
    return by_table


def cost(
    operation: object,
    *,
    item_bytes: int = 1_000,
    found: int = 1,
    per_second: Decimal | None = None,
    rates: capacity.Rates | None = None,
) -> Cost:
    """Estimate the units of an operation on items of that size; queries read `found` items."""
    reads, writes = _units(operation, item_bytes, found)
    if per_second is None:
        return Cost(reads, writes)
    dollars = capacity.dollars_a_month(reads, per_second, write=False, rates=rates)
    dollars += capacity.dollars_a_month(writes, per_second, write=True, rates=rates)
    return Cost(reads, writes, dollars)


def _units(operation: object, size: int, found: int) -> tuple[Decimal, Decimal]:
    zero = Decimal(0)
    match operation:
        case ReadQuery():
            return capacity.read_units(size * found, consistent=operation.consistent_read), zero
        case item_ops.Get():
            return capacity.read_units(size, consistent=operation.consistent_read), zero
        case item_ops.GetMany():
            return capacity.total(
                capacity.read_units(size, consistent=g.consistent_read) for g in operation.gets
            ), zero
        case item_ops.Put() | item_ops.Update() | item_ops.Delete():
            return zero, _write_cost(operation, size, transactional=False)
        case item_ops.WriteMany():
            return zero, capacity.total(
                _write_cost(w, size, transactional=False) for w in operation.writes
            )
        case item_ops.TransactWrite():
            return zero, capacity.total(
                _write_cost(w, size, transactional=True) for w in operation.writes
            )
    raise DeclarationFault(f"{operation!r} is not a table operation.")


def _write_cost(write: Any, size: int, *, transactional: bool) -> Decimal:  # noqa: ANN401 - any write
    """Every index of the entity has a copy that is written too; a condition check only reads."""
    copies = (
        len(write.entity.indexes)
        if isinstance(write, item_ops.Put | item_ops.Update | item_ops.Delete)
        else 0
    )
    return capacity.write_units(size, size, transactional=transactional) * (1 + copies)
