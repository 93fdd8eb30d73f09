"""A server that does not answer, breaks off, or has an edition of its own."""

import psycopg
import pytest

from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import ManualClock
from grandstand.core.errors import NotAllowed
from grandstand.storage.series.engines.postgres.connection import translate_error
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.errors import SeriesReadOnly, SeriesUnavailable
from grandstand.storage.series.query import Window
from tests.storage.series.engines.postgres.rows import NOW, delta

Looking = psycopg.Connection[tuple[object, ...]]


def _break_off(look: Looking, schema: str) -> int:
    """End the engine's connections, and count them."""
    rows = look.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s",
        (schema,),
    ).fetchall()
    return len(rows)


def test_a_server_that_is_not_there_is_unavailable(clock: ManualClock) -> None:
    with pytest.raises(SeriesUnavailable) as raised:
        PostgresEngine.open("host=/nonexistent dbname=none", clock=clock)

    assert raised.value.retry


def test_after_a_lost_connection_the_same_call_passes(
    engine: PostgresEngine, look: Looking, schema: str
) -> None:
    engine.prepare(DELTAS)
    ended = _break_off(look, schema)

    with pytest.raises(SeriesUnavailable) as raised:
        engine.append(DELTAS, [delta()])
    added = engine.append(DELTAS, [delta()])

    assert ended >= 1
    assert raised.value.retry
    assert added == 1


def test_a_reading_that_is_connection_lost_says_so(
    engine: PostgresEngine, look: Looking, schema: str
) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(NOW + number) for number in range(5_000)])
    reading = engine.read(Window(DELTAS, NOW, NOW + 10_000))
    next(reading)
    _break_off(look, schema)

    with pytest.raises(SeriesUnavailable):
        list(reading)


def test_a_server_that_only_reads_is_not_written(
    postgres_dsn: str, engine: PostgresEngine, schema: str, clock: ManualClock
) -> None:
    engine.prepare(DELTAS)
    options = f"-c search_path={schema} -c default_transaction_read_only=on"
    reader = PostgresEngine.open(f"{postgres_dsn} options='{options}'", clock=clock)

    with pytest.raises(SeriesReadOnly):
        reader.append(DELTAS, [delta()])

    assert [*reader.read(Window(DELTAS, NOW, NOW + 1))] == []
    reader.close()


@pytest.mark.parametrize(
    ("fault", "meaning"),
    [
        (psycopg.errors.InsufficientPrivilege("no"), NotAllowed),
        (psycopg.errors.DiskFull("could not extend file"), SeriesUnavailable),
        (psycopg.errors.TooManyConnections("sorry"), SeriesUnavailable),
        (psycopg.errors.CannotConnectNow("starting up"), SeriesUnavailable),
    ],
)
def test_what_the_server_says_is_told_by_its_meaning(
    fault: psycopg.Error, meaning: type[Exception]
) -> None:
    assert type(translate_error(fault, connection_lost=False)) is meaning


def test_a_server_without_the_extension_is_plain(postgres_dsn: str, clock: ManualClock) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        found = connection.execute("SELECT FROM pg_extension WHERE extname = 'timescaledb'")
        present = found.fetchone() is not None

    engine = PostgresEngine.open(postgres_dsn, clock=clock)
    engine.close()

    assert (engine.edition == "plain") is not present
