"""Kept here: the rows of one series that wait on disk, in files that are only ever added to."""

from __future__ import annotations

import errno
import json
import os
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, NamedTuple, TypeVar

import msgspec

from grandstand.storage.series.buffer.records import SIGNATURE, Record, counted, found, sealed
from grandstand.storage.series.buffer.terms import BufferFull, Notice
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.errors import SeriesUnavailable

R = TypeVar("R", bound=tuple[Any, ...])

_SUFFIX: Final = ".spill"


@dataclass(slots=True)
class _File:
    """One file: where its whole records end, how many rows they hold, and what was read of it."""

    path: Path
    rows: int
    end: int
    at: int
    hurt: bool = False


class Place(NamedTuple):
    """Where the next record is to be read: nobody writes to that file any more."""

    path: Path
    start: int
    end: int


class Spill(Generic[R]):
    """The spilled rows of one series, oldest first.

    Only whoever holds the buffer's lock may call this, but for `read`.
    """

    def __init__(self, folder: Path, series: Series[R], *, file_bytes: int) -> None:
        self._folder = folder
        self._series = series
        self._file_bytes = file_bytes
        self._files: deque[_File] = deque()
        self._written: BinaryIO | None = None
        self._number = 0
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[series.row])  # type: ignore[name-defined]
        columns = [[column.name, column.kind, column.nullable] for column in series.columns]
        self._opening = SIGNATURE + sealed(json.dumps(columns).encode(), 0)

    @property
    def rows(self) -> int:
        """How many rows wait."""
        return sum(file.rows for file in self._files)

    @property
    def size_bytes(self) -> int:
        """How much disk the files take."""
        return sum(file.end for file in self._files)

    def __bool__(self) -> bool:
        return bool(self._files)

    def open(self) -> list[Notice]:
        """Find what an earlier process left; raise OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        _settle(self._folder.parent)
        told = []
        for path in sorted(self._folder.iterdir()):
            self._number = max(self._number, _number(path))
            if path.suffix == _SUFFIX:
                told += self._found(path)
        if self.rows:
            told.append(Notice("found", self._series.name, self.rows, "spilled by an earlier run"))
        return told

    def write(self, batches: Iterable[Sequence[R]], *, room: int | None) -> int:
        """Add batches and return when the disk has them; answer how many rows they are.

        Raises BufferFull when they do not fit the room or the disk; then none was added.
        """
        written, rows = 0, 0
        file: _File | None = None
        try:
            file, held = self._writable(room)
            for batch in batches:
                record = sealed(self._encoder.encode(batch), len(batch))
                written += len(record)
                rows += len(batch)
                _check_room(room, written + (file.end if not file.rows else 0))
                held.write(record)
            held.flush()
            os.fsync(held.fileno())
        except OSError as fault:
            self._undo(file)
            message = (
                f"{self._series.name}: memory is full and {self._folder} takes no more "
                f"({fault.strerror or fault}): free space there, or bring the engine back"
            )
            raise BufferFull(message) from fault
        file.end += written
        file.rows += rows
        if file.end >= self._file_bytes:
            self._seal()
        return rows

    def next(self) -> Place | None:
        """Answer where the oldest record is; from now on nothing is added to its file."""
        if not self._files:
            return None
        if len(self._files) == 1:
            self._seal()
        file = self._files[0]
        return Place(file.path, file.at, file.end)

    def read(self, place: Place) -> tuple[Record | None, list[R]]:
        """Read a record and its rows, none when it is damaged; raise SeriesUnavailable."""
        try:
            with place.path.open("rb") as held:
                record = found(held, place.start, place.end)
        except OSError as fault:
            message = f"{place.path} cannot be read: {fault}"
            raise SeriesUnavailable(message) from fault
        if record is None or record.content is None:
            return record, []
        return record, self._decoder.decode(record.content)

    def done(self, record: Record | None) -> list[Notice]:
        """Leave the oldest record behind, and its file when that was the last.

        A file with damaged records is set aside, not removed.
        """
        file = self._files[0]
        if record is not None:
            file.at = record.end
            file.rows -= record.rows
        file.hurt = file.hurt or record is None or record.content is None
        if record is not None and file.at < file.end:
            return []
        self._files.popleft()
        aside = file.path.with_suffix(".damaged")
        # A file that cannot be removed is read again by the next run, and adds nothing then.
        with suppress(OSError):
            if file.hurt:
                file.path.replace(aside)
            else:
                file.path.unlink()
        if not file.hurt:
            return [] if self._files else [Notice("replayed", self._series.name)]
        return [Notice("set aside", self._series.name, 0, f"{aside} holds damaged records")]

    def close(self) -> None:
        """Let go of the file that is written."""
        self._seal()

    def _found(self, path: Path) -> list[Notice]:
        size = path.stat().st_size
        start = len(self._opening)
        with path.open("rb") as held:
            opening = held.read(start)
            rows, end = counted(held, start, size) if opening == self._opening else (0, 0)
        if size < start and self._opening.startswith(opening):
            path.unlink()
            return []
        if opening != self._opening:
            why = f"{path} was spilled with other columns: run what spilled it, or move it away"
            return [Notice("set aside", self._series.name, 0, why)]
        if not rows and end == start:
            path.unlink()
        else:
            self._files.append(_File(path, rows, end, start))
        if end == size:
            return []
        why = f"{path.name}: the last {size - end} bytes were cut off before they counted"
        return [Notice("found", self._series.name, 0, why)]

    def _writable(self, room: int | None) -> tuple[_File, BinaryIO]:
        if self._written is not None:
            return self._files[-1], self._written
        _check_room(room, len(self._opening))
        self._number += 1
        path = self._folder / f"{self._number:010}{_SUFFIX}"
        held = path.open("xb")
        file = _File(path, 0, len(self._opening), len(self._opening))
        self._written = held
        self._files.append(file)
        held.write(self._opening)
        held.flush()
        _settle(self._folder)
        return file, held

    def _undo(self, file: _File | None) -> None:
        """Take back what was written of a batch that did not fit, and leave that file be."""
        held, self._written = self._written, None
        if held is not None:
            with suppress(OSError):
                held.close()
        last = file or (self._files[-1] if held is not None and self._files else None)
        if last is None:
            return
        # Where even this fails, readers stop where the whole records end.
        with suppress(OSError):
            os.truncate(last.path, last.end)
        if not last.rows and last.at == len(self._opening):
            self._files.remove(last)
            with suppress(OSError):
                last.path.unlink()

    def _seal(self) -> None:
        held, self._written = self._written, None
        if held is not None:
            held.close()


def _check_room(room: int | None, needed: int) -> None:
    if room is not None and needed > room:
        raise OSError(errno.ENOSPC, "the limit for spilled rows is reached")


def _number(path: Path) -> int:
    return int(path.stem) if path.stem.isdigit() else 0


def _settle(folder: Path) -> None:
    held = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(held)
    finally:
        os.close(held)
