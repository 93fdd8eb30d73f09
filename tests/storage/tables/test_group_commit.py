"""Writes from an event loop: grouped, bounded, and never waited for on the loop."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grandstand.core.clock import SystemClock
from grandstand.kit.problems import describe_error
from grandstand.storage.tables import AsyncStore, Entity, Naming, Store, Table, key
from grandstand.storage.tables.changes import follow
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import (
    ConditionFailed,
    StoreUnavailable,
    TransactionCancelled,
)
from grandstand.storage.tables.group_commit import MAX_WAITING_WRITES
from grandstand.storage.tables.platform_tables import Consumer

pytestmark = pytest.mark.anyio

notes = Table(
    "notes", partition="pk", sort="sk", stream="NEW_AND_OLD_IMAGES", purpose="Notes of a test."
)


class Note(Entity, table=notes):
    """A numbered note; with a stream, so that every put reads before it writes."""

    group: str
    number: int
    text: str = ""

    row = key("GROUP#{group}", "NOTE#{number:06d}")


HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("ROLLBACK")
"""


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the write lock in another process, for some time or until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield
        finally:
            process.kill()


def opened(path: Path | None, wait_seconds: float = 10.0) -> Store:
    engine = SqliteEngine.open(path, clock=SystemClock(), busy_timeout_seconds=wait_seconds)
    store = Store(engine, naming=Naming(), clock=SystemClock())
    store.create([notes, Consumer.__plan__.table])
    return store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tables.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with opened(path) as store:
        yield store


def note(number: int, text: str = "") -> Note:
    return Note(group="a", number=number, text=text)


async def gathered(*calls: Any) -> list[Any]:
    return await asyncio.gather(*calls, return_exceptions=True)


async def test_a_failed_condition_in_a_group_undoes_only_itself(path: Path, store: Store) -> None:
    awaited = AsyncStore(store)
    await awaited(note(0, "first").put())

    with locked(path, 0.2):
        results = await gathered(
            awaited(note(1).put()),
            awaited(note(0, "second").put().if_absent()),
            awaited.all(note(2).put(), note(0, "third").put().if_absent()),
            awaited(note(3).put()),
        )

    assert results[0] == note(1)
    assert isinstance(results[1], ConditionFailed)
    assert isinstance(results[2], TransactionCancelled)
    assert results[3] == note(3)
    assert await awaited(Note.row(group="a")) == [note(0, "first"), note(1), note(3)]
    changes = [c.new for batch in follow(store, Note, name="t").batches() for c in batch.changes]
    assert changes == [note(0, "first"), note(1), note(3)]


def commits(path: Path) -> int:
    """Count the commits in the write-ahead log: a commit's last frame has the database's size."""
    log = path.with_name(f"{path.name}-wal").read_bytes()
    page_size = int.from_bytes(log[8:12], "big")
    frames = (log[at : at + 24] for at in range(32, len(log), 24 + page_size))
    salt = log[16:24]
    return sum(frame[8:16] == salt and any(frame[4:8]) for frame in frames)


async def test_waiting_writes_share_one_commit(path: Path, store: Store) -> None:
    awaited = AsyncStore(store)
    await awaited(note(0).put())
    before = commits(path)

    with locked(path, 0.2):
        await asyncio.gather(*(awaited(note(n).put()) for n in range(1, 41)))

    assert len(store(Note.row(group="a"))) == 41
    assert 1 <= commits(path) - before <= 2


async def test_a_token_repeated_in_one_group_is_executed_once(path: Path, store: Store) -> None:
    awaited = AsyncStore(store)

    with locked(path, 0.2):
        await gathered(*(awaited.all(note(1).put(), token="one") for _ in range(3)))

    changes = [c for batch in follow(store, Note, name="t").batches() for c in batch.changes]
    assert len(changes) == 1


@pytest.mark.parametrize("file", ["tables.db", None])
async def test_a_caller_reads_its_own_write(tmp_path: Path, file: str | None) -> None:
    with opened(tmp_path / file if file else None) as store:
        awaited = AsyncStore(store)

        async def write(number: int) -> None:
            await awaited(note(number).put())
            assert await awaited(Note.get(group="a", number=number)) == note(number)
            page = await awaited.page(Note.row(group="a"), 1)
            assert page.items
            assert note(number) in await awaited(Note.row(group="a"))
            await awaited(Note.delete(group="a", number=number))
            assert await awaited(Note.get(group="a", number=number)) is None

        await asyncio.gather(*map(write, range(50)))


