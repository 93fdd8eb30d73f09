"""TimescaleDB's functions on a server without TimescaleDB, for statements meant for it."""

import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from grandstand.storage.series.engines.postgres.schema import Step

_numbers = itertools.count(1)
_SETTINGS = re.compile(
    r"ALTER TABLE (?P<table>\w+) SET \(\s*timescaledb\.compress,"
    r"\s*timescaledb\.compress_segmentby = (?P<segments>'[^']*'),"
    r"\s*timescaledb\.compress_orderby = (?P<order>'[^']*')\s*\)"
)


@contextmanager
def stub_database(dsn: str) -> Iterator[str]:
    """A database in which TimescaleDB seems to be, for many tests, and its connection string."""
    name = f"stub_{os.getpid()}"
    own = make_conninfo(dsn, dbname=name)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(own) as inside:
            inside.execute(Path(__file__).with_name("timescale_stub.sql").read_bytes())
        yield own
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def stub_schema(database: str) -> Iterator[str]:
    """A schema of its own in that database, and the connection string that leads to it."""
    name = f"stub_{next(_numbers)}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield with_setting(database, f"search_path={name},public")
        connection.execute("TRUNCATE stub_hypertables CASCADE")
        connection.execute(f"DROP SCHEMA {name} CASCADE")


def with_setting(dsn: str, setting: str) -> str:
    """The connection string with one more setting of the server."""
    before = conninfo_to_dict(dsn).get("options", "")
    return make_conninfo(dsn, options=f"{before} -c {setting}")


def for_stub(step: Step) -> Step:
    """The same step where ALTER TABLE … SET, which the stub cannot hear, is a call to it."""
    return replace(step, sql=_SETTINGS.sub(_call, step.sql))


def _call(match: re.Match[str]) -> str:
    return f"SELECT stub_compress('{match['table']}', {match['segments']}, {match['order']})"
