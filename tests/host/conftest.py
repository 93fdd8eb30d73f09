"""What tests of the host share: a database of its own, on the server under test."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo


@pytest.fixture
def own_database(postgres_dsn: str) -> Iterator[str]:
    """The connection string of an empty database."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE moved")
        yield make_conninfo(postgres_dsn, dbname="moved")
        connection.execute("DROP DATABASE moved WITH (FORCE)")
