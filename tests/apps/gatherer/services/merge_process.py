"""A process that merges and is killed while it writes: merge_process.py FOLDER APPENDS."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from grandstand.apps.gatherer.services.deduplicator import Merger
from grandstand.apps.gatherer.services.merge_sources import MergeConfig, MergeSource
from grandstand.apps.gatherer.store import TABLES
from grandstand.core.clock import ManualClock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.sqlite import WriteConnections
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.gatherer.services.recorded_rows import SECOND, START

R = TypeVar("R", bound=tuple[Any, ...])


class DeadlyEngine(ChunkEngine):
    """Kills its user after the n-th append, before anybody can note that it was made."""

    left = sys.maxsize

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        added = super().append(series, rows)
        self.left -= bool(rows)
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return added


def merge(folder: Path, appends: int = sys.maxsize) -> None:
    """Merge the gatherers of a folder for one round, or die in it."""
    clock = ManualClock(datetime.fromtimestamp(START // SECOND, UTC) + timedelta(hours=1))
    with (
        closing(
            DeadlyEngine(folder / "merged", clock, WriteConnections("process", None))
        ) as merged,
        closing(ChunkEngine.open(folder / "east", clock=clock)) as east,
        closing(ChunkEngine.open(folder / "west", clock=clock)) as west,
        Store(
            SqliteEngine.open(folder / "tables.db", clock=clock), naming=Naming(), clock=clock
        ) as tables,
    ):
        tables.create(TABLES)
        (folder / "merged").mkdir(exist_ok=True)
        sources = [MergeSource("east", east), MergeSource("west", west)]
        merger = Merger(sources, merged, tables, clock=clock, config=MergeConfig(batch_rows=40))
        merger.prepare()
        merged.left = appends
        merger.run_round()


if __name__ == "__main__":
    merge(Path(sys.argv[1]), int(sys.argv[2]))
