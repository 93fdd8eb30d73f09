"""Compressed chunks as Parquet files, and windows as Arrow tables.

A file is a sequence of slabs in order of time. Each slab is partitioned by key into small row
groups, whose rows are in order of time. The rows of one key are then one or two row groups per
slab, and all rows in order of time need a sort of one slab at a time, in bounded memory. The footer
lists slab, times and keys of each row group, so that readers need not parse column statistics.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grandstand.storage.series.declaration import Column, Kind
from grandstand.storage.series.engines.chunks.directory import SeriesDirectory
from grandstand.storage.series.engines.chunks.query import (
    BATCH_ROWS,
    ChunkQuery,
    chunk_query,
    open_parquet,
    overlapping_chunks,
    read_chunk,
)
from grandstand.storage.series.engines.chunks.sqlite import Layout, StoredRow, translate_errors
from grandstand.storage.series.errors import SeriesDamaged
from grandstand.storage.series.query import Window

_FILE_TYPES: Final[dict[Kind, pa.DataType]] = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "int16": pa.int16(),
    "text": pa.string(),
    "bool": pa.bool_(),
    "uuid": pa.binary(16),
    "json": pa.string(),
}
# Measured: reading tickers as dictionary codes is twice as fast and takes a third of the memory.
_RESULT_TYPES: Final[dict[Kind, pa.DataType]] = {
    **_FILE_TYPES,
    "text": pa.dictionary(pa.int32(), pa.string()),
}
_BUFFER_FORMATS: Final[dict[pa.DataType, Literal["b", "h", "i", "q", "Q"]]] = {
    pa.int8(): "b",
    pa.int16(): "h",
    pa.int32(): "i",
    pa.int64(): "q",
    pa.uint64(): "Q",
}

FOOTER_KEY: Final = b"grandstand"
GROUP_ROWS: Final = 32 * 1024
SLAB_ROWS: Final = 8 * GROUP_ROWS
# Measured: writing takes a fifth longer than at level 1, reading the same, and order books as JSON
# are a sixth smaller.
_COMPRESSION: Final[dict[str, Any]] = {
    "compression": "zstd",
    "compression_level": 9,
    "write_page_checksum": True,
}
# Integers that repeat at least this often on average are stored as dictionaries.
_MIN_REPEATS: Final = 16
_GROUPS_PER_READ: Final = 4
# Measured on two cores: reading two parts in two threads is faster than one part in both.
_READ_THREADS: Final = 2
_TABLE_ROWS: Final = 64 * 1024


def file_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the schema of a Parquet file, with types every reader supports."""
    return _schema(columns, _FILE_TYPES)


