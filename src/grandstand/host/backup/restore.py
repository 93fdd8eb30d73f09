"""Restoring a backup: verified first, swapped in last, with the old data kept aside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from grandstand.host.backup.archive import (
    RESTORING,
    SERIES,
    SET_ASIDE,
    SETTINGS,
    SIMULATED,
    TABLES,
    TEMPORARY,
    ArchiveDamaged,
    ArchiveReader,
    Manifest,
    Progress,
    ReportProgress,
)
from grandstand.host.infrastructure import sqlite_file
from grandstand.host.settings import Settings
from grandstand.storage.tables.engines.sqlite.connections import count_items, in_use


def fsync_path(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    held = os.open(path, os.O_RDONLY)
    try:
        os.fsync(held)
    finally:
        os.close(held)


_MARK: Final = "swap.json"
_BESIDE: Final = ("", "-wal", "-shm")


class Swap(msgspec.Struct, frozen=True):
    """What to move aside, to which folder, and what to move in from the staging folder.

    Pairs are an absolute path in use and its name in the folder.
    """

    staged: str
    aside: str
    old: tuple[tuple[str, str], ...]
    new: tuple[tuple[str, str], ...]


def staged_folder(home: Path) -> Path:
    """Return an empty staging folder; leftovers of an earlier attempt are removed."""
    shutil.rmtree(home / RESTORING, ignore_errors=True)
    folder = home / RESTORING / "new"
    folder.mkdir(parents=True, mode=0o700)
    return folder


def occupied(home: Path, tables: Path | None, *, simulated: bool) -> tuple[tuple[str, str], ...]:
    """Return the data in the way: each file or folder and the name it is kept under."""
    left = {SETTINGS, RESTORING} | (set() if simulated else {SIMULATED})
    inside = sorted(home.iterdir()) if home.is_dir() else []
    found = [
        (str(path.absolute()), path.name)
        for path in inside
        if path.name not in left
        # Set aside before, or present only at run time.
        and not path.name.startswith(SET_ASIDE)
        and not path.name.endswith(TEMPORARY)
    ]
    if tables is not None and tables.absolute().parent != home.absolute():
        paths = [tables.with_name(tables.name + suffix) for suffix in _BESIDE]
        found += [
            (str(path.absolute()), TABLES + suffix)
            for path, suffix in zip(paths, _BESIDE, strict=True)
            if path.exists()
        ]
    return tuple(found)


def targets(home: Path, tables: Path | None, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return where each staged file or folder goes."""
    return tuple((str(_target(home, tables, name).absolute()), name) for name in names)


def _target(home: Path, tables: Path | None, name: str) -> Path:
    if tables is None or name not in {TABLES + suffix for suffix in _BESIDE}:
        return home / name
    return tables.with_name(tables.name + name.removeprefix(TABLES))


def begin(home: Path, swap: Swap) -> None:
    """Record what to move, so that an interrupted swap can be completed, and move it."""
    mark = home / RESTORING / _MARK
    mark.parent.mkdir(exist_ok=True)
    unfinished = mark.with_suffix(".unfinished")
    unfinished.write_bytes(msgspec.json.encode(swap))
    fsync_path(unfinished)
    unfinished.replace(mark)
    finish(home)


def finish(home: Path) -> Swap | None:
    """Complete a swap that was started and return it; None if there is none."""
    mark = home / RESTORING / _MARK
    if not mark.is_file():
        return None
    swap = msgspec.json.decode(mark.read_bytes(), type=Swap)
    aside, staged = Path(swap.aside), Path(swap.staged)
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, name in swap.old:
        # After an interruption the new file may be in place already.
        waiting = all((staged / new).exists() for target, new in swap.new if target == path)
        if Path(path).exists() and not (aside / name).exists() and waiting:
            shutil.move(path, aside / name)
    for path, name in swap.new:
        if (staged / name).exists():
            _clear(Path(path), aside)
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(staged / name, path)
    if not any(aside.iterdir()):
        aside.rmdir()
    fsync_path(home)
    shutil.rmtree(home / RESTORING)
    if staged.parent == home and staged.is_dir() and not any(staged.iterdir()):
        staged.rmdir()
    return swap


def _clear(path: Path, aside: Path) -> None:
    """Keep what somebody created at a path between an interruption and its completion."""
    number = 1
    while path.exists():
        other = aside / f"{path.name}.{number}"
        if not other.exists():
            shutil.move(path, other)
        number += 1


class HomeNotEmpty(Conflict):
    """There is data where the backup would be restored."""

    code = "home-not-empty"


class HomeInUse(Conflict):
    """A program uses the data to be replaced."""

    code = "home-in-use"


