"""Kept here: how a batch of rows is sent and merged in one transaction."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter, lt
from typing import TYPE_CHECKING, Any, Final

from grandstand.storage.series.declaration import Column, Series
from grandstand.storage.series.engines.postgres.ddl import Edition
from grandstand.storage.series.engines.postgres.names import (
    TYPES,
    listed,
    quoted,
    rest_of_identity,
)
from grandstand.storage.series.rows import Shape, plain, shape_of

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection

_INCOMING: Final = "_grandstand_incoming_"
_NO_DECOMPRESSION_LIMIT: Final = """
SELECT set_config(name, '0', TRUE)
FROM (VALUES ('timescaledb.max_tuples_decompressed_per_dml_transaction')) AS setting (name)
WHERE current_setting(name, TRUE) IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Sending:
    """How the rows of one series are sent; worked out once, since it costs as much as many rows."""

    series: Series[Any]
    columns: tuple[Column, ...]
    shape: Shape
    time_at: int
    types: tuple[str, ...]
    create: str
    copy: str
    merge: str
    identity: Callable[[tuple[Any, ...]], Any]

    def checked(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Answer rows as they are sent; raise SeriesFault if one does not fit."""
        return plain(self.series.name, self.columns, self.shape, rows)

    def times(self, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        """Answer the times of rows."""
        return [*map(itemgetter(self.time_at), rows)]


def sending(series: Series[Any]) -> Sending:
    """Work out how the rows of a series are sent."""
    columns = series.columns
    types = tuple(map(_wire_type, columns))
    declared = ", ".join(
        f"{quoted(column.name)} {kind}" for column, kind in zip(columns, types, strict=True)
    )
    order = (series.time, *rest_of_identity(series))
    # It stays for as long as the connection, so its name says which columns it has.
    incoming = f"{_INCOMING}{zlib.crc32(declared.encode()):08x}"
    return Sending(
        series=series,
        columns=columns,
        shape=shape_of(columns),
        time_at=series.fields.index(series.time),
        types=tuple(kind.lower() for kind in types),
        create=(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS {incoming} ({declared}) ON COMMIT DELETE ROWS"
        ),
        copy=f"COPY {incoming} FROM STDIN (FORMAT BINARY)",
        merge=_merge(series, columns, incoming),
        identity=itemgetter(*(series.fields.index(name) for name in order)),
    )


def append(
    connection: Connection, sent: Sending, rows: Sequence[tuple[Any, ...]], edition: Edition
) -> int:
    """Send rows that fit and add those that are not there yet; answer how many that were.

    They are added by time and the rest of their identity, repeats in the order they came in: two
    writers of the same rows in different orders would wait for each other for ever. Rows mostly
    come in order of time, and the server reads a temporary table in the order it was filled.
    """
    if edition == "timescale":
        # Late rows may reach compressed chunks, which by default take a limited number of them.
        connection.execute(_NO_DECOMPRESSION_LIMIT)
    with connection.cursor() as cursor:
        cursor.execute(sent.create)
        with cursor.copy(sent.copy) as copy:
            copy.set_types(sent.types)
            for row in _in_order(sent, rows):
                copy.write_row(row)
        cursor.execute(sent.merge)
        return cursor.rowcount


def _in_order(sent: Sending, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    times = sent.times(rows)
    if all(map(lt, times, islice(times, 1, None))):
        return rows
    return sorted(rows, key=sent.identity)


def _merge(series: Series[Any], columns: tuple[Column, ...], incoming: str) -> str:
    values = ", ".join(
        f"{quoted(column.name)}::jsonb" if column.kind == "json" else quoted(column.name)
        for column in columns
    )
    return (
        f"INSERT INTO {quoted(series.name)} ({listed(series.fields)}) "
        f"SELECT {values} FROM {incoming} ON CONFLICT DO NOTHING"
    )


def _wire_type(column: Column) -> str:
    # A document is sent as the text it is, and read by the server.
    return "TEXT" if column.kind == "json" else TYPES[column.kind]