def result_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the schema of query results."""
    return _schema(columns, _RESULT_TYPES)


def rows_to_table(schema: pa.Schema, batch: Sequence[StoredRow]) -> pa.Table:
    """Convert stored rows to an Arrow table."""
    columns: Iterable[Sequence[Any]] = zip(*batch, strict=True) if batch else [()] * len(schema)
    return pa.Table.from_arrays(
        [
            pa.array(values, pa.int8()).cast(pa.bool_())
            if pa.types.is_boolean(field.type)
            else pa.array(values, field.type)
            for field, values in zip(schema, columns, strict=True)
        ],
        schema=schema,
    )


def table_to_rows(
    table: pa.Table, fields: Sequence[str], max_rows: int
) -> Iterator[list[StoredRow]]:
    """Convert an Arrow table to stored rows, in batches of at most `max_rows`."""
    selected = table.select([*fields]).unify_dictionaries()
    dictionaries = [_dictionary_values(selected[name]) for name in fields]
    for batch in selected.to_batches(max_chunksize=max_rows):
        columns = map(_column_values, batch.columns, dictionaries)
        yield [*zip(*columns, strict=True)]


def select_columns(table: pa.Table, fields: Sequence[str], columns: Sequence[Column]) -> pa.Table:
    """Select fields of a table; columns declared after it was written are null."""
    if not {*fields}.issubset(table.column_names):
        for field in result_schema(columns):
            if field.name in fields and field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select([*fields])


@contextmanager
def translate_arrow_errors(path: Path) -> Iterator[None]:
    """Translate errors of Arrow about a file to SeriesDamaged."""
    try:
        yield
    except pa.ArrowInvalid as error:
        raise SeriesDamaged(f"{path} is damaged ({error}). Restore it from a backup.") from error


def _schema(columns: Sequence[Column], types: dict[Kind, pa.DataType]) -> pa.Schema:
    return pa.schema(
        [pa.field(column.name, types[column.kind], column.nullable) for column in columns]
    )


def _dictionary_values(column: pa.ChunkedArray) -> list[str | None]:
    if not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return []
    return [*column.chunk(0).dictionary.to_pylist(), None]


def _column_values(array: pa.Array, dictionary: list[str | None]) -> Sequence[Any]:
    if pa.types.is_dictionary(array.type):
        codes = array.indices.fill_null(len(dictionary) - 1)
        return [*map(dictionary.__getitem__, _integers(codes))]
    if pa.types.is_boolean(array.type):
        return _column_values(array.cast(pa.int8()), dictionary)
    if not pa.types.is_integer(array.type) or len(array) == array.null_count:
        return list(array.to_pylist())
    if not array.null_count:
        return _integers(array)
    integers = _integers(array.fill_null(0))
    for at in _integers(pc.indices_nonzero(array.is_null())):
        integers[at] = None
    return integers


def _integers(array: pa.Array) -> list[Any]:
    # Measured: four times as fast as to_pylist, which creates an Arrow scalar per value.
    (_, values) = array.buffers()
    if values is None:
        return []
    view = memoryview(values).cast("B").cast(_BUFFER_FORMATS[array.type])
    return view[array.offset : array.offset + len(array)].tolist()


class RowGroup(NamedTuple):
    """Footer entry of a row group: its slab, first and last time, lowest and highest key."""

    slab: int
    first: int
    last: int
    low: str | None
    high: str | None


def write_parquet(path: Path, layout: Layout[Any], tables: Iterable[pa.Table]) -> int:
    """Write ordered rows to a new file, sync it to disk, and return the number of rows.

    The tables have the schema of `file_schema`.
    """
    schema = file_schema(layout.columns)
    slabs = _slabs(tables)
    first = next(slabs, schema.empty_table())
    encodings = _encodings(layout.columns, first)
    groups: list[RowGroup] = []
    rows = 0
    with (
        translate_arrow_errors(path),
        pq.ParquetWriter(path, schema, **_COMPRESSION, **encodings) as writer,
    ):
        for number, slab in enumerate(chain((first,), slabs)):
            _write_slab(writer, layout, slab, groups, number)
            rows += slab.num_rows
        writer.add_key_value_metadata({FOOTER_KEY: json.dumps(groups)})
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return rows


def _slabs(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    pending: list[pa.Table] = []
    rows = 0
    for table in tables:
        rest = table
        while rows + rest.num_rows >= SLAB_ROWS:
            missing = SLAB_ROWS - rows
            yield pa.concat_tables([*pending, rest.slice(0, missing)])
            rest, pending, rows = rest.slice(missing), [], 0
        if rest.num_rows:
            pending.append(rest)
            rows += rest.num_rows
    if pending:
        yield pa.concat_tables(pending)


def _write_slab(
    writer: pq.ParquetWriter,
    layout: Layout[Any],
    slab: pa.Table,
    groups: list[RowGroup],
    number: int,
) -> None:
    series = layout.series
    table = slab.combine_chunks()
    # The sort is stable, so a key that spans row groups stays in order of time.
    by_key = pc.sort_indices(table, sort_keys=[(series.key, "ascending")])
    for at in range(0, table.num_rows, GROUP_ROWS):
        # Measured on order-book deltas: in order of time, times and counters take a third less
        # than by key, and keys little more.
        part = table.take(by_key.slice(at, GROUP_ROWS).sort())
        times = pc.min_max(part[series.time]).as_py()
        keys = pc.min_max(part[series.key]).as_py()
        groups.append(RowGroup(number, times["min"], times["max"], keys["min"], keys["max"]))
        writer.write_table(part, row_group_size=GROUP_ROWS)


def _encodings(columns: Sequence[Column], first: pa.Table) -> dict[str, Any]:
    # Measured on order-book deltas: delta encoding for times and counters, and dictionaries for
    # text and repeated numbers, take 10 bytes a row; dictionaries for everything take 18.
    counters = [
        column.name
        for column in columns
        if column.kind == "int64" and not _has_few_values(first[column.name])
    ]
    kinds = ("text", "json", "int64", "int32", "int16")
    return {
        "use_dictionary": [
            column.name
            for column in columns
            if column.kind in kinds and column.name not in counters
        ],
        "column_encoding": dict.fromkeys(counters, "DELTA_BINARY_PACKED"),
    }


def _has_few_values(values: pa.ChunkedArray) -> bool:
    return bool(pc.count_distinct(values).as_py() * _MIN_REPEATS <= len(values))


NumberedGroups: TypeAlias = list[tuple[int, RowGroup]]


class ParquetChunk:
    """An open Parquet file. It stays readable if it is replaced in the meantime."""

    def __init__(self, path: Path, layout: Layout[Any]) -> None:
        self._path = path
        self._layout = layout
        self._text_columns = [column.name for column in layout.columns if column.kind == "text"]
        with translate_arrow_errors(path):
            self._source = pa.OSFile(str(path), "rb")
            try:
                self._file = self._open_file()
            except BaseException:
                self._source.close()
                raise

    @property
    def rows(self) -> int:
        """The number of rows in the file."""
        return int(self._file.metadata.num_rows)

    def read_tables(
        self, query: ChunkQuery, *, prefetch: bool = True
    ) -> Generator[pa.Table, None, None]:
        """Yield the result of a query, about one slab at a time. No table is empty.

        With `prefetch`, two tables are read ahead in threads, which need more memory.

        Raises SeriesDamaged if the file is corrupt.
        """
        with translate_arrow_errors(self._path):
            groups = [pair for pair in enumerate(self._row_groups()) if _matches(pair[1], query)]
            # The rows of a single key are stored in order.
            sort = query.ordered and len(query.keys) != 1
            by_slab = sort or query.limit is not None
            parts = _group_by_slab(groups) if by_slab else _group_by_count(groups)
            if query.newest:
                parts.reverse()
            if prefetch and query.limit is None and len(parts) > 1:
                tables = self._read_ahead(parts, query, sort=sort)
            else:
                tables = (
                    self._read_part(self._file, part, query, sort=sort, threads=prefetch)
                    for part in parts
                )
            yield from filter(_has_rows, tables)

    def read_rows(self, query: ChunkQuery) -> Generator[list[StoredRow], None, None]:
        """Yield the result of a query as stored rows, in batches.

        Raises SeriesDamaged if the file is corrupt.
        """
        # Converting to rows takes far longer than reading, so prefetching gains nothing.
        for table in self.read_tables(query, prefetch=False):
            yield from table_to_rows(table, query.fields, BATCH_ROWS)
            del table  # frees the memory before the next table is read

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._source.close()

    def _row_groups(self) -> list[RowGroup]:
        footer = (self._file.metadata.metadata or {}).get(FOOTER_KEY)
        if footer is None:
            raise SeriesDamaged(
                f"{self._path} was not written by Grandstand. Move it to another directory."
            )
        return [RowGroup(*group) for group in json.loads(footer)]

    def _read_ahead(
        self, parts: list[NumberedGroups], query: ChunkQuery, *, sort: bool
    ) -> Generator[pa.Table, None, None]:
        """Yield parts in order while threads read the following ones."""
        files = [
            self._file,
            *(self._open_file(self._file.metadata) for _ in range(_READ_THREADS - 1)),
        ]
        pending: deque[Future[pa.Table]] = deque()
        with ThreadPoolExecutor(_READ_THREADS) as threads:
            try:
                for number, part in enumerate(parts):
                    # The part that used this file before has been yielded already.
                    file = files[number % _READ_THREADS]
                    pending.append(
                        threads.submit(self._read_part, file, part, query, sort=sort, threads=False)
                    )
                    if len(pending) == _READ_THREADS:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()

    def _open_file(self, metadata: pq.FileMetaData | None = None) -> pq.ParquetFile:
        return pq.ParquetFile(
            self._source, metadata=metadata, read_dictionary=self._text_columns, pre_buffer=False
        )

    def _read_part(
        self,
        file: pq.ParquetFile,
        part: NumberedGroups,
        query: ChunkQuery,
        *,
        sort: bool,
        threads: bool,
    ) -> pa.Table:
        series = self._layout.series
        filter_time = not all(
            query.low <= group.first and group.last <= query.high for _, group in part
        )
        needed = [*query.fields, *(self._layout.order if sort else ())]
        needed += [series.time] * filter_time + [series.key] * bool(query.keys)
        table = file.read_row_groups(
            [number for number, _ in part],
            columns=[*dict.fromkeys(needed)],
            use_threads=threads,
        )
        if filter_time:
            times = table[series.time]
            low, high = (pa.scalar(limit, pa.int64()) for limit in (query.low, query.high))
            table = table.filter(pc.and_(pc.greater_equal(times, low), pc.less_equal(times, high)))
        if query.keys:
            keys = pa.array(query.keys, pa.string())
            table = table.filter(pc.is_in(table[series.key], value_set=keys))
        if sort:
            # Rebinding frees the row groups before the sorted copy is made.
            table = table.unify_dictionaries().combine_chunks()
            table = self._sort(table)
        if query.newest:
            table = table.take(pa.array(range(table.num_rows - 1, -1, -1), pa.int64()))
        return select_columns(table, query.fields, self._layout.columns)

    def _sort(self, table: pa.Table) -> pa.Table:
        order = self._layout.order
        if order[1:2] == (self._layout.series.key,):
            # The sort is stable, and rows of the same time are already ordered by key and the rest.
            return table.take(pc.sort_indices(table[order[0]]))
        texts = set(self._text_columns).intersection(order)
        sort_columns = pa.table(
            [table[name].cast(pa.string()) if name in texts else table[name] for name in order],
            names=[*order],
        )
        sort_keys = [(name, "ascending") for name in order]
        return table.take(pc.sort_indices(sort_columns, sort_keys=sort_keys))


def _has_rows(table: pa.Table) -> bool:
    return bool(table.num_rows)


def _group_by_slab(groups: NumberedGroups) -> list[NumberedGroups]:
    return [[*members] for _, members in groupby(groups, key=lambda pair: pair[1].slab)]


def _group_by_count(groups: NumberedGroups) -> list[NumberedGroups]:
    return [groups[at : at + _GROUPS_PER_READ] for at in range(0, len(groups), _GROUPS_PER_READ)]


def _matches(group: RowGroup, query: ChunkQuery) -> bool:
    if group.last < query.low or group.first > query.high:
        return False
    if not query.keys:
        return True
    low, high = group.low, group.high
    return low is not None and high is not None and any(low <= key <= high for key in query.keys)


def read_table(directory: SeriesDirectory, layout: Layout[Any], window: Window[Any]) -> pa.Table:
    """Return a window as an Arrow table."""
    empty = result_schema(layout.columns).empty_table()
    return pa.concat_tables([empty, *read_tables(directory, layout, window)])


def read_tables(
    directory: SeriesDirectory, layout: Layout[Any], window: Window[Any]
) -> Generator[pa.Table, None, None]:
    """Yield a window as consecutive Arrow tables. No table is empty."""
    query = chunk_query(window, layout.fields)
    schema = result_schema(layout.columns)
    remaining = window.limit
    if remaining is not None and remaining <= 0:
        return
    for start in overlapping_chunks(directory, layout, query):
        with (
            translate_errors(directory.path),
            closing(_read_chunk_tables(directory, layout, start, query)) as tables,
        ):
            for table in tables:
                part = table if remaining is None else table.slice(0, remaining)
                yield part if part.schema.equals(schema, check_metadata=True) else part.cast(schema)
                if remaining is not None:
                    remaining -= part.num_rows
                    if remaining == 0:
                        return


def _read_chunk_tables(
    directory: SeriesDirectory, layout: Layout[Any], start: int, query: ChunkQuery
) -> Generator[pa.Table, None, None]:
    # Late rows have to be merged row by row; a compressed chunk without them is columnar already.
    only_parquet = not directory.late(start).exists() and not directory.live(start).exists()
    parquet = open_parquet(directory.parquet(start), layout) if only_parquet else None
    if parquet is not None:
        with closing(parquet), closing(parquet.read_tables(query)) as tables:
            yield from tables
        return
    schema = result_schema(layout.columns)
    with closing(read_chunk(directory, layout, start, query)) as batches:
        for rows in _join_batches(batches):
            yield rows_to_table(schema, rows)


def _join_batches(batches: Iterator[list[StoredRow]]) -> Iterator[list[StoredRow]]:
    rows: list[StoredRow] = []
    for batch in batches:
        rows += batch
        if len(rows) >= _TABLE_ROWS:
            yield rows
            rows = []
    if rows:
        yield rows
