"""The server engine opened for a test, empty, and everything it made gone afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import make_conninfo

from grandstand.core.clock import Clock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.schema import Edition
from grandstand.storage.series.query import Upkeep
from tests.storage.series.engines.postgres.stub import for_stub, stub_schema, with_setting

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.schema import Plan

_numbers = itertools.count(1)
Opener = Callable[[], PostgresEngine]
_JOBS = """
SELECT job_id FROM timescaledb_information.jobs
WHERE hypertable_name = %s AND proc_name IN ('policy_compression', 'policy_retention')
ORDER BY proc_name
"""
LICENCES: dict[Edition, str] = {"timescale": "timescale", "timescale-apache": "apache"}


class PoliciesRun(PostgresEngine):
    """The engine where the server's own jobs run at each upkeep, not within the hour."""

    server: str

    def upkeep(self, series: Series[Any]) -> Upkeep:
        with psycopg.connect(self.server, autocommit=True) as connection:
            for job in connection.execute(_JOBS, (series.name,)).fetchall():
                connection.execute("CALL run_job(%s)", job)
        return super().upkeep(series)


class OnStub(PoliciesRun):
    """The engine whose statements are put so that the stub hears them."""

    def _plan(self, series: Series[Any]) -> Plan:
        plan = super()._plan(series)
        return lambda connection: [*map(for_stub, plan(connection))]


@contextmanager
def plain(dsn: str, clock: Clock) -> Iterator[Opener]:
    """Opens engines with partitions of PostgreSQL's own, all in one schema."""
    schema = f"opened_{next(_numbers)}"
    with ExitStack() as opened:

        def open_one() -> PostgresEngine:
            engine = PostgresEngine.open(
                dsn, clock=clock, schema=schema, edition="plain", ahead=timedelta(hours=3)
            )
            return opened.enter_context(closing(engine))

        yield open_one
    with psycopg.connect(dsn) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@contextmanager
def timescale(dsn: str, clock: Clock, edition: Edition) -> Iterator[Opener]:
    """Opens engines on TimescaleDB under a licence; the server must have it."""
    with timescale_database(dsn, LICENCES[edition]) as own, ExitStack() as opened:

        def open_one() -> PostgresEngine:
            engine = PoliciesRun.open(own, clock=clock)
            engine.server = own
            return opened.enter_context(closing(engine))

        yield open_one


@contextmanager
def stub(database: str, clock: Clock, edition: Edition, *, wide: bool = False) -> Iterator[Opener]:
    """Opens engines as for an edition of TimescaleDB, on the stub of its functions."""
    with stub_schema(database) as own, ExitStack() as opened:
        licensed = with_setting(own, f"timescaledb.license={LICENCES[edition]}")

        def open_one() -> PostgresEngine:
            engine = OnStub.open(licensed, clock=clock, edition=edition, wide=wide)
            engine.server = licensed
            return opened.enter_context(closing(engine))

        yield open_one


def offers_timescale(dsn: str) -> bool:
    """Whether the server under test has the extension."""
    with psycopg.connect(dsn) as connection:
        offered = "SELECT FROM pg_available_extensions WHERE name = 'timescaledb'"
        return connection.execute(offered).fetchone() is not None


@contextmanager
def timescale_database(dsn: str, licence: str) -> Iterator[str]:
    """A database of its own with the extension under a licence, and its connection string."""
    name = f"timescale_{next(_numbers)}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(f"ALTER DATABASE {name} SET timescaledb.license = '{licence}'")
        own = make_conninfo(dsn, dbname=name)
        with psycopg.connect(own, autocommit=True) as inside:
            inside.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")
        yield own
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
