"""Kept here: a backup brought back: looked at first, put in place last, the old kept aside."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from grandstand.base.clock import Clock
from grandstand.base.errors import Conflict, InvalidInput, NotFound, Unavailable
from grandstand.host.moving.archive import ArchiveDamaged, ArchiveReader, Manifest
from grandstand.host.moving.places import SERIES, SET_ASIDE, SIMULATED, TABLES
from grandstand.host.moving.progress import Reached, Tell
from grandstand.host.moving.swapping import (
    Swap,
    begin,
    finish,
    occupied,
    staged_folder,
    targets,
)
from grandstand.host.opening import sqlite_file
from grandstand.host.settings import Settings
from grandstand.storage.tables.engines.sqlite.file.snapshot import count_exactly, in_use


class HomeNotEmpty(Conflict):
    """There is data where the backup is to go."""


class HomeInUse(Conflict):
    """A program works with the data that is to be replaced."""


class RestoreNotWritten(Unavailable):
    """The backup could not be unpacked."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back, and where what was there before is kept, if there was anything."""

    manifest: Manifest
    home: Path
    aside: Path | None


def restore(settings: Settings, file: Path, *, clock: Clock, tell: Tell, force: bool) -> Restored:
    """Put the data of a backup in place of what is there, once all of it was found whole.

    Raises HomeNotEmpty when there is data, unless told to set it aside; HomeInUse while a program
    has it open; ArchiveDamaged, ArchiveTooNew or NoArchive, and then nothing was changed.
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
                f"There is data in {home} ({names}): --force sets it aside in there, and restores"
            )
        _check_unused(settings, simulated=manifest.simulated)
        try:
            staged = staged_folder(home)
            try:
                archive.unpack(
                    staged,
                    lambda _name, done: tell(
                        Reached("unpacking", done, manifest.size_bytes, "bytes")
                    ),
                )
                _check_counts(file, staged, manifest)
            except BaseException:
                shutil.rmtree(staged.parent, ignore_errors=True)
                raise
            aside = _swapped(settings, staged, old, clock)
        except OSError as fault:
            raise RestoreNotWritten(f"{file} cannot be unpacked to {home}: {fault}") from fault
    return Restored(manifest, home, aside)


def undo(settings: Settings, *, clock: Clock) -> tuple[Path, Path | None]:
    """Put back what the last restore set aside; answer that, and where the restored data went.

    Raises NotFound when nothing is aside, and HomeInUse.
    """
    home = settings.home
    finish(home)
    found = sorted(home.glob(f"{SET_ASIDE}*")) if home.is_dir() else []
    if not found:
        raise NotFound(f"No restore has set anything aside in {home}: there is nothing to undo")
    last = found[-1]
    simulated = (last / SIMULATED).exists()
    _check_unused(settings, simulated=simulated)
    old = occupied(home, sqlite_file(settings), simulated=simulated)
    return last, _swapped(settings, last, old, clock)


def _swapped(
    settings: Settings, staged: Path, old: tuple[tuple[str, str], ...], clock: Clock
) -> Path | None:
    home = settings.home
    aside = _unused(home / f"{SET_ASIDE}{clock.now():%Y%m%d-%H%M%S}")
    names = sorted(path.name for path in staged.iterdir())
    new = targets(home, sqlite_file(settings), names)
    begin(home, Swap(str(staged.absolute()), str(aside.absolute()), old, new))
    return aside if aside.exists() else None


def _unused(path: Path) -> Path:
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found


def _check_settings(settings: Settings, manifest: Manifest) -> None:
    names = {member.name for member in manifest.files}
    if TABLES in names and sqlite_file(settings) is None:
        message = (
            f"The settings keep tables in {settings.tables}, and the backup is of files: restore "
            "with GRANDSTAND_TABLES=sqlite, then bring them there with `grandstand copy`"
        )
        raise InvalidInput(message)
    chunks = settings.series.get_secret_value() == "chunks"
    if any(name.startswith(f"{SERIES}/") for name in names) and not chunks:
        message = (
            "The settings keep series on a server, and the backup is of files: restore with "
            "GRANDSTAND_SERIES=chunks, then bring them there with `grandstand copy --series`"
        )
        raise InvalidInput(message)


def _check_unused(settings: Settings, *, simulated: bool) -> None:
    files = [sqlite_file(settings)]
    if simulated:
        files.append(settings.home / SIMULATED / TABLES)
    for file in files:
        if file is not None and in_use(file):
            raise HomeInUse(f"A program has {file} open: stop `grandstand up` first, then again")


def _check_counts(file: Path, staged: Path, manifest: Manifest) -> None:
    counted: dict[str, int] = {}
    for prefix in ("", f"{SIMULATED}/"):
        tables = staged / prefix / TABLES
        if tables.is_file():
            counted |= {prefix + name: items for name, items in count_exactly(tables).items()}
            for suffix in ("-wal", "-shm"):
                tables.with_name(TABLES + suffix).unlink(missing_ok=True)
    if counted != manifest.tables:
        raise ArchiveDamaged(
            f"{file} does not hold the items its manifest counts: nothing was restored; take "
            "another copy"
        )
