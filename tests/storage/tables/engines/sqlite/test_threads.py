"""Several threads and several engines on one store."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import StoreUnavailable
from grandstand.storage.tables.expressions.nodes import Compare, Literal, UpdateNode
from grandstand.storage.tables.requests import (
    CheckItem,
    GetItem,
    PutItem,
    ScanRequest,
    Transaction,
    UpdateItem,
)
from tests.storage.tables.engines.sqlite.plays import KEY, PLAYS, find, path, play, put

ADD_ONE = UpdateItem("plays", KEY, UpdateNode(adds=((path("n"), Literal(1)),)))


@pytest.fixture
def plays(engine: SqliteEngine) -> SqliteEngine:
    """The engine, on a file or in memory, with the table of plays."""
    engine.create_table(PLAYS)
    return engine


def together(work: Callable[[int], object], threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))


def test_counts_of_many_threads_add_up(plays: SqliteEngine) -> None:
    def count(_: int) -> None:
        for _ in range(50):
            plays.update(ADD_ONE)

    together(count, 6)

    assert find(plays, play(1)) == play(1, n=300)


def test_a_transaction_is_seen_whole_or_not_at_all(plays: SqliteEngine) -> None:
    keys = [GetItem("plays", {"game": "g1", "play": f"p{n:04d}"}) for n in (1, 2)]
    put(plays, play(1, n=0), play(2, n=0))
    seen: list[bool] = []

    def write() -> None:
        for n in range(100):
            both = (PutItem("plays", play(1, n=n)), PutItem("plays", play(2, n=n)))
            plays.transact_write(Transaction(both))

    def read() -> None:
        for _ in range(100):
            one, two = (found.item or {} for found in plays.transact_get(keys))
            seen.append(one["n"] == two["n"])

    together(lambda thread: (write, read)[thread % 2](), 4)

    assert len(seen) == 200
    assert all(seen)


def test_the_connection_of_a_thread_that_ended_is_let_go(on_file: SqliteEngine) -> None:
    on_file.create_table(PLAYS)
    before = len(on_file._contexts)  # noqa: SLF001 - what is let go cannot be seen from outside

    for n in range(5):
        thread = threading.Thread(target=put, args=(on_file, play(n)))
        thread.start()
        thread.join()

    assert len(on_file._contexts) == before  # noqa: SLF001 - as above
    assert on_file.scan(ScanRequest("plays")).scanned == 5


def test_two_engines_on_one_file_wait_for_each_other(
    on_file: SqliteEngine, tmp_path: Path, clock: ManualClock
) -> None:
    on_file.create_table(PLAYS)
    other = SqliteEngine.open(tmp_path / "tables.db", clock=clock)

    def count(thread: int) -> None:
        engine = (on_file, other)[thread % 2]
        for _ in range(100):
            engine.update(ADD_ONE)

    together(count, 4)

    assert find(on_file, play(1)) == play(1, n=400)
    other.close()


def test_a_lock_that_is_never_let_go_is_told_and_reads_go_on(
    on_file: SqliteEngine, tmp_path: Path, clock: ManualClock
) -> None:
    on_file.create_table(PLAYS)
    put(on_file, play(1))
    holder = sqlite3.connect(tmp_path / "tables.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    hasty = SqliteEngine.open(tmp_path / "tables.db", clock=clock, busy_timeout_seconds=0.05)

    with pytest.raises(StoreUnavailable, match="is locked by another process"):
        put(hasty, play(2))
    found = find(hasty, play(1))
    holder.close()
    put(hasty, play(2))

    assert found == play(1)
    assert find(hasty, play(2)) == play(2)
    hasty.close()


def test_waiting_for_a_lock_does_not_move_the_clock(
    on_file: SqliteEngine, tmp_path: Path, clock: ManualClock
) -> None:
    on_file.create_table(PLAYS)
    holder = sqlite3.connect(tmp_path / "tables.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    letting_go = threading.Timer(0.05, holder.close)
    letting_go.start()

    put(on_file, play(1))

    letting_go.join()
    assert clock.elapsed == 0
    assert find(on_file, play(1)) == play(1)


def test_a_check_within_a_transaction_holds_until_it_is_done(plays: SqliteEngine) -> None:
    put(plays, play(1, n=60))
    enough = Compare(">", path("n"), Literal(0))
    take_one = UpdateNode(adds=((path("n"), Literal(-1)),))

    def spend(thread: int) -> None:
        for n in range(10):
            plays.transact_write(
                Transaction(
                    (
                        UpdateItem("plays", KEY, take_one, condition=enough),
                        PutItem("plays", play(100 + 10 * thread + n)),
                        CheckItem(
                            "plays", {**KEY, "play": "none"}, Compare("<>", path("n"), Literal(1))
                        ),
                    )
                )
            )

    together(spend, 6)

    assert find(plays, play(1)) == play(1, n=0)
    assert plays.scan(ScanRequest("plays")).scanned == 61
