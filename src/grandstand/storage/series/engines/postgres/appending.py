"""Kept here: how a batch of rows is sent and merged in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from grandstand.storage.series.declaration import Column, Series
from grandstand.storage.series.engines.postgres.ddl import Edition
from grandstand.storage.series.engines.postgres.names import (
    TYPES,
    listed,
    quoted,
    rest_of_identity,
)

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection

R = TypeVar("R", bound=tuple[Any, ...])

_INCOMING: Final = "_grandstand_incoming"
_NO_DECOMPRESSION_LIMIT: Final = """
SELECT set_config(name, '0', TRUE)
FROM (VALUES ('timescaledb.max_tuples_decompressed_per_dml_transaction')) AS setting (name)
WHERE current_setting(name, TRUE) IS NOT NULL
"""


def append(connection: Connection, series: Series[Any], rows: Sequence[R], edition: Edition) -> int:
    """Send rows that fit and add those that are not there yet; answer how many that were."""
    columns = series.columns
    wire = [_wire_type(column) for column in columns]
    declared = ", ".join(
        f"{quoted(column.name)} {kind}" for column, kind in zip(columns, wire, strict=True)
    )
    if edition == "timescale":
        # Late rows may reach compressed chunks, which by default take a limited number of them.
        connection.execute(_NO_DECOMPRESSION_LIMIT)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {_INCOMING} ({declared}) ON COMMIT DROP")
        with cursor.copy(f"COPY {_INCOMING} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types([kind.lower() for kind in wire])
            for row in _in_order(series, rows):
                copy.write_row(row)
        cursor.execute(_merge(series))
        return cursor.rowcount


def _in_order(series: Series[Any], rows: Sequence[R]) -> list[R]:
    """Answer rows by time and the rest of their identity, repeats in the order they came in.

    They are added in this order: two writers of the same rows in different orders would wait for
    each other for ever. Here rows that come in order of time cost next to nothing to sort, and the
    server reads a temporary table in the order it was filled.
    """
    names = (series.time, *rest_of_identity(series))
    places = [series.fields.index(name) for name in names]
    return sorted(rows, key=itemgetter(*places))


def _merge(series: Series[Any]) -> str:
    values = ", ".join(
        f"{quoted(column.name)}::jsonb" if column.kind == "json" else quoted(column.name)
        for column in series.columns
    )
    return (
        f"INSERT INTO {quoted(series.name)} ({listed(series.fields)}) "
        f"SELECT {values} FROM {_INCOMING} ON CONFLICT DO NOTHING"
    )


def _wire_type(column: Column) -> str:
    # A document is sent as the text it is, and read by the server.
    return "TEXT" if column.kind == "json" else TYPES[column.kind]
