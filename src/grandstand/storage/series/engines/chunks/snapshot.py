"""Kept here: the files of a series as they are at one moment, held while they are copied."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grandstand.base.clock import Clock
from grandstand.storage.series.engines.chunks.connections import count, reading
from grandstand.storage.series.engines.chunks.declared import DECLARED
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home

_PATIENCE_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class HeldFile:
    """One file of a series, as it was when it was taken hold of; `copy` answers its rows."""

    name: str
    copy: Callable[[Path], int]


@contextmanager
def holding(folder: Path, clock: Clock) -> Iterator[tuple[HeldFile, ...]]:
    """Hold all files of a series, to be copied one by one, as of one moment.

    Every append acknowledged before is in them, and none that came later. Appends go on
    meanwhile; upkeep waits. Raises SeriesUnavailable when an upkeep under way takes too long, or
    another writer does.
    """
    home = Home(folder, clock)
    with ExitStack() as opened:
        with translating(folder):
            opened.enter_context(home.without_upkeep(_PATIENCE_S))
            with home.writing():
                held = _held(home, opened)
        yield held


def _held(home: Home, opened: ExitStack) -> tuple[HeldFile, ...]:
    held = _plain(home.folder / DECLARED)
    for start in home.starts():
        live = home.live(start)
        for path in (live, home.late(start)):
            held += _rows(path, opened)
        # Beside a file that takes rows, a baked one is half done and not counted on.
        if not live.exists():
            held += _baked(home.baked(start))
    return tuple(held)


def _rows(path: Path, opened: ExitStack) -> list[HeldFile]:
    connection = reading(path)
    if connection is None:
        return []
    opened.enter_context(closing(connection))

    def copy(to: Path) -> int:
        with translating(path), closing(sqlite3.connect(to, isolation_level=None)) as target:
            target.execute("PRAGMA journal_mode = OFF").fetchall()
            target.execute("PRAGMA synchronous = OFF").fetchall()
            connection.backup(target)
            return count(connection)

    return [HeldFile(path.name, copy)]


def _baked(path: Path) -> list[HeldFile]:
    def copy(to: Path) -> int:
        import pyarrow.parquet as pq

        from grandstand.storage.series.engines.chunks.arrow import translating_columns

        with translating(path), translating_columns(path):
            shutil.copyfile(path, to)
            return int(pq.read_metadata(to).num_rows)

    return [HeldFile(path.name, copy)] if path.exists() else []


def _plain(path: Path) -> list[HeldFile]:
    def copy(to: Path) -> int:
        with translating(path):
            shutil.copyfile(path, to)
        return 0

    return [HeldFile(path.name, copy)] if path.exists() else []