class RestoreNotWritten(Unavailable):
    """The backup could not be unpacked."""

    code = "restore-not-written"


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What was restored, and where the previous data is kept."""

    manifest: Manifest
    home: Path
    aside: Path | None


def restore(
    settings: Settings, file: Path, *, clock: Clock, report: ReportProgress, force: bool
) -> RestoreResult:
    """Replace the data by a backup after verifying all of it.

    Raises HomeNotEmpty if there is data and `force` is not set, HomeInUse while a program has it
    open, and ArchiveDamaged, ArchiveTooNew or NoArchive, without changing anything.
    """
    home = settings.home
    with ArchiveReader.open(file) as archive:
        manifest = archive.manifest
        _check_settings(settings, manifest)
        finish(home)
        old = occupied(home, sqlite_file(settings), simulated=manifest.simulated)
        if old and not force:
            names = ", ".join(name for _, name in old if not name.endswith(("-wal", "-shm")))
            raise HomeNotEmpty(
                f"There is data in {home} ({names}). Use --force to move it aside and restore."
            )
        _check_unused(settings, simulated=manifest.simulated)
        try:
            staged = staged_folder(home)
            try:
                archive.unpack(
                    staged,
                    lambda _name, done: report(
                        Progress("unpacking", done, manifest.size_bytes, "bytes")
                    ),
                )
                _check_counts(file, staged, manifest)
            except BaseException:
                shutil.rmtree(staged.parent, ignore_errors=True)
                raise
            aside = _swap(settings, staged, old, clock)
        except OSError as fault:
            raise RestoreNotWritten(f"{file} cannot be unpacked to {home}: {fault}") from fault
    return RestoreResult(manifest, home, aside)


def undo(settings: Settings, *, clock: Clock) -> tuple[Path, Path | None]:
    """Put back what the last restore set aside; return it and where the restored data went.

    Raises NotFound if nothing is aside, and HomeInUse.
    """
    home = settings.home
    finish(home)
    found = sorted(home.glob(f"{SET_ASIDE}*")) if home.is_dir() else []
    if not found:
        raise NotFound(f"Nothing to undo in {home}")
    last = found[-1]
    simulated = (last / SIMULATED).exists()
    _check_unused(settings, simulated=simulated)
    old = occupied(home, sqlite_file(settings), simulated=simulated)
    return last, _swap(settings, last, old, clock)


def _swap(
    settings: Settings, staged: Path, old: tuple[tuple[str, str], ...], clock: Clock
) -> Path | None:
    home = settings.home
    aside = _unused_name(home / f"{SET_ASIDE}{clock.now():%Y%m%d-%H%M%S}")
    names = sorted(path.name for path in staged.iterdir())
    new = targets(home, sqlite_file(settings), names)
    begin(home, Swap(str(staged.absolute()), str(aside.absolute()), old, new))
    return aside if aside.exists() else None


def _unused_name(path: Path) -> Path:
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found


def _check_settings(settings: Settings, manifest: Manifest) -> None:
    names = {member.name for member in manifest.files}
    if TABLES in names and sqlite_file(settings) is None:
        raise InvalidInput(
            f"Tables are configured in {settings.tables}, but the backup contains files. Restore "
            "with GRANDSTAND_TABLES=sqlite, then copy them with `grandstand copy`."
        )
    chunks = settings.series.get_secret_value() == "chunks"
    if any(name.startswith(f"{SERIES}/") for name in names) and not chunks:
        raise InvalidInput(
            "Series are configured on a server, but the backup contains files. Restore with "
            "GRANDSTAND_SERIES=chunks, then copy them with `grandstand copy --series`."
        )


def _check_unused(settings: Settings, *, simulated: bool) -> None:
    files = [sqlite_file(settings)]
    if simulated:
        files.append(settings.home / SIMULATED / TABLES)
    for file in files:
        if file is not None and in_use(file):
            raise HomeInUse(f"A program has {file} open. Stop `grandstand up` first.")


def _check_counts(file: Path, staged: Path, manifest: Manifest) -> None:
    counted: dict[str, int] = {}
    for prefix in ("", f"{SIMULATED}/"):
        tables = staged / prefix / TABLES
        if tables.is_file():
            counted |= {prefix + name: items for name, items in count_items(tables).items()}
            for suffix in ("-wal", "-shm"):
                tables.with_name(TABLES + suffix).unlink(missing_ok=True)
    if counted != manifest.tables:
        raise ArchiveDamaged(
            f"{file} is damaged (its items do not match the manifest). Nothing was restored. Use "
            "another copy."
        )
