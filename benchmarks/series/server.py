"""Appending to PostgreSQL beside the two ways one would write it by hand."""

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
from grandstand.apps.gatherer.store import DELTAS, OrderbookDelta
from grandstand.base.clock import Clock, ManualClock
from grandstand.storage.series.engines.postgres import PostgresEngine
from tests.parts import postgres
from tests.parts.keeper import Keeper, MissingPartError

_BATCH = 5_000
_TURNS = 12
_AT_ONCE = 1_000
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
    """Measure all three on one server, each with a table of its own; say so if there is none."""
    try:
        found = postgres.find(Keeper(may_fetch=True))
        with postgres.serving(found, folder) as dsn:
            return _measured(dsn, hour)
    except MissingPartError as missing:
        sys.stderr.write(f"grandstand: NOT MEASURED, there is no PostgreSQL: {missing}\n")
        return []


def _measured(dsn: str, hour: Batch) -> list[Row]:
    batches = [hour[at : at + _BATCH] for at in range(0, _BATCH * _TURNS, _BATCH)]
    clock = ManualClock(datetime.fromtimestamp(START_US / 1e6, UTC))
    with ExitStack() as stack:
        places = [stack.enter_context(prepared(dsn, f"bench_{n}", clock)) for n in range(3)]
        ours, (_, one), (_, other) = places
        speed = rates(
            {
                "ours": lambda turn: ours[0].append(DELTAS, batches[turn]),
                "executemany": lambda turn: _pipelined(one, batches[turn]),
                "COPY": lambda turn: copied(other, batches[turn]),
            },
            count=_BATCH,
            turns=_TURNS,
        )
        kept = {counted(connection) for _, connection in places}
    assert kept == {_BATCH * _TURNS}
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
            ("executemany", f"pipelined executemany, {_AT_ONCE:,} at once", 3),
            ("COPY", "COPY, temporary table, INSERT by hand", 0.8),
        )
    ]


@contextmanager
def prepared(dsn: str, schema: str, clock: Clock) -> Iterator[tuple[PostgresEngine, Connection]]:
    """A schema with the series in it, an engine on it and a bare connection; gone afterwards."""
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


def _pipelined(connection: Connection, rows: Batch) -> None:
    for at in range(0, len(rows), _AT_ONCE):
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(_INSERT, rows[at : at + _AT_ONCE])


def copied(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add rows by COPY into a temporary table, passing over those that are there."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE incoming (LIKE {DELTAS.name}) ON COMMIT DROP")
        with cursor.copy(f"COPY incoming ({_NAMES}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types([_TYPES[column.kind] for column in DELTAS.columns])
            for row in rows:
                copy.write_row(row)
        cursor.execute(_MERGE)


def counted(connection: Connection) -> int:
    """How many rows there are."""
    found = connection.execute(f"SELECT count(*) FROM {DELTAS.name}").fetchone()  # noqa: S608
    assert found is not None
    return int(found[0])
