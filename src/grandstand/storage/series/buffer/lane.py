"""Kept here: the rows of one series in a buffer: those in memory, those spilled, and the tries."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from random import Random
from typing import Any, Final, Generic, TypeVar

from grandstand.base.errors import GrandstandError
from grandstand.storage.series.buffer.spill import Spill
from grandstand.storage.series.buffer.terms import LaneStatus, Limits, Notice
from grandstand.storage.series.declaration import Column, Kind, Series
from grandstand.storage.series.rows import Shape, made_plain

R = TypeVar("R", bound=tuple[Any, ...])

# What CPython takes, rounded up: a tuple of so many places, an entry, and values by their kind.
_TUPLE_BYTES: Final = 64
_ENTRY_BYTES: Final = 256
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
class Entry(Generic[R]):
    """Rows taken at once: what they weigh, how many were taken before them, and when."""

    rows: Sequence[R]
    weight: int
    before: int
    at: float


@dataclass(slots=True)
class Lane(Generic[R]):
    """One series on its way; only whoever holds the buffer's lock may look at it or change it.

    The first `sending` entries are with the engine at the moment.
    """

    series: Series[R]
    columns: tuple[Column, ...]
    shape: Shape
    spill: Spill[R]
    queue: deque[Entry[R]] = field(default_factory=deque)
    sending: int = 0
    rows: int = 0
    weight: int = 0
    prepared: bool = False
    failures: int = 0
    last_error: str | None = None
    next_try: float = 0.0

    def parts(self, rows: Sequence[R], most: int) -> list[tuple[Sequence[R], int]]:
        """Cut rows into batches and weigh them; raise SeriesFault when one does not fit.

        They are held as plain tuples, which Python's garbage collector soon passes over.
        """
        held: Any = made_plain(self.series.name, self.columns, self.shape, rows)
        parts = [held[at : at + most] for at in range(0, len(held), most)]
        return [(part, _ENTRY_BYTES + _weight(self.columns, part)) for part in parts]

    def add(self, entry: Entry[R]) -> None:
        """Hold rows in memory."""
        self.queue.append(entry)
        self.rows += len(entry.rows)
        self.weight += entry.weight

    def start(self, most: int) -> list[Entry[R]]:
        """Answer the oldest entries that make up a batch; they are with the engine from now on."""
        chosen: list[Entry[R]] = []
        rows = 0
        for entry in self.queue:
            rows += len(entry.rows)
            if chosen and rows > most:
                break
            chosen.append(entry)
        self.sending = len(chosen)
        return chosen

    def leave(self, sent: Sequence[Entry[R]]) -> None:
        """Let go of entries the engine has, where they were not spilled meanwhile."""
        for entry in sent:
            if self.queue and self.queue[0] is entry:
                self._forget(self.queue.popleft())

    def spillable(self) -> int:
        """Answer what the entries weigh that are not with the engine."""
        return self.weight - sum(entry.weight for entry in islice(self.queue, self.sending))

    def batches(self, most: int, *, everything: bool = False) -> Iterator[list[R]]:
        """Answer the rows to be spilled, in batches."""
        batch: list[R] = []
        for entry in islice(self.queue, 0 if everything else self.sending, None):
            if batch and len(batch) + len(entry.rows) > most:
                yield batch
                batch = []
            batch += entry.rows
        if batch:
            yield batch

    def spilled(self, *, everything: bool = False) -> None:
        """Let go of the entries that are spilled."""
        self.sending = 0 if everything else self.sending
        while len(self.queue) > self.sending:
            self._forget(self.queue.pop())

    def due_in(self, now: float, limits: Limits) -> float | None:
        """Answer in how many seconds something is to be sent; None when nothing waits."""
        if self.spill or self.rows >= limits.batch_rows:
            wait = 0.0
        elif self.queue:
            wait = self.queue[0].at + limits.age_seconds - now
        else:
            return None
        return max(0.0, wait, self.next_try - now)

    def old_in(self, now: float, limits: Limits) -> float | None:
        """Answer in how many seconds rows have waited too long for memory; None when none wait."""
        if len(self.queue) <= self.sending:
            return None
        return max(0.0, self.queue[self.sending].at + limits.spill_after_seconds - now)

    def failed(self, error: GrandstandError, now: float, limits: Limits, chance: Random) -> Notice:
        """Remember a failure and when to try again."""
        longest = limits.longest_wait_seconds
        wait = min(longest, limits.first_wait_seconds * 2 ** min(self.failures, 32))
        wait *= 1 - chance.random() / 2
        self.failures += 1
        self.last_error = f"{type(error).__name__}: {error}"
        self.next_try = now + wait
        self.prepared = False
        waiting = self.rows + self.spill.rows
        return Notice("failed", self.series.name, waiting, self.last_error, wait)

    def passed(self) -> list[Notice]:
        """Remember that sending works."""
        failures, self.failures, self.last_error, self.next_try = self.failures, 0, None, 0.0
        if not failures:
            return []
        return [Notice("recovered", self.series.name, 0, f"after {failures} failures")]

    def status(self, now: float) -> LaneStatus:
        """Tell how it stands."""
        return LaneStatus(
            series=self.series.name,
            waiting_rows=self.rows,
            waiting_bytes=self.weight,
            spilled_rows=self.spill.rows,
            spilled_bytes=self.spill.size_bytes,
            failures=self.failures,
            last_error=self.last_error,
            next_try_seconds=max(0.0, self.next_try - now) if self.failures else None,
        )

    def _forget(self, entry: Entry[R]) -> None:
        self.rows -= len(entry.rows)
        self.weight -= entry.weight


def _weight(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> int:
    fixed = _TUPLE_BYTES + sum(8 + _VALUE_BYTES[column.kind] for column in columns)
    texts = sum(
        _text_bytes(column, [*map(itemgetter(at), rows)])
        for at, column in enumerate(columns)
        if column.kind in ("text", "json")
    )
    return fixed * len(rows) + texts


def _text_bytes(column: Column, values: list[str | None]) -> int:
    """Answer what texts take; where few are told again and again, as if all were the longest."""
    if column.kind == "json":
        return sum(map(sys.getsizeof, values))
    return max(map(sys.getsizeof, {*values})) * len(values)
