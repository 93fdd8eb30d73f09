"""The engine on a real TimescaleDB, in both editions, where the server has the extension."""

from collections.abc import Iterator

import pytest

from grandstand.apps.gatherer.store import DELTAS, SERIES, TRADES
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.query import Window
from tests.storage.series.engines.postgres.opening import (
    LICENCES,
    offers_timescale,
    timescale_database,
)
from tests.storage.series.engines.postgres.rows import HOUR, delta, trade


@pytest.fixture(params=list(LICENCES))
def timescale(request: pytest.FixtureRequest, postgres_dsn: str) -> Iterator[PostgresEngine]:
    """The engine on a database of its own with the extension, under each licence in turn."""
    if not offers_timescale(postgres_dsn):
        pytest.skip("the server has no TimescaleDB: set TEST_PG_DSN to one that has")
    with timescale_database(postgres_dsn, LICENCES[request.param]) as own:
        engine = PostgresEngine.open(own, clock=SystemClock())
        assert engine.edition == request.param
        yield engine
        engine.close()


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

    events = timescale.status(DELTAS)

    assert [(chunk.start, chunk.rows) for chunk in events.chunks] == [(now - 3 * HOUR, 1), (now, 2)]
    assert events.gaps == ((now - 2 * HOUR, now),)


def test_upkeep_goes_through(timescale: PostgresEngine) -> None:
    timescale.prepare(DELTAS)

    assert timescale.upkeep(DELTAS).dropped == 0
