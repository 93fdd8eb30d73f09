"""The engine on a real PostgreSQL, each test in a schema or a database of its own."""

import itertools
from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from tests.storage.series.engines.postgres.stub import stub_schema

Opener = Callable[[], PostgresEngine]

_numbers = itertools.count(1)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that only the test moves."""
    return ManualClock()


@pytest.fixture
def schema(postgres_dsn: str) -> Iterator[str]:
    """The name of a schema no other test uses, gone afterwards."""
    name = f"test_{next(_numbers)}"
    yield name
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.fixture
def another(postgres_dsn: str, schema: str, clock: ManualClock) -> Iterator[Opener]:
    """Opens one more engine on the same schema, as another process would."""
    opened: list[PostgresEngine] = []
    dsn = make_conninfo(postgres_dsn, application_name=schema)

    def open_one() -> PostgresEngine:
        one = PostgresEngine.open(
            dsn, clock=clock, schema=schema, edition="plain", ahead=timedelta(hours=3)
        )
        opened.append(one)
        return one

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def engine(another: Opener) -> PostgresEngine:
    """The engine on plain PostgreSQL."""
    return another()


@pytest.fixture
def look(postgres_dsn: str, schema: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection to look at the schema with."""
    options = f"-c search_path={schema}"
    with psycopg.connect(postgres_dsn, options=options, autocommit=True) as connection:
        yield connection


@pytest.fixture
def stub_dsn(stub_home: str) -> Iterator[str]:
    """The connection string of an empty schema where TimescaleDB seems to be."""
    with stub_schema(stub_home) as dsn:
        yield dsn
