"""Kept here: reading and writing several items at once, each on its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final

from grandstand.storage.tables.encoding.packing import unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.items.steps import (
    DONE,
    Aim,
    aim,
    answer,
    carry_out,
    weigh,
)
from grandstand.storage.tables.engines.sqlite.ordered.keys import MISMATCH, KeyUnfit, Spot
from grandstand.storage.tables.engines.sqlite.tables.catalogue import layout_of
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout, Row
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.keys import check_key_paths
from grandstand.storage.tables.expressions.project import project
from grandstand.storage.tables.requests import (
    BatchRead,
    BatchWritten,
    DeleteItem,
    GetItem,
    PutItem,
    Written,
)
from grandstand.storage.tables.values import Item

_MOST_READ: Final = 100
_MOST_WRITTEN: Final = 25
_MOST_BYTES: Final = 16 * 1024 * 1024


def batch_get(lane: Lane, requests: Sequence[GetItem]) -> BatchRead:
    """Read up to 100 items of 16 MB in all; what does not fit is left."""
    _check_number(len(requests), _MOST_READ, "BatchGetItem")
    aims = [_aim_read(lane, request) for request in requests]
    _check_distinct(
        [(request.table, spot) for request, (_, spot) in zip(requests, aims, strict=True)]
    )
    found: list[tuple[str, Item]] = []
    found_bytes: list[int] = []
    left: list[GetItem] = []
    sizes: dict[str, list[int]] = {}
    read = 0
    with lane.reading:
        for request, (layout, spot) in zip(requests, aims, strict=True):
            if read > _MOST_BYTES or _skipped(lane):
                left.append(request)
                continue
            row = lane.execute(layout.select, spot).fetchone()
            sizes.setdefault(request.table, []).append(row[1] if row else 0)
            if row is None:
                continue
            read += row[1]
            if read > _MOST_BYTES:
                sizes[request.table].pop()
                left.append(request)
                continue
            item = unpack(row[0])
            if request.projection:
                item = project(request.projection, item)
            found.append((request.table, item))
            found_bytes.append(row[1])
    read_bytes = {name: tuple(of) for name, of in sizes.items()}
    return BatchRead(tuple(found), tuple(left), read_bytes, tuple(found_bytes))


def _aim_read(lane: Lane, request: GetItem) -> tuple[Layout, Spot]:
    layout = layout_of(lane, request.table)
    if request.projection:
        check_key_paths(request.projection, layout.schema)
    return layout, layout.locate(request.key)


def batch_write(lane: Lane, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
    """Put and delete up to 25 items in one commit, all of them checked before the first."""
    _check_number(len(requests), _MOST_WRITTEN, "BatchWriteItem")
    aims = [_aim_write(lane, request) for request in requests]
    _check_distinct([(each.action.table, each.spot) for each in aims])
    if sum(each.size for each in aims) > _MOST_BYTES:
        raise InvalidRequest(
            f"The batch holds more than {_MOST_BYTES} bytes; send it in several requests"
        )
    left: tuple[PutItem | DeleteItem, ...] = ()
    if lane.shared.faults.unprocessed_every:
        skipped = [_skipped(lane) for _ in aims]
        left = tuple(compress(requests, skipped))
        aims = [each for each, skip in zip(aims, skipped, strict=True) if not skip]
    return BatchWritten(left, _write(lane, aims) if aims else ())


def _aim_write(lane: Lane, request: PutItem | DeleteItem) -> Aim:
    if request.condition is not None or request.returning != "NONE":
        raise InvalidRequest("A batch knows no conditions and returns no values")
    try:
        return aim(lane, request)
    except KeyUnfit as fault:
        # In a batch DynamoDB has the same words for every key that does not fit.
        raise InvalidRequest(MISMATCH) from fault


def _write(lane: Lane, aims: list[Aim]) -> tuple[tuple[str, Written], ...]:
    if not all(each.layout.plain for each in aims):
        with lane.writing:
            steps = []
            for each in aims:
                step = weigh(lane, each)
                carry_out(lane, step)
                steps.append(step)
        return tuple(
            (each.action.table, answer(lane, step)) for each, step in zip(aims, steps, strict=True)
        )
    rows: dict[str, list[Row]] = {}
    for each in aims:
        if each.row is None:
            rows.setdefault(each.layout.remove, []).append(each.spot)
        else:
            rows.setdefault(each.layout.upsert, []).append(each.row)
    with lane.writing:
        for statement, values in rows.items():
            lane.connection.executemany(statement, values)
    return tuple((each.action.table, DONE) for each in aims)


def _skipped(lane: Lane) -> bool:
    every = lane.shared.faults.unprocessed_every
    return every > 0 and next(lane.shared.members) % every == 0


def _check_number(given: int, most: int, operation: str) -> None:
    if not given:
        raise InvalidRequest(f"The requestItems parameter is required for {operation}")
    if given > most:
        raise InvalidRequest(f"Too many items requested for the {operation} call")


def _check_distinct(places: Sequence[tuple[str, Spot]]) -> None:
    if len(set(places)) != len(places):
        raise InvalidRequest("Provided list of item keys contains duplicates")
