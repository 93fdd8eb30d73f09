"""Queries of chunk files: rows in order from SQLite and Parquet, bars, and status."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.engines.chunks.directory import SeriesDirectory, file_size
from grandstand.storage.series.engines.chunks.sqlite import (
    Layout,
    StoredRow,
    column_names,
    count_rows,
    has_key_index,
    is_missing_table,
    open_reader,
    quoted,
    translate_errors,
)
from grandstand.storage.series.query import (
    Bar,
    Bars,
    ChunkState,
    ChunkStatus,
    SeriesStatus,
    Window,
)

if TYPE_CHECKING:
    from grandstand.storage.series.engines.chunks.parquet import ParquetChunk

Batches: TypeAlias = Generator[list[StoredRow], None, None]

MIN_TIME: Final = -(2**63)
MAX_TIME: Final = 2**63 - 1
BATCH_ROWS: Final = 4096
# Measured: batches this small are freed before Python's garbage collector runs, which saves a
# fifth of the time.
_FETCH_ROWS: Final = 512


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """Query of one chunk: times from `low` to `high` inclusive, of the given keys or all.

    If `ordered` is false, rows come in whichever order is fastest.
    """

    low: int
    high: int
    fields: tuple[str, ...]
    keys: tuple[str, ...] = ()
    newest: bool = False
    ordered: bool = True
    limit: int | None = None


def chunk_query(window: Window[Any], fields: tuple[str, ...]) -> ChunkQuery:
    """Return the query that a window sends to each of its chunks."""
    return ChunkQuery(
        low=max(window.start, MIN_TIME),
        high=min(window.end - 1, MAX_TIME),
        fields=fields,
        keys=tuple(sorted(set(window.keys))),
        newest=window.order == "newest",
        ordered=window.order != "any",
        limit=window.limit,
    )


def full_query(layout: Layout[Any]) -> ChunkQuery:
    """Return the query for all rows and columns, in order."""
    return ChunkQuery(MIN_TIME, MAX_TIME, layout.fields)


def select_rows(
    connection: sqlite3.Connection, layout: Layout[Any], query: ChunkQuery
) -> Generator[list[StoredRow], None, None]:
    """Yield the rows of a SQLite file in batches, and close the connection.

    Raises sqlite3.Error.
    """
    time, key = quoted(layout.series.time), quoted(layout.series.key)
    direction = " DESC" if query.newest else ""
    parameters: list[object] = [query.low, query.high]
    where = f"{time} BETWEEN ? AND ?"
    if len(query.keys) == 1:
        where += f" AND {key} = ?"
        parameters.append(query.keys[0])
    elif query.keys:
        where += f" AND {key} IN (SELECT value FROM json_each(?))"
        parameters.append(json.dumps(query.keys))
    parameters.append(-1 if query.limit is None else query.limit)
    order = ", ".join(quoted(name) + direction for name in layout.order)
    existing = column_names(connection)
    selected = (quoted(name) if name in existing else "NULL" for name in query.fields)
    sql = (
        f"SELECT {', '.join(selected)} FROM series_rows WHERE {where} "
        f"{f'ORDER BY {order}' if query.ordered else ''} LIMIT ?"
    )
    try:
        cursor = connection.execute(sql, parameters)
        while batch := cursor.fetchmany(_FETCH_ROWS):
            yield batch
    except sqlite3.OperationalError as error:
        if not is_missing_table(error):
            raise
    finally:
        connection.close()


def read_batches(directory: SeriesDirectory, layout: Layout[Any], query: ChunkQuery) -> Batches:
    """Yield the stored rows of all chunks, in bounded memory."""
    for start in overlapping_chunks(directory, layout, query):
        yield from read_chunk(directory, layout, start, query)


def overlapping_chunks(
    directory: SeriesDirectory, layout: Layout[Any], query: ChunkQuery
) -> list[int]:
    """Return the chunks a query concerns, in the order to read them."""
    with translate_errors(directory.path):
        starts = directory.starts()
    length = layout.series.chunk_us
    overlapping = [start for start in starts if start <= query.high and query.low < start + length]
    return overlapping[::-1] if query.newest else overlapping


def read_chunk(
    directory: SeriesDirectory, layout: Layout[Any], start: int, query: ChunkQuery
) -> Batches:
    """Yield the stored rows of one chunk, each once."""
    with ExitStack() as stack, translate_errors(directory.live(start)):
        sources = _chunk_sources(directory, layout, start, query, stack)
        if len(sources) == 1:
            yield from sources[0]
        elif sources:
            # If two rows have the same identity, the one in the Parquet file came first and wins.
            yield from _merge(sources[::-1], layout.identity(query.fields), newest=query.newest)


def read_late_rows(
    directory: SeriesDirectory, layout: Layout[Any], start: int, query: ChunkQuery
) -> Batches:
    """Yield the rows that are not merged into a compressed chunk yet."""
    connection = open_reader(directory.late(start))
    if connection is not None:
        with closing(connection):
            yield from select_rows(connection, layout, query)


def open_parquet(path: Path, layout: Layout[Any]) -> ParquetChunk | None:
    """Open a compressed chunk; None if it does not exist."""
    if not path.exists():
        return None
    from grandstand.storage.series.engines.chunks.parquet import ParquetChunk

    try:
        return ParquetChunk(path, layout)
    except FileNotFoundError:
        return None


def _chunk_sources(
    directory: SeriesDirectory,
    layout: Layout[Any],
    start: int,
    query: ChunkQuery,
    stack: ExitStack,
) -> list[Batches]:
    # This order misses no row while another process compresses or merges: it moves the new file
    # into place before it removes the old one, so a reader that misses the old finds the new.
    sources: list[Batches] = []
    for path in (directory.late(start), directory.live(start)):
        connection = open_reader(path)
        if connection is not None:
            stack.enter_context(closing(connection))
            # Late rows may be merged already; duplicates are detected by order.
            query = replace(query, ordered=query.ordered or path == directory.late(start))
            sources.append(select_rows(connection, layout, query))
            if path == directory.live(start):
                return sources
    parquet = open_parquet(directory.parquet(start), layout)
    if parquet is not None:
        stack.enter_context(closing(parquet))
        sources.append(parquet.read_rows(query))
    return sources


def _merge(
    sources: list[Batches], identity: Callable[[StoredRow], Any], *, newest: bool
) -> Batches:
    rows = heapq.merge(
        *(chain.from_iterable(source) for source in sources), key=identity, reverse=newest
    )
    unique = _without_duplicates(rows, identity)
    while batch := [*islice(unique, BATCH_ROWS)]:
        yield batch


def _without_duplicates(
    rows: Iterator[StoredRow], identity: Callable[[StoredRow], Any]
) -> Iterator[StoredRow]:
    previous: object = None
    for row in rows:
        current = identity(row)
        if current != previous:
            yield row
        previous = current


def rows_not_in_parquet(
    directory: SeriesDirectory, layout: Layout[Any], start: int, rows: list[StoredRow]
) -> list[StoredRow]:
    """Return which of the stored rows a compressed chunk does not have, in bounded memory."""
    parquet = open_parquet(directory.parquet(start), layout)
    if parquet is None:
        return rows
    fields = layout.fields
    time_at, key_at = fields.index(layout.series.time), fields.index(layout.series.key)
    identity = layout.identity(fields)
    remaining = {identity(row): row for row in reversed(rows)}
    times = [row[time_at] for row in rows]
    keys = {row[key_at] for row in rows}
    query = replace(
        full_query(layout),
        low=min(times),
        high=max(times),
        keys=() if None in keys else tuple(sorted(keys)),
        fields=layout.order,
        ordered=False,
    )
    stored_identity = layout.identity(layout.order)
    with closing(parquet):
        for batch in parquet.read_rows(query):
            for row in batch:
                remaining.pop(stored_identity(row), None)
    return [*remaining.values()]


def series_status(directory: SeriesDirectory, layout: Layout[Any]) -> SeriesStatus:
    """Return the chunks of a series and the gaps between them."""
    with translate_errors(directory.path):
        chunks = [_chunk_status(directory, layout, start) for start in directory.starts()]
    # Chunks that another process dropped meanwhile have no rows.
    existing = tuple(chunk for chunk in chunks if chunk.rows + chunk.late)
    gaps = tuple(
        (before.end, after.start)
        for before, after in pairwise(existing)
        if before.end < after.start
    )
    return SeriesStatus(layout.series.name, existing, gaps)


def _chunk_status(directory: SeriesDirectory, layout: Layout[Any], start: int) -> ChunkStatus:
    paths = (directory.live(start), directory.parquet(start), directory.late(start))
    state: ChunkState = "open"
    rows = late = 0
    connection = open_reader(paths[0])
    if connection is not None:
        with closing(connection):
            rows = count_rows(connection)
            state = "closed" if has_key_index(connection) else "open"
    else:
        late = sum(
            len(rows_not_in_parquet(directory, layout, start, batch))
            for batch in read_late_rows(directory, layout, start, full_query(layout))
        )
        parquet = open_parquet(paths[1], layout)
        if parquet is not None:
            with closing(parquet):
                rows, state = parquet.rows, "compressed"
    size = sum(map(file_size, paths))
    return ChunkStatus(start, start + layout.series.chunk_us, state, rows, size, late)


@dataclass(slots=True)
class _Bucket:
    count: int = 0
    total: int | None = None
    first: int | None = None
    high: int | None = None
    low: int | None = None
    last: int | None = None

    def add(self, value: int | None, amount: int | None) -> None:
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


def bar_fields(bars: Bars[Any], layout: Layout[Any]) -> tuple[str, ...]:
    """Return the columns that bars are computed from.

    Raises SeriesFault if the bucket size or one of the columns is invalid.
    """
    if bars.bucket_us <= 0:
        raise SeriesFault(f"{layout.series.name}: a bucket must be at least 1 microsecond long")
    numeric = {column.name for column in layout.columns if column.bound is not None}
    requested = [name for name in (bars.value, bars.total) if name is not None]
    for name in requested:
        if name not in numeric:
            raise SeriesFault(f"{layout.series.name}: {name} is not an integer column")
    return tuple(dict.fromkeys((*layout.order, layout.series.key, *requested)))


def build_bars(
    bars: Bars[Any], fields: tuple[str, ...], batches: Iterable[list[StoredRow]], *, newest: bool
) -> Iterator[Bar]:
    """Aggregate ordered rows; return the bars by key and time."""
    series = bars.window.series
    time_at, key_at = fields.index(series.time), fields.index(series.key)
    value_at = None if bars.value is None else fields.index(bars.value)
    total_at = None if bars.total is None else fields.index(bars.total)
    length = bars.bucket_us
    buckets: dict[tuple[str, int], _Bucket] = {}
    for batch in batches:
        for row in batch:
            time = row[time_at]
            bucket_key = (row[key_at], time - time % length)
            bucket = buckets.get(bucket_key)
            if bucket is None:
                bucket = buckets[bucket_key] = _Bucket()
            bucket.add(
                None if value_at is None else row[value_at],
                None if total_at is None else row[total_at],
            )
    for (key, start), bucket in sorted(buckets.items(), key=lambda item: item[0]):
        ends = (bucket.last, bucket.first) if newest else (bucket.first, bucket.last)
        yield Bar(key, start, bucket.count, bucket.total, ends[0], bucket.high, bucket.low, ends[1])
