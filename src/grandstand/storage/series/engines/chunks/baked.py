"""Kept here: baked chunks: Parquet files in which one key is found without reading the rest.

A file is a sequence of slabs. Slabs follow each other in order of time, and inside a slab rows are
sorted by key, cut into small row groups. One key is then a row group or two of each slab, and the
rows in order of time are had by sorting one slab at a time, in bounded memory. The footer says for
each row group its slab, its times and its keys, so that a reader looks at one short text instead
of the statistics of every column.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grandstand.storage.series.declaration import Column, Kind
from grandstand.storage.series.engines.chunks.asking import BATCH, Ask
from grandstand.storage.series.engines.chunks.layout import Layout, Stored
from grandstand.storage.series.errors import SeriesDamaged

_SLAB_ROWS: Final = 256 * 1024
_GROUP_ROWS: Final = 16 * 1024
_FOOTER: Final = b"grandstand"
_ARROW: Final[dict[Kind, pa.DataType]] = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "int16": pa.int16(),
    "text": pa.string(),
    "bool": pa.bool_(),
    "uuid": pa.binary(16),
    "json": pa.string(),
}


class Group(NamedTuple):
    """A row group: the slab it is of, its first and last time, its first and last key."""

    slab: int
    first: int
    last: int
    low: str | None
    high: str | None


class Baked:
    """One baked file, open; it stays readable when it is replaced meanwhile."""

    def __init__(self, path: Path, layout: Layout[Any]) -> None:
        self._path = path
        self._layout = layout
        with _translating(path):
            self._file = pq.ParquetFile(path)

    @property
    def rows(self) -> int:
        """How many rows it holds."""
        return int(self._file.metadata.num_rows)

    def tables(self, ask: Ask) -> Iterator[pa.Table]:
        """Answer what is asked slab by slab, in order; raise SeriesDamaged."""
        with _translating(self._path):
            numbered = [*enumerate(self._groups())]
            slabs = [[*members] for _, members in groupby(numbered, key=lambda one: one[1].slab)]
            for slab in reversed(slabs) if ask.newest else slabs:
                wanted = [(at, group) for at, group in slab if _may_hold(group, ask)]
                if wanted:
                    yield self._slab(wanted, ask)

    def answers(self, ask: Ask) -> Generator[list[Stored], None, None]:
        """Answer stored rows in order, a few thousand at a time; raise SeriesDamaged."""
        booleans = {column.name for column in self._layout.columns if column.kind == "bool"}
        for table in self.tables(ask):
            for at in range(0, table.num_rows, BATCH):
                part = table.slice(at, BATCH)
                lists = [
                    (part[name].cast(pa.int8()) if name in booleans else part[name]).to_pylist()
                    for name in ask.fields
                ]
                yield [*zip(*lists, strict=True)]

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _groups(self) -> list[Group]:
        footer = (self._file.metadata.metadata or {}).get(_FOOTER)
        if footer is None:
            message = f"{self._path} was not baked by Grandstand; move it out of the folder"
            raise SeriesDamaged(message)
        return [Group(*group) for group in json.loads(footer)]

    def _slab(self, groups: list[tuple[int, Group]], ask: Ask) -> pa.Table:
        series = self._layout.series
        needed = dict.fromkeys((*ask.fields, *self._layout.order, series.key))
        table = self._file.read_row_groups([at for at, _ in groups], columns=[*needed])
        if not all(ask.low <= group.first and group.last <= ask.high for _, group in groups):
            times = table[series.time]
            low, high = (pa.scalar(limit, pa.int64()) for limit in (ask.low, ask.high))
            table = table.filter(pc.and_(pc.greater_equal(times, low), pc.less_equal(times, high)))
        if ask.keys:
            keys = pa.array(ask.keys, pa.string())
            table = table.filter(pc.is_in(table[series.key], value_set=keys))
        way = "descending" if ask.newest else "ascending"
        order = pc.sort_indices(table, sort_keys=[(name, way) for name in self._layout.order])
        return table.select([*ask.fields]).take(order)


def bake(path: Path, layout: Layout[Any], batches: Iterable[list[Stored]]) -> int:
    """Write rows that come in order to a new file, on disk when this returns; count them."""
    schema = schema_of(layout.columns)
    with (
        _translating(path),
        pq.ParquetWriter(path, schema, compression="zstd", **_encodings(layout.columns)) as writer,
    ):
        groups: list[Group] = []
        rows = 0
        for number, slab in enumerate(_slabs(schema, batches)):
            _write_slab(writer, layout, slab, groups, number)
            rows += slab.num_rows
        writer.add_key_value_metadata({_FOOTER: json.dumps(groups)})
    with path.open("rb") as written:
        os.fsync(written.fileno())
    return rows


def schema_of(columns: Sequence[Column]) -> pa.Schema:
    """Answer the columns of a baked file."""
    return pa.schema(
        [pa.field(column.name, _ARROW[column.kind], column.nullable) for column in columns]
    )


def as_table(schema: pa.Schema, batch: list[Stored]) -> pa.Table:
    """Answer stored rows as an Arrow table."""
    columns = zip(*batch, strict=True) if batch else [()] * len(schema)
    return pa.Table.from_arrays(
        [
            pa.array(values, pa.int8()).cast(pa.bool_())
            if pa.types.is_boolean(field.type)
            else pa.array(values, field.type)
            for field, values in zip(schema, columns, strict=True)
        ],
        schema=schema,
    )


def _slabs(schema: pa.Schema, batches: Iterable[list[Stored]]) -> Iterator[pa.Table]:
    tables: list[pa.Table] = []
    held = 0
    for batch in batches:
        tables.append(as_table(schema, batch))
        held += len(batch)
        if held >= _SLAB_ROWS:
            yield pa.concat_tables(tables)
            tables, held = [], 0
    if tables:
        yield pa.concat_tables(tables)


def _write_slab(
    writer: pq.ParquetWriter, layout: Layout[Any], slab: pa.Table, groups: list[Group], number: int
) -> None:
    series = layout.series
    # The sort is stable: rows of one key stay in the order of their time.
    order = pc.sort_indices(slab, sort_keys=[(series.key, "ascending")])
    table = slab.take(order).combine_chunks()
    for at in range(0, table.num_rows, _GROUP_ROWS):
        part = table.slice(at, _GROUP_ROWS)
        times = pc.min_max(part[series.time]).as_py()
        keys = pc.min_max(part[series.key]).as_py()
        groups.append(Group(number, times["min"], times["max"], keys["min"], keys["max"]))
        writer.write_table(part, row_group_size=_GROUP_ROWS)


def _encodings(columns: Sequence[Column]) -> dict[str, Any]:
    # Measured on order-book deltas: times and counters shrink most as differences, and small
    # numbers and text as dictionaries: 11 bytes a row against 18 with dictionaries for all.
    counters = [column.name for column in columns if column.kind == "int64"]
    return {
        "use_dictionary": [
            column.name for column in columns if column.kind in ("text", "json", "int32", "int16")
        ],
        "column_encoding": dict.fromkeys(counters, "DELTA_BINARY_PACKED"),
    }


def _may_hold(group: Group, ask: Ask) -> bool:
    if group.last < ask.low or group.first > ask.high:
        return False
    if not ask.keys:
        return True
    low, high = group.low, group.high
    return low is not None and high is not None and any(low <= key <= high for key in ask.keys)


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    try:
        yield
    except pa.ArrowInvalid as fault:
        raise SeriesDamaged(f"{path} is damaged ({fault}); restore it from a copy") from fault
