"""Export of a window of a series to a Parquet or CSV file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeAlias
from uuid import UUID

from grandstand.core.errors import Conflict
from grandstand.storage.series.declaration import Column
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.query import Window

if TYPE_CHECKING:
    import pyarrow as pa

Form: TypeAlias = Literal["parquet", "csv"]

_GROUP_ROWS: Final = 128 * 1024


class ExportExists(Conflict):
    """The output file already exists."""

    code = "export-exists"


def export(
    engine: SeriesEngine,
    window: Window[Any],
    path: Path,
    form: Form,
    *,
    force: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Write the rows of a window to a file, in bounded memory, and return how many there were.

    Times are integers (microseconds). UUIDs are 16 bytes in Parquet and text in CSV. In CSV a null
    is empty and an empty text is `""`. The file is written under a temporary name first.

    Args:
        engine: the engine to read from.
        window: the rows to export.
        path: the output file.
        form: the file format.
        force: replace an existing file.
        on_progress: called with the number of rows written so far.

    Raises:
        ExportExists: if the file exists and `force` is false.
        SeriesUnavailable: if the file cannot be written.
    """
    if path.exists() and not force:
        raise ExportExists(f"{path} already exists. Choose another name, or use --force.")
    schema = engine.table(replace(window, end=window.start)).schema
    written = 0
    with _replace_file(path) as file, _writer(file, _plain_schema(schema), form, window) as write:
        for table in _grouped(engine.tables(window)):
            write(table.cast(_plain_schema(table.schema)))
            written += table.num_rows
            on_progress(written)
    return written


@contextmanager
def _replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file and move it to `path` once it is on disk."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise SeriesUnavailable(f"{path} cannot be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


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
    with pc.CSVWriter(file, _with_text_uuids(schema.empty_table(), columns).schema) as lines:
        yield lambda table: lines.write_table(_with_text_uuids(table, columns))


def _grouped(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Concatenate small tables, so that the file has few and large row groups."""
    import pyarrow as pa

    group: list[pa.Table] = []
    for table in tables:
        group.append(table)
        if sum(member.num_rows for member in group) >= _GROUP_ROWS:
            yield pa.concat_tables(group)
            group = []
    if group:
        yield pa.concat_tables(group)


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema without dictionary types, which not every reader supports."""
    import pyarrow as pa

    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ]
    )


def _with_text_uuids(table: pa.Table, columns: tuple[Column, ...]) -> pa.Table:
    import pyarrow as pa

    for at, column in enumerate(columns):
        if column.kind == "uuid":
            texts = [
                None if value is None else str(UUID(bytes=value))
                for value in table[column.name].to_pylist()
            ]
            table = table.set_column(at, column.name, pa.array(texts, pa.string()))
    return table
