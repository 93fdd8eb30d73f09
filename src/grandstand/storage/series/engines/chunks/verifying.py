"""Kept here: whether the files of a series are whole, and hold each row once, in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

from grandstand.base.errors import GrandstandError
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.appending import unknown
from grandstand.storage.series.engines.chunks.asking import answers, everything
from grandstand.storage.series.engines.chunks.connections import count, reading
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout
from grandstand.storage.series.engines.chunks.reading import Batches, late_only, open_baked
from grandstand.storage.series.findings import Finding

R = TypeVar("R", bound=tuple[Any, ...])

_RESTORE: Final = "restore it from a copy"
_UPKEEP: Final = "run `grandstand series upkeep`"


def verify_chunks(
    engine: ChunkEngine, series: Series[Any], tell: Callable[[int, int], None]
) -> Iterator[Finding]:
    """Look at every chunk of a series; upkeep by others waits until this is done."""
    home, layout = engine._place(series)  # noqa: SLF001 - this is a room of the same engine
    if not home.folder.exists():
        return
    with translating(home.folder), home.keeping() as alone:
        if not alone:
            problem = "another process is at upkeep"
            yield Finding(series.name, str(home.folder), problem, "verify again when it is done")
            return
        for path in home.leftovers():
            yield _due(series, path, "was left by a stop in the middle")
        starts = home.starts()
        for done, start in enumerate(starts):
            tell(done, len(starts))
            yield from _Chunk(home, layout, start).findings()
        tell(len(starts), len(starts))


class _Chunk:
    """One chunk while it is looked at."""

    def __init__(self, home: Home, layout: Layout[Any], start: int) -> None:
        self._home = home
        self._layout = layout
        self._start = start
        self._end = start + layout.series.chunk_us

    def findings(self) -> Iterator[Finding]:
        """Answer what is wrong with it."""
        series, home, start = self._layout.series, self._home, self._start
        live, baked, late = home.live(start), home.baked(start), home.late(start)
        if live.exists() and baked.exists():
            yield _due(series, baked, "was not finished, and its rows are still beside it")
        for path in (live, late):
            yield from self._guarded(path, self._rows_file)
        yield from self._guarded(baked, self._baked_file)
        if late.exists() and not baked.exists() and not live.exists():
            yield _grave(series, late, f"is there, but {baked.name} is not")
        if late.exists() and baked.exists():
            yield from self._guarded(late, self._waiting)

    def _guarded(self, path: Path, look: Callable[[Path], Iterator[Finding]]) -> Iterator[Finding]:
        """Answer what a look at a file finds; that it cannot be read is a finding as well."""
        if not path.exists():
            return
        series = self._layout.series
        try:
            with translating(path):
                yield from look(path)
        except GrandstandError as error:
            yield _grave(series, path, f"cannot be read ({error})")

    def _rows_file(self, path: Path) -> Iterator[Finding]:
        series = self._layout.series
        connection = reading(path)
        if connection is None:
            return
        with closing(connection):
            said = [text for (text,) in connection.execute("PRAGMA integrity_check(10)")]
            if said != ["ok"]:
                yield _grave(series, path, f"is damaged: {'; '.join(said)}")
                return
            if not connection.execute("PRAGMA table_info(kept)").fetchall():
                yield _due(series, path, "was made but never written")
                return
            wanted = count(connection)
            yield from self._rows(
                path, answers(connection, self._layout, everything(self._layout)), wanted
            )

    def _baked_file(self, path: Path) -> Iterator[Finding]:
        yield from self._footer(path)
        baked = open_baked(path, self._layout)
        if baked is not None:
            with closing(baked):
                yield from self._rows(path, baked.answers(everything(self._layout)), baked.rows)

    def _footer(self, path: Path) -> Iterator[Finding]:
        """Compare what the footer says of each row group, by which rows are found, with them."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        from grandstand.storage.series.engines.chunks.arrow import file_schema, translating_columns
        from grandstand.storage.series.engines.chunks.baking import FOOTER, Group

        series = self._layout.series
        with (
            translating_columns(path),
            pq.ParquetFile(path, page_checksum_verification=True) as file,
        ):
            if not file.schema_arrow.equals(file_schema(self._layout.columns)):
                yield _grave(series, path, "has other columns than its series declares")
            told = json.loads((file.metadata.metadata or {}).get(FOOTER, b"[]"))
            if len(told) != file.num_row_groups:
                problem = f"names {len(told)} of {file.num_row_groups} row groups"
                yield _grave(series, path, problem)
                return
            for number, group in enumerate(map(Group._make, told)):
                part = file.read_row_group(number)
                times = pc.min_max(part[series.time]).as_py()
                keys = pc.min_max(part[series.key]).as_py()
                found = (times["min"], times["max"], keys["min"], keys["max"])
                if found != (group.first, group.last, group.low, group.high):
                    yield _grave(series, path, f"row group {number} holds other rows than it says")

    def _rows(self, path: Path, batches: Batches, wanted: int) -> Iterator[Finding]:
        """Read all rows of a file: each later than the one before, in the chunk, and as many."""
        series = self._layout.series
        identity = self._layout.identity(self._layout.fields)
        single = len(self._layout.order) == 1
        before: Any = None
        rows = misplaced = disordered = 0
        with closing(batches):
            for batch in batches:
                for row in batch:
                    now = identity(row)
                    time = now if single else now[0]
                    misplaced += not self._start <= time < self._end
                    disordered += before is not None and now <= before
                    before = now
                rows += len(batch)
        if rows != wanted:
            yield _grave(series, path, f"says {wanted} rows and holds {rows}")
        if misplaced:
            yield _grave(series, path, f"holds {misplaced} rows of another time")
        if disordered:
            yield _grave(series, path, f"holds {disordered} rows twice or out of order")

    def _waiting(self, path: Path) -> Iterator[Finding]:
        late = late_only(self._home, self._layout, self._start, everything(self._layout))
        rows = sum(len(unknown(self._home, self._layout, self._start, batch)) for batch in late)
        yield _due(self._layout.series, path, f"holds {rows} late rows that wait to be merged")


def _grave(series: Series[Any], path: Path, problem: str) -> Finding:
    return Finding(series.name, str(path), problem, _RESTORE)


def _due(series: Series[Any], path: Path, problem: str) -> Finding:
    return Finding(series.name, str(path), problem, _UPKEEP, grave=False)
