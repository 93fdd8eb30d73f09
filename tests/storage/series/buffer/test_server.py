"""A server that is stopped, cut off or slow: rows wait, spill, and arrive once it is back."""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.store import SNAPSHOTS, TRADES
from grandstand.core.clock import SystemClock
from grandstand.storage.series.buffer import Buffer, Limits
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.query import Window
from tests.storage.series.buffer.builders import open_buffer, same_rows, snapshot, trades
from tests.storage.series.buffer.proxy import Way, way_to

LIMITS = Limits(
    batch_rows=50,
    age_seconds=0.01,
    memory_bytes=100_000,
    spill_after_seconds=60.0,
    first_wait_seconds=0.02,
    longest_wait_seconds=0.1,
)
_numbers = itertools.count(1)


@pytest.fixture
def schema(postgres_dsn: str) -> Iterator[str]:
    """The name of a schema no other test uses, gone afterwards."""
    name = f"buffered_{next(_numbers)}"
    yield name
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.fixture
def way(postgres_dsn: str) -> Iterator[Way]:
    """A way to the server that can be cut."""
    with way_to(postgres_dsn) as found:
        yield found


@pytest.fixture
def connect(way: Way, schema: str) -> Callable[[], PostgresEngine]:
    """Opens the engine through that way."""
    return lambda: PostgresEngine.open(way.dsn, clock=SystemClock(), schema=schema, edition="plain")


@pytest.fixture
def found(postgres_dsn: str, schema: str) -> Callable[[], list[Trade]]:
    """Return the trades the server has, asked directly."""

    def ask() -> list[Trade]:
        engine = PostgresEngine.open(
            postgres_dsn, clock=SystemClock(), schema=schema, edition="plain"
        )
        with closing(engine):
            return [*engine.read(Window(TRADES, 0, 2**62))]

    return ask


def flushed(buffer: Buffer) -> bool:
    """Flush, once more when the first try only finds out that the connection is lost."""
    return buffer.flush() or buffer.flush()


def test_a_server_cut_off_again_and_again_gets_every_row_once(
    tmp_path: Path,
    way: Way,
    connect: Callable[[], PostgresEngine],
    found: Callable[[], list[Trade]],
) -> None:
    buffer = open_buffer(tmp_path, connect, LIMITS)
    sender = threading.Thread(target=buffer.run)
    sender.start()

    for number in range(0, 3_000, 500):
        for at in range(number, number + 500, 25):
            buffer.take(TRADES, trades(at, at + 25))
        way.cut()
        for at in range(number, number + 500, 25):
            buffer.take(TRADES, trades(at, at + 25))
        way.mend()
    arrived = flushed(buffer)
    buffer.close()
    sender.join(60)

    assert arrived
    assert not sender.is_alive()
    assert same_rows(found(), trades(0, 3_000))


def test_a_server_that_is_away_at_the_start_gets_its_rows_from_disk(
    tmp_path: Path,
    way: Way,
    connect: Callable[[], PostgresEngine],
    found: Callable[[], list[Trade]],
) -> None:
    way.cut()
    away = open_buffer(tmp_path, connect, LIMITS)
    away.take(TRADES, trades(0, 400))
    away.take(SNAPSHOTS, [snapshot(1)])
    refused = away.flush()
    said = away.status().queues[0].last_error
    away.close()
    way.mend()

    back = open_buffer(tmp_path, connect, LIMITS)
    waiting = back.status().spilled_rows
    arrived = flushed(back)
    back.close()

    assert not refused
    assert "does not respond" in str(said)
    assert waiting == 401
    assert arrived
    assert same_rows(found(), trades(0, 400))


def test_while_a_server_stalls_rows_are_taken_and_spilled(
    tmp_path: Path,
    way: Way,
    connect: Callable[[], PostgresEngine],
    found: Callable[[], list[Trade]],
) -> None:
    buffer = open_buffer(tmp_path, connect, LIMITS)
    buffer.take(TRADES, trades(0, 1))
    buffer.flush()
    way.stall()
    sender = threading.Thread(target=buffer.run)
    sender.start()

    for at in range(0, 2_000, 25):
        buffer.take(TRADES, trades(at, at + 25))
    stalled = buffer.status()
    way.flow()
    arrived = flushed(buffer)
    buffer.close()
    sender.join(60)

    assert stalled.spilled_rows > 1_000
    assert stalled.waiting_bytes <= LIMITS.memory_bytes
    assert arrived
    assert same_rows(found(), trades(0, 2_000))


def test_closing_does_not_wait_for_ever_for_a_server_that_stalls(
    tmp_path: Path,
    way: Way,
    connect: Callable[[], PostgresEngine],
    found: Callable[[], list[Trade]],
) -> None:
    limits = replace(LIMITS, memory_bytes=10_000_000)
    buffer = open_buffer(tmp_path, connect, limits)
    buffer.take(TRADES, trades(0, 1))
    buffer.flush()
    way.stall()
    sender = threading.Thread(target=buffer.run)
    sender.start()
    buffer.take(TRADES, trades(0, 300))

    buffer.close(patience_seconds=0.2)
    way.cut()
    sender.join(60)
    way.mend()
    with closing(open_buffer(tmp_path, connect, limits)) as back:
        arrived = flushed(back)

    assert not sender.is_alive()
    assert arrived
    assert same_rows(found(), trades(0, 300))


def test_a_table_dropped_meanwhile_is_made_again(
    tmp_path: Path,
    postgres_dsn: str,
    schema: str,
    connect: Callable[[], PostgresEngine],
) -> None:
    with closing(open_buffer(tmp_path, connect, LIMITS)) as buffer:
        buffer.take(TRADES, trades(0, 5))
        buffer.flush()
        with psycopg.connect(postgres_dsn) as connection:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")
            connection.execute(f"CREATE SCHEMA {schema}")
        buffer.take(TRADES, trades(5, 10))

        assert flushed(buffer)
