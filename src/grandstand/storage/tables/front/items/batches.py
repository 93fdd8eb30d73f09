"""Kept here: the operations on up to 100 items to read or 25 to write, each on its own."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from grandstand.storage.tables.capacity import read_units, total
from grandstand.storage.tables.encoding.attributes import item_from_wire, item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.front.items.consumed import (
    all_collections,
    asked,
    local_names,
    read_report,
    wants_collections,
    write_report,
)
from grandstand.storage.tables.front.items.params import check_mixed
from grandstand.storage.tables.front.items.single import read_projection
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.requests import DeleteItem, GetItem, PutItem, Written


def batch_get_item(service: Service, request: Request) -> Answer:
    """Read items of one or more tables; raise InvalidRequest or TableNotFound."""
    wanted = request["RequestItems"]
    _check_alike(wanted.values())
    reads: list[GetItem] = []
    for reference, block in wanted.items():
        reads += _reads(service, reference, block)
    names = {service.table_name(reference): reference for reference in wanted}
    read = service.engine.batch_get(reads)
    responses: dict[str, list[object]] = {reference: [] for reference in wanted}
    for table, item in read.found:
        responses[names[table]].append(item_to_wire(item, text_binary=True))
    left: dict[str, Any] = {}
    for one in read.left:
        reference = names[one.table]
        block = left.setdefault(reference, {**wanted[reference], "Keys": []})
        block["Keys"].append(item_to_wire(one.key, text_binary=True))
    told: Answer = {"Responses": responses, "UnprocessedKeys": left}
    if asked(request):
        told["ConsumedCapacity"] = [
            read_report(request, table, _units(sizes, wanted[names[table]]))
            for table, sizes in read.read_bytes.items()
        ]
    return told


def _check_alike(blocks: Iterable[Request]) -> None:
    """Raise InvalidRequest when old and new projections are mixed, even across tables."""
    merged: dict[str, Any] = {}
    for block in blocks:
        check_mixed(block, ("ProjectionExpression",), ("AttributesToGet",))
        merged.update({n: v for n, v in block.items() if v is not None})
    merged.pop("ExpressionAttributeNames", None)
    check_mixed(merged, ("ProjectionExpression",), ("AttributesToGet",))


def _reads(service: Service, reference: str, block: Request) -> list[GetItem]:
    projection = read_projection(block)
    table = service.table_name(reference)
    keys = [item_from_wire(wire, text_binary=True) for wire in block["Keys"]]
    consistent = bool(block.get("ConsistentRead"))
    return [GetItem(table, key, projection, consistent) for key in keys]


def _units(sizes: Iterable[int], block: Request) -> Decimal:
    consistent = bool(block.get("ConsistentRead"))
    return total(read_units(size, consistent=consistent) for size in sizes)


def batch_write_item(service: Service, request: Request) -> Answer:
    """Write items of one or more tables; raise InvalidRequest or TableNotFound, writing nothing."""
    wanted = request["RequestItems"]
    writes: list[PutItem | DeleteItem] = []
    for reference, requests in wanted.items():
        table = service.table_name(reference)
        writes += [_write(table, one) for one in requests]
    names = {service.table_name(reference): reference for reference in wanted}
    done = service.engine.batch_write(writes)
    left: dict[str, list[Any]] = {}
    for one in done.left:
        left.setdefault(names[one.table], []).append(_again(one))
    told: Answer = {"UnprocessedItems": left}
    if asked(request):
        told["ConsumedCapacity"] = [
            write_report(request, table, written, local=local_names(service.schema(table)))
            for table, written in _by_table(done.written).items()
        ]
    if wants_collections(request):
        told["ItemCollectionMetrics"] = all_collections(service, writes)
    return told


def _write(table: str, one: Request) -> PutItem | DeleteItem:
    put, delete = one.get("PutRequest"), one.get("DeleteRequest")
    if (put is None) == (delete is None):
        raise InvalidRequest(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        )
    if put is not None:
        item = item_from_wire(put["Item"], text_binary=True)
        return PutItem(table, item)
    return DeleteItem(table, item_from_wire(one["DeleteRequest"]["Key"], text_binary=True))


def _again(one: PutItem | DeleteItem) -> Answer:
    if isinstance(one, PutItem):
        return {"PutRequest": {"Item": item_to_wire(one.item, text_binary=True)}}
    return {"DeleteRequest": {"Key": item_to_wire(one.key, text_binary=True)}}


def _by_table(written: Iterable[tuple[str, Written]]) -> dict[str, list[Written]]:
    found: dict[str, list[Written]] = {}
    for table, one in written:
        found.setdefault(table, []).append(one)
    return found
