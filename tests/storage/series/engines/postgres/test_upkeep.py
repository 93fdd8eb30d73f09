"""Partitions are made ahead of time and dropped after it, also under readers and writers."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest

from grandstand.apps.gatherer.store import DELTAS, TRADES
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.query import Upkeep, Window
from tests.storage.series.engines.postgres.opening import stub
from tests.storage.series.engines.postgres.rows import DAY, HOUR, NOW, delta, trade
from tests.storage.series.engines.postgres.stub import for_stub

Looking = psycopg.Connection[tuple[object, ...]]
EVERYTHING = Window(DELTAS, -(2**63), 2**63)


def _partitions(look: Looking) -> list[str]:
    rows = look.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits "
        "WHERE inhparent = 'orderbook_deltas'::regclass ORDER BY 1"
    )
    return [str(name).partition("_p")[2] for (name,) in rows]


def test_partitions_are_made_ahead(engine: PostgresEngine, look: Looking) -> None:
    engine.prepare(DELTAS)

    assert _partitions(look) == [str(NOW + hours * HOUR) for hours in range(4)]


def test_upkeep_makes_the_next_ones(
    engine: PostgresEngine, look: Looking, clock: ManualClock
) -> None:
    engine.prepare(DELTAS)

    clock.advance(3_600)
    engine.upkeep(DELTAS)

    assert _partitions(look) == [str(NOW + hours * HOUR) for hours in range(5)]


def test_only_partitions_wholly_past_their_retention_are_dropped(
    engine: PostgresEngine, clock: ManualClock
) -> None:
    engine.prepare(DELTAS)
    rows = [delta(NOW), delta(NOW + HOUR), delta(NOW + HOUR + 1)]
    engine.append(DELTAS, rows)

    clock.advance(7 * 86_400 + 3_600)
    done = engine.upkeep(DELTAS)

    assert done == Upkeep(dropped=1)
    assert [*engine.read(EVERYTHING)] == rows[1:]
    assert engine.upkeep(DELTAS) == Upkeep()


def test_a_series_kept_for_ever_loses_nothing(engine: PostgresEngine, clock: ManualClock) -> None:
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(1)])

    clock.advance(10_000 * 86_400)
    done = engine.upkeep(TRADES)

    assert done == Upkeep()
    assert [*engine.read(Window(TRADES, NOW, NOW + 1))] == [trade(1)]


def test_a_partition_being_read_is_left_for_the_next_round(
    engine: PostgresEngine, another: Callable[[], PostgresEngine], clock: ManualClock
) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(NOW + number) for number in range(5_000)])
    reading = another().read(EVERYTHING)
    next(reading)
    clock.advance(8 * 86_400)

    during = engine.upkeep(DELTAS).dropped
    remaining = len([*reading])
    after = engine.upkeep(DELTAS).dropped

    assert (during, remaining, after) == (0, 4_999, 4)


def test_a_writer_makes_a_partition_again_that_another_dropped(
    engine: PostgresEngine, another: Callable[[], PostgresEngine], clock: ManualClock
) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta()])
    clock.advance(8 * 86_400)
    another().upkeep(DELTAS)

    added = engine.append(DELTAS, [delta(NOW + 1)])

    assert added == 1
    assert [*engine.read(EVERYTHING)] == [delta(NOW + 1)]


@pytest.fixture
def apache(stub_home: str, clock: ManualClock) -> Iterator[PostgresEngine]:
    """The engine where TimescaleDB seems to be, in its Apache edition."""
    with stub(stub_home, clock, "timescale-apache") as open_one:
        yield open_one()


def test_the_apache_edition_drops_chunks_from_here(
    apache: PostgresEngine, clock: ManualClock
) -> None:
    apache.prepare(DELTAS)
    apache.append(DELTAS, [delta(NOW), delta(NOW + HOUR)])

    clock.advance(7 * 86_400 + 3_600)
    done = apache.upkeep(DELTAS)

    assert done == Upkeep(dropped=1)
    assert [*apache.read(EVERYTHING)] == [delta(NOW + HOUR)]


def test_the_chunks_of_a_hypertable_are_told(apache: PostgresEngine) -> None:
    apache.prepare(DELTAS)
    apache.append(DELTAS, [delta(NOW - DAY), delta(NOW), delta(NOW + 1)])

    events = apache.status(DELTAS)

    assert [(chunk.start, chunk.state, chunk.rows) for chunk in events.chunks] == [
        (NOW - DAY, "closed", 1),
        (NOW, "open", 2),
    ]
    assert events.gaps == ((NOW - DAY + HOUR, NOW),)


def test_where_policies_run_nothing_is_dropped_from_here(stub_dsn: str, clock: ManualClock) -> None:
    engine = PostgresEngine.open(stub_dsn, clock=clock, edition="timescale")
    with psycopg.connect(stub_dsn) as connection:
        for step in engine.pending(DELTAS):
            connection.execute(for_stub(step).sql)
    added = engine.append(DELTAS, [delta()])

    clock.advance(timedelta(days=30).total_seconds())
    done = engine.upkeep(DELTAS)
    stored = [*engine.read(EVERYTHING)]
    engine.close()

    assert (added, done, stored) == (1, Upkeep(), [delta()])


@pytest.fixture
def licensed(stub_home: str) -> Iterator[PostgresEngine]:
    """The engine where TimescaleDB seems to be, with policies that run by the time it is now."""
    with stub(stub_home, SystemClock(), "timescale") as open_one:
        yield open_one()


def test_the_servers_own_policies_compress_and_drop(licensed: PostgresEngine) -> None:
    now = DELTAS.chunk_of(int(SystemClock().epoch() * 1_000_000))
    licensed.prepare(DELTAS)
    licensed.append(DELTAS, [delta(now - days * DAY) for days in (9, 2, 0)])

    done = licensed.upkeep(DELTAS)

    assert done == Upkeep()
    assert [(chunk.start, chunk.state) for chunk in licensed.status(DELTAS).chunks] == [
        (now - 2 * DAY, "compressed"),
        (now, "open"),
    ]


def test_a_late_row_reaches_a_compressed_chunk(licensed: PostgresEngine) -> None:
    now = DELTAS.chunk_of(int(SystemClock().epoch() * 1_000_000))
    old = delta(now - 2 * DAY)
    licensed.prepare(DELTAS)
    licensed.append(DELTAS, [old])
    licensed.upkeep(DELTAS)

    added = licensed.append(DELTAS, [old, delta(now - 2 * DAY + 1)])

    assert added == 1
    assert [*licensed.read(EVERYTHING)] == [old, delta(now - 2 * DAY + 1)]
