"""Rows are added once, whoever adds them, however often and in whichever order."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, Ticker
from grandstand.apps.gatherer.store import DELTAS, GAPS, SNAPSHOTS, TICKERS, TRADES, GapRecord
from grandstand.storage.series.declaration import Int32, Series, SeriesFault
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.queries import DirectCopy
from grandstand.storage.series.query import Window
from tests.storage.series.engines.postgres.rows import (
    DAY,
    HOUR,
    NOW,
    brute_force,
    delta,
    deltas,
    identity,
    snapshot,
    trade,
)

EVERYTHING = Window(DELTAS, -(2**63), 2**63)


@pytest.mark.parametrize(
    ("series", "row"),
    [
        (TRADES, trade(1)),
        (DELTAS, delta(size=-(2**62))),
        (SNAPSHOTS, snapshot()),
        (TICKERS, Ticker(NOW, NOW + 1, "KX-é", yes_bid=0, volume=2**62)),
        (GAPS, GapRecord(NOW, "g1", 1, 2, 3, resolved=True, resolved_at=NOW + 9)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_row_of_every_series_comes_back_as_it_was(
    engine: PostgresEngine, series: Series[Any], row: tuple[Any, ...]
) -> None:
    engine.prepare(series)

    added = engine.append(series, [row])

    assert added == 1
    assert [*engine.read(Window(series, NOW, NOW + 1))] == [row]


def test_only_new_rows_are_counted_and_the_first_of_repeats_is_kept(
    engine: PostgresEngine,
) -> None:
    engine.prepare(DELTAS)
    first, later = delta(), delta()._replace(received_at=NOW + 99)

    counts = [engine.append(DELTAS, rows) for rows in ([first, later], [later], [delta(ord=1)])]

    assert counts == [1, 0, 1]
    assert [*engine.read(EVERYTHING)] == [first, delta(ord=1)]


def test_a_row_that_is_there_sends_batches_round_and_twice_as_many_when_it_is_there_again() -> None:
    way = DirectCopy()

    detours = [_detour(way), _detour(way), _detour(way)]
    way.record_success()
    detours.append(_detour(way))

    assert detours == [16, 32, 64, 16]


def _detour(way: DirectCopy) -> int:
    """How many batches go round once a row was in the way."""
    way.record_duplicate()
    batches = 0
    while not way.enabled:
        way.record_staged()
        batches += 1
    return batches


def test_rows_that_are_there_already_do_not_keep_new_ones_of_their_batch_out(
    engine: PostgresEngine,
) -> None:
    engine.prepare(DELTAS)
    batches = [[delta(ord=n), delta(ord=n + 1), delta(ord=n + 2)] for n in range(0, 40, 2)]

    counts = [engine.append(DELTAS, batch) for batch in batches]

    assert counts == [3, *[2] * 19]
    assert [row.ord for row in engine.read(EVERYTHING)] == [*range(41)]


def test_nothing_is_added_by_no_rows(engine: PostgresEngine) -> None:
    engine.prepare(DELTAS)

    assert engine.append(DELTAS, []) == 0


def test_a_row_that_does_not_fit_keeps_the_whole_batch_out(engine: PostgresEngine) -> None:
    engine.prepare(DELTAS)

    with pytest.raises(SeriesFault, match=r"orderbook_deltas\.price"):
        engine.append(DELTAS, [delta(), delta()._replace(price=2**31)])

    assert [*engine.read(EVERYTHING)] == []


def test_a_document_the_server_cannot_keep_keeps_the_whole_batch_out(
    engine: PostgresEngine,
) -> None:
    engine.prepare(SNAPSHOTS)
    wrong = snapshot(NOW + 1)._replace(yes_bids=r'["\u0000"]')

    with pytest.raises(SeriesFault):
        engine.append(SNAPSHOTS, [snapshot(), wrong])

    assert [*engine.read(Window(SNAPSHOTS, NOW, NOW + DAY))] == []


def test_two_writers_of_the_same_rows_in_opposite_orders_add_each_once(
    another: Callable[[], PostgresEngine],
) -> None:
    rows = [delta(NOW + number * 1_000_000) for number in range(4_000)]
    engines = [another(), another()]
    counts: list[int] = []
    start = threading.Barrier(2)

    def write(engine: PostgresEngine, mine: list[OrderbookDelta]) -> None:
        engine.prepare(DELTAS)
        start.wait()
        counts.extend(engine.append(DELTAS, mine[at : at + 1000]) for at in range(0, 4_000, 1000))

    threads = [
        threading.Thread(target=write, args=(engines[0], rows)),
        threading.Thread(target=write, args=(engines[1], rows[::-1])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(counts) == 4_000
    assert len(counts) == 8
    assert [*engines[0].read(EVERYTHING)] == rows


_examples = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def writers(another: Callable[[], PostgresEngine]) -> tuple[PostgresEngine, PostgresEngine]:
    """Two engines on one series."""
    first, second = another(), another()
    first.prepare(DELTAS)
    return first, second


@_examples
@given(rows=st.lists(deltas, max_size=30), data=st.data())
def test_any_split_order_and_repetition_gives_the_same_rows(
    writers: tuple[PostgresEngine, PostgresEngine],
    look: psycopg.Connection[tuple[object, ...]],
    rows: list[OrderbookDelta],
    data: st.DataObject,
) -> None:
    look.execute("TRUNCATE orderbook_deltas")
    shuffled = data.draw(st.permutations(rows + rows[::2]))
    cut = data.draw(st.integers(0, len(shuffled)))

    added = writers[0].append(DELTAS, shuffled[:cut]) + writers[1].append(DELTAS, shuffled[cut:])

    assert added == len({identity(row) for row in rows})
    assert [*writers[1].read(EVERYTHING)] == brute_force(shuffled, EVERYTHING)


windows = st.builds(
    Window,
    series=st.just(DELTAS),
    start=st.sampled_from([-(2**70), NOW - HOUR, NOW, NOW + HOUR]),
    end=st.sampled_from([NOW - HOUR, NOW, NOW + 600_000_000, 2**63 - 1, 2**70]),
    keys=st.lists(st.sampled_from(["A", "a", "é", "none"]), max_size=3).map(tuple),
    order=st.sampled_from(["oldest", "newest"]),
    limit=st.one_of(st.none(), st.integers(0, 10)),
)


@_examples
@given(rows=st.lists(deltas, max_size=30), requested=st.lists(windows, min_size=1, max_size=5))
def test_every_window_is_what_looking_at_every_row_finds(
    writers: tuple[PostgresEngine, PostgresEngine],
    look: psycopg.Connection[tuple[object, ...]],
    rows: list[OrderbookDelta],
    requested: list[Window[OrderbookDelta]],
) -> None:
    look.execute("TRUNCATE orderbook_deltas")
    engine, _ = writers
    engine.append(DELTAS, rows)

    answers = [[*engine.read(window)] for window in requested]

    assert answers == [brute_force(rows, window) for window in requested]


class Mark(NamedTuple):
    at: int
    place: str
    number: Int32 | None = None


def test_rows_of_the_first_and_last_possible_moment_are_kept(engine: PostgresEngine) -> None:
    series = Series("marks", Mark, "at", ("at", "place"), "place", timedelta(days=1))
    engine.prepare(series)
    rows = [Mark(-(2**63), "x"), Mark(-1, "x"), Mark(2**63 - 1, "x")]

    engine.append(series, rows)

    assert [*engine.read(Window(series, -(2**63), 2**63))] == rows
