"""Rows for the tests of the buffer, and an engine that fails when it is told to."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from grandstand.apps.gatherer.domain.rows import OrderbookSnapshot, Trade
from grandstand.apps.gatherer.store import SNAPSHOTS, TRADES
from grandstand.core.clock import Clock, ManualClock, SystemClock
from grandstand.storage.series.buffer import Buffer, Limits
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.errors import BufferFull, SeriesUnavailable
from grandstand.storage.series.query import Window
from grandstand.storage.series.spill_log import BufferEvent

NOW = 1_767_225_600_000_000
SERIES: tuple[Series[Any], ...] = (TRADES, SNAPSHOTS)
SMALL = Limits(batch_rows=10, age_seconds=1.0, memory_bytes=20_000, spill_after_seconds=60.0)


def trade(number: int) -> Trade:
    """Make a trade whose identifier is that number."""
    return Trade(UUID(int=number), NOW + number, NOW, f"T{number % 3}", 5, number, taker_side=True)


def trades(start: int, end: int) -> list[Trade]:
    """Make the trades of some numbers."""
    return [trade(number) for number in range(start, end)]


def snapshot(number: int) -> OrderbookSnapshot:
    """Make a snapshot so many microseconds after the start."""
    levels = f"[[{number}, 100]]"
    return OrderbookSnapshot(NOW + number, None, "é", "ws", levels, "[]", "[]", "[]", spread=3)


class FailingEngine(ChunkEngine):
    """The real embedded engine, which can be made to fail before or after it has kept rows."""

    fails: str = ""
    appended: int = 0

    def append(self, series: Series[Any], rows: Sequence[Any]) -> int:
        if self.fails == "before":
            raise SeriesUnavailable("made to fail before")
        added = super().append(series, rows)
        self.appended += len(rows)
        if self.fails == "after":
            raise SeriesUnavailable("made to fail after")
        return added


@dataclass
class Stage:
    """A buffer on an engine in a folder, and what it told."""

    folder: Path
    buffer: Buffer
    engine: FailingEngine
    clock: ManualClock
    events: list[BufferEvent] = field(default_factory=list)

    def kinds(self) -> list[str]:
        return [notice.kind for notice in self.events]


@contextmanager
def open_stage(folder: Path, limits: Limits = SMALL) -> Iterator[Stage]:
    """Open a buffer, and close it if the test has not."""
    engine, clock, events = open_failing_engine(folder), ManualClock(), list[BufferEvent]()
    buffer = open_buffer(folder, lambda: engine, limits, clock, events.append)
    try:
        yield Stage(folder, buffer, engine, clock, events)
    finally:
        buffer.close(patience_seconds=5)


def open_buffer(
    folder: Path,
    connect: Callable[[], SeriesEngine],
    limits: Limits = SMALL,
    clock: Clock | None = None,
    tell: Callable[[BufferEvent], None] = lambda _: None,
) -> Buffer:
    """Open a buffer that spills to the folder `spill`."""
    clock = clock or SystemClock()
    return Buffer.open(
        folder / "spill",
        SERIES,
        connect,
        clock=clock,
        chance=Random(1),
        limits=limits,
        on_event=tell,
    )


def open_failing_engine(folder: Path) -> FailingEngine:
    """Open the engine on the folder `series`."""
    engine = FailingEngine.open(folder / "series", clock=SystemClock())
    assert isinstance(engine, FailingEngine)
    return engine


def stored_rows(folder: Path, series: Series[Any] = TRADES) -> list[Any]:
    """Return what the engine on the folder `series` has."""
    with closing(ChunkEngine.open(folder / "series", clock=SystemClock())) as engine:
        return [*engine.read(Window(series, 0, 2**62))]


def fill_buffer(buffer: Buffer) -> tuple[int, str]:
    """Let a buffer take trades until it refuses; answer how many it took, and what it said."""
    for number in range(0, 5_000, 5):
        try:
            buffer.take(TRADES, trades(number, number + 5))
        except BufferFull as refused:
            return number, str(refused)
    raise AssertionError("It took everything.")


def same_rows(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Return whether these are the same rows, each as often, in whatever order."""
    return Counter(found) == Counter(expected)
