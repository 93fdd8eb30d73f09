"""Kept here: chunks growing old: closed, baked, merged with late rows, dropped; and repairs.

Each step leaves every row readable at every moment, so a stop in the middle loses nothing: a new
file is put in place whole before an old one is removed, and what a stop leaves over is recognised
by the next round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, zip_longest
from threading import Lock
from typing import Any, Final

from grandstand.storage.series.engines.chunks.appending import unknown
from grandstand.storage.series.engines.chunks.asking import everything
from grandstand.storage.series.engines.chunks.connections import (
    Writers,
    all_in_file,
    count,
    is_closed,
)
from grandstand.storage.series.engines.chunks.declared import check
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout
from grandstand.storage.series.engines.chunks.reading import chunk, late_only
from grandstand.storage.series.errors import SeriesDamaged
from grandstand.storage.series.window import Upkeep

_MICROSECOND: Final = timedelta(microseconds=1)
# Rows come a little after their time; a chunk that is over stays without its index that long.
_GRACE_US: Final = 60_000_000
# Measured: about five seconds to bake and verify; writers wait thirty before they give up.
_HELD_ROWS: Final = 1_000_000


@dataclass(slots=True)
class Round:
    """One round of upkeep on one series; only one process is at it at a time."""

    home: Home
    layout: Layout[Any]
    writers: Writers
    turn: Lock
    closed: int = 0
    baked: int = 0
    merged: int = 0
    dropped: int = 0
    repaired: list[str] = field(default_factory=list)

    def run(self) -> Upkeep:
        """Do what is due; do nothing when another is at it."""
        with translating(self.home.folder), self.home.keeping() as alone:
            if alone:
                check(self.home, self.layout)
                self._repair()
                self._drop()
                self._close()
                self._bake()
                self._merge()
        return Upkeep(self.closed, self.baked, self.merged, self.dropped, tuple(self.repaired))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self.turn, self.home.writing():
            yield

    def _repair(self) -> None:
        with self._writing():
            for path in self.home.leftovers():
                path.unlink(missing_ok=True)
                self.repaired.append(f"{path.name}: left by a stop in the middle; removed")
            for start in self.home.starts():
                twin = self.home.baked(start)
                if twin.exists() and self.home.live(start).exists():
                    self.home.remove(twin)
                    self.repaired.append(f"{twin.name}: not finished; baked again from its rows")

    def _drop(self) -> None:
        keep = self.layout.series.retain
        if keep is None:
            return
        for start in self._ended(keep // _MICROSECOND):
            with self._writing():
                for path in (self.home.live(start), self.home.baked(start), self.home.late(start)):
                    self.writers.leave(path)
                    self.home.remove(path)
            self.dropped += 1

    def _close(self) -> None:
        for start in self._ended(_GRACE_US):
            path = self.home.live(start)
            if not path.exists():
                continue
            with self._writing():
                connection = self.writers.to(path, self.layout.create)
                empty = connection.execute("SELECT 1 FROM kept LIMIT 1").fetchone() is None
                done = is_closed(connection)
                if empty:
                    self.writers.leave(path)
                    self.home.remove(path)
                    self.repaired.append(f"{path.name}: made but never written; removed")
            if not empty and not done:
                self._index(start)

    def _index(self, start: int) -> None:
        # A connection of its own, so that appends to other chunks go on meanwhile.
        apart = Writers(self.writers.durability, None)
        try:
            connection = apart.to(self.home.live(start), self.layout.create)
            for statement in self.layout.indexes:
                connection.execute(statement)
        finally:
            apart.close()
        self.closed += 1

    def _bake(self) -> None:
        after = self.layout.series.compress_after
        if after is None:
            return
        for start in self._ended(max(after // _MICROSECOND, _GRACE_US)):
            if self.home.live(start).exists() and self._replaced(start):
                self.baked += 1

    def _merge(self) -> None:
        for start in self.home.starts():
            late = self.home.late(start)
            if not late.exists() or not self.home.baked(start).exists():
                continue
            if self._already_merged(start):
                self.repaired.append(f"{late.name}: merged already; removed")
            elif self._replaced(start):
                self.merged += 1

    def _already_merged(self, start: int) -> bool:
        with self._writing():
            for batch in late_only(self.home, self.layout, start, everything(self.layout)):
                if unknown(self.home, self.layout, start, batch):
                    return False
            self._remove_rows(start)
        return True

    def _replaced(self, start: int) -> bool:
        """Bake all rows of a chunk and put the file in place; False to leave it to the next round.

        Appends go on meanwhile. When some were to this chunk it is baked again while they wait,
        unless it is so large that they would wait long.
        """
        with self._writing():
            before = self._counted(start)
        if before is None:
            return False
        copied = self._copied(start)
        with self._writing():
            if self._counted(start) == before:
                return self._put_in_place(start, copied=copied)
        if sum(before) > _HELD_ROWS:
            self.home.unfinished(start).unlink()
            return False
        with self._writing():
            if self._counted(start) is None:
                self.home.unfinished(start).unlink()
                return False
            return self._put_in_place(start, copied=self._copied(start))

    def _put_in_place(self, start: int, *, copied: bool) -> bool:
        unfinished = self.home.unfinished(start)
        if not copied:
            unfinished.unlink()
            message = f"{self.home.live(start)}: its baked copy differs; nothing was changed"
            raise SeriesDamaged(message)
        unfinished.replace(self.home.baked(start))
        self.home.settle()
        self._remove_rows(start)
        return True

    def _copied(self, start: int) -> bool:
        """Bake a chunk to its unfinished file; tell whether that holds the same, row for row."""
        from grandstand.storage.series.engines.chunks.arrow import as_table, file_schema
        from grandstand.storage.series.engines.chunks.baked import Baked
        from grandstand.storage.series.engines.chunks.baking import bake

        whole = everything(self.layout)
        unfinished = self.home.unfinished(start)
        schema = file_schema(self.layout.columns)
        batches = chunk(self.home, self.layout, start, whole)
        bake(unfinished, self.layout, (as_table(schema, batch) for batch in batches))
        rows = chain.from_iterable(chunk(self.home, self.layout, start, whole))
        with closing(Baked(unfinished, self.layout)) as baked:
            copies = chain.from_iterable(baked.answers(whole))
            return all(row == copy for row, copy in zip_longest(rows, copies))

    def _counted(self, start: int) -> tuple[int, ...] | None:
        """Count the rows of a chunk's SQLite files; None while a reader holds a log back.

        Rows are never changed or removed, so the same count means the same rows. Whoever opens
        a file just before it is removed must find every row in it, none in the log only.
        """
        counts = []
        for path in (self.home.live(start), self.home.late(start)):
            if path.exists():
                connection = self.writers.to(path, self.layout.create)
                if not all_in_file(connection):
                    return None
                counts.append(count(connection))
        return tuple(counts)

    def _remove_rows(self, start: int) -> None:
        for path in (self.home.live(start), self.home.late(start)):
            self.writers.leave(path)
            self.home.remove(path)
        self.home.settle()

    def _ended(self, ago_us: int) -> list[int]:
        """Answer the chunks that ended at least so long ago."""
        latest = int(self.home.clock.epoch() * 1_000_000) - ago_us - self.layout.series.chunk_us
        return [start for start in self.home.starts() if start <= latest]
