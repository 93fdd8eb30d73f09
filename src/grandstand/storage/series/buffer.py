"""Write buffer in front of a series engine.

`Buffer.take` puts rows in memory. They are durable, and survive the process, once the engine has
stored them or they are spilled to disk. `durable` tells up to which row; `settle` makes all of them
durable.
"""

from __future__ import annotations

import asyncio
import fcntl
import math
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from random import Random
from threading import Condition, Lock, Thread
from typing import Any, Final, Generic, Self, TypeVar

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, NotFound
from grandstand.core.logging import get_logger
from grandstand.storage.series.declaration import (
    Checked,
    Column,
    Kind,
    Series,
    Shape,
    convert_rows,
    shape_of,
)
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import BufferFull, SeriesUnavailable
from grandstand.storage.series.spill_log import SPILL_SUFFIX, BufferEvent, Record, SpillLog

R = TypeVar("R", bound=tuple[Any, ...])

_WARNINGS: Final = frozenset(("failed", "spilled", "quarantined"))
# Upper estimates of the memory CPython needs for a row tuple, a batch, and a value of each kind.
_TUPLE_BYTES: Final = 64
_BATCH_BYTES: Final = 256
_VALUE_BYTES: Final[dict[Kind, int]] = {
    "int64": 40,
    "int32": 40,
    "int16": 40,
    "bool": 8,
    "uuid": 120,
    "text": 8,
    "json": 8,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a buffer holds, and for how long.

    Attributes:
        batch_rows: rows of a series that are sent at once.
        age_seconds: age at which a smaller batch is sent.
        memory_bytes: upper bound for the rows of all series in memory, besides one batch that was
            read back from disk.
        spill_after_seconds: age at which rows that could not be sent are spilled. It bounds what a
            killed process loses.
        first_wait_seconds: delay after the first failure. It doubles with each further failure,
            minus a random part of up to half.
        longest_wait_seconds: upper bound of that delay.
        spill_bytes: upper bound for spilled rows on disk, or None for all of the disk.
        file_bytes: approximate size of a spill file.
    """

    batch_rows: int = 5_000
    age_seconds: float = 0.2
    memory_bytes: int = 64 * 1024 * 1024
    spill_after_seconds: float = 5.0
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    spill_bytes: int | None = None
    file_bytes: int = 16 * 1024 * 1024


_DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """Rows of one series in memory and on disk, and the state of sending."""

    series: str
    waiting_rows: int
    waiting_bytes: int
    spilled_rows: int
    spilled_bytes: int
    failures: int
    last_error: str | None
    next_try_seconds: float | None


@dataclass(frozen=True, slots=True)
class BufferStatus:
    """State of a buffer. Of the rows `taken` since it was opened, the first `durable` are so."""

    taken: int
    durable: int
    queues: tuple[QueueStatus, ...]

    @property
    def waiting_rows(self) -> int:
        """Rows that are only in memory."""
        return sum(queue.waiting_rows for queue in self.queues)

    @property
    def waiting_bytes(self) -> int:
        """Upper estimate of the memory these rows need."""
        return sum(queue.waiting_bytes for queue in self.queues)

    @property
    def spilled_rows(self) -> int:
        """Rows on disk that are not sent yet."""
        return sum(queue.spilled_rows for queue in self.queues)

    @property
    def spilled_bytes(self) -> int:
        """Size of the spill files."""
        return sum(queue.spilled_bytes for queue in self.queues)


def log_event(event: BufferEvent) -> None:
    """Log a buffer event; the default of `Buffer.open`."""
    logger = get_logger("series")
    log = logger.warning if event.kind in _WARNINGS else logger.info
    log(
        f"buffer_{event.kind}",
        series=event.series,
        rows=event.rows,
        reason=event.reason,
        retry_in_seconds=event.retry_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Batch(Generic[R]):
    """Rows taken together, their size, the number of rows taken before them, and when."""

    rows: Sequence[R]
    size_bytes: int
    rows_before: int
    taken_at: float


@dataclass(slots=True)
class _SeriesQueue(Generic[R]):
    """Buffered rows of one series. Guarded by the buffer's lock.

    The first `sending` batches are being sent to the engine.
    """

    series: Series[R]
    columns: tuple[Column, ...]
    shape: Shape
    spill: SpillLog[R]
    batches: deque[_Batch[R]] = field(default_factory=deque)
    sending: int = 0
    rows: int = 0
    size_bytes: int = 0
    prepared: bool = False
    failures: int = 0
    last_error: str | None = None
    next_try: float = 0.0

    def split(self, rows: Sequence[R], max_rows: int) -> list[tuple[Sequence[R], int]]:
        """Validate rows and split them into batches with their sizes.

        The rows become plain tuples, which the garbage collector stops tracking.

        Raises SeriesFault if a row does not fit the columns.
        """
        converted: Any = convert_rows(self.series.name, self.columns, self.shape, rows)
        parts = [converted[at : at + max_rows] for at in range(0, len(converted), max_rows)]
        return [(part, _BATCH_BYTES + _estimate_bytes(self.columns, part)) for part in parts]

    def add(self, batch: _Batch[R]) -> None:
        self.batches.append(batch)
        self.rows += len(batch.rows)
        self.size_bytes += batch.size_bytes

    def start_sending(self, max_rows: int) -> list[_Batch[R]]:
        """Mark the oldest batches, up to `max_rows` but at least one, as sending; return them."""
        chosen: list[_Batch[R]] = []
        rows = 0
        for batch in self.batches:
            rows += len(batch.rows)
            if chosen and rows > max_rows:
                break
            chosen.append(batch)
        self.sending = len(chosen)
        return chosen

    def remove_sent(self, sent: Sequence[_Batch[R]]) -> None:
        """Remove batches the engine has stored, unless they were spilled in the meantime."""
        for batch in sent:
            if self.batches and self.batches[0] is batch:
                self._subtract(self.batches.popleft())

    def spillable_bytes(self) -> int:
        """Return the size of the batches that are not being sent."""
        sending = islice(self.batches, self.sending)
        return self.size_bytes - sum(batch.size_bytes for batch in sending)

    def rows_to_spill(self, max_rows: int, *, everything: bool = False) -> Iterator[list[R]]:
        """Yield the rows to spill, joined into larger batches."""
        joined: list[R] = []
        for batch in islice(self.batches, 0 if everything else self.sending, None):
            if joined and len(joined) + len(batch.rows) > max_rows:
                yield joined
                joined = []
            joined += batch.rows
        if joined:
            yield joined

    def remove_spilled(self, *, everything: bool = False) -> None:
        self.sending = 0 if everything else self.sending
        while len(self.batches) > self.sending:
            self._subtract(self.batches.pop())

    def seconds_until_due(self, now: float, limits: Limits) -> float | None:
        """Return when the next batch is to be sent; None if there is none."""
        if self.spill or self.rows >= limits.batch_rows:
            wait = 0.0
        elif self.batches:
            wait = self.batches[0].taken_at + limits.age_seconds - now
        else:
            return None
        return max(0.0, wait, self.next_try - now)

    def seconds_until_spill(self, now: float, limits: Limits) -> float | None:
        """Return when rows are to be spilled because of their age; None if there are none."""
        if len(self.batches) <= self.sending:
            return None
        return max(0.0, self.batches[self.sending].taken_at + limits.spill_after_seconds - now)

    def record_failure(
        self, error: GrandstandError, now: float, limits: Limits, chance: Random
    ) -> BufferEvent:
        """Schedule the next try."""
        longest = limits.longest_wait_seconds
        wait = min(longest, limits.first_wait_seconds * 2 ** min(self.failures, 32))
        wait *= 1 - chance.random() / 2
        self.failures += 1
        self.last_error = f"{type(error).__name__}: {error}"
        self.next_try = now + wait
        self.prepared = False
        waiting = self.rows + self.spill.rows
        return BufferEvent("failed", self.series.name, waiting, self.last_error, wait)

    def record_success(self) -> list[BufferEvent]:
        failures, self.failures, self.last_error, self.next_try = self.failures, 0, None, 0.0
        if not failures:
            return []
        return [BufferEvent("recovered", self.series.name, 0, f"after {failures} failures")]

    def status(self, now: float) -> QueueStatus:
        return QueueStatus(
            series=self.series.name,
            waiting_rows=self.rows,
            waiting_bytes=self.size_bytes,
            spilled_rows=self.spill.rows,
            spilled_bytes=self.spill.size_bytes,
            failures=self.failures,
            last_error=self.last_error,
            next_try_seconds=max(0.0, self.next_try - now) if self.failures else None,
        )

    def _subtract(self, batch: _Batch[R]) -> None:
        self.rows -= len(batch.rows)
        self.size_bytes -= batch.size_bytes


def _estimate_bytes(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> int:
    fixed = _TUPLE_BYTES + sum(8 + _VALUE_BYTES[column.kind] for column in columns)
    texts = sum(
        _text_bytes(column, [*map(itemgetter(at), rows)])
        for at, column in enumerate(columns)
        if column.kind in ("text", "json")
    )
    return fixed * len(rows) + texts


def _text_bytes(column: Column, values: list[str | None]) -> int:
    """Return the size of texts; text columns repeat few values, so all count as the longest."""
    if column.kind == "json":
        return sum(map(sys.getsizeof, values))
    return max(map(sys.getsizeof, {*values})) * len(values)


def _lock_directory(directory: Path) -> int:
    """Lock a directory for this process and return the descriptor that holds the lock.

    Closing the descriptor, or the end of the process, releases it.

    Raises OSError if the directory is locked already.
    """
    descriptor = os.open(directory / "buffer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _open_queues(
    directory: Path, series: Iterable[Series[Any]], limits: Limits
) -> tuple[list[_SeriesQueue[Any]], list[BufferEvent]]:
    queues, events = [], []
    for declared in series:
        spill = SpillLog(directory / declared.name, declared, file_bytes=limits.file_bytes)
        events += spill.open()
        queues.append(_SeriesQueue(declared, declared.columns, shape_of(declared.columns), spill))
    names = {queue.series.name for queue in queues}
    for path in sorted(directory.iterdir()):
        if path.is_dir() and path.name not in names and any(path.glob(f"*{SPILL_SUFFIX}")):
            reason = f"{path} contains spilled rows of a series this buffer was not opened for"
            events.append(BufferEvent("quarantined", path.name, 0, reason))
    return queues, events


class Buffer:
    """Collects rows, sends them to an engine in batches, and holds them while the engine fails.

    All methods are thread-safe. `take` only uses memory until that is full. Then, and when rows
    could not be sent for some time, they are spilled to files and sent later, if need be by the
    next process. Rows may be sent twice, which has no effect on a series. The buffer starts no
    thread of its own: a job calls `run`, or `turn` repeatedly.

    Example:
        >>> buffer = Buffer.open(path, [TRADES], connect, clock=clock, chance=Random())
        >>> mark = buffer.take(TRADES, rows)
        >>> buffer.flush()
        True
        >>> buffer.durable >= mark
        True
    """

    def __init__(
        self,
        queues: Iterable[_SeriesQueue[Any]],
        connect: Callable[[], SeriesEngine],
        *,
        clock: Clock,
        chance: Random,
        limits: Limits,
        on_event: Callable[[BufferEvent], None],
        lock_descriptor: int,
    ) -> None:
        self._queues = {queue.series: queue for queue in queues}
        self._connect = connect
        self._clock = clock
        self._chance = chance
        self._limits = limits
        self._on_event = on_event
        self._lock_descriptor = lock_descriptor
        self._engine: SeriesEngine | None = None
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._send_lock = Lock()
        self._events: list[BufferEvent] = []
        self._taken = 0
        self._no_spill_before = -math.inf
        self._stopped = False
        self._closing = False
        self._closed = False

    @classmethod
    def open(
        cls,
        directory: Path,
        series: Iterable[Series[Any]],
        connect: Callable[[], SeriesEngine],
        *,
        clock: Clock,
        chance: Random,
        limits: Limits = _DEFAULT_LIMITS,
        on_event: Callable[[BufferEvent], None] = log_event,
    ) -> Self:
        """Open a buffer for some series, including the rows an earlier process spilled.

        Args:
            directory: where rows are spilled.
            series: the series the buffer accepts.
            connect: opens the engine. Called when there is something to send, and again after a
                failure. The buffer closes the engine.
            clock: the time source.
            chance: the source of the random part of delays.
            limits: how much is held, and for how long.
            on_event: called for failures and spills. It must not raise.

        Raises SeriesUnavailable if the directory cannot be used or another process uses it.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            descriptor = _lock_directory(directory)
        except BlockingIOError as error:
            raise SeriesUnavailable(
                f"{directory} is used by another buffer. Close it, or use another directory."
            ) from error
        except OSError as error:
            raise SeriesUnavailable(
                f"{directory} cannot be used as spill directory: {error}"
            ) from error
        try:
            queues, events = _open_queues(directory, series, limits)
        except OSError as error:
            os.close(descriptor)
            raise SeriesUnavailable(
                f"{directory} cannot be used as spill directory: {error}"
            ) from error
        for event in events:
            on_event(event)
        return cls(
            queues,
            connect,
            clock=clock,
            chance=chance,
            limits=limits,
            on_event=on_event,
            lock_descriptor=descriptor,
        )

    @property
    def durable(self) -> int:
        """How many of the rows taken, counted from the first, survive the end of the process.

        The rows of a `take` are durable once this reaches the number it returned.
        """
        with self._lock:
            return self._durable_rows()

    def take(self, series: Series[R], rows: Sequence[R]) -> int:
        """Accept rows, all or none, and return the number of rows accepted so far.

        The rows are then in memory, or already spilled.

        Raises:
            SeriesFault: if a row does not fit the columns.
            BufferFull: if there is no space in memory or on disk.
            SeriesUnavailable: if the buffer is closed.
        """
        queue = self._queue(series)
        parts = queue.split(rows, self._limits.batch_rows)
        try:
            with self._lock:
                return self._add(queue, parts)
        finally:
            self._publish_events()

    async def take_async(self, series: Series[R], rows: Sequence[R]) -> int:
        """Accept rows like `take` from an event loop; only spilling runs in a thread."""
        queue = self._queue(series)
        parts = queue.split(rows, self._limits.batch_rows)
        if self._lock.acquire(blocking=False):
            try:
                size = self._size_bytes() + sum(size for _, size in parts)
                if size <= self._limits.memory_bytes and not self._overdue_queues():
                    return self._add(queue, parts)
            finally:
                self._lock.release()
        return await asyncio.to_thread(self.take, series, rows)

    def turn(self) -> float:
        """Send one batch of each series that is due; return the seconds until the next is due."""
        with self._send_lock:
            for queue in self._queues.values():
                with self._lock:
                    now = self._clock.monotonic()
                    due = queue.seconds_until_due(now, self._limits) == 0
                if due:
                    self._send(queue)
        if self._closed:
            self._close_engine()
            return math.inf
        with self._lock:
            self._spill_overdue()
            wait = self._seconds_until_next()
        self._publish_events()
        return wait

    def run(self) -> None:
        """Send batches when they are due, until `stop` or `close` is called."""
        while True:
            self.turn()
            with self._changed:
                if self._stopped or self._closing:
                    return
                wait = self._seconds_until_next()
                if wait > 0:
                    self._changed.wait(None if math.isinf(wait) else wait)

    async def run_async(self) -> None:
        """Run `run` in a thread until the buffer is stopped or this is cancelled."""
        try:
            await asyncio.to_thread(self.run)
        finally:
            self.stop()

    def stop(self) -> None:
        """Make `run` return after the current batch; rows stay in the buffer."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def flush(self) -> bool:
        """Send everything now, and return whether the engine has stored all of it."""
        with self._send_lock:
            for queue in self._queues.values():
                while (queue.batches or queue.spill) and self._send(queue):
                    pass
        self._publish_events()
        with self._lock:
            return not any(queue.batches or queue.spill for queue in self._queues.values())

    def settle(self, *, patience_seconds: float = 10.0) -> int:
        """Make all accepted rows durable, in the engine or on disk, and return their number.

        An engine that does not respond is given `patience_seconds`.

        Raises BufferFull if neither is possible; the rows stay in the buffer.
        """
        with self._lock:
            mark = self._taken
        self._send_memory(patience_seconds)
        try:
            with self._lock:
                self._spill_all()
        finally:
            self._publish_events()
        return mark

    def status(self) -> BufferStatus:
        """Return what is in memory and on disk, and the state of sending."""
        with self._lock:
            now = self._clock.monotonic()
            queues = tuple(queue.status(now) for queue in self._queues.values())
            return BufferStatus(self._taken, self._durable_rows(), queues)

    def close(self, *, patience_seconds: float = 10.0) -> None:
        """Accept no more rows, send what is in memory, and spill what cannot be sent. Idempotent.

        An engine that does not respond is given `patience_seconds`.

        Raises BufferFull if rows can neither be sent nor spilled; they stay in the buffer, and
        `close` may be called again.
        """
        with self._changed:
            if self._closed:
                return
            self._closing = True
            self._changed.notify_all()
        self._send_memory(patience_seconds)
        try:
            with self._changed:
                self._spill_all()
                self._closed = True
        finally:
            self._publish_events()
        for queue in self._queues.values():
            queue.spill.close()
        os.close(self._lock_descriptor)
        self._close_engine()

    def _add(self, queue: _SeriesQueue[R], parts: Sequence[tuple[Sequence[R], int]]) -> int:
        if self._closing:
            raise SeriesUnavailable("The buffer is closed. Open it again to add rows.")
        self._spill_overdue()
        size = sum(size for _, size in parts)
        self._free_memory(size)
        if self._size_bytes() + size <= self._limits.memory_bytes:
            now, was_empty = self._clock.monotonic(), not queue.batches
            for rows, part_size in parts:
                queue.add(_Batch(rows, part_size, self._taken, now))
                self._taken += len(rows)
            if was_empty or queue.rows >= self._limits.batch_rows:
                self._changed.notify_all()
            return self._taken
        count = queue.spill.write([rows for rows, _ in parts], space_bytes=self._spill_space())
        self._events.append(BufferEvent("spilled", queue.series.name, count, "memory is full"))
        self._taken += count
        self._changed.notify_all()
        return self._taken

    def _free_memory(self, size: int) -> None:
        """Spill series, the largest first, until `size` more bytes fit."""
        if self._size_bytes() + size <= self._limits.memory_bytes:
            return
        largest_first = sorted(
            self._queues.values(), key=_SeriesQueue.spillable_bytes, reverse=True
        )
        for queue in largest_first:
            if self._size_bytes() + size <= self._limits.memory_bytes:
                return
            self._spill(queue, "memory is full")

    def _spill(self, queue: _SeriesQueue[Any], reason: str, *, everything: bool = False) -> None:
        batches = [*queue.rows_to_spill(self._limits.batch_rows, everything=everything)]
        if not batches:
            return
        rows = queue.spill.write(batches, space_bytes=self._spill_space())
        queue.remove_spilled(everything=everything)
        self._events.append(BufferEvent("spilled", queue.series.name, rows, reason))
        self._changed.notify_all()

    def _spill_overdue(self) -> None:
        """Spill rows that have been only in memory for too long, if the disk has space."""
        for queue in self._overdue_queues():
            try:
                self._spill(queue, "not sent in time")
            except BufferFull as error:
                self._no_spill_before = self._clock.monotonic() + self._limits.longest_wait_seconds
                self._events.append(
                    BufferEvent("failed", queue.series.name, queue.rows, str(error))
                )
                return

    def _overdue_queues(self) -> list[_SeriesQueue[Any]]:
        now = self._clock.monotonic()
        if now < self._no_spill_before:
            return []
        return [
            queue
            for queue in self._queues.values()
            if queue.seconds_until_spill(now, self._limits) == 0
        ]

    def _spill_all(self) -> None:
        for queue in self._queues.values():
            self._spill(queue, "not sent before the end", everything=True)

    def _send_memory(self, patience_seconds: float) -> None:
        """Send what is in memory, as far as the engine accepts it within `patience_seconds`."""
        # A call to an engine that hangs cannot be aborted from the thread that made it.
        deadline = self._clock.monotonic() + patience_seconds
        sender = Thread(target=self._send_until, args=(deadline,), daemon=True)
        sender.start()
        sender.join(patience_seconds)

    def _send_until(self, deadline: float) -> None:
        with self._send_lock:
            for queue in self._queues.values():
                while queue.batches and self._clock.monotonic() < deadline:
                    if not self._send(queue, spilled=False):
                        break
        if self._closed:
            self._close_engine()

    def _send(self, queue: _SeriesQueue[Any], *, spilled: bool = True) -> bool:
        """Send one batch of a series, spilled rows first; return whether the engine stored it.

        Callers hold the send lock.
        """
        with self._lock:
            if self._closed:
                return False
            position = queue.spill.next_position() if spilled else None
            from_memory = position is None
            sent = queue.start_sending(self._limits.batch_rows) if from_memory else []
        try:
            record: Record | None = None
            rows: Sequence[Any] = Checked(chain.from_iterable(batch.rows for batch in sent))
            if position is not None:
                record, rows = queue.spill.read(position)
            if rows:
                self._engine = engine = self._engine or self._connect()
                if not queue.prepared:
                    engine.prepare(queue.series)
                    queue.prepared = True
                engine.append(queue.series, rows)
        except GrandstandError as error:
            with self._lock:
                now = self._clock.monotonic()
                self._events.append(queue.record_failure(error, now, self._limits, self._chance))
            self._publish_events()
            return False
        else:
            with self._lock:
                self._events += queue.record_success() if rows else ()
                queue.remove_sent(sent)
                # Once closed, the files may belong to another process.
                if position is not None and not self._closed:
                    self._events += queue.spill.advance(record)
            self._publish_events()
            return True
        finally:
            with self._lock:
                queue.sending = 0

    def _close_engine(self) -> None:
        """Close the engine, unless a batch is being sent: then the sender closes it."""
        if self._send_lock.acquire(blocking=False):
            try:
                engine, self._engine = self._engine, None
                if engine is not None:
                    engine.close()
            finally:
                self._send_lock.release()

    def _seconds_until_next(self) -> float:
        now = self._clock.monotonic()
        waits = []
        for queue in self._queues.values():
            due = queue.seconds_until_due(now, self._limits)
            if due is not None:
                waits.append(due)
            spill = queue.seconds_until_spill(now, self._limits)
            if spill is not None:
                waits.append(max(spill, self._no_spill_before - now))
        return min(waits, default=math.inf)

    def _durable_rows(self) -> int:
        return min(
            (queue.batches[0].rows_before for queue in self._queues.values() if queue.batches),
            default=self._taken,
        )

    def _size_bytes(self) -> int:
        return sum(queue.size_bytes for queue in self._queues.values())

    def _spill_space(self) -> int | None:
        if self._limits.spill_bytes is None:
            return None
        used = sum(queue.spill.size_bytes for queue in self._queues.values())
        return self._limits.spill_bytes - used

    def _queue(self, series: Series[R]) -> _SeriesQueue[R]:
        queue = self._queues.get(series)
        if queue is None:
            raise NotFound(f"The buffer was not opened for the series {series.name}.")
        return queue

    def _publish_events(self) -> None:
        with self._lock:
            events, self._events = self._events, []
        for event in events:
            self._on_event(event)
