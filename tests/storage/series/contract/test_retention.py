"""Whole chunks go once their retention is over, whoever it is that lets them go."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.gatherer.store import DELTAS, TRADES
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from tests.storage.series.contract.builders import BASE, DAY, HOUR, NOW, all_deltas, delta, trade


def test_chunks_past_their_retention_are_gone_after_upkeep(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    old = [delta(-8 * DAY), delta(-6 * DAY), delta(-6 * DAY + HOUR - 1)]
    stored = [delta(-4 * DAY), delta(0), delta(NOW - BASE)]
    engine.append(DELTAS, [*old, *stored])

    engine.upkeep(DELTAS)

    assert [*engine.read(Window(DELTAS, -(2**63), 2**63))] == stored
    assert sum(chunk.rows for chunk in engine.status(DELTAS).chunks) == 3


def test_a_chunk_stays_until_all_of_it_is_past(engine: SeriesEngine) -> None:
    week = replace(DELTAS, chunk=timedelta(days=1), retain=timedelta(days=7))
    engine.prepare(week)
    now = int(SystemClock().epoch() * 1_000_000)
    first = week.chunk_of(now - 7 * DAY)
    rows = [delta(first - BASE - 1), delta(first - BASE), delta(first - BASE + 1)]
    engine.append(week, rows)

    engine.upkeep(week)

    assert [*engine.read(Window(week, -(2**63), 2**63))] == rows[1:]


def test_a_series_without_retention_keeps_the_oldest_row(engine: SeriesEngine) -> None:
    engine.prepare(TRADES)
    ancient = trade(1, -7_000 * DAY)
    engine.append(TRADES, [ancient])

    engine.upkeep(TRADES)

    assert [*engine.read(Window(TRADES, 0, BASE))] == [ancient]


def test_a_row_that_comes_after_its_retention_is_kept_until_the_next_upkeep(
    engine: SeriesEngine,
) -> None:
    engine.prepare(DELTAS)
    late = delta(-9 * DAY)
    engine.append(DELTAS, [late])
    engine.upkeep(DELTAS)

    added = engine.append(DELTAS, [late, delta(0)])
    before = [*engine.read(Window(DELTAS, BASE - 10 * DAY, BASE))]
    engine.upkeep(DELTAS)

    assert (added, before) == (2, [late])
    assert [*engine.read(Window(DELTAS, BASE - 10 * DAY, NOW))] == [delta(0)]


@pytest.mark.parametrize("rounds", [1, 3])
def test_upkeep_over_and_over_changes_nothing_more(engine: SeriesEngine, rounds: int) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(-9 * DAY), delta(0), delta(5)])
    engine.upkeep(DELTAS)

    done = [engine.upkeep(DELTAS) for _ in range(rounds)]

    assert {(one.dropped, one.merged, one.repaired) for one in done} == {(0, 0, ())}
    assert [*engine.read(all_deltas())] == [delta(0), delta(5)]
