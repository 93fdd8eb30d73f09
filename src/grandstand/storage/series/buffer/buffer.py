"""Kept here: the buffer between those who take rows in and the engine that keeps them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from threading import Condition, Lock, Thread
from typing import Any, Final, TypeVar

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError, NotFound
from grandstand.storage.series.buffer.folder import lanes_in, locked
from grandstand.storage.series.buffer.lane import Entry, Lane
from grandstand.storage.series.buffer.records import Record
from grandstand.storage.series.buffer.terms import BufferFull, BufferStatus, Limits, Notice, log
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.rows import Checked

R = TypeVar("R", bound=tuple[Any, ...])

_DEFAULT: Final = Limits()


class Buffer:
    """Rows on their way to an engine: held, sent in batches, kept while the engine fails.

    Any thread may call any method. `take` only touches memory until that is full; then, and when
    the engine has not taken rows for long, they are spilled to files, from which they are sent
    later, also by the next process. Rows may be sent twice, which adds nothing to a series. Nothing
    runs by itself: a job calls `run`, or `turn` again and again.
    """

    def __init__(
        self,
        lanes: Iterable[Lane[Any]],
        connect: Callable[[], SeriesEngine],
        *,
        clock: Clock,
        chance: Random,
        limits: Limits,
        tell: Callable[[Notice], None],
        held: int,
    ) -> None:
        self._lanes = {lane.series: lane for lane in lanes}
        self._connect = connect
        self._clock = clock
        self._chance = chance
        self._limits = limits
        self._tell = tell
        self._held = held
        self._engine: SeriesEngine | None = None
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._sending = Lock()
        self._notices: list[Notice] = []
        self._taken = 0
        self._spill_again = -math.inf
        self._stopped = False
        self._closing = False
        self._closed = False

    @classmethod
    def open(
        cls,
        folder: Path,
        series: Iterable[Series[Any]],
        connect: Callable[[], SeriesEngine],
        *,
        clock: Clock,
        chance: Random,
        limits: Limits = _DEFAULT,
        tell: Callable[[Notice], None] = log,
    ) -> Buffer:
        """Open a buffer for some series that spills to a folder, and find what was spilled there.

        `connect` opens the engine; it is called when there is something to send, again after it
        failed, and what it answers is closed with the buffer. `tell` hears of failures and spills;
        it must not raise. Raises SeriesUnavailable when the folder cannot be used or another
        process has it.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = locked(folder)
        except BlockingIOError as fault:
            message = f"{folder} is used by another buffer: close that, or give another folder"
            raise SeriesUnavailable(message) from fault
        except OSError as fault:
            raise SeriesUnavailable(f"{folder} cannot be used to spill to: {fault}") from fault
        try:
            lanes, notices = lanes_in(folder, series, limits)
        except OSError as fault:
            os.close(held)
            raise SeriesUnavailable(f"{folder} cannot be used to spill to: {fault}") from fault
        for notice in notices:
            tell(notice)
        return cls(lanes, connect, clock=clock, chance=chance, limits=limits, tell=tell, held=held)

    @property
    def durable(self) -> int:
        """How many of the rows taken first, in order, outlive the process.

        What `take` answered is durable once this is no less.
        """
        with self._lock:
            return self._durable()

    def take(self, series: Series[R], rows: Sequence[R]) -> int:
        """Take rows, all or none, and answer how many were taken so far.

        When this returns they are in memory, or already spilled. Raises SeriesFault for a row that
        does not fit, BufferFull when there is no room in memory or on disk, SeriesUnavailable
        after `close`.
        """
        lane = self._lane(series)
        parts = lane.parts(rows, self._limits.batch_rows)
        try:
            with self._lock:
                return self._put(lane, parts)
        finally:
            self._tell_all()

    def take_at_once(self, series: Series[R], rows: Sequence[R]) -> int | None:
        """Take rows as `take` does, but answer None, and take none, if that means to wait."""
        lane = self._lane(series)
        parts = lane.parts(rows, self._limits.batch_rows)
        if not self._lock.acquire(blocking=False):
            return None
        try:
            weight = sum(weight for _, weight in parts)
            if self._weight() + weight > self._limits.memory_bytes or self._old():
                return None
            return self._put(lane, parts)
        finally:
            self._lock.release()

    def turn(self) -> float:
        """Send a batch of each series that has one due; answer in how many seconds the next is."""
        with self._sending:
            for lane in self._lanes.values():
                with self._lock:
                    due = lane.due_in(self._clock.monotonic(), self._limits) == 0
                if due:
                    self._send(lane)
        if self._closed:
            self._part()
            return math.inf
        with self._lock:
            self._spill_old()
            wait = self._wait()
        self._tell_all()
        return wait

    def run(self) -> None:
        """Send what is due, when it is due, until `stop` or `close` is called."""
        while True:
            self.turn()
            with self._changed:
                if self._stopped or self._closing:
                    return
                wait = self._wait()
                if wait > 0:
                    self._changed.wait(None if math.isinf(wait) else wait)

    def stop(self) -> None:
        """Make `run` return after the batch it is at; rows stay where they are."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def flush(self) -> bool:
        """Send everything now, whether due or not; tell whether the engine has all of it."""
        with self._sending:
            for lane in self._lanes.values():
                while (lane.queue or lane.spill) and self._send(lane):
                    pass
        self._tell_all()
        with self._lock:
            return not any(lane.queue or lane.spill for lane in self._lanes.values())

    def settle(self, *, patience_seconds: float = 10.0) -> int:
        """Make all that was taken durable, with the engine or on disk; answer how many rows it was.

        An engine that does not answer is waited for only so long. Raises BufferFull when neither
        is possible; the rows are still held then.
        """
        with self._lock:
            mark = self._taken
        self._send_held(patience_seconds)
        try:
            with self._lock:
                self._spill_held()
        finally:
            self._tell_all()
        return mark

    def status(self) -> BufferStatus:
        """Tell what waits where, and how sending goes."""
        with self._lock:
            now = self._clock.monotonic()
            lanes = tuple(lane.status(now) for lane in self._lanes.values())
            return BufferStatus(self._taken, self._durable(), lanes)

    def close(self, *, patience_seconds: float = 10.0) -> None:
        """Take no more, send what is held, spill what cannot be sent, and let go of everything.

        An engine that does not answer is waited for only so long. Calling twice is harmless.
        Raises BufferFull when rows can neither be sent nor spilled: they are still held, and
        `close` may be called again.
        """
        with self._changed:
            if self._closed:
                return
            self._closing = True
            self._changed.notify_all()
        self._send_held(patience_seconds)
        try:
            with self._changed:
                self._spill_held()
                self._closed = True
        finally:
            self._tell_all()
        for lane in self._lanes.values():
            lane.spill.close()
        os.close(self._held)
        self._part()

    def _put(self, lane: Lane[R], parts: Sequence[tuple[Sequence[R], int]]) -> int:
        if self._closing:
            raise SeriesUnavailable("The buffer is closed and takes no more rows; open it again")
        self._spill_old()
        weight = sum(weight for _, weight in parts)
        self._make_room(weight)
        if self._weight() + weight <= self._limits.memory_bytes:
            now, was_empty = self._clock.monotonic(), not lane.queue
            for rows, own in parts:
                lane.add(Entry(rows, own, self._taken, now))
                self._taken += len(rows)
            if was_empty or lane.rows >= self._limits.batch_rows:
                self._changed.notify_all()
            return self._taken
        batches = [rows for rows, _ in parts]
        count = lane.spill.write(batches, room=self._room())
        self._notices.append(Notice("spilled", lane.series.name, count, "memory is full"))
        self._taken += count
        self._changed.notify_all()
        return self._taken

    def _make_room(self, weight: int) -> None:
        """Spill the heaviest series, one after the other, until that much fits."""
        if self._weight() + weight <= self._limits.memory_bytes:
            return
        for lane in sorted(self._lanes.values(), key=Lane.spillable, reverse=True):
            if self._weight() + weight <= self._limits.memory_bytes:
                return
            self._spill(lane, "memory is full")

    def _spill(self, lane: Lane[Any], why: str, *, everything: bool = False) -> None:
        batches = [*lane.batches(self._limits.batch_rows, everything=everything)]
        if not batches:
            return
        rows = lane.spill.write(batches, room=self._room())
        lane.spilled(everything=everything)
        self._notices.append(Notice("spilled", lane.series.name, rows, why))
        self._changed.notify_all()

    def _spill_old(self) -> None:
        """Spill rows that have been in memory only for too long, if there is room for them."""
        for lane in self._old():
            try:
                self._spill(lane, "not sent for long")
            except BufferFull as fault:
                self._spill_again = self._clock.monotonic() + self._limits.longest_wait_seconds
                self._notices.append(Notice("failed", lane.series.name, lane.rows, str(fault)))
                return

    def _old(self) -> list[Lane[Any]]:
        now = self._clock.monotonic()
        if now < self._spill_again:
            return []
        return [lane for lane in self._lanes.values() if lane.old_in(now, self._limits) == 0]

    def _spill_held(self) -> None:
        for lane in self._lanes.values():
            self._spill(lane, "not sent before the end", everything=True)

    def _send_held(self, patience_seconds: float) -> None:
        """Send what is in memory, as far as the engine takes it in that time."""
        # A call to an engine that stalls cannot be given up from the thread that made it.
        deadline = self._clock.monotonic() + patience_seconds
        sender = Thread(target=self._send_until, args=(deadline,), daemon=True)
        sender.start()
        sender.join(patience_seconds)

    def _send_until(self, deadline: float) -> None:
        with self._sending:
            for lane in self._lanes.values():
                while lane.queue and self._clock.monotonic() < deadline:
                    if not self._send(lane, spilled=False):
                        break
        if self._closed:
            self._part()

    def _send(self, lane: Lane[Any], *, spilled: bool = True) -> bool:
        """Send a batch of a series, spilled ones first; tell whether the engine has it.

        Only whoever holds the turn to send may call this.
        """
        with self._lock:
            if self._closed:
                return False
            place = lane.spill.next() if spilled else None
            sent = [] if place is not None else lane.start(self._limits.batch_rows)
        try:
            record: Record | None = None
            rows: Sequence[Any] = Checked(chain.from_iterable(entry.rows for entry in sent))
            if place is not None:
                record, rows = lane.spill.read(place)
            if rows:
                self._append(lane, rows)
        except GrandstandError as error:
            with self._lock:
                now = self._clock.monotonic()
                self._notices.append(lane.failed(error, now, self._limits, self._chance))
            self._tell_all()
            return False
        else:
            with self._lock:
                self._notices += lane.passed() if rows else ()
                lane.leave(sent)
                # Once closed, the files may be another process's.
                if place is not None and not self._closed:
                    self._notices += lane.spill.done(record)
            self._tell_all()
            return True
        finally:
            with self._lock:
                lane.sending = 0

    def _part(self) -> None:
        """Close the engine, unless a batch is still with it: then whoever sent that will."""
        if self._sending.acquire(blocking=False):
            try:
                engine, self._engine = self._engine, None
                if engine is not None:
                    engine.close()
            finally:
                self._sending.release()

    def _append(self, lane: Lane[R], rows: Sequence[R]) -> None:
        if self._engine is None:
            self._engine = self._connect()
        if not lane.prepared:
            self._engine.prepare(lane.series)
            lane.prepared = True
        self._engine.append(lane.series, rows)

    def _wait(self) -> float:
        now = self._clock.monotonic()
        lanes = self._lanes.values()
        due = [wait for lane in lanes if (wait := lane.due_in(now, self._limits)) is not None]
        old = [wait for lane in lanes if (wait := lane.old_in(now, self._limits)) is not None]
        return min([*due, *(max(wait, self._spill_again - now) for wait in old)], default=math.inf)

    def _durable(self) -> int:
        return min(
            (lane.queue[0].before for lane in self._lanes.values() if lane.queue),
            default=self._taken,
        )

    def _weight(self) -> int:
        return sum(lane.weight for lane in self._lanes.values())

    def _room(self) -> int | None:
        if self._limits.spill_bytes is None:
            return None
        return self._limits.spill_bytes - sum(x.spill.size_bytes for x in self._lanes.values())

    def _lane(self, series: Series[R]) -> Lane[R]:
        lane = self._lanes.get(series)
        if lane is None:
            raise NotFound(f"The buffer was not opened for the series {series.name}")
        return lane

    def _tell_all(self) -> None:
        with self._lock:
            notices, self._notices = self._notices, []
        for notice in notices:
            self._tell(notice)
