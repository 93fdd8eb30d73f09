"""Appending to chunk files beside bare sqlite3, what a row takes once baked, and growth."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.harness.rows import Limit, Row, Times
from benchmarks.series.stream import HOUR_US, START_US, shifted
from benchmarks.series.turns import quick, rates
from grandstand.apps.gatherer.store import DELTAS, OrderbookDelta
from grandstand.base.clock import ManualClock, SystemClock
from grandstand.storage.series.engines.chunks import ChunkEngine
from grandstand.storage.series.engines.chunks.layout import laid_out

_BATCH = 5_000
_TURNS = 60
_LAYOUT = laid_out(DELTAS)

Batch = Sequence[OrderbookDelta]


class Bare:
    """sqlite3 with nothing around it: the same table and key, and rows ready to be bound."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute(_LAYOUT.create)

    def append(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows in one transaction, passing over those it has."""
        self.connection.execute("BEGIN")
        self.connection.executemany(_LAYOUT.insert, rows)
        self.connection.execute("COMMIT")


def appending(folder: Path, hour: Sequence[OrderbookDelta]) -> list[Row]:
    """Measure appends in batches, then bake what was appended and weigh it."""
    batches = [hour[at : at + _BATCH] for at in range(0, _BATCH * _TURNS, _BATCH)]
    bound = [[*_LAYOUT.stored(batch)[0]] for batch in batches]
    bare = Bare(folder / "bare.db")
    engine = ChunkEngine.open(folder / "appended", clock=SystemClock())
    engine.prepare(DELTAS)
    speed = rates(
        {
            "ours": lambda turn: engine.append(DELTAS, batches[turn]),
            "bare": lambda turn: bare.append(bound[turn]),
        },
        count=_BATCH,
        turns=_TURNS,
    )
    (kept,) = bare.connection.execute("SELECT count(*) FROM kept").fetchone()
    bare.connection.close()
    engine.close()
    assert kept == _BATCH * _TURNS
    return [
        Row(
            measure=f"append, batches of {_BATCH:,}",
            unit="rows/s",
            ours=speed["ours"],
            peers={"bare sqlite3 executemany": speed["bare"]},
            aim=Times(0.6, "bare sqlite3 executemany"),
        ),
        Row("append", "rows/s", speed["ours"], aim=Limit(100_000)),
        _baked_size(folder / "appended", kept),
    ]


def _baked_size(folder: Path, rows: int) -> Row:
    place = folder / DELTAS.name
    before = (place / f"{START_US}.db").stat().st_size
    later = datetime.fromtimestamp(START_US / 1e6, UTC) + timedelta(days=2)
    with closing(ChunkEngine.open(folder, clock=ManualClock(later))) as engine:
        done = engine.upkeep(DELTAS)
        (chunk,) = engine.status(DELTAS).chunks
    assert done.baked == 1
    assert chunk.rows == rows
    return Row(
        measure="a row in a baked chunk",
        unit="bytes",
        ours=(place / f"{START_US}.parquet").stat().st_size / rows,
        peers={"its row store, without index": before / rows},
        aim=Times(5, "its row store, without index"),
        higher_is_better=False,
    )


def growth(folder: Path, hour: Sequence[OrderbookDelta], sizes: Sequence[int]) -> Row:
    """What a row costs when it is appended after so many; half again as much is allowed."""
    costs: dict[int, float] = {}
    recent: list[float] = []
    rows = 0
    with closing(ChunkEngine.open(folder / "growing", clock=SystemClock())) as engine:
        engine.prepare(DELTAS)
        for batch in _hours(hour, sizes[-1]):
            start = time.perf_counter()
            engine.append(DELTAS, batch)
            recent.append((time.perf_counter() - start) / len(batch))
            rows += len(batch)
            if rows in sizes:
                costs[rows] = quick(recent[-20:]) * 1e6
    smallest, largest = sizes[0], sizes[-1]
    return Row(
        measure=f"append a row after {largest:,}",
        unit="µs",
        ours=costs[largest],
        peers={f"after {size:,}": costs[size] for size in sizes[:-1]},
        aim=Times(1 / 1.5, f"after {smallest:,}"),
        higher_is_better=False,
    )


def _hours(hour: Sequence[OrderbookDelta], number: int) -> Iterator[Batch]:
    """The same hour again and again, each time an hour later."""
    for at in range(0, number, _BATCH):
        turn, place = divmod(at, len(hour))
        yield shifted(hour[place : place + _BATCH], turn * HOUR_US)
