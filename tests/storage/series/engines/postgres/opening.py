"""The server engine opened for a test, empty, and everything it made gone afterwards."""

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from grandstand.base.clock import Clock
from grandstand.storage.series.engines.postgres import PostgresEngine
from tests.storage.series.engines.postgres.stub import stub_database

_numbers = itertools.count(1)


@contextmanager
def on_plain(dsn: str, clock: Clock) -> Iterator[PostgresEngine]:
    """The engine with partitions of PostgreSQL's own, in a schema of its own."""
    schema = f"opened_{next(_numbers)}"
    with closing(PostgresEngine.open(dsn, clock=clock, schema=schema, edition="plain")) as engine:
        yield engine
    with psycopg.connect(dsn) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def on_apache_stub(dsn: str, clock: Clock) -> Iterator[PostgresEngine]:
    """The engine as for TimescaleDB's Apache edition, on the stub of its functions."""
    with stub_database(dsn) as own:
        licensed = f"{own} options='-c timescaledb.license=apache'"
        with closing(
            PostgresEngine.open(licensed, clock=clock, edition="timescale-apache")
        ) as engine:
            yield engine
