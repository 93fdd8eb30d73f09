"""Directory of one series: file names, locks, the stored schema, and snapshots."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from grandstand.core.clock import Clock
from grandstand.storage.series.declaration import missing_columns, raise_series_changed
from grandstand.storage.series.engines.chunks.sqlite import (
    Layout,
    count_rows,
    open_reader,
    translate_errors,
)
from grandstand.storage.series.errors import SeriesDamaged, SeriesUnavailable

SCHEMA_FILE: Final = "schema.json"

_CHUNK_FILE: Final = re.compile(r"(-?[0-9]+)\.(db|late\.db|parquet)")
_SQLITE_SUFFIXES: Final = ("-wal", "-shm")
_WRITE_LOCK_SECONDS: Final = 30.0
_FIRST_POLL_SECONDS: Final = 0.0005
_LONGEST_POLL_SECONDS: Final = 0.01
_MAINTENANCE_POLL_SECONDS: Final = 0.05
_SCHEMA_CHANGE_SECONDS: Final = 30.0
_SNAPSHOT_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class SeriesDirectory:
    """The directory of one series.

    A chunk is `<start>.db` while it accepts rows. Once compressed it is `<start>.parquet`, and
    late rows go to `<start>.late.db` until they are merged. If both a `.db` and a `.parquet` file
    exist, compression was interrupted and the `.db` file has all rows.
    """

    path: Path
    clock: Clock

    def live(self, start: int) -> Path:
        """Return the path of a chunk that accepts rows."""
        return self.path / f"{start}.db"

    def parquet(self, start: int) -> Path:
        """Return the path of a compressed chunk."""
        return self.path / f"{start}.parquet"

    def late(self, start: int) -> Path:
        """Return the path of the late rows of a compressed chunk."""
        return self.path / f"{start}.late.db"

    def unfinished(self, start: int) -> Path:
        """Return the path a chunk is compressed to before it is moved into place."""
        return self.path / f"{start}.parquet.unfinished"

    def starts(self) -> list[int]:
        """Return the start times of all chunks, in order."""
        try:
            names = [path.name for path in self.path.iterdir()]
        except FileNotFoundError:
            return []
        return sorted({int(match[1]) for name in names if (match := _CHUNK_FILE.fullmatch(name))})

    def leftovers(self) -> list[Path]:
        """Return files left by a crash: unfinished Parquet files and WALs without a database."""
        leftovers = []
        for path in sorted(self.path.iterdir()):
            owner = path.with_name(path.name.removesuffix("-wal").removesuffix("-shm"))
            if path.suffix == ".unfinished" or (owner != path and not owner.exists()):
                leftovers.append(path)
        return leftovers

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Hold the lock that serializes writers of all processes.

        Raises SeriesUnavailable if it is not free within 30 seconds.
        """
        with self._open_lock("writing.lock") as descriptor:
            waited, pause = 0.0, _FIRST_POLL_SECONDS
            while not _try_lock(descriptor):
                if waited > _WRITE_LOCK_SECONDS:
                    raise SeriesUnavailable(
                        f"{self.path} is locked by another writer. Try again later."
                    )
                self.clock.sleep(pause)
                waited += pause
                pause = min(2 * pause, _LONGEST_POLL_SECONDS)
            yield

    @contextmanager
    def try_maintenance_lock(self) -> Iterator[bool]:
        """Try to lock maintenance for the block, and yield whether that succeeded."""
        with self._open_lock("upkeep.lock") as descriptor:
            yield _try_lock(descriptor)

    @contextmanager
    def without_maintenance(self, timeout_seconds: float) -> Iterator[None]:
        """Keep other processes from maintenance during the block.

        Raises SeriesUnavailable if a maintenance run takes longer than `timeout_seconds`.
        """
        waited = 0.0
        while waited < timeout_seconds:
            with self.try_maintenance_lock() as locked:
                if locked:
                    yield
                    return
            self.clock.sleep(_MAINTENANCE_POLL_SECONDS)
            waited += _MAINTENANCE_POLL_SECONDS
        raise SeriesUnavailable(f"Maintenance of {self.path} is running. Try again later.")

    @contextmanager
    def _open_lock(self, name: str) -> Iterator[int]:
        # Closing the descriptor, or the end of the process, releases the lock.
        descriptor = os.open(self.path / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def remove(self, path: Path) -> None:
        """Remove a file, if it exists, with its SQLite WAL."""
        path.unlink(missing_ok=True)
        if path.suffix == ".db":
            for suffix in _SQLITE_SUFFIXES:
                path.with_name(path.name + suffix).unlink(missing_ok=True)

    def sync(self) -> None:
        """Flush the directory entries to disk."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def file_size(path: Path) -> int:
    """Return the size of a file and its WAL; 0 if it does not exist."""
    size = 0
    for name in (path.name, f"{path.name}-wal"):
        try:
            size += path.with_name(name).stat().st_size
        except FileNotFoundError:
            continue
    return size


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class StoredSchema(msgspec.Struct, frozen=True):
    """What the files depend on; of each column its type and whether it is nullable."""

    time: str
    key: str
    identity: tuple[str, ...]
    chunk_us: int
    columns: dict[str, tuple[str, bool]]


def write_schema(directory: SeriesDirectory, layout: Layout[Any]) -> None:
    """Write the schema file of a series if it is missing or lacks new columns.

    Adding columns waits for a running maintenance, which would compress new rows without them.

    Raises:
        SeriesChanged: if the stored schema is incompatible.
        SeriesUnavailable: if maintenance takes too long.
    """
    if check_schema(directory, layout):
        return
    if not _schema_path(directory).exists():
        with directory.write_lock():
            _write_schema(directory, layout)
        return
    with directory.without_maintenance(_SCHEMA_CHANGE_SECONDS), directory.write_lock():
        _write_schema(directory, layout)


def check_schema(directory: SeriesDirectory, layout: Layout[Any]) -> bool:
    """Return whether the schema file is up to date; False if it is missing or lacks columns.

    Raises SeriesChanged if the stored schema is incompatible.
    """
    try:
        content = _schema_path(directory).read_bytes()
    except FileNotFoundError:
        return False
    try:
        stored = msgspec.json.decode(content, type=StoredSchema)
    except msgspec.DecodeError as error:
        raise SeriesDamaged(
            f"{_schema_path(directory)} is damaged ({error}). Restore it from a backup."
        ) from error
    declared, series = _schema_of(layout), layout.series
    if (stored.time, stored.key, stored.chunk_us) != (
        declared.time,
        declared.key,
        declared.chunk_us,
    ):
        raise_series_changed(
            series,
            f"it is stored in chunks of {stored.chunk_us} µs by {stored.time} with the key "
            f"{stored.key}",
        )
    return not missing_columns(series, stored.columns, stored.identity)


def _write_schema(directory: SeriesDirectory, layout: Layout[Any]) -> None:
    if check_schema(directory, layout):
        return
    unfinished = directory.path / f"{SCHEMA_FILE}.unfinished"
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(_schema_of(layout))))
    unfinished.replace(_schema_path(directory))
    directory.sync()


def _schema_of(layout: Layout[Any]) -> StoredSchema:
    series = layout.series
    return StoredSchema(
        time=series.time,
        key=series.key,
        identity=series.identity,
        chunk_us=series.chunk_us,
        columns={column.name: (column.kind, column.nullable) for column in layout.columns},
    )


def _schema_path(directory: SeriesDirectory) -> Path:
    return directory.path / SCHEMA_FILE


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One file of a snapshot; `copy` writes it to a path and returns its number of rows."""

    name: str
    copy: Callable[[Path], int]


@contextmanager
def open_snapshot(path: Path, clock: Clock) -> Iterator[tuple[SnapshotFile, ...]]:
    """Yield the files of a series directory as of now, to be copied one by one.

    They contain every append acknowledged before this call, and none made after it. Appends
    continue during the block; maintenance waits.

    Raises SeriesUnavailable if maintenance or another writer takes too long.
    """
    directory = SeriesDirectory(path, clock)
    with ExitStack() as stack:
        with translate_errors(path):
            stack.enter_context(directory.without_maintenance(_SNAPSHOT_SECONDS))
            with directory.write_lock():
                files = _snapshot_files(directory, stack)
        yield files


def _snapshot_files(directory: SeriesDirectory, stack: ExitStack) -> tuple[SnapshotFile, ...]:
    files = _plain_file(directory.path / SCHEMA_FILE)
    for start in directory.starts():
        live = directory.live(start)
        for path in (live, directory.late(start)):
            files += _sqlite_file(path, stack)
        # A Parquet file next to a live file is incomplete.
        if not live.exists():
            files += _parquet_file(directory.parquet(start))
    return tuple(files)


def _sqlite_file(path: Path, stack: ExitStack) -> list[SnapshotFile]:
    connection = open_reader(path)
    if connection is None:
        return []
    stack.enter_context(closing(connection))

    def copy(to: Path) -> int:
        with translate_errors(path), closing(sqlite3.connect(to, isolation_level=None)) as target:
            target.execute("PRAGMA journal_mode = OFF").fetchall()
            target.execute("PRAGMA synchronous = OFF").fetchall()
            connection.backup(target)
            return count_rows(connection)

    return [SnapshotFile(path.name, copy)]


def _parquet_file(path: Path) -> list[SnapshotFile]:
    def copy(to: Path) -> int:
        import pyarrow.parquet as pq

        from grandstand.storage.series.engines.chunks.parquet import translate_arrow_errors

        with translate_errors(path), translate_arrow_errors(path):
            shutil.copyfile(path, to)
            return int(pq.read_metadata(to).num_rows)

    return [SnapshotFile(path.name, copy)] if path.exists() else []


def _plain_file(path: Path) -> list[SnapshotFile]:
    def copy(to: Path) -> int:
        with translate_errors(path):
            shutil.copyfile(path, to)
        return 0

    return [SnapshotFile(path.name, copy)] if path.exists() else []
