"""The backup file: its members, its manifest and its checks; progress of long operations."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, Self, TypeAlias

import msgspec

from grandstand import __version__
from grandstand.core.errors import Broken, InvalidInput, NotFound
from grandstand.host.infrastructure import sqlite_file
from grandstand.host.settings import Settings


@dataclass(frozen=True, slots=True)
class Progress:
    """The current step, how much is done, and the total if known."""

    what: str
    done: int
    total: int | None
    unit: str


ReportProgress: TypeAlias = Callable[[Progress], None]

FORM: Final = 1

_MANIFEST: Final = "manifest.json"
_BLOCK_BYTES: Final = 1024 * 1024
# What zipfile raises where bytes were changed: a flag says encrypted, an offset lies outside.
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    ValueError,
)


class ArchiveDamaged(Broken):
    """The backup is incomplete or changed; nothing was taken from it."""

    code = "archive-damaged"


class ArchiveTooNew(Broken):
    """The backup was made by a newer version of Grandstand."""

    code = "archive-too-new"


class NoArchive(InvalidInput):
    """The file is not a Grandstand backup."""

    code = "no-archive"


class Member(msgspec.Struct, frozen=True):
    """One file in the archive."""

    name: str
    size_bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The contents of an archive: items per table, rows per series, and every file."""

    form: int
    grandstand: str
    made_at: str
    tables: dict[str, int]
    series: dict[str, int]
    simulated: bool
    files: tuple[Member, ...]

    @property
    def size_bytes(self) -> int:
        """The size of the files when unpacked."""
        return sum(member.size_bytes for member in self.files)


class ArchiveWriter:
    """An archive being written; it is valid only after `finish`."""

    def __init__(self, file: zipfile.ZipFile, made_at: str) -> None:
        self._file = file
        self._made_at = made_at
        self._members: list[Member] = []

    @classmethod
    @contextmanager
    def open(cls, path: Path, made_at: str) -> Iterator[Self]:
        """Create an archive that only its owner may read, and fsync it at the end."""
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(held, "w+b") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
                yield cls(file, made_at)
            raw.flush()
            os.fsync(raw.fileno())

    def add(self, name: str, source: Path) -> int:
        """Add a file and return its size."""
        entry = _entry(name, compress=source.suffix not in {".parquet", ".gz", ".zst"})
        digest, size = hashlib.sha256(), 0
        with source.open("rb") as file, self._file.open(entry, "w", force_zip64=True) as to:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
                to.write(block)
                size += len(block)
        self._members.append(Member(name, size, digest.hexdigest()))
        return size

    def finish(
        self, tables: dict[str, int], series: dict[str, int], *, simulated: bool
    ) -> Manifest:
        """Write the manifest, which makes the archive valid."""
        manifest = Manifest(
            FORM, __version__, self._made_at, tables, series, simulated, tuple(self._members)
        )
        entry = _entry(_MANIFEST, compress=True)
        self._file.writestr(entry, msgspec.json.format(msgspec.json.encode(manifest)))
        return manifest


def _entry(name: str, *, compress: bool) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    # Only the owner may read the unpacked file.
    entry.external_attr = 0o600 << 16
    return entry


