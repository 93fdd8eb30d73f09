"""Appends to chunk files compared with sqlite3, size of compressed rows, and cost of growth."""

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
from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.sqlite import build_layout

_BATCH = 5_000
_TURNS = 60
_LAYOUT = build_layout(DELTAS)

Batch = Sequence[OrderbookDelta]


class Bare:
    """Plain sqlite3 with the same table and key, and rows ready to be bound."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute(_LAYOUT.create)

    def append(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows in one transaction; existing rows are skipped."""
        self.connection.execute("BEGIN")
        self.connection.executemany(_LAYOUT.insert, rows)
        self.connection.execute("COMMIT")


def appending(folder: Path, hour: Sequence[OrderbookDelta]) -> list[Row]:
    """Measure appends in batches, and the size of the rows after compression."""
    batches = [hour[at : at + _BATCH] for at in range(0, _BATCH * _TURNS, _BATCH)]
    bound = [[*_LAYOUT.to_stored(batch)] for batch in batches]
    plain = Bare(folder / "bare.db")
    engine = ChunkEngine.open(folder / "appended", clock=SystemClock())
    engine.prepare(DELTAS)
    speed = rates(
        {
            "ours": lambda turn: engine.append(DELTAS, batches[turn]),
            "bare": lambda turn: plain.append(bound[turn]),
        },
        count=_BATCH,
        turns=_TURNS,
    )
    (stored,) = plain.connection.execute("SELECT count(*) FROM series_rows").fetchone()
    plain.connection.close()
    engine.close()
    assert stored == _BATCH * _TURNS
    return [
        Row(
            measure=f"append, batches of {_BATCH:,}",
            unit="rows/s",
            ours=speed["ours"],
            peers={"bare sqlite3 executemany": speed["bare"]},
            aim=Times(0.6, "bare sqlite3 executemany"),
        ),
        Row("append", "rows/s", speed["ours"], aim=Limit(100_000)),
        _compressed_size(folder / "appended", stored),
    ]


def _compressed_size(folder: Path, rows: int) -> Row:
    directory = folder / DELTAS.name
    before = (directory / f"{START_US}.db").stat().st_size
    later = datetime.fromtimestamp(START_US / 1e6, UTC) + timedelta(days=2)
    with closing(ChunkEngine.open(folder, clock=ManualClock(later))) as engine:
        done = engine.upkeep(DELTAS)
        (chunk,) = engine.status(DELTAS).chunks
    assert done.compressed == 1
    assert chunk.rows == rows
    return Row(
        measure="a row in a compressed chunk",
        unit="bytes",
        ours=(directory / f"{START_US}.parquet").stat().st_size / rows,
        peers={"its row store, without index": before / rows},
        aim=Times(5, "its row store, without index"),
        higher_is_better=False,
    )


def growth(folder: Path, hour: Sequence[OrderbookDelta], sizes: Sequence[int]) -> Row:
    """Measure the cost of appending a row to a large series; at most 1.5 times a small one."""
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
    """Yield batches of the same hour, shifted by an hour each time."""
    for at in range(0, number, _BATCH):
        turn, start = divmod(at, len(hour))
        yield shifted(hour[start : start + _BATCH], turn * HOUR_US)
