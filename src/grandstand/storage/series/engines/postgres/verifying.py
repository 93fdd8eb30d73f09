"""Kept here: whether a server has all that a series needs, and can read all it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from grandstand.base.errors import Broken, NotFound
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.postgres.ddl import LOWEST, PAST_HIGHEST
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.names import quoted, relation
from grandstand.storage.series.engines.postgres.partitions import existing, missing
from grandstand.storage.series.errors import SeriesChanged
from grandstand.storage.series.findings import Finding

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection

_MIGRATE: Final = "run `grandstand series migrate`"
_UPKEEP: Final = "run `grandstand series upkeep`"
_INVALID: Final = """
WITH RECURSIVE part (oid) AS (
    SELECT {relation}::regclass::oid
    UNION SELECT inhrelid FROM pg_inherits JOIN part ON part.oid = inhparent
)
SELECT indexrelid::regclass::text FROM pg_index JOIN part ON part.oid = indrelid
WHERE NOT indisvalid OR NOT indisready ORDER BY 1
"""
_HYPERTABLE: Final = """
SELECT FROM timescaledb_information.dimensions AS dimension
JOIN pg_class AS class ON class.relname = dimension.hypertable_name
JOIN pg_namespace AS namespace
    ON namespace.oid = class.relnamespace AND namespace.nspname = dimension.hypertable_schema
WHERE class.oid = {relation}::regclass AND dimension.column_name = %s
"""


def verify_server(
    engine: PostgresEngine, series: Series[Any], tell: Callable[[int, int], None]
) -> Iterator[Finding]:
    """Look at the table of a series, its parts and indexes, and read every row of it."""
    place = f"table {series.name}"
    try:
        due = engine.pending(series)
    except SeriesChanged as error:
        yield Finding(series.name, place, "has another form than declared", str(error))
        return
    for step in due:
        yield Finding(series.name, place, f"the step {step.name!r} is not done", _MIGRATE)
    try:
        yield from _form(engine, series, place)
        _read(engine, series, tell)
    except NotFound:
        if not due:
            raise
    except Broken as error:
        yield Finding(series.name, place, f"cannot be read ({error})", "restore it from a copy")


def _form(engine: PostgresEngine, series: Series[Any], place: str) -> Iterator[Finding]:
    with engine._connections.transaction() as connection:  # noqa: SLF001 - a room of this engine
        if engine.edition == "plain":
            now = series.chunk_of(engine._now())  # noqa: SLF001 - as above
            yield from _partitions(connection, series, now)
        else:
            yield from _hypertable(connection, series, place)
        for (name,) in connection.execute(_INVALID.format(relation=relation(series))):
            yield Finding(
                series.name, f"index {name}", "was not finished", f"run REINDEX on {name}"
            )


def _partitions(connection: Connection, series: Series[Any], now: int) -> Iterator[Finding]:
    spans = tuple(existing(connection, series))
    for start in (now, now + series.chunk_us):
        for span in missing(series, start, spans):
            place = f"partition from {span.start} to {span.end}"
            yield Finding(series.name, place, "is not there", _UPKEEP)


def _hypertable(connection: Connection, series: Series[Any], place: str) -> Iterator[Finding]:
    asked = _HYPERTABLE.format(relation=relation(series))
    if connection.execute(asked, (series.time,)).fetchone() is None:
        remedy = f"call create_hypertable as `grandstand series ddl {series.name}` writes it"
        yield Finding(series.name, place, "is no hypertable", remedy)


def _read(engine: PostgresEngine, series: Series[Any], tell: Callable[[int, int], None]) -> None:
    """Read every row, a chunk at a time; raise Broken for a page the server finds damaged.

    That the identity is unique is the primary key's, which the form of the table includes.
    """
    chunks = engine.status(series).chunks
    time = quoted(series.time)
    sql = (
        f"SELECT count(part::text) FROM {quoted(series.name)} AS part "
        f"WHERE {time} >= %s AND {time} < %s"
    )
    for done, chunk in enumerate(chunks):
        tell(done, len(chunks))
        span = max(chunk.start, LOWEST), min(chunk.end, PAST_HIGHEST - 1)
        with engine._connections.transaction() as connection:  # noqa: SLF001 - as above
            connection.execute(sql, span)
    tell(len(chunks), len(chunks))
