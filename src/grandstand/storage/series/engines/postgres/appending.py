"""Kept here: how a batch of rows is sent and merged in one transaction."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter, lt
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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
    import psycopg

    from grandstand.storage.series.engines.postgres.connections import Connection

    Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]

_INCOMING: Final = "_grandstand_incoming_"
_FIRST_DETOUR: Final = 16
_LONGEST_DETOUR: Final = 1024
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
    straight: str | None
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
        straight=_straight(series, columns),
        create=(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS {incoming} ({declared}) ON COMMIT DELETE ROWS"
        ),
        copy=f"COPY {incoming} FROM STDIN (FORMAT BINARY)",
        merge=_merge(series, columns, incoming),
        identity=itemgetter(*(series.fields.index(name) for name in order)),
    )


@dataclass(slots=True)
class Way:
    """Which way the rows of a series take: straight into the table, or round by a temporary one.

    Straight takes the server half as long, but ends with the first row that is there already, and
    what it had written stays behind as dead rows. So the next batches go round, twice as many each
    time it happens again at once.
    """

    _round: int = 0
    _detour: int = _FIRST_DETOUR

    @property
    def straight(self) -> bool:
        """Whether the next batch is to go straight."""
        return self._round == 0

    def went_straight(self) -> None:
        """Note that nothing was in the way."""
        self._detour = _FIRST_DETOUR

    def was_barred(self) -> None:
        """Note that a row was there already."""
        self._round, self._detour = self._detour, min(2 * self._detour, _LONGEST_DETOUR)

    def went_round(self) -> None:
        """Note that a batch has taken the temporary table."""
        self._round = max(0, self._round - 1)


def append(
    connection: Connection,
    sent: Sending,
    rows: Sequence[tuple[Any, ...]],
    edition: Edition,
    way: Way,
) -> int:
    """Send rows that fit and add those that are not there yet; answer how many that were.

    They are added by time and the rest of their identity, repeats in the order they came in: two
    writers of the same rows in different orders would wait for each other for ever. Rows mostly
    come in order of time, and the server reads a temporary table in the order it was filled.
    """
    ordered = _in_order(sent, rows)
    if edition == "plain" and sent.straight is not None and way.straight:
        if _went_straight(connection, sent, sent.straight, ordered):
            way.went_straight()
            return len(rows)
        way.was_barred()
    if edition == "timescale":
        # Late rows may reach compressed chunks, which by default take a limited number of them.
        connection.execute(_NO_DECOMPRESSION_LIMIT)
    with connection.cursor() as cursor:
        cursor.execute(sent.create)
        _copy(cursor, sent.copy, sent, ordered)
        cursor.execute(sent.merge)
        way.went_round()
        return cursor.rowcount


def _went_straight(
    connection: Connection, sent: Sending, statement: str, rows: Sequence[tuple[Any, ...]]
) -> bool:
    """Copy rows into the table itself; False, and none is kept, when one is there already."""
    from psycopg.errors import UniqueViolation

    try:
        with connection.transaction(), connection.cursor() as cursor:
            _copy(cursor, statement, sent, rows)
    except UniqueViolation:
        return False
    return True


def _copy(cursor: Cursor, statement: str, sent: Sending, rows: Sequence[tuple[Any, ...]]) -> None:
    with cursor.copy(statement) as copy:
        copy.set_types(sent.types)
        for row in rows:
            copy.write_row(row)


def _in_order(sent: Sending, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    times = sent.times(rows)
    if all(map(lt, times, islice(times, 1, None))):
        return rows
    return sorted(rows, key=sent.identity)


def _straight(series: Series[Any], columns: tuple[Column, ...]) -> str | None:
    """Answer the statement that copies into the table itself; documents are read on the way."""
    if any(column.kind == "json" for column in columns):
        return None
    return f"COPY {quoted(series.name)} ({listed(series.fields)}) FROM STDIN (FORMAT BINARY)"


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
