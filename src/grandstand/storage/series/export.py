"""Kept here: a window of a series written to a file for others: Parquet or CSV."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeAlias
from uuid import UUID

from grandstand.base.errors import Conflict
from grandstand.storage.series.declaration import Column
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.window import Window

if TYPE_CHECKING:
    import pyarrow as pa

Form: TypeAlias = Literal["parquet", "csv"]

_GROUP_ROWS: Final = 128 * 1024


class ExportExists(Conflict):
    """The file to be written is there already."""


def export(
    engine: SeriesEngine,
    window: Window[Any],
    path: Path,
    form: Form,
    *,
    force: bool = False,
    tell: Callable[[int], None] = lambda _: None,
) -> int:
    """Write the rows of a window to a file, in bounded memory, and answer how many there were.

    Times are whole microseconds. In Parquet a UUID is its sixteen bytes; in CSV it is its text, and
    an empty column is empty while an empty text is `""`. The file appears under its name when it
    is whole. `tell` hears how many rows are written so far. Raises ExportExists when there is such
    a file, unless told to replace it, and SeriesUnavailable when it cannot be written.
    """
    if path.exists() and not force:
        raise ExportExists(f"{path} is there already; give another name, or --force to replace it")
    schema = engine.table(replace(window, end=window.start)).schema
    written = 0
    with _unfinished(path) as file, _writer(file, _plain(schema), form, window) as write:
        for table in _grouped(engine.tables(window)):
            write(_plain_table(table))
            written += table.num_rows
            tell(written)
    return written


@contextmanager
def _unfinished(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside the one to be, and give it that name once it is on disk."""
    beside = path.with_name(f".{path.name}.unfinished")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as fault:
        raise SeriesUnavailable(f"{path} cannot be written: {fault}") from fault
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _writer(
    file: BinaryIO, schema: pa.Schema, form: Form, window: Window[Any]
) -> Iterator[Callable[[pa.Table], None]]:
    if form == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            yield lambda table: writer.write_table(table, row_group_size=_GROUP_ROWS)
        return
    import pyarrow.csv as pc

    columns = window.series.columns
    with pc.CSVWriter(file, _text_table(schema.empty_table(), columns).schema) as lines:
        yield lambda table: lines.write_table(_text_table(table, columns))


def _grouped(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Put small tables together, so that readers of the file find few and large parts."""
    import pyarrow as pa

    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        if sum(part.num_rows for part in held) >= _GROUP_ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _plain(schema: pa.Schema) -> pa.Schema:
    """Answer a schema without dictionaries, which is what every reader knows."""
    import pyarrow as pa

    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ]
    )


def _plain_table(table: pa.Table) -> pa.Table:
    return table.cast(_plain(table.schema))


def _text_table(table: pa.Table, columns: tuple[Column, ...]) -> pa.Table:
    import pyarrow as pa

    for at, column in enumerate(columns):
        if column.kind == "uuid":
            texts = [
                None if value is None else str(UUID(bytes=value))
                for value in table[column.name].to_pylist()
            ]
            table = table.set_column(at, column.name, pa.array(texts, pa.string()))
    return table
