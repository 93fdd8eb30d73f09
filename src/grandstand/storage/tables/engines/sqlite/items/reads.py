"""Kept here: reading items: one, a page of a query, a page of a scan."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final, TypeAlias

from grandstand.storage.tables.encoding.packing import unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.ordered.keys import BUCKETS, bucket_start
from grandstand.storage.tables.engines.sqlite.ordered.spans import query_span, scan_start
from grandstand.storage.tables.engines.sqlite.ordered.ways import Way
from grandstand.storage.tables.engines.sqlite.tables.catalogue import layout_of
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout
from grandstand.storage.tables.engines.sqlite.tables.shadow import catch_up
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import compiled
from grandstand.storage.tables.expressions.keys import (
    check_filter,
    check_key_paths,
    condition_paths,
)
from grandstand.storage.tables.expressions.project import project
from grandstand.storage.tables.requests import Found, GetItem, Page, Query, Scan
from grandstand.storage.tables.values import Item, item_size

PAGE_BYTES: Final = 1024 * 1024

_NOTHING: Final = Found(None)
_EMPTY: Final = Page((), 0)
_MOST_SEGMENTS: Final = 1_000_000

_Test: TypeAlias = Callable[[Item | None], bool]
# The items to show, how many were read, of how many bytes, and the last of them.
_Read: TypeAlias = tuple[list[Item], int, int, Item]


def get(lane: Lane, request: GetItem) -> Found:
    """Read one item."""
    layout = lane.layouts.get(request.table) or layout_of(lane, request.table)
    row = lane.find(layout.select, layout.locate(request.key)).fetchone()
    if row is None:
        return _NOTHING
    item = unpack(row[0])
    if request.projection:
        check_key_paths(request.projection, layout.schema)
        item = project(request.projection, item)
    return Found(item, row[1])


def query(lane: Lane, request: Query) -> Page:
    """Read one page of a partition."""
    layout = layout_of(lane, request.table)
    way = _way(layout, request)
    _check_limit(request.limit)
    span = query_span(layout.schema, way, request)
    if request.filter is not None:
        check_filter(request.filter, layout.schema, way.index)
    test = _checked(layout, way, request)
    if span is None:
        return _EMPTY
    _refresh(lane, layout, way)
    return _page(lane, way, request, span, test)


def scan(lane: Lane, request: Scan) -> Page:
    """Read one page of a table or index."""
    layout = layout_of(lane, request.table)
    way = _way(layout, request)
    _check_limit(request.limit)
    low, high = _buckets(request)
    start = scan_start(way, request, (low, high))
    test = _checked(layout, way, request)
    if low == high:
        return _EMPTY
    _refresh(lane, layout, way)
    # On the table's own order a start key already says where to begin.
    from_low = low > 0 and (way.index is not None or start is None)
    bounds = ([bucket_start(low)] if from_low else []) + (
        [bucket_start(high)] if high < BUCKETS else []
    )
    sql = way.scan(started=start is not None, low=from_low, high=high < BUCKETS)
    return _page(lane, way, request, (sql, [*(start or ()), *bounds]), test)


def _way(layout: Layout, request: Query | Scan) -> Way:
    if request.index is None:
        return layout.way
    way = layout.ways.get(request.index)
    if way is None:
        raise InvalidRequest(f"The table does not have the specified index: {request.index}")
    if way.remote and request.consistent:
        raise InvalidRequest("Consistent reads are not supported on global secondary indexes")
    return way


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InvalidRequest(
            f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy "
            "constraint: Member must have value greater than or equal to 1"
        )


def _buckets(request: Scan) -> tuple[int, int]:
    segment, segments = request.segment, request.segments
    if not 1 <= segments <= _MOST_SEGMENTS:
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


def _checked(layout: Layout, way: Way, request: Query | Scan) -> _Test | None:
    """Check what the request wants to see, and make its filter ready."""
    if request.projection:
        check_key_paths(request.projection, layout.schema)
        hidden = {path.root for path in request.projection} - (way.mask or frozenset())
        if way.mask is not None and way.remote and hidden:
            raise InvalidRequest(
                "One or more parameter values were invalid: Global secondary index "
                f"{request.index} does not project [{', '.join(sorted(hidden))}]"
            )
    if request.filter is None:
        return None
    paths = tuple(condition_paths(request.filter))
    check_key_paths(paths, layout.schema)
    if way.mask is not None and not {path.root for path in paths} <= way.mask:
        hidden = {path.root for path in paths} - way.mask
        raise InvalidRequest(
            f"One or more parameter values were invalid: Secondary index {request.index} does not "
            f"project one or more filter attributes: [{', '.join(sorted(hidden))}]"
        )
    return compiled(request.filter, "FilterExpression")


def _refresh(lane: Lane, layout: Layout, way: Way) -> None:
    if layout.delayed and way.remote:
        catch_up(lane, layout)


def _page(
    lane: Lane,
    way: Way,
    request: Query | Scan,
    span: tuple[str, list[bytes]],
    test: _Test | None,
) -> Page:
    sql, bound = span
    limit = -1 if request.limit is None else request.limit
    # A local index fetches what it does not show from the table, when that is asked for.
    mask = None if request.projection or request.whole else way.mask
    cursor = lane.execute(sql, (*bound, limit))
    try:
        if test is None and not request.projection and mask is None:
            found = _whole(cursor)
        else:
            found = _chosen(cursor, request, mask, test)
    finally:
        cursor.close()
    items, scanned, read, last = found
    cut = read >= PAGE_BYTES or scanned == limit
    last_key = {name: last[name] for name in way.key_names} if cut else None
    return Page(tuple(items), scanned, last_key, read)


def _whole(cursor: sqlite3.Cursor) -> _Read:
    items: list[Item] = []
    read = 0
    for blob, size in cursor:
        items.append(unpack(blob))
        read += size
        if read >= PAGE_BYTES:
            break
    return items, len(items), read, items[-1] if items else {}


def _chosen(
    cursor: sqlite3.Cursor,
    request: Query | Scan,
    mask: frozenset[str] | None,
    test: _Test | None,
) -> _Read:
    items: list[Item] = []
    item: Item = {}
    scanned = read = 0
    for blob, size in cursor:
        item = unpack(blob)
        scanned += 1
        shown = item if mask is None else {k: v for k, v in item.items() if k in mask}
        read += size if mask is None else item_size(shown)
        if test is None or test(shown):
            items.append(project(request.projection, shown) if request.projection else shown)
        if read >= PAGE_BYTES:
            break
    return items, scanned, read, item
