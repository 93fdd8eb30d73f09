"""Kept here: the file a backup is: its members, the manifest that vouches for them, its checks."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, Self

import msgspec

from grandstand import __version__
from grandstand.base.errors import Broken, InvalidInput, NotFound

FORM: Final = 1

_MANIFEST: Final = "manifest.json"
_AT_ONCE: Final = 1024 * 1024
_QUICKLY: Final = 1
_PACKED_ALREADY: Final = frozenset((".parquet", ".gz", ".zst"))
_PRIVATE: Final = 0o600 << 16
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
    """The backup is not whole, or not what was written; nothing was taken from it."""


class ArchiveTooNew(Broken):
    """The backup was made by a newer Grandstand."""


class NoArchive(InvalidInput):
    """The file is no backup of Grandstand."""


class Member(msgspec.Struct, frozen=True):
    """One file in the archive."""

    name: str
    size_bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What an archive holds: items of each table, rows of each series, and every file."""

    form: int
    grandstand: str
    made_at: str
    tables: dict[str, int]
    series: dict[str, int]
    simulated: bool
    files: tuple[Member, ...]

    @property
    def size_bytes(self) -> int:
        """What the files take once they are unpacked."""
        return sum(member.size_bytes for member in self.files)


class ArchiveWriter:
    """An archive while it is written; it counts for nothing before `finish`."""

    def __init__(self, file: zipfile.ZipFile, made_at: str) -> None:
        self._file = file
        self._made_at = made_at
        self._members: list[Member] = []

    @classmethod
    @contextmanager
    def open(cls, path: Path, made_at: str) -> Iterator[Self]:
        """Write an archive that only its owner may read, and have it on disk at the end."""
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(held, "w+b") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=_QUICKLY) as file:
                yield cls(file, made_at)
            raw.flush()
            os.fsync(raw.fileno())

    def add(self, name: str, source: Path) -> int:
        """Add a file as it is now, and answer its size."""
        packed = source.suffix in _PACKED_ALREADY
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        entry.external_attr = _PRIVATE
        digest, size = hashlib.sha256(), 0
        with source.open("rb") as file, self._file.open(entry, "w", force_zip64=True) as to:
            while block := file.read(_AT_ONCE):
                digest.update(block)
                to.write(block)
                size += len(block)
        self._members.append(Member(name, size, digest.hexdigest()))
        return size

    def finish(
        self, tables: dict[str, int], series: dict[str, int], *, simulated: bool
    ) -> Manifest:
        """Write the manifest, by which the archive is one."""
        manifest = Manifest(
            FORM, __version__, self._made_at, tables, series, simulated, tuple(self._members)
        )
        entry = zipfile.ZipInfo(_MANIFEST)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = _PRIVATE
        self._file.writestr(entry, msgspec.json.format(msgspec.json.encode(manifest)))
        return manifest


class ArchiveReader:
    """An archive to be read, with its manifest."""

    def __init__(self, file: zipfile.ZipFile, path: Path, manifest: Manifest) -> None:
        self._file = file
        self._path = path
        self.manifest = manifest

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open an archive; raise NotFound, NoArchive, ArchiveDamaged or ArchiveTooNew."""
        if not path.is_file():
            raise NotFound(f"There is no file {path}: name one that `grandstand backup` wrote")
        try:
            file = zipfile.ZipFile(path)
        except _UNREADABLE as fault:
            message = f"{path} is no backup, or only a part of one ({fault}): take another copy"
            raise NoArchive(message) from fault
        with file:
            yield cls(file, path, _manifest(file, path))

    def unpack(self, folder: Path, tell: Callable[[str, int], None]) -> None:
        """Write every file under a folder, held against the manifest; raise ArchiveDamaged.

        `tell` hears the name of each file and how many bytes are written in all.
        """
        written = 0
        for member in self.manifest.files:
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            size, digest = _written(self._blocks(member.name), target)
            if (size, digest) != (member.size_bytes, member.sha256):
                raise _damaged(self._path, f"{member.name} is not what was written")
            written += size
            tell(member.name, written)

    def _blocks(self, name: str) -> Iterator[bytes]:
        with _damage(self._path, name), self._file.open(name) as source:
            while block := source.read(_AT_ONCE):
                yield block


def _manifest(file: zipfile.ZipFile, path: Path) -> Manifest:
    if _MANIFEST not in file.namelist():
        raise NoArchive(f"{path} is no backup of Grandstand: it has no {_MANIFEST}")
    with _damage(path, _MANIFEST):
        text = file.read(_MANIFEST)
    try:
        form = msgspec.json.decode(text, type=_Form).form
        if form > FORM:
            raise ArchiveTooNew(
                f"{path} has form {form}, made by a newer Grandstand; this one reads up to form "
                f"{FORM}: upgrade first"
            )
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as fault:
        raise _damaged(path, f"its manifest cannot be read: {fault}") from fault
    names = {member.name for member in manifest.files}
    if not all(map(_is_plain, names)) or names | {_MANIFEST} != {*file.namelist()}:
        raise _damaged(path, "its files are not those its manifest names")
    return manifest


class _Form(msgspec.Struct):
    form: int


def _is_plain(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name


def _written(blocks: Iterable[bytes], target: Path) -> tuple[int, str]:
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
def _damage(path: Path, name: str) -> Iterator[None]:
    """Say which file of the archive cannot be read, while the block reads it."""
    try:
        yield
    except _UNREADABLE as fault:
        raise _damaged(path, f"{name} cannot be read: {fault}") from fault


def _damaged(path: Path, why: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"{path} is damaged ({why}): nothing was restored; take another copy")
