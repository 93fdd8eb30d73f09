"""Kept here: rows of a series as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from grandstand.storage.series.declaration import Column, Kind, Series

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_IN_TABLE: Final = 10_000


def arrow_schema(series: Series[Any]) -> pa.Schema:
    """Answer the columns of a series as Arrow has them, the same as from chunk files.

    Text is a dictionary of strings, and a UUID its sixteen bytes.
    """
    import pyarrow as pa

    types: dict[Kind, pa.DataType] = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "int16": pa.int16(),
        "text": pa.dictionary(pa.int32(), pa.string()),
        "bool": pa.bool_(),
        "uuid": pa.binary(16),
        "json": pa.string(),
    }
    return pa.schema(
        [pa.field(column.name, types[column.kind], column.nullable) for column in series.columns]
    )


def arrow_tables(series: Series[Any], rows: Iterable[tuple[Any, ...]]) -> Iterator[pa.Table]:
    """Put rows into Arrow tables, column by column, a few thousand rows in each; none is empty."""
    import pyarrow as pa

    schema = arrow_schema(series)
    columns = series.columns
    remaining = iter(rows)
    while batch := list(islice(remaining, ROWS_IN_TABLE)):
        arrays = [
            pa.array(_stored(column, values), type=field.type)
            for column, values, field in zip(columns, zip(*batch, strict=True), schema, strict=True)
        ]
        yield pa.Table.from_arrays(arrays, schema=schema)


def _stored(column: Column, values: Sequence[Any]) -> Sequence[Any]:
    if column.kind != "uuid":
        return values
    return [None if value is None else value.bytes for value in values]