async def test_a_full_queue_refuses_with_retry_after(path: Path, store: Store) -> None:
    awaited = AsyncStore(store)

    with locked(path, 30):
        writes = [asyncio.ensure_future(awaited(note(0).put()))]
        await asyncio.sleep(0.1)
        writes += [
            asyncio.ensure_future(awaited(note(n).put())) for n in range(1, MAX_WAITING_WRITES + 1)
        ]
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match="1,000 writes are already waiting") as refused:
            await awaited(note(9_999).put())

    problem = describe_error(refused.value)
    assert (problem.status, problem.headers) == (503, {"retry-after": "1"})
    await asyncio.gather(*writes)
    assert len(await awaited(Note.row(group="a"))) == MAX_WAITING_WRITES + 1


async def test_the_loop_goes_on_while_another_process_holds_the_lock(
    path: Path, store: Store
) -> None:
    awaited, longest = AsyncStore(store), 0.0
    await awaited(note(0).put())

    with locked(path, 2):
        writing = asyncio.ensure_future(awaited(note(1).put()))
        last = time.monotonic()
        while not writing.done():
            assert await awaited(Note.get(group="a", number=0)) == note(0)
            await asyncio.sleep(0.01)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()

    assert await writing == note(1)
    assert longest < 0.5


async def test_a_write_that_waits_too_long_for_the_lock_fails(path: Path) -> None:
    with opened(path, wait_seconds=0.2) as store:
        awaited = AsyncStore(store)
        with locked(path, 30):
            results = await gathered(*(awaited(note(n).put()) for n in range(3)))
        assert await awaited(note(7).put()) == note(7)

        assert all(isinstance(result, StoreUnavailable) for result in results)
        problem = describe_error(results[0])
        assert (problem.status, problem.headers) == (503, {"retry-after": "1"})
        assert await awaited(Note.row(group="a")) == [note(7)]


async def test_a_canceled_caller_does_not_break_its_group(path: Path, store: Store) -> None:
    awaited = AsyncStore(store)

    with locked(path, 0.3):
        writes = [asyncio.ensure_future(awaited(note(n).put())) for n in range(3)]
        await asyncio.sleep(0.05)
        writes[1].cancel()
        results = await gathered(*writes)

    assert [results[0], results[2]] == [note(0), note(2)]
    assert isinstance(results[1], asyncio.CancelledError)
    assert await awaited(note(3).put()) == note(3)


async def test_closing_executes_the_waiting_writes(path: Path) -> None:
    store = opened(path)
    awaited = AsyncStore(store)

    with locked(path, 0.2):
        writes = [asyncio.ensure_future(awaited(note(n).put())) for n in range(20)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)

    assert await asyncio.gather(*writes) == [note(n) for n in range(20)]
    with pytest.raises(StoreUnavailable, match="closed"):
        await awaited(note(99).put())
    with opened(path) as again:
        assert len(again(Note.row(group="a"))) == 20


class ThreadRecorder:
    """An engine that notes the threads and limits of its queries."""

    def __init__(self, engine: SqliteEngine) -> None:
        self.engine = engine
        self.rows_on: dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def query(self, request: Any) -> Any:
        page, thread = self.engine.query(request), threading.get_ident()
        self.rows_on[thread] = self.rows_on.get(thread, 0) + len(page.items)
        return page

    def batch_get(self, gets: Any) -> Any:
        thread = threading.get_ident()
        self.rows_on[thread] = self.rows_on.get(thread, 0) + len(gets)
        return self.engine.batch_get(gets)


@pytest.mark.parametrize("file", ["tables.db", None])
async def test_long_reads_do_not_run_on_the_loop(tmp_path: Path, file: str | None) -> None:
    with opened(tmp_path / file if file else None) as store:
        store.write_many(note(n, "odd" if n % 2 else "even").put() for n in range(1_700))
        engine = store.session.engine
        assert isinstance(engine, SqliteEngine)
        recorder: Any = ThreadRecorder(engine)
        awaited = AsyncStore(Store(recorder, naming=Naming(), clock=SystemClock()))
        query, here = Note.row(group="a"), threading.get_ident()
        first = await awaited.page(query, 600)
        counts = {
            "each": len([one async for one in awaited.each(query)]),
            "query": len(await awaited(query)),
            "page": len(first.items),
            "rest": len((await awaited.page(query, 2_000, after=first.cursor)).items),
            "filter": len((await awaited.page(query.where(Note.text == "odd"), 400)).items),
            "many": len(await awaited.get_many(Note.get(group="a", number=n) for n in range(900))),
        }

        assert counts == {
            "each": 1_700,
            "query": 1_700,
            "page": 600,
            "rest": 1_100,
            "filter": 400,
            "many": 900,
        }
        assert recorder.rows_on[here] <= 2 * 500 + 250
        assert sum(recorder.rows_on.values()) > 6_000
        recorder.rows_on.clear()
        assert len(await awaited(query.newest(100))) == 100
        assert recorder.rows_on == {here: 100}
