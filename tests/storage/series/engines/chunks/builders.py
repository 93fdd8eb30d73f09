"""A series of small rows for the tests of the embedded engine, and its place on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from grandstand.core.clock import ManualClock
from grandstand.storage.series.declaration import Int32, Series
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR


class Tick(NamedTuple):
    at: int
    who: str
    price: Int32
    up: bool
    size: int | None


TICKS = Series(
    name="ticks",
    row=Tick,
    time="at",
    identity=("at", "who", "price"),
    key="who",
    chunk=timedelta(hours=1),
    compress_after=timedelta(hours=6),
    retain=timedelta(days=7),
)
EVERY = Window(TICKS, 0, 2**62)


def tick(at: int, who: str = "a", price: int = 1) -> Tick:
    """Make a row; what is not identity follows from what is."""
    return Tick(at, who, price, at % 2 == 0, None if at % 3 == 0 else at % 11)


def clock_at(moment_us: int) -> ManualClock:
    """Make a clock that stands at a moment."""
    return ManualClock(datetime.fromtimestamp(0, UTC) + timedelta(microseconds=moment_us))


@contextmanager
def opened(folder: Path, moment_us: int = DAY) -> Iterator[ChunkEngine]:
    """Open the engine at a moment, and close it again."""
    engine = ChunkEngine.open(folder, clock=clock_at(moment_us))
    try:
        engine.prepare(TICKS)
        yield engine
    finally:
        engine.close()


def names(folder: Path) -> list[str]:
    """Tell the chunk files there are, without logs and locks."""
    paths = (folder / TICKS.name).iterdir()
    return sorted(path.name for path in paths if path.suffix in {".db", ".parquet"})
