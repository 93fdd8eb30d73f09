"""Kept here: what a series tells of itself: its chunks and gaps, and its rows in buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.engines.chunks.appending import unknown
from grandstand.storage.series.engines.chunks.asking import everything
from grandstand.storage.series.engines.chunks.connections import count, is_closed, reading
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home, size_of
from grandstand.storage.series.engines.chunks.layout import Layout, Stored
from grandstand.storage.series.engines.chunks.reading import late_only, open_baked
from grandstand.storage.series.window import Bar, Bars, ChunkState, ChunkStatus, SeriesStatus


def status(home: Home, layout: Layout[Any]) -> SeriesStatus:
    """Tell what there is of a series; chunks dropped meanwhile are left out."""
    with translating(home.folder):
        chunks = [_chunk(home, layout, start) for start in home.starts()]
    found = tuple(chunk for chunk in chunks if chunk.rows + chunk.late)
    gaps = tuple(
        (before.end, after.start) for before, after in pairwise(found) if before.end < after.start
    )
    return SeriesStatus(layout.series.name, found, gaps)


def _chunk(home: Home, layout: Layout[Any], start: int) -> ChunkStatus:
    paths = (home.live(start), home.baked(start), home.late(start))
    state: ChunkState = "open"
    rows = late = 0
    connection = reading(paths[0])
    if connection is not None:
        with closing(connection):
            rows = count(connection)
            state = "closed" if is_closed(connection) else "open"
    else:
        late = sum(
            len(unknown(home, layout, start, batch))
            for batch in late_only(home, layout, start, everything(layout))
        )
        baked = open_baked(paths[1], layout)
        if baked is not None:
            with closing(baked):
                rows, state = baked.rows, "baked"
    size = sum(map(size_of, paths))
    return ChunkStatus(start, start + layout.series.chunk_us, state, rows, size, late)


@dataclass(slots=True)
class _Bucket:
    """One bucket while rows are added to it, first to last."""

    count: int = 0
    total: int | None = None
    first: int | None = None
    high: int | None = None
    low: int | None = None
    last: int | None = None

    def add(self, value: int | None, amount: int | None) -> None:
        """Count one row; what is None adds to nothing."""
        self.count += 1
        if amount is not None:
            self.total = amount if self.total is None else self.total + amount
        if value is None:
            return
        if self.first is None or self.high is None or self.low is None:
            self.first = self.high = self.low = value
        elif value > self.high:
            self.high = value
        elif value < self.low:
            self.low = value
        self.last = value


def fields_of(bars: Bars[Any], layout: Layout[Any]) -> tuple[str, ...]:
    """Answer the fields buckets are made of; raise SeriesFault for ones that hold no numbers."""
    if bars.bucket_us <= 0:
        message = f"{layout.series.name}: a bucket must last at least a microsecond"
        raise SeriesFault(message)
    numbers = {column.name for column in layout.columns if column.bound is not None}
    asked = [name for name in (bars.value, bars.total) if name is not None]
    for name in asked:
        if name not in numbers:
            message = f"{layout.series.name}: {name} is no column of whole numbers"
            raise SeriesFault(message)
    return tuple(dict.fromkeys((*layout.order, layout.series.key, *asked)))


def bucketed(
    bars: Bars[Any], fields: tuple[str, ...], batches: Iterable[list[Stored]], *, newest: bool
) -> Iterator[Bar]:
    """Answer the buckets of rows that come in order, by key then time."""
    series = bars.window.series
    time_at, key_at = fields.index(series.time), fields.index(series.key)
    value_at = None if bars.value is None else fields.index(bars.value)
    total_at = None if bars.total is None else fields.index(bars.total)
    length = bars.bucket_us
    found: dict[tuple[str, int], _Bucket] = {}
    for batch in batches:
        for row in batch:
            time = row[time_at]
            place = (row[key_at], time - time % length)
            bucket = found.get(place)
            if bucket is None:
                bucket = found[place] = _Bucket()
            bucket.add(
                None if value_at is None else row[value_at],
                None if total_at is None else row[total_at],
            )
    for (key, start), bucket in sorted(found.items(), key=lambda one: one[0]):
        ends = (bucket.last, bucket.first) if newest else (bucket.first, bucket.last)
        yield Bar(key, start, bucket.count, bucket.total, ends[0], bucket.high, bucket.low, ends[1])
