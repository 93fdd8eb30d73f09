"""Query and Scan."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.attribute_values import Key
from grandstand.storage.tables.capacity import read_units
from grandstand.storage.tables.dynamodb_server.item_ops import (
    check_parameter_mix,
    placeholders,
    read_report,
    wants_capacity,
)
from grandstand.storage.tables.dynamodb_server.legacy_parameters import (
    attribute_paths,
    filter_condition,
    key_ranges,
)
from grandstand.storage.tables.dynamodb_server.service import Request, Response, Service
from grandstand.storage.tables.dynamodb_server.validation import invalid_parameter
from grandstand.storage.tables.encoding import item_from_wire, item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.key_conditions import key_condition, key_terms
from grandstand.storage.tables.expressions.nodes import Condition, Path
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
)
from grandstand.storage.tables.requests import QueryRequest, RawPage, ScanRequest
from grandstand.storage.tables.schema import IndexSchema, TableSchema

# These errors in a start key are reported without mentioning the start key.
_UNPREFIXED_ERRORS: Final = (
    *("duplicates", "number set", "numeric value", "significant digits", "magnitude"),
)


def query(service: Service, request: Request) -> Response:
    """Return one page of a partition.

    Raises InvalidRequest or TableNotFound.
    """
    legacy = ["AttributesToGet", "QueryFilter", "ConditionalOperator"]
    if request.get("KeyConditionExpression") is not None:
        legacy.append("KeyConditions")
    check_parameter_mix(
        request, ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"), legacy
    )
    # Query, unlike Scan, reports these with the prefix of violated constraints.
    _check_select(request, "1 validation error detected: ")
    legacy_filter = filter_condition(request.get("QueryFilter"), request.get("ConditionalOperator"))
    legacy_projection = attribute_paths(request.get("AttributesToGet"))
    start = _parse_start_key(request)
    shared = placeholders(request)
    condition = _parse_key_condition(request, shared)
    filter_, projection = _parse_parameters(request, shared, legacy_filter, legacy_projection)
    table = service.table_name(request["TableName"])
    terms = key_ranges(request["KeyConditions"]) if condition is None else key_terms(condition)
    schema = service.engine.schema_of(table)
    index = _find_index(request, schema)
    where = key_condition(terms, schema, index)
    _check_legacy_filter(request, schema, index)
    page = service.engine.query(
        QueryRequest(
            table=table,
            where=where,
            index=request.get("IndexName"),
            filter=filter_,
            projection=projection,
            forward=request.get("ScanIndexForward") is not False,
            limit=request.get("Limit"),
            start=start,
            consistent=bool(request.get("ConsistentRead")),
            whole=_needs_table(request, index),
        )
    )
    return _page_response(request, table, page, index)


def scan(service: Service, request: Request) -> Response:
    """Return one page of a table or index.

    Raises InvalidRequest or TableNotFound.
    """
    check_parameter_mix(
        request,
        ("ProjectionExpression", "FilterExpression"),
        ("AttributesToGet", "ScanFilter", "ConditionalOperator"),
    )
    _check_select(request, "")
    legacy_projection = attribute_paths(request.get("AttributesToGet"))
    legacy_filter = filter_condition(request.get("ScanFilter"), request.get("ConditionalOperator"))
    start = _parse_start_key(request)
    _check_segments(request)
    shared = placeholders(request)
    filter_, projection = _parse_parameters(request, shared, legacy_filter, legacy_projection)
    table = service.table_name(request["TableName"])
    schema = service.engine.schema_of(table)
    index = _find_index(request, schema)
    page = service.engine.scan(
        ScanRequest(
            table=table,
            index=request.get("IndexName"),
            filter=filter_,
            projection=projection,
            limit=request.get("Limit"),
            start=start,
            segment=request.get("Segment") or 0,
            segments=request.get("TotalSegments") or 1,
            consistent=bool(request.get("ConsistentRead")),
            whole=_needs_table(request, index),
        )
    )
    return _page_response(request, table, page, index)


def _check_select(request: Request, prefix: str) -> None:
    select = request.get("Select")
    if select is None:
        return
    names = ("ProjectionExpression", "AttributesToGet")
    projection = next((name for name in names if request.get(name) is not None), None)
    problem = None
    if select == "SPECIFIC_ATTRIBUTES":
        if projection is None:
            problem = (
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
                "SPECIFIC_ATTRIBUTES"
            )
    elif projection is not None:
        chosen = "only the Count" if select == "COUNT" else select
        problem = f"Cannot specify the {projection} when choosing to get {chosen}"
    elif select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        problem = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
    if problem is not None:
        raise InvalidRequest(prefix + problem)


def _parse_start_key(request: Request) -> Key | None:
    wire = request.get("ExclusiveStartKey")
    if wire is None:
        return None
    try:
        return item_from_wire(wire, text_binary=True)
    except InvalidRequest as error:
        if any(text in str(error) for text in _UNPREFIXED_ERRORS):
            raise
        raise InvalidRequest(f"The provided starting key is invalid: {error}") from error


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


def _parse_key_condition(request: Request, shared: Placeholders) -> Condition | None:
    text = request.get("KeyConditionExpression")
    if text is not None:
        return parse_condition(text, shared, "KeyConditionExpression")
    if request.get("KeyConditions") is None:
        raise InvalidRequest(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
            "request."
        )
    return None


def _parse_parameters(
    request: Request,
    shared: Placeholders,
    filter_: Condition | None,
    projection: tuple[Path, ...],
) -> tuple[Condition | None, tuple[Path, ...]]:
    """Return the filter and the projection, those of legacy parameters if there are no others."""
    if request.get("FilterExpression") is not None:
        filter_ = parse_condition(request["FilterExpression"], shared, "FilterExpression")
    if request.get("ProjectionExpression") is not None:
        projection = parse_projection(request["ProjectionExpression"], shared)
    shared.check_used()
    return filter_, projection


def _find_index(request: Request, schema: TableSchema) -> IndexSchema | None:
    name = request.get("IndexName")
    if name is None:
        return None
    index = schema.index(name)
    if index is None:
        raise InvalidRequest(f"The table does not have the specified index: {name}")
    if request.get("ConsistentRead") and not index.local:
        raise InvalidRequest("Consistent reads are not supported on global secondary indexes")
    return index


def _check_legacy_filter(request: Request, schema: TableSchema, index: IndexSchema | None) -> None:
    conditions = request.get("QueryFilter") or {}
    for name in schema.key_names if index is None else index.key_names:
        if name in conditions:
            raise InvalidRequest(
                "QueryFilter can only contain non-primary key attributes: Primary key attribute: "
                f"{name}"
            )


def _needs_table(request: Request, index: IndexSchema | None) -> bool:
    """Return whether reading an index needs its table.

    Raises InvalidRequest if the index cannot return all attributes.
    """
    if index is None or index.projection == "ALL" or request.get("Select") != "ALL_ATTRIBUTES":
        return False
    if not index.local:
        raise invalid_parameter(
            "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            f"{index.name} because its projection type is not ALL"
        )
    return True


def _page_response(
    request: Request, table: str, page: RawPage, index: IndexSchema | None
) -> Response:
    response: Response = {"Count": len(page.items), "ScannedCount": page.scanned}
    if request.get("Select") != "COUNT":
        response["Items"] = [item_to_wire(item, text_binary=True) for item in page.items]
    if page.last_key is not None:
        response["LastEvaluatedKey"] = item_to_wire(page.last_key, text_binary=True)
    if wants_capacity(request):
        units = read_units(page.read_bytes, consistent=bool(request.get("ConsistentRead")))
        response["ConsumedCapacity"] = read_report(
            request,
            table,
            units,
            index=None if index is None else index.name,
            local=index is not None and index.local,
        )
    return response
