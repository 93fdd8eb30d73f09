"""Kept here: which file each row goes to, and how rows for a baked chunk are told from its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

from grandstand.storage.series.engines.chunks.asking import everything
from grandstand.storage.series.engines.chunks.connections import Writers, insert
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout, Stored
from grandstand.storage.series.engines.chunks.reading import open_baked

R = TypeVar("R", bound=tuple[Any, ...])


def by_chunk(
    layout: Layout[Any], rows: list[Stored], times: Sequence[int]
) -> Mapping[int, list[Stored]]:
    """Answer rows by the chunk their time falls into."""
    series = layout.series
    first = series.chunk_of(min(times))
    if first == series.chunk_of(max(times)):
        return {first: rows}
    found: dict[int, list[Stored]] = {}
    for row, time in zip(rows, times, strict=True):
        found.setdefault(series.chunk_of(time), []).append(row)
    return dict(sorted(found.items()))


def put(home: Home, layout: Layout[Any], writers: Writers, start: int, rows: list[Stored]) -> int:
    """Add the plain rows of one chunk, in one transaction, and answer how many were new.

    Only whoever holds the lock of the series may call this.
    """
    live = home.live(start)
    with translating(live):
        fresh = not live.exists()
        if not fresh or not home.baked(start).exists():
            added = insert(writers.to(live, layout.create), layout, layout.values(rows))
            if fresh and writers.durability == "power":
                home.settle()
            return added
        new = unknown(home, layout, start, [*layout.cut(layout.values(rows))])
        if not new:
            return 0
        values = [*chain.from_iterable(new)]
        added = insert(writers.to(home.late(start), layout.create), layout, values)
        if writers.durability == "power":
            home.settle()
        return added


def unknown(home: Home, layout: Layout[Any], start: int, rows: list[Stored]) -> list[Stored]:
    """Answer which of these stored rows a baked chunk does not hold, reading a slab at a time."""
    baked = open_baked(home.baked(start), layout)
    if baked is None:
        return rows
    fields = layout.fields
    time_at, key_at = fields.index(layout.series.time), fields.index(layout.series.key)
    identity = layout.identity(fields)
    left = {identity(row): row for row in reversed(rows)}
    times = [row[time_at] for row in rows]
    keys = {row[key_at] for row in rows}
    ask = replace(
        everything(layout),
        low=min(times),
        high=max(times),
        keys=() if None in keys else tuple(sorted(keys)),
        fields=layout.order,
        ordered=False,
    )
    kept = layout.identity(layout.order)
    with closing(baked):
        for batch in baked.answers(ask):
            for row in batch:
                left.pop(kept(row), None)
    return [*left.values()]
