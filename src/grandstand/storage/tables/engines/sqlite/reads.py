"""Reading single items and pages of queries and scans."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final, TypeAlias

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, item_size
from grandstand.storage.tables.encoding import unpack
from grandstand.storage.tables.engines.sqlite.access_paths import (
    BUCKETS,
    AccessPath,
    bucket_start,
    query_statement,
    scan_start_values,
)
from grandstand.storage.tables.engines.sqlite.catalog import layout_of
from grandstand.storage.tables.engines.sqlite.connections import ConnectionContext
from grandstand.storage.tables.engines.sqlite.layout import Layout
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import compile_condition, project
from grandstand.storage.tables.expressions.key_conditions import (
    check_filter,
    check_key_paths,
    condition_paths,
)

PAGE_BYTES: Final = 1024 * 1024

_NOT_FOUND: Final = requests.Found(None)
_EMPTY_PAGE: Final = requests.RawPage((), 0)
_MAX_SEGMENTS: Final = 1_000_000

_Filter: TypeAlias = Callable[[Item | None], bool]


def get(context: ConnectionContext, request: requests.GetItem) -> requests.Found:
    layout = context.layouts.get(request.table) or layout_of(context, request.table)
    row = context.execute_one(layout.select_sql, layout.lookup_key(request.key)).fetchone()
    if row is None:
        return _NOT_FOUND
    item = unpack(row[0])
    if request.projection:
        check_key_paths(request.projection, layout.schema)
        item = project(request.projection, item)
    return requests.Found(item, row[1])


def query(context: ConnectionContext, request: requests.QueryRequest) -> requests.RawPage:
    layout = layout_of(context, request.table)
    access = _access_path(layout, request)
    _check_limit(request.limit)
    statement = query_statement(layout.schema, access, request)
    if request.filter is not None:
        check_filter(request.filter, layout.schema, access.index)
    matches = _compile_filter(layout, access, request)
    if statement is None:
        return _EMPTY_PAGE
    sql, parameters = statement
    cursor = context.execute(sql, (*parameters, request.limit or -1))
    return _page(cursor, access, request, matches)


def scan(context: ConnectionContext, request: requests.ScanRequest) -> requests.RawPage:
    layout = layout_of(context, request.table)
    access = _access_path(layout, request)
    _check_limit(request.limit)
    low, high = _buckets(request)
    start = scan_start_values(access, request, (low, high))
    matches = _compile_filter(layout, access, request)
    if low == high:
        return _EMPTY_PAGE
    # In the order of the primary key a start key already implies the lower bound.
    from_low = low > 0 and (access.index is not None or start is None)
    parameters = list(start or ())
    if from_low:
        parameters.append(bucket_start(low))
    if high < BUCKETS:
        parameters.append(bucket_start(high))
    sql = access.scan_sql(has_start=start is not None, low=from_low, high=high < BUCKETS)
    cursor = context.execute(sql, (*parameters, request.limit or -1))
    return _page(cursor, access, request, matches)


def _access_path(
    layout: Layout, request: requests.QueryRequest | requests.ScanRequest
) -> AccessPath:
    if request.index is None:
        return layout.table_path
    access = layout.index_paths.get(request.index)
    if access is None:
        raise InvalidRequest(f"The table does not have the specified index: {request.index}")
    if access.is_global and request.consistent:
        raise InvalidRequest("Consistent reads are not supported on global secondary indexes")
    return access


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InvalidRequest(
            f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy "
            "constraint: Member must have value greater than or equal to 1"
        )


def _buckets(request: requests.ScanRequest) -> tuple[int, int]:
    segment, segments = request.segment, request.segments
    if not 1 <= segments <= _MAX_SEGMENTS:
        bound = "greater than or equal to 1" if segments < 1 else "less than or equal to 1000000"
        raise InvalidRequest(
            f"1 validation error detected: Value '{segments}' at 'totalSegments' failed to "
            f"satisfy constraint: Member must have value {bound}"
        )
    if not 0 <= segment < segments:
        raise InvalidRequest(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {segments}"
        )
    return -(-BUCKETS * segment // segments), -(-BUCKETS * (segment + 1) // segments)


def _compile_filter(
    layout: Layout, access: AccessPath, request: requests.QueryRequest | requests.ScanRequest
) -> _Filter | None:
    """Check the projection and compile the filter."""
    if request.projection:
        check_key_paths(request.projection, layout.schema)
        hidden = {path.root for path in request.projection} - (access.projected or frozenset())
        if access.projected is not None and access.is_global and hidden:
            raise InvalidRequest(
                "One or more parameter values were invalid: Global secondary index "
                f"{request.index} does not project [{', '.join(sorted(hidden))}]"
            )
    if request.filter is None:
        return None
    paths = tuple(condition_paths(request.filter))
    check_key_paths(paths, layout.schema)
    if access.projected is not None and not {path.root for path in paths} <= access.projected:
        hidden = {path.root for path in paths} - access.projected
        raise InvalidRequest(
            f"One or more parameter values were invalid: Secondary index {request.index} does not "
            f"project one or more filter attributes: [{', '.join(sorted(hidden))}]"
        )
    return compile_condition(request.filter, "FilterExpression")


def _page(
    cursor: sqlite3.Cursor,
    access: AccessPath,
    request: requests.QueryRequest | requests.ScanRequest,
    matches: _Filter | None,
) -> requests.RawPage:
    # A local index reads attributes it does not project from the table, if requested.
    projected = None if request.projection or request.whole else access.projected
    items: list[Item] = []
    item: Item = {}
    scanned = read = 0
    try:
        if matches is None and not request.projection and projected is None:
            for blob, size in cursor:
                items.append(unpack(blob))
                read += size
                if read >= PAGE_BYTES:
                    break
            scanned, item = len(items), items[-1] if items else item
        else:
            for blob, size in cursor:
                item = unpack(blob)
                scanned += 1
                seen = (
                    item if projected is None else {k: v for k, v in item.items() if k in projected}
                )
                read += size if projected is None else item_size(seen)
                if matches is None or matches(seen):
                    items.append(project(request.projection, seen) if request.projection else seen)
                if read >= PAGE_BYTES:
                    break
    finally:
        cursor.close()
    truncated = read >= PAGE_BYTES or scanned == request.limit
    last_key = {name: item[name] for name in access.key_names} if truncated else None
    return requests.RawPage(tuple(items), scanned, last_key, read)
