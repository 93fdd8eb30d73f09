"""Rows that wait on disk: append-only log files, one directory per series.

A file is a signature, a record with the columns, and one record per batch. A record is a header
(length, number of rows, checksum of the content), a checksum of the header, and the content. An
incomplete record at the end of a file was never acknowledged and is ignored.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from grandstand.storage.series.declaration import Series
from grandstand.storage.series.errors import BufferFull, SeriesUnavailable

R = TypeVar("R", bound=tuple[Any, ...])
EventKind: TypeAlias = Literal["found", "failed", "recovered", "spilled", "replayed", "quarantined"]

SPILL_SUFFIX: Final = ".spill"

_SIGNATURE: Final = b"grandstand spill 1\n"
_HEADER: Final = struct.Struct("<III")
_HEADER_CHECKSUM: Final = struct.Struct("<I")
_PREFIX_BYTES: Final = _HEADER.size + _HEADER_CHECKSUM.size


@dataclass(frozen=True, slots=True)
class BufferEvent:
    """Something that happened to the buffered rows of a series."""

    kind: EventKind
    series: str
    rows: int = 0
    reason: str = ""
    retry_seconds: float | None = None

    def __str__(self) -> str:
        retry = "" if self.retry_seconds is None else f"; next try in {self.retry_seconds:.1f} s"
        rows = f" {self.rows} rows" if self.rows else ""
        return f"{self.series}: {self.kind}{rows}{': ' if self.reason else ''}{self.reason}{retry}"


class Record(NamedTuple):
    """A record read from a file; `content` is None if it is damaged."""

    rows: int
    end: int
    content: bytes | None


def encode_record(content: bytes, rows: int) -> bytes:
    """Return the bytes of a record."""
    header = _HEADER.pack(len(content), rows, zlib.crc32(content))
    return b"".join((header, _HEADER_CHECKSUM.pack(zlib.crc32(header)), content))


def read_record(file: BinaryIO, start: int, end: int) -> Record | None:
    """Read the record at `start` of a file that ends at `end`; None if it is incomplete."""
    header = _read_header(file, start, end)
    if header is None:
        return None
    length, rows, checksum = header
    content = file.read(length) if length else b""
    intact = length > 0 and zlib.crc32(content) == checksum
    # A damaged header does not tell where its record ends, so the rest of the file is unreadable.
    return Record(
        rows, start + _PREFIX_BYTES + length if length else end, content if intact else None
    )


def count_rows(file: BinaryIO, start: int, end: int) -> tuple[int, int]:
    """Return the number of rows from `start` on, and where the last complete record ends."""
    total, position = 0, start
    while position < end:
        header = _read_header(file, position, end)
        if header is None:
            break
        length, rows, _ = header
        total += rows
        position = position + _PREFIX_BYTES + length if length else end
    return total, position


def _read_header(file: BinaryIO, start: int, end: int) -> tuple[int, int, int] | None:
    """Return length, rows and checksum; None for an incomplete record, zeros for a damaged one."""
    file.seek(start)
    prefix = file.read(_PREFIX_BYTES) if start < end else b""
    if len(prefix) < _PREFIX_BYTES:
        return None
    header, (checksum,) = prefix[: _HEADER.size], _HEADER_CHECKSUM.unpack(prefix[_HEADER.size :])
    length, rows, content_checksum = _HEADER.unpack(header)
    if zlib.crc32(header) != checksum or length == 0:
        # After a power failure a file may end in zeros that were never written.
        return None if _has_only_zeros(file, start) else (0, 0, 0)
    return None if start + _PREFIX_BYTES + length > end else (length, rows, content_checksum)


def _has_only_zeros(file: BinaryIO, start: int) -> bool:
    file.seek(start)
    while block := file.read(1 << 20):
        if block.strip(b"\x00"):
            return False
    return True


@dataclass(slots=True)
class _LogFile:
    """One file: its unsent rows, the end of its complete records, and the next record to send."""

    path: Path
    rows: int
    end: int
    position: int
    damaged: bool = False


class LogPosition(NamedTuple):
    """The next record to read, in a file that is no longer written."""

    path: Path
    start: int
    end: int


class SpillLog(Generic[R]):
    """The spilled rows of one series, oldest first.

    Callers hold the buffer's lock, except for `read`.
    """

    def __init__(self, directory: Path, series: Series[R], *, file_bytes: int) -> None:
        self._directory = directory
        self._series = series
        self._file_bytes = file_bytes
        self._files: deque[_LogFile] = deque()
        self._open_file: BinaryIO | None = None
        self._last_number = 0
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[series.row])  # type: ignore[name-defined]
        columns = [[column.name, column.kind, column.nullable] for column in series.columns]
        self._preamble = _SIGNATURE + encode_record(json.dumps(columns).encode(), 0)

    @property
    def rows(self) -> int:
        """How many rows are in the log."""
        return sum(file.rows for file in self._files)

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.end for file in self._files)

    def __bool__(self) -> bool:
        return bool(self._files)

    def open(self) -> list[BufferEvent]:
        """Find the files of an earlier process.

        Raises OSError if the directory cannot be used.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        _sync_directory(self._directory.parent)
        events = []
        for path in sorted(self._directory.iterdir()):
            self._last_number = max(self._last_number, _file_number(path))
            if path.suffix == SPILL_SUFFIX:
                events += self._add_existing(path)
        if self.rows:
            reason = "spilled by an earlier run"
            events.append(BufferEvent("found", self._series.name, self.rows, reason))
        return events

    def write(self, batches: Iterable[Sequence[R]], *, space_bytes: int | None) -> int:
        """Append batches, sync them to disk, and return the number of rows.

        Raises BufferFull if they exceed `space_bytes` or the disk; then none is written.
        """
        written, rows = 0, 0
        file: _LogFile | None = None
        try:
            file, stream = self._writable_file(space_bytes)
            for batch in batches:
                record = encode_record(self._encoder.encode(batch), len(batch))
                written += len(record)
                rows += len(batch)
                _check_space(space_bytes, written + (file.end if not file.rows else 0))
                stream.write(record)
            stream.flush()
            os.fsync(stream.fileno())
        except OSError as error:
            self._roll_back(file)
            raise BufferFull(
                f"{self._series.name}: memory is full and {self._directory} cannot take more rows "
                f"({error.strerror or error}). Free disk space, or restore the connection to the "
                "engine."
            ) from error
        file.end += written
        file.rows += rows
        if file.end >= self._file_bytes:
            self.close()
        return rows

    def next_position(self) -> LogPosition | None:
        """Return the position of the oldest record; its file is not written from now on."""
        if not self._files:
            return None
        if len(self._files) == 1:
            self.close()
        file = self._files[0]
        return LogPosition(file.path, file.position, file.end)

    def read(self, position: LogPosition) -> tuple[Record | None, list[R]]:
        """Read a record and its rows; no rows if it is damaged.

        Raises SeriesUnavailable if the file cannot be read.
        """
        try:
            with position.path.open("rb") as stream:
                record = read_record(stream, position.start, position.end)
        except OSError as error:
            raise SeriesUnavailable(f"{position.path} cannot be read: {error}") from error
        if record is None or record.content is None:
            return record, []
        return record, self._decoder.decode(record.content)

    def advance(self, record: Record | None) -> list[BufferEvent]:
        """Skip the oldest record, and delete its file after the last one.

        A file with damaged records is renamed instead of deleted.
        """
        file = self._files[0]
        if record is not None:
            file.position = record.end
            file.rows -= record.rows
        file.damaged = file.damaged or record is None or record.content is None
        if record is not None and file.position < file.end:
            return []
        self._files.popleft()
        quarantine = file.path.with_suffix(".damaged")
        # The next run sends a file that cannot be deleted again, which adds no rows.
        with suppress(OSError):
            if file.damaged:
                file.path.replace(quarantine)
            else:
                file.path.unlink()
        if not file.damaged:
            return [] if self._files else [BufferEvent("replayed", self._series.name)]
        reason = f"{quarantine} contains damaged records"
        return [BufferEvent("quarantined", self._series.name, 0, reason)]

    def close(self) -> None:
        """Close the file that is being written; the next write starts another."""
        stream, self._open_file = self._open_file, None
        if stream is not None:
            stream.close()

    def _add_existing(self, path: Path) -> list[BufferEvent]:
        size = path.stat().st_size
        start = len(self._preamble)
        with path.open("rb") as stream:
            preamble = stream.read(start)
            rows, end = count_rows(stream, start, size) if preamble == self._preamble else (0, 0)
        if size < start and self._preamble.startswith(preamble):
            path.unlink()
            return []
        if preamble != self._preamble:
            reason = f"{path} has other columns; replay it with the version that wrote it"
            return [BufferEvent("quarantined", self._series.name, 0, reason)]
        if not rows and end == start:
            path.unlink()
        else:
            self._files.append(_LogFile(path, rows, end, start))
        if end == size:
            return []
        reason = f"{path.name}: the last {size - end} bytes are an incomplete record"
        return [BufferEvent("found", self._series.name, 0, reason)]

    def _writable_file(self, space_bytes: int | None) -> tuple[_LogFile, BinaryIO]:
        if self._open_file is not None:
            return self._files[-1], self._open_file
        _check_space(space_bytes, len(self._preamble))
        self._last_number += 1
        path = self._directory / f"{self._last_number:010}{SPILL_SUFFIX}"
        stream = path.open("xb")
        file = _LogFile(path, 0, len(self._preamble), len(self._preamble))
        self._open_file = stream
        self._files.append(file)
        stream.write(self._preamble)
        stream.flush()
        _sync_directory(self._directory)
        return file, stream

    def _roll_back(self, file: _LogFile | None) -> None:
        """Remove the incomplete records of a failed write, and do not write to that file again."""
        stream, self._open_file = self._open_file, None
        if stream is not None:
            with suppress(OSError):
                stream.close()
        last = file or (self._files[-1] if stream is not None and self._files else None)
        if last is None:
            return
        # If even this fails, readers stop at the end of the complete records.
        with suppress(OSError):
            os.truncate(last.path, last.end)
        if not last.rows and last.position == len(self._preamble):
            self._files.remove(last)
            with suppress(OSError):
                last.path.unlink()


def _check_space(space_bytes: int | None, needed: int) -> None:
    if space_bytes is not None and needed > space_bytes:
        raise OSError(errno.ENOSPC, "the limit for spilled rows is reached")


def _file_number(path: Path) -> int:
    return int(path.stem) if path.stem.isdigit() else 0


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
