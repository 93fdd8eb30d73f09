"""Kept here: how answers report the capacity an operation consumed, and the item collections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from grandstand.storage.tables.capacity import index_write_units, total, write_units
from grandstand.storage.tables.encoding.attributes import to_wire
from grandstand.storage.tables.expressions.nodes import KeyCondition
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.requests import PutItem, Query, WriteAction, Written
from grandstand.storage.tables.schema import TableDescription, TableSchema
from grandstand.storage.tables.values import Key, Value

_GIGABYTE: Final = 1024**3
_ASKED: Final = ("TOTAL", "INDEXES")


def asked(request: Request) -> bool:
    """Tell whether the request wants to know what it consumed."""
    return request.get("ReturnConsumedCapacity") in _ASKED


def read_report(
    request: Request, table: str, units: Decimal, *, index: str | None = None, local: bool = False
) -> Answer:
    """Report a read of a table, or of one of its indexes."""
    told: Answer = {"TableName": table, "CapacityUnits": float(units)}
    if request.get("ReturnConsumedCapacity") == "INDEXES":
        told["Table"] = {"CapacityUnits": 0.0 if index else float(units)}
        if index:
            kind = "LocalSecondaryIndexes" if local else "GlobalSecondaryIndexes"
            told[kind] = {index: {"CapacityUnits": float(units)}}
    return told


def write_report(
    request: Request,
    table: str,
    written: Sequence[Written],
    *,
    local: frozenset[str] = frozenset(),
    transactional: bool = False,
) -> Answer:
    """Report the writes of one request to a table, and to those indexes they changed."""
    base = total(
        write_units(one.old_bytes, one.new_bytes, transactional=transactional) for one in written
    )
    indexes: dict[str, Decimal] = {}
    for one in written:
        for change in one.indexes:
            units = index_write_units(change, transactional=transactional)
            indexes[change.index] = indexes.get(change.index, Decimal(0)) + units
    told: Answer = {"TableName": table}
    told.update(_units(base + total(indexes.values()), transactional=transactional))
    if request.get("ReturnConsumedCapacity") == "INDEXES":
        told["Table"] = _units(base, transactional=transactional)
        for kind, names in (
            ("LocalSecondaryIndexes", [name for name in indexes if name in local]),
            ("GlobalSecondaryIndexes", [name for name in indexes if name not in local]),
        ):
            shown = {
                name: _units(indexes[name], transactional=transactional)
                for name in names
                if indexes[name]
            }
            if shown:
                told[kind] = shown
    return told


def transact_read_report(request: Request, table: str, units: Decimal) -> Answer:
    """Report the reads of a transaction on one table."""
    read = {"CapacityUnits": float(units), "ReadCapacityUnits": float(units)}
    told: Answer = {"TableName": table, **read}
    if request.get("ReturnConsumedCapacity") == "INDEXES":
        told["Table"] = read
    return told


def _units(units: Decimal, *, transactional: bool) -> Answer:
    # Only transactions say which part was reading and which was writing.
    if transactional:
        return {"CapacityUnits": float(units), "WriteCapacityUnits": float(units)}
    return {"CapacityUnits": float(units)}


def local_names(schema: TableSchema) -> frozenset[str]:
    """Name a table's local indexes."""
    return frozenset(index.name for index in schema.indexes if index.local)


def wants_collections(request: Request) -> bool:
    """Tell whether the request wants to know about item collections."""
    return bool(request.get("ReturnItemCollectionMetrics") == "SIZE")


def collections(service: Service, table: str, keys: Iterable[Key]) -> list[Answer]:
    """Estimate the item collections of the keys; tables without local indexes have none."""
    described = service.engine.describe_table(table)
    schema = described.schema
    if not local_names(schema):
        return []
    partitions: list[Value] = []
    for key in keys:
        if key[schema.partition] not in partitions:
            partitions.append(key[schema.partition])
    return [
        {
            "ItemCollectionKey": {schema.partition: to_wire(partition, text_binary=True)},
            "SizeEstimateRangeGB": _range(service, described, partition),
        }
        for partition in partitions
    ]


def all_collections(service: Service, actions: Iterable[WriteAction]) -> Answer:
    """Estimate the item collections of several writes, by their tables."""
    keys: dict[str, list[Key]] = {}
    for action in actions:
        key = action.item if isinstance(action, PutItem) else action.key
        keys.setdefault(action.table, []).append(key)
    measured = {table: collections(service, table, those) for table, those in keys.items()}
    return {table: those for table, those in measured.items() if those}


def _range(service: Service, table: TableDescription, partition: Value) -> list[float]:
    """Bound a collection between whole gigabytes; a table smaller than one needs no measuring."""
    size, start = 0, None
    while table.size_bytes >= _GIGABYTE:
        where = KeyCondition(((table.schema.partition, partition),))
        page = service.engine.query(Query(table.schema.name, where, start=start))
        size, start = size + page.read_bytes, page.last_key
        if start is None:
            break
    low = size // _GIGABYTE
    return [float(low), float(low + 1)]
