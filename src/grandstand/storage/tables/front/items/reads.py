"""Kept here: the operations that read many items: Query and Scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.storage.tables.capacity import read_units
from grandstand.storage.tables.encoding.attributes import item_from_wire, item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.keys import key_condition, key_terms
from grandstand.storage.tables.expressions.nodes import Condition, Path
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
)
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.front.items.consumed import asked, read_report
from grandstand.storage.tables.front.items.legacy import (
    attribute_paths,
    filter_condition,
    key_ranges,
)
from grandstand.storage.tables.front.items.params import check_mixed, placeholders
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.requests import Page, Query, Scan
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from grandstand.storage.tables.values import Key

_QUERY_EXPRESSIONS: Final = (
    "ProjectionExpression",
    "FilterExpression",
    "KeyConditionExpression",
)
_SELECTING: Final = {
    "ALL_ATTRIBUTES": "ALL_ATTRIBUTES",
    "ALL_PROJECTED_ATTRIBUTES": "ALL_PROJECTED_ATTRIBUTES",
    "COUNT": "only the Count",
}

# Faults of these kinds in a starting key are told without saying that it is one.
_BARE: Final = ("duplicates", "number set", "numeric value", "significant digits", "magnitude")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a read asks for, before it is held against the table's schema."""

    table: str
    filter: Condition | None
    projection: tuple[Path, ...]
    start: Key | None


def query(service: Service, request: Request) -> Answer:
    """Read one page of a partition; raise InvalidRequest or TableNotFound."""
    legacy = ["AttributesToGet", "QueryFilter", "ConditionalOperator"]
    if request.get("KeyConditionExpression") is not None:
        legacy.append("KeyConditions")
    check_mixed(request, _QUERY_EXPRESSIONS, legacy)
    # Query, unlike Scan, tells these with the introduction of broken constraints.
    _check_select(request, "1 validation error detected: ")
    old_filter = filter_condition(request.get("QueryFilter"), request.get("ConditionalOperator"))
    old_projection = attribute_paths(request.get("AttributesToGet"))
    start = _start(request)
    shared = placeholders(request)
    condition = _key_condition(request, shared)
    wanted = _wanted(service, request, shared, start, (old_filter, old_projection))
    terms = key_ranges(request["KeyConditions"]) if condition is None else key_terms(condition)
    schema = service.schema(wanted.table)
    index = _index(request, schema)
    where = key_condition(terms, schema, index)
    _check_old_filter(request, schema, index)
    page = service.engine.query(
        Query(
            table=wanted.table,
            where=where,
            index=request.get("IndexName"),
            filter=wanted.filter,
            projection=wanted.projection,
            forward=request.get("ScanIndexForward") is not False,
            limit=request.get("Limit"),
            start=start,
            consistent=bool(request.get("ConsistentRead")),
            whole=_whole(request, index),
        )
    )
    return _told(request, wanted.table, page, index)


def scan(service: Service, request: Request) -> Answer:
    """Read one page of a table or index; raise InvalidRequest or TableNotFound."""
    check_mixed(
        request,
        ("ProjectionExpression", "FilterExpression"),
        ("AttributesToGet", "ScanFilter", "ConditionalOperator"),
    )
    _check_select(request, "")
    old_projection = attribute_paths(request.get("AttributesToGet"))
    old_filter = filter_condition(request.get("ScanFilter"), request.get("ConditionalOperator"))
    start = _start(request)
    _check_segments(request)
    shared = placeholders(request)
    wanted = _wanted(service, request, shared, start, (old_filter, old_projection))
    schema = service.schema(wanted.table)
    index = _index(request, schema)
    page = service.engine.scan(
        Scan(
            table=wanted.table,
            index=request.get("IndexName"),
            filter=wanted.filter,
            projection=wanted.projection,
            limit=request.get("Limit"),
            start=start,
            segment=request.get("Segment") or 0,
            segments=request.get("TotalSegments") or 1,
            consistent=bool(request.get("ConsistentRead")),
            whole=_whole(request, index),
        )
    )
    return _told(request, wanted.table, page, index)


