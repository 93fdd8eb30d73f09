"""Kept here: rows of a series as an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from grandstand.storage.series.declaration import Column, Kind, Series

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH: Final = 10_000


def arrow_schema(series: Series[Any]) -> pa.Schema:
    """Answer the columns of a series as Arrow has them; a UUID is its sixteen bytes."""
    import pyarrow as pa

    types: dict[Kind, pa.DataType] = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "int16": pa.int16(),
        "text": pa.string(),
        "bool": pa.bool_(),
        "uuid": pa.binary(16),
        "json": pa.string(),
    }
    return pa.schema(
        [pa.field(column.name, types[column.kind], column.nullable) for column in series.columns]
    )


def arrow_table(series: Series[Any], rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Put rows into an Arrow table, column by column, a few thousand rows at a time."""
    import pyarrow as pa

    schema = arrow_schema(series)
    remaining = iter(rows)
    batches = []
    while batch := list(islice(remaining, _BATCH)):
        columns = [
            pa.array(_stored(column, values), type=field.type)
            for column, values, field in zip(
                series.columns, zip(*batch, strict=True), schema, strict=True
            )
        ]
        batches.append(pa.record_batch(columns, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _stored(column: Column, values: Sequence[Any]) -> Sequence[Any]:
    if column.kind != "uuid":
        return values
    return [None if value is None else value.bytes for value in values]
