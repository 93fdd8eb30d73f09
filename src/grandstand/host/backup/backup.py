"""Backups made while everything runs: one file, complete or absent."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, InvalidInput, Unavailable
from grandstand.host.backup.archive import (
    SERIES,
    TABLES,
    ArchiveWriter,
    Manifest,
    Part,
    Progress,
    ReportProgress,
    parts_of,
)
from grandstand.host.backup.restore import fsync_path
from grandstand.host.settings import Settings
from grandstand.storage.series.engines.chunks.directory import open_snapshot
from grandstand.storage.tables.engines.sqlite.connections import snapshot

_SUFFIX: Final = ".unfinished"
_LOCK: Final = "backup.lock"


class BackupExists(Conflict):
    """A file with the backup's name exists, or another backup is writing it."""

    code = "backup-exists"


class BackupNotWritten(Unavailable):
    """The backup could not be written."""

    code = "backup-not-written"


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A finished backup: its path, size and manifest."""

    path: Path
    size_bytes: int
    manifest: Manifest


def back_up(
    settings: Settings,
    to: Path,
    *,
    clock: Clock,
    report: ReportProgress,
    force: bool,
    simulated: bool,
) -> BackupResult:
    """Write all local data to one file; in a folder it is named by the time.

    Tables are consistent at one moment, and so is each series: everything acknowledged before the
    call is included. The file appears under its name when it is complete. Raises BackupExists
    unless `replace` is set, InvalidInput if no data is local or the file would be inside the home
    folder, and BackupNotWritten.
    """
    parts = parts_of(settings, simulated=simulated)
    path = to / f"grandstand-{clock.now():%Y%m%d-%H%M%S}.zip" if to.is_dir() else to
    if path.absolute().is_relative_to(settings.home.absolute()):
        raise InvalidInput(
            f"{path} is inside {settings.home}, which is being backed up. Choose another folder."
        )
    if path.exists() and not force:
        raise BackupExists(f"{path} exists. Use another name, or --force to replace it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_folder(path) as folder:
            work = _Backup(folder, clock, report)
            archive = folder / "archive"
            with ArchiveWriter.open(archive, clock.now().isoformat()) as writer:
                for part in parts:
                    work.add(writer, part)
                manifest = writer.finish(work.tables, work.rows, simulated=simulated)
            archive.replace(path)
            fsync_path(path.parent)
    except OSError as fault:
        raise BackupNotWritten(f"{path} could not be written: {fault}") from fault
    return BackupResult(path, path.stat().st_size, manifest)


class _Backup:
    """One run, with its counts so far."""

    def __init__(self, folder: Path, clock: Clock, report: ReportProgress) -> None:
        self._piece = folder / "piece"
        self._clock = clock
        self._report = report
        self.tables: dict[str, int] = {}
        self.rows: dict[str, int] = {}

    def add(self, writer: ArchiveWriter, part: Part) -> None:
        """Add one part: loose files first, so that spilled rows are not missed by the series.

        A file that has disappeared by then was processed, and its rows are in the series.
        """
        for name, path in part.loose():
            with suppress(FileNotFoundError):
                writer.add(name, path)
        if part.series is not None and part.series.is_dir():
            for folder in sorted(part.series.iterdir()):
                if folder.is_dir():
                    self._add_series(writer, part.prefix, folder)
        if part.tables is not None and part.tables.is_file():
            self._add_tables(writer, part.prefix, part.tables)

    def _add_series(self, writer: ArchiveWriter, prefix: str, folder: Path) -> None:
        rows, what = 0, f"series {prefix}{folder.name}"
        with open_snapshot(folder, self._clock) as files:
            for done, file in enumerate(files):
                self._report(Progress(what, done, len(files), "files"))
                self._piece.unlink(missing_ok=True)
                rows += file.copy(self._piece)
                piece = self._piece.rename(self._piece.with_name(f"piece-{file.name}"))
                writer.add(f"{prefix}{SERIES}/{folder.name}/{file.name}", piece)
                piece.unlink()
            self._report(Progress(what, len(files), len(files), "files"))
        self.rows[prefix + folder.name] = rows

    def _add_tables(self, writer: ArchiveWriter, prefix: str, path: Path) -> None:
        what = f"tables {prefix}".strip()
        self._piece.unlink(missing_ok=True)
        counted = snapshot(
            path,
            self._piece,
            lambda done, total: self._report(Progress(what, done, total, "pages")),
        )
        self._report(Progress(f"packing {what}", 0, None, "bytes"))
        size = writer.add(f"{prefix}{TABLES}", self._piece)
        self._report(Progress(f"packing {what}", size, size, "bytes"))
        self._piece.unlink()
        self.tables |= {prefix + name: items for name, items in counted.items()}


@contextmanager
def _temporary_folder(path: Path) -> Iterator[Path]:
    """Return a temporary folder beside the target, removed at the end.

    What a killed backup left behind is removed too; one in progress is not.
    """
    for left in path.parent.glob(f".*{_SUFFIX}"):
        if (left / _LOCK).is_file():
            with _owned(left) as ours:
                if ours:
                    shutil.rmtree(left)
    folder = path.with_name(f".{path.name}{_SUFFIX}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with _owned(folder) as ours:
        if not ours:
            raise BackupExists(
                f"Another backup is writing {path}. Wait for it, or use another name."
            )
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@contextmanager
def _owned(folder: Path) -> Iterator[bool]:
    # The lock ends with this file descriptor, also when the process is killed.
    held = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(held)
