"""Maintenance of chunk files (close, compress, merge, drop, repair) and their verification.

Every row is readable at every moment of maintenance, so a crash loses nothing: a new file is moved
into place before an old one is removed, and the next run recognizes what a crash left behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, zip_longest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from grandstand.core.errors import GrandstandError
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.directory import SeriesDirectory, check_schema
from grandstand.storage.series.engines.chunks.query import (
    Batches,
    full_query,
    open_parquet,
    read_chunk,
    read_late_rows,
    rows_not_in_parquet,
    select_rows,
)
from grandstand.storage.series.engines.chunks.sqlite import (
    Layout,
    WriteConnections,
    checkpoint,
    count_rows,
    has_key_index,
    open_reader,
    translate_errors,
)
from grandstand.storage.series.errors import SeriesDamaged
from grandstand.storage.series.query import Upkeep
from grandstand.storage.series.verify import Finding

if TYPE_CHECKING:
    from grandstand.storage.series.engines.chunks.engine import ChunkEngine

_MICROSECOND: Final = timedelta(microseconds=1)
# Rows arrive a little after their time, so a chunk is closed this long after its end.
_GRACE_US: Final = 60_000_000
# Measured: compressing and verifying this many rows takes about five seconds, and writers wait up
# to thirty.
_MAX_ROWS_WHILE_LOCKED: Final = 1_000_000
_RESTORE: Final = "restore it from a backup"
_RUN_UPKEEP: Final = "run `grandstand series upkeep`"


@dataclass(slots=True)
class Maintenance:
    """One maintenance run of one series; only one process runs it at a time."""

    directory: SeriesDirectory
    layout: Layout[Any]
    connections: WriteConnections
    thread_lock: Lock
    closed: int = 0
    compressed: int = 0
    merged: int = 0
    dropped: int = 0
    repaired: list[str] = field(default_factory=list)

    def run(self) -> Upkeep:
        """Do what is due, unless another process is running maintenance."""
        with (
            translate_errors(self.directory.path),
            self.directory.try_maintenance_lock() as locked,
        ):
            if locked:
                check_schema(self.directory, self.layout)
                self._repair()
                self._drop()
                self._close()
                self._compress()
                self._merge()
        return Upkeep(self.closed, self.compressed, self.merged, self.dropped, tuple(self.repaired))

    @contextmanager
    def _write_lock(self) -> Iterator[None]:
        with self.thread_lock, self.directory.write_lock():
            yield

    def _repair(self) -> None:
        with self._write_lock():
            for path in self.directory.leftovers():
                path.unlink(missing_ok=True)
                self.repaired.append(f"{path.name}: left by a crash; removed")
            for start in self.directory.starts():
                parquet = self.directory.parquet(start)
                if parquet.exists() and self.directory.live(start).exists():
                    self.directory.remove(parquet)
                    self.repaired.append(f"{parquet.name}: incomplete; compressed again")

    def _drop(self) -> None:
        retain = self.layout.series.retain
        if retain is None:
            return
        directory = self.directory
        for start in self._chunks_older_than(retain // _MICROSECOND):
            with self._write_lock():
                for path in (
                    directory.live(start),
                    directory.parquet(start),
                    directory.late(start),
                ):
                    self.connections.discard(path)
                    directory.remove(path)
            self.dropped += 1

    def _close(self) -> None:
        for start in self._chunks_older_than(_GRACE_US):
            path = self.directory.live(start)
            if not path.exists():
                continue
            with self._write_lock():
                connection = self.connections.open(path, self.layout.create)
                empty = connection.execute("SELECT 1 FROM series_rows LIMIT 1").fetchone() is None
                is_closed = has_key_index(connection)
                if empty:
                    self.connections.discard(path)
                    self.directory.remove(path)
                    self.repaired.append(f"{path.name}: created but never written; removed")
            if not empty and not is_closed:
                self._create_indexes(start)

    def _create_indexes(self, start: int) -> None:
        # A separate connection, so that appends to other chunks continue.
        separate = WriteConnections(self.connections.durability, None)
        try:
            connection = separate.open(self.directory.live(start), self.layout.create)
            for statement in self.layout.indexes:
                connection.execute(statement)
        finally:
            separate.close()
        self.closed += 1

    def _compress(self) -> None:
        after = self.layout.series.compress_after
        if after is None:
            return
        for start in self._chunks_older_than(max(after // _MICROSECOND, _GRACE_US)):
            if self.directory.live(start).exists() and self._rewrite(start):
                self.compressed += 1

    def _merge(self) -> None:
        for start in self.directory.starts():
            late = self.directory.late(start)
            if not late.exists() or not self.directory.parquet(start).exists():
                continue
            if self._remove_if_merged(start):
                self.repaired.append(f"{late.name}: merged already; removed")
            elif self._rewrite(start):
                self.merged += 1

    def _remove_if_merged(self, start: int) -> bool:
        with self._write_lock():
            batches = read_late_rows(self.directory, self.layout, start, full_query(self.layout))
            for batch in batches:
                if rows_not_in_parquet(self.directory, self.layout, start, batch):
                    return False
            self._remove_sqlite_files(start)
        return True

    def _rewrite(self, start: int) -> bool:
        """Compress all rows of a chunk and replace its files; False to leave it to the next run.

        Appends continue in the meantime. If this chunk received some, it is compressed again while
        they wait, unless it is so large that they would wait long.
        """
        with self._write_lock():
            before = self._count_rows(start)
        if before is None:
            return False
        is_equal = self._write_copy(start)
        with self._write_lock():
            if self._count_rows(start) == before:
                return self._move_into_place(start, is_equal=is_equal)
        if sum(before) > _MAX_ROWS_WHILE_LOCKED:
            self.directory.unfinished(start).unlink()
            return False
        with self._write_lock():
            if self._count_rows(start) is None:
                self.directory.unfinished(start).unlink()
                return False
            return self._move_into_place(start, is_equal=self._write_copy(start))

    def _move_into_place(self, start: int, *, is_equal: bool) -> bool:
        unfinished = self.directory.unfinished(start)
        if not is_equal:
            unfinished.unlink()
            raise SeriesDamaged(
                f"{self.directory.live(start)}: the compressed copy differs; nothing changed"
            )
        unfinished.replace(self.directory.parquet(start))
        self.directory.sync()
        self._remove_sqlite_files(start)
        return True

    def _write_copy(self, start: int) -> bool:
        """Compress a chunk to its unfinished file and return whether the rows are equal."""
        from grandstand.storage.series.engines.chunks.parquet import (
            ParquetChunk,
            file_schema,
            rows_to_table,
            write_parquet,
        )

        query = full_query(self.layout)
        unfinished = self.directory.unfinished(start)
        schema = file_schema(self.layout.columns)
        batches = read_chunk(self.directory, self.layout, start, query)
        write_parquet(unfinished, self.layout, (rows_to_table(schema, batch) for batch in batches))
        rows = chain.from_iterable(read_chunk(self.directory, self.layout, start, query))
        with closing(ParquetChunk(unfinished, self.layout)) as parquet:
            copies = chain.from_iterable(parquet.read_rows(query))
            return all(row == copy for row, copy in zip_longest(rows, copies))

    def _count_rows(self, start: int) -> tuple[int, ...] | None:
        """Count the rows of a chunk's SQLite files; None while a reader blocks a checkpoint.

        Rows are never changed or removed, so equal counts mean equal rows. A process that opens a
        file just before it is removed must find every row in it, none only in the WAL.
        """
        counts = []
        for path in (self.directory.live(start), self.directory.late(start)):
            if path.exists():
                connection = self.connections.open(path, self.layout.create)
                if not checkpoint(connection):
                    return None
                counts.append(count_rows(connection))
        return tuple(counts)

    def _remove_sqlite_files(self, start: int) -> None:
        for path in (self.directory.live(start), self.directory.late(start)):
            self.connections.discard(path)
            self.directory.remove(path)
        self.directory.sync()

    def _chunks_older_than(self, age_us: int) -> list[int]:
        now_us = int(self.directory.clock.epoch() * 1_000_000)
        latest = now_us - age_us - self.layout.series.chunk_us
        return [start for start in self.directory.starts() if start <= latest]


def verify_chunks(
    engine: ChunkEngine, series: Series[Any], on_progress: Callable[[int, int], None]
) -> Iterator[Finding]:
    """Verify every chunk of a series. Maintenance by other processes waits."""
    directory, layout = engine.place(series)
    if not directory.path.exists():
        return
    with translate_errors(directory.path), directory.try_maintenance_lock() as locked:
        if not locked:
            problem = "another process is running maintenance"
            yield Finding(series.name, str(directory.path), problem, "verify again later")
            return
        for path in directory.leftovers():
            yield _minor(series, path, "was left by a crash")
        starts = directory.starts()
        for done, start in enumerate(starts):
            on_progress(done, len(starts))
            yield from _ChunkVerifier(directory, layout, start).findings()
        on_progress(len(starts), len(starts))


class _ChunkVerifier:
    """Verifies the files of one chunk."""

    def __init__(self, directory: SeriesDirectory, layout: Layout[Any], start: int) -> None:
        self._directory = directory
        self._layout = layout
        self._start = start
        self._end = start + layout.series.chunk_us

    def findings(self) -> Iterator[Finding]:
        series, directory, start = self._layout.series, self._directory, self._start
        live, parquet, late = directory.live(start), directory.parquet(start), directory.late(start)
        if live.exists() and parquet.exists():
            yield _minor(series, parquet, "is incomplete; its rows still exist uncompressed")
        for path in (live, late):
            yield from self._guarded(path, self._verify_sqlite)
        yield from self._guarded(parquet, self._verify_parquet)
        if late.exists() and not parquet.exists() and not live.exists():
            yield _serious(series, late, f"exists, but {parquet.name} does not")
        if late.exists() and parquet.exists():
            yield from self._guarded(late, self._late_rows)

    def _guarded(self, path: Path, check: Callable[[Path], Iterator[Finding]]) -> Iterator[Finding]:
        """Yield the findings of a check; an unreadable file is a finding as well."""
        if not path.exists():
            return
        series = self._layout.series
        try:
            with translate_errors(path):
                yield from check(path)
        except GrandstandError as error:
            yield _serious(series, path, f"cannot be read ({error})")

    def _verify_sqlite(self, path: Path) -> Iterator[Finding]:
        series = self._layout.series
        connection = open_reader(path)
        if connection is None:
            return
        with closing(connection):
            messages = [text for (text,) in connection.execute("PRAGMA integrity_check(10)")]
            if messages != ["ok"]:
                yield _serious(series, path, f"is damaged: {'; '.join(messages)}")
                return
            if not connection.execute("PRAGMA table_info(series_rows)").fetchall():
                yield _minor(series, path, "was created but never written")
                return
            expected = count_rows(connection)
            rows = select_rows(connection, self._layout, full_query(self._layout))
            yield from self._verify_rows(path, rows, expected)

    def _verify_parquet(self, path: Path) -> Iterator[Finding]:
        yield from self._verify_footer(path)
        parquet = open_parquet(path, self._layout)
        if parquet is not None:
            with closing(parquet):
                rows = parquet.read_rows(full_query(self._layout))
                yield from self._verify_rows(path, rows, parquet.rows)

    def _verify_footer(self, path: Path) -> Iterator[Finding]:
        """Compare the row groups with their entries in the footer, by which rows are found."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        from grandstand.storage.series.engines.chunks.parquet import (
            FOOTER_KEY,
            RowGroup,
            file_schema,
            translate_arrow_errors,
        )

        series = self._layout.series
        with (
            translate_arrow_errors(path),
            pq.ParquetFile(path, page_checksum_verification=True) as file,
        ):
            if not file.schema_arrow.equals(file_schema(self._layout.columns)):
                yield _serious(series, path, "has other columns than the series declares")
            entries = json.loads((file.metadata.metadata or {}).get(FOOTER_KEY, b"[]"))
            if len(entries) != file.num_row_groups:
                problem = f"the footer lists {len(entries)} of {file.num_row_groups} row groups"
                yield _serious(series, path, problem)
                return
            for number, group in enumerate(map(RowGroup._make, entries)):
                part = file.read_row_group(number)
                times = pc.min_max(part[series.time]).as_py()
                keys = pc.min_max(part[series.key]).as_py()
                actual = (times["min"], times["max"], keys["min"], keys["max"])
                if actual != (group.first, group.last, group.low, group.high):
                    yield _serious(series, path, f"row group {number} differs from the footer")

    def _verify_rows(self, path: Path, batches: Batches, expected: int) -> Iterator[Finding]:
        """Check that the rows of a file are unique, ordered, in the chunk, and complete."""
        series = self._layout.series
        identity = self._layout.identity(self._layout.fields)
        time_only = len(self._layout.order) == 1
        previous: Any = None
        rows = misplaced = disordered = 0
        with closing(batches):
            for batch in batches:
                for row in batch:
                    current = identity(row)
                    time = current if time_only else current[0]
                    misplaced += not self._start <= time < self._end
                    disordered += previous is not None and current <= previous
                    previous = current
                rows += len(batch)
        if rows != expected:
            yield _serious(series, path, f"should have {expected} rows and has {rows}")
        if misplaced:
            yield _serious(series, path, f"has {misplaced} rows of another chunk")
        if disordered:
            yield _serious(series, path, f"has {disordered} rows that are duplicate or unordered")

    def _late_rows(self, path: Path) -> Iterator[Finding]:
        batches = read_late_rows(
            self._directory, self._layout, self._start, full_query(self._layout)
        )
        rows = sum(
            len(rows_not_in_parquet(self._directory, self._layout, self._start, batch))
            for batch in batches
        )
        yield _minor(self._layout.series, path, f"has {rows} late rows that are not merged yet")


def _serious(series: Series[Any], path: Path, problem: str) -> Finding:
    return Finding(series.name, str(path), problem, _RESTORE)


def _minor(series: Series[Any], path: Path, problem: str) -> Finding:
    return Finding(series.name, str(path), problem, _RUN_UPKEEP, serious=False)
