"""The engine on a real TimescaleDB, in both editions, where the server has the extension."""

import itertools
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from grandstand.apps.gatherer.store import DELTAS, SERIES, TRADES
from grandstand.base.clock import SystemClock
from grandstand.storage.series.engines.postgres import Edition, PostgresEngine
from grandstand.storage.series.window import Window
from tests.storage.series.engines.postgres.rows import HOUR, delta, trade

_numbers = itertools.count(1)
_EDITIONS: dict[str, Edition] = {"timescale": "timescale", "apache": "timescale-apache"}


@pytest.fixture(params=list(_EDITIONS))
def timescale(request: pytest.FixtureRequest, postgres_dsn: str) -> Iterator[PostgresEngine]:
    """The engine on a database of its own with the extension, under each licence in turn."""
    name = f"timescale_{next(_numbers)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        offered = "SELECT FROM pg_available_extensions WHERE name = 'timescaledb'"
        if connection.execute(offered).fetchone() is None:
            pytest.skip("the server has no TimescaleDB: set TEST_PG_DSN to one that has")
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(f"ALTER DATABASE {name} SET timescaledb.license = '{request.param}'")
        own = make_conninfo(postgres_dsn, dbname=name)
        with psycopg.connect(own, autocommit=True) as inside:
            inside.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")
        engine = PostgresEngine.open(own, clock=SystemClock())
        assert engine.edition == _EDITIONS[request.param]
        yield engine
        engine.close()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_every_series_is_made_and_nothing_is_left_to_do(timescale: PostgresEngine) -> None:
    for series in SERIES:
        timescale.prepare(series)
        timescale.prepare(series)

    assert [timescale.pending(series) for series in SERIES] == [()] * len(SERIES)


def test_repeats_are_left_out_and_windows_answered(timescale: PostgresEngine) -> None:
    now = int(SystemClock().epoch() * 1_000_000)
    rows = [trade(number, now + number) for number in range(1, 100)]
    timescale.prepare(TRADES)

    counts = [timescale.append(TRADES, batch) for batch in (rows[:60], rows[30:])]

    assert counts == [60, 39]
    assert [*timescale.read(Window(TRADES, now, now + HOUR))] == rows


def test_the_chunks_are_told(timescale: PostgresEngine) -> None:
    now = DELTAS.chunk_of(int(SystemClock().epoch() * 1_000_000))
    timescale.prepare(DELTAS)
    timescale.append(DELTAS, [delta(now - 3 * HOUR), delta(now), delta(now + 1)])

    told = timescale.status(DELTAS)

    assert [(chunk.start, chunk.rows) for chunk in told.chunks] == [(now - 3 * HOUR, 1), (now, 2)]
    assert told.gaps == ((now - 2 * HOUR, now),)


def test_upkeep_goes_through(timescale: PostgresEngine) -> None:
    timescale.prepare(DELTAS)

    assert timescale.upkeep(DELTAS).dropped == 0
