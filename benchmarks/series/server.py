"""Appends to PostgreSQL compared with two hand-written ways."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.harness.rows import Row, Times
from benchmarks.series.stream import START_US
from benchmarks.series.turns import rates
from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import Clock, ManualClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from tests.parts import postgres
from tests.parts.part_cache import MissingPartError, PartCache

_BATCH = 5_000
_TURNS = 12
_PIPELINE_ROWS = 1_000
_NAMES = ", ".join(DELTAS.fields)
_INSERT = (
    f"INSERT INTO {DELTAS.name} ({_NAMES}) "  # noqa: S608
    f"VALUES ({', '.join(['%s'] * len(DELTAS.fields))}) ON CONFLICT DO NOTHING"
)
_MERGE = (
    f"INSERT INTO {DELTAS.name} ({_NAMES}) "  # noqa: S608
    f"SELECT {_NAMES} FROM incoming ON CONFLICT DO NOTHING"
)
_TYPES = {"int64": "int8", "int32": "int4", "int16": "int2", "text": "text", "bool": "bool"}

Connection = psycopg.Connection[tuple[Any, ...]]
Batch = Sequence[OrderbookDelta]


def on_server(folder: Path, hour: Batch) -> list[Row]:
    """Measure all three on one server, each with its own table; skipped without PostgreSQL."""
    try:
        found = postgres.find(PartCache(may_fetch=True))
        with postgres.serving(found, folder) as dsn:
            return _measure(dsn, hour)
    except MissingPartError as missing:
        sys.stderr.write(f"grandstand: NOT MEASURED, there is no PostgreSQL: {missing}\n")
        return []


def _measure(dsn: str, hour: Batch) -> list[Row]:
    batches = [hour[at : at + _BATCH] for at in range(0, _BATCH * _TURNS, _BATCH)]
    clock = ManualClock(datetime.fromtimestamp(START_US / 1e6, UTC))
    with ExitStack() as stack:
        places = [stack.enter_context(prepared(dsn, f"bench_{n}", clock)) for n in range(3)]
        ours, (_, one), (_, other) = places
        speed = rates(
            {
                "ours": lambda turn: ours[0].append(DELTAS, batches[turn]),
                "executemany": lambda turn: _insert_pipelined(one, batches[turn]),
                "COPY": lambda turn: copied(other, batches[turn]),
            },
            count=_BATCH,
            turns=_TURNS,
        )
        counts = {counted(connection) for _, connection in places}
    assert counts == {_BATCH * _TURNS}
    measure = f"append to PostgreSQL, batches of {_BATCH:,}"
    return [
        Row(
            measure=measure,
            unit="rows/s",
            ours=speed["ours"],
            peers={peer: speed[name]},
            aim=Times(factor, peer),
        )
        for name, peer, factor in (
            ("executemany", f"pipelined executemany, {_PIPELINE_ROWS:,} at once", 3),
            ("COPY", "COPY, temporary table, INSERT by hand", 0.8),
        )
    ]


@contextmanager
def prepared(dsn: str, schema: str, clock: Clock) -> Iterator[tuple[PostgresEngine, Connection]]:
    """Yield an engine and a connection on a temporary schema with the series."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        engine = PostgresEngine.open(dsn, clock=clock, schema=schema, ahead=timedelta(hours=3))
        try:
            with closing(engine):
                engine.prepare(DELTAS)
                connection.execute(f"SET search_path = {schema}")
                yield engine, connection
        finally:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def _insert_pipelined(connection: Connection, rows: Batch) -> None:
    for at in range(0, len(rows), _PIPELINE_ROWS):
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(_INSERT, rows[at : at + _PIPELINE_ROWS])


def copied(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by COPY into a temporary table; existing rows are skipped."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE incoming (LIKE {DELTAS.name}) ON COMMIT DROP")
        with cursor.copy(f"COPY incoming ({_NAMES}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types([_TYPES[column.kind] for column in DELTAS.columns])
            for row in rows:
                copy.write_row(row)
        cursor.execute(_MERGE)


def counted(connection: Connection) -> int:
    row = connection.execute(f"SELECT count(*) FROM {DELTAS.name}").fetchone()  # noqa: S608
    assert row is not None
    return int(row[0])