def _check_select(request: Request, introduction: str) -> None:
    select = request.get("Select")
    if select is None:
        return
    chosen = next(
        (n for n in ("ProjectionExpression", "AttributesToGet") if request.get(n) is not None),
        None,
    )
    fault = None
    if select == "SPECIFIC_ATTRIBUTES":
        if chosen is None:
            fault = (
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
                "SPECIFIC_ATTRIBUTES"
            )
    elif chosen is not None:
        fault = f"Cannot specify the {chosen} when choosing to get {_SELECTING[select]}"
    elif select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        fault = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
    if fault is not None:
        raise InvalidRequest(introduction + fault)


def _start(request: Request) -> Key | None:
    wire = request.get("ExclusiveStartKey")
    if wire is None:
        return None
    try:
        return item_from_wire(wire, text_binary=True)
    except InvalidRequest as fault:
        if any(words in str(fault) for words in _BARE):
            raise
        raise InvalidRequest(f"The provided starting key is invalid: {fault}") from fault


def _check_segments(request: Request) -> None:
    segment, segments = request.get("Segment"), request.get("TotalSegments")
    if segment is not None and segments is None:
        raise InvalidRequest(
            "The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present"
        )
    if segment is None and segments is not None:
        raise InvalidRequest(
            "The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present"
        )
    if segment is not None and segments is not None and segment >= segments:
        raise InvalidRequest(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {segments}"
        )


def _key_condition(request: Request, shared: Placeholders) -> Condition | None:
    text = request.get("KeyConditionExpression")
    if text is not None:
        return parse_condition(text, shared, "KeyConditionExpression")
    if request.get("KeyConditions") is None:
        raise InvalidRequest(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
            "request."
        )
    return None


def _wanted(
    service: Service,
    request: Request,
    shared: Placeholders,
    start: Key | None,
    legacy: tuple[Condition | None, tuple[Path, ...]],
) -> Wanted:
    wanted, projection = legacy
    if request.get("FilterExpression") is not None:
        wanted = parse_condition(request["FilterExpression"], shared, "FilterExpression")
    if request.get("ProjectionExpression") is not None:
        projection = parse_projection(request["ProjectionExpression"], shared)
    shared.check_used()
    return Wanted(service.table_name(request["TableName"]), wanted, projection, start)


def _index(request: Request, schema: TableSchema) -> IndexSchema | None:
    name = request.get("IndexName")
    if name is None:
        return None
    index = schema.index(name)
    if index is None:
        raise InvalidRequest(f"The table does not have the specified index: {name}")
    if request.get("ConsistentRead") and not index.local:
        raise InvalidRequest("Consistent reads are not supported on global secondary indexes")
    return index


def _check_old_filter(request: Request, schema: TableSchema, index: IndexSchema | None) -> None:
    looked_at = request.get("QueryFilter") or {}
    for name in schema.key_names if index is None else index.key_names:
        if name in looked_at:
            raise InvalidRequest(
                "QueryFilter can only contain non-primary key attributes: Primary key attribute: "
                f"{name}"
            )


def _whole(request: Request, index: IndexSchema | None) -> bool:
    """Tell whether an index must be helped out by its table; raise InvalidRequest if it cannot."""
    if index is None or index.projection == "ALL" or request.get("Select") != "ALL_ATTRIBUTES":
        return False
    if not index.local:
        raise invalid(
            "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            f"{index.name} because its projection type is not ALL"
        )
    return True


def _told(request: Request, table: str, page: Page, index: IndexSchema | None) -> Answer:
    told: Answer = {"Count": len(page.items), "ScannedCount": page.scanned}
    if request.get("Select") != "COUNT":
        told["Items"] = [item_to_wire(item, text_binary=True) for item in page.items]
    if page.last_key is not None:
        told["LastEvaluatedKey"] = item_to_wire(page.last_key, text_binary=True)
    if asked(request):
        units = read_units(page.read_bytes, consistent=bool(request.get("ConsistentRead")))
        told["ConsumedCapacity"] = read_report(
            request,
            table,
            units,
            index=None if index is None else index.name,
            local=index is not None and index.local,
        )
    return told