class ArchiveReader:
    """An archive opened for reading, with its manifest."""

    def __init__(self, file: zipfile.ZipFile, path: Path, manifest: Manifest) -> None:
        self._file = file
        self._path = path
        self.manifest = manifest

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open an archive. Raises NotFound, NoArchive, ArchiveDamaged or ArchiveTooNew."""
        if not path.is_file():
            raise NotFound(f"No such file: {path}. Use a file written by `grandstand backup`.")
        try:
            file = zipfile.ZipFile(path)
        except _UNREADABLE as fault:
            raise NoArchive(
                f"{path} is not a backup, or is incomplete ({fault}). Use another copy."
            ) from fault
        with file:
            yield cls(file, path, _manifest(file, path))

    def unpack(self, folder: Path, report: Callable[[str, int], None]) -> None:
        """Write every file to a folder and verify it. Raises ArchiveDamaged.

        `report` gets the name of each file and the bytes written so far.
        """
        written = 0
        for member in self.manifest.files:
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with (
                _detect_damage(self._path, member.name),
                self._file.open(member.name) as source,
            ):
                size, digest = _write(iter(partial(source.read, _BLOCK_BYTES), b""), target)
            if (size, digest) != (member.size_bytes, member.sha256):
                raise _damage_error(self._path, f"{member.name} does not match its checksum")
            written += size
            report(member.name, written)


def _manifest(file: zipfile.ZipFile, path: Path) -> Manifest:
    if _MANIFEST not in file.namelist():
        raise NoArchive(f"{path} is not a Grandstand backup: it has no {_MANIFEST}")
    with _detect_damage(path, _MANIFEST):
        text = file.read(_MANIFEST)
    try:
        form = msgspec.json.decode(text, type=_Form).form
        if form > FORM:
            raise ArchiveTooNew(
                f"{path} was written by a newer Grandstand (format {form}; this version reads up "
                f"to {FORM}). Upgrade first."
            )
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as fault:
        raise _damage_error(path, f"its manifest cannot be read: {fault}") from fault
    names = {member.name for member in manifest.files}
    if not all(map(_is_safe_path, names)) or names | {_MANIFEST} != {*file.namelist()}:
        raise _damage_error(path, "its files do not match the manifest")
    return manifest


class _Form(msgspec.Struct):
    form: int


def _is_safe_path(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name


def _write(blocks: Iterable[bytes], target: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    held = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(held, "wb") as file:
        for block in blocks:
            digest.update(block)
            file.write(block)
            size += len(block)
        file.flush()
        os.fsync(file.fileno())
    return size, digest.hexdigest()


@contextmanager
def _detect_damage(path: Path, name: str) -> Iterator[None]:
    """Raise ArchiveDamaged with the member's name if the block cannot read it."""
    try:
        yield
    except _UNREADABLE as fault:
        raise _damage_error(path, f"{name} cannot be read: {fault}") from fault


def _damage_error(path: Path, why: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"{path} is damaged ({why}). Nothing was restored. Use another copy.")


TABLES: Final = "tables.db"
SERIES: Final = "series"
SIMULATED: Final = "simulated"
SET_ASIDE: Final = "before-restore-"
RESTORING: Final = ".restoring"

# Settings are not data, and may differ on another machine.
SETTINGS: Final = "settings.toml"
COPYING: Final = "copying"

# Files that exist only while a process runs.
TEMPORARY: Final = (".lock", ".unfinished", ".pid", ".sock")


@dataclass(frozen=True, slots=True)
class Part:
    """A folder with tables and series; `prefix` is put before its names."""

    folder: Path
    prefix: str
    tables: Path | None
    series: Path | None

    def loose(self) -> Iterator[tuple[str, Path]]:
        """Return the other files (the secret, spilled rows) and their names in the archive."""
        for path in sorted(self.folder.rglob("*")):
            inside = path.relative_to(self.folder)
            if path == self.tables or path.is_symlink() or not path.is_file():
                continue
            if _is_loose(inside):
                yield self.prefix + inside.as_posix(), path


def parts_of(settings: Settings, *, simulated: bool) -> tuple[Part, ...]:
    """Return what to back up. Raises InvalidInput if no data is local."""
    tables = sqlite_file(settings)
    series = settings.home / SERIES if settings.series.get_secret_value() == "chunks" else None
    if tables is None and series is None:
        raise InvalidInput(
            "Tables and series are on servers, so there is no local data to back up. Back up the "
            "servers, or copy the data to files with `grandstand copy --to sqlite` and "
            "`grandstand copy --series --to chunks`."
        )
    found = [Part(settings.home, "", tables, series)]
    apart = settings.home / SIMULATED
    if simulated and apart.is_dir():
        found.append(Part(apart, f"{SIMULATED}/", apart / TABLES, apart / SERIES))
    return tuple(found)


def _is_loose(inside: Path) -> bool:
    first, name = inside.parts[0], inside.name
    if first in {SERIES, SIMULATED, COPYING, SETTINGS} or first.startswith(SET_ASIDE):
        return False
    if name == TABLES and len(inside.parts) == 1:
        return False
    hidden = any(part.startswith(".") for part in inside.parts)
    return not hidden and not name.endswith(("-wal", "-shm", "-journal", *TEMPORARY))
