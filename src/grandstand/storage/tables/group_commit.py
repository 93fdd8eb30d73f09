"""Group commit: one thread that writes for an event loop and commits waiting writes together."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, TypeVar

from grandstand.storage.tables.engines.protocol import GroupingEngine
from grandstand.storage.tables.errors import StoreUnavailable

MAX_WAITING_WRITES: Final = 1_000

# A thread that has nothing to write ends, so that a store nobody closed is released.
_IDLE_SECONDS: Final = 30.0

R = TypeVar("R")


@dataclass(slots=True)
class _QueuedWrite:
    call: Callable[[], Any]
    future: asyncio.Future[Any]
    deadline: float
    result: Any = None
    error: BaseException | None = None

    def execute(self) -> None:
        try:
            self.result = self.call()
        except Exception as error:  # noqa: BLE001 - the caller gets it
            self.error = error

    def answer(self) -> None:
        # A caller that was canceled no longer waits.
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupWriter:
    """Runs writes in one thread; those that wait at the same time share one commit.

    Callers are answered after the commit. A write that fails undoes only itself. If the commit
    fails, so does every write of the group. A write whose caller was canceled is still executed.
    """

    def __init__(self, engine: GroupingEngine, wait_seconds: float) -> None:
        self._engine = engine
        self._wait_seconds = wait_seconds
        # None is the request to end.
        self._queue: SimpleQueue[_QueuedWrite | None] = SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = False

    async def run(self, call: Callable[[], R]) -> R:
        """Run a call that writes and return its result once it is committed.

        Raises StoreUnavailable if 1,000 writes are waiting, if other processes are writing for
        too long, or if the commit fails.
        """
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        write = _QueuedWrite(call, future, monotonic() + self._wait_seconds)
        with self._lock:
            if self._closed:
                raise StoreUnavailable("The store is closed.")
            if self._queue.qsize() >= MAX_WAITING_WRITES:
                raise StoreUnavailable(
                    f"{MAX_WAITING_WRITES:,} writes are already waiting. Try again later.",
                    retry_after_seconds=1,
                )
            self._queue.put(write)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="tables-writer", daemon=True)
                self._thread.start()
        return await future

    def close(self) -> None:
        """Execute the waiting writes and end the thread; may be called twice."""
        with self._lock:
            self._closed = True
            thread = self._thread
            if thread is not None:
                self._queue.put(None)
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            try:
                first = self._queue.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._queue.empty():
                        self._thread = None
                        return
                continue
            if first is None:
                return
            group = [first]
            ends = self._write(group)
            _answer(group)
            if ends:
                return

    def _write(self, group: list[_QueuedWrite]) -> bool:
        """Add what is waiting to a group and write it; return whether to end afterwards."""
        ends = False
        try:
            with self._engine.write_group(group[0].deadline - monotonic()):
                ends = self._take_waiting(group)
                for write in group:
                    write.execute()
        except Exception as error:  # noqa: BLE001 - the callers get it
            for write in group:
                write.error = error
        return ends

    def _take_waiting(self, group: list[_QueuedWrite]) -> bool:
        with suppress(Empty):
            while len(group) < MAX_WAITING_WRITES:
                write = self._queue.get_nowait()
                if write is None:
                    return True
                group.append(write)
        return False


def _answer(group: list[_QueuedWrite]) -> None:
    """Resolve the callers' futures, with one call per event loop."""
    by_loop: defaultdict[asyncio.AbstractEventLoop, list[_QueuedWrite]] = defaultdict(list)
    for write in group:
        by_loop[write.future.get_loop()].append(write)
    for loop, writes in by_loop.items():
        # A loop that has been closed has no callers.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_answer_all, writes)


def _answer_all(writes: list[_QueuedWrite]) -> None:
    for write in writes:
        write.answer()
