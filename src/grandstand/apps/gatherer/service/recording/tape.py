"""Kept here: the tape: every frame as it came, packed, so that all else can be made from it again.

A tape is a row of files that any zstd reads. Before each block stands a skippable frame with the
block's two lengths and its checksum, so that what a killed process left half written is found.
A line is `<received at> <connection> <length> <frame>`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Final, NamedTuple

from grandstand.base.errors import Unavailable

_HEAD: Final = struct.Struct("<IIIII")
_MAGIC: Final = 0x184D2A5E
_HEAD_REST: Final = 12
_HOUR_US: Final = 3_600_000_000
_BLOCK_BYTES: Final = 1 << 20
_ENDING: Final = ".frames.zst"


class TapeUnwritable(Unavailable):
    """The tape cannot be written: there is no room, or the folder is not ours."""


class Frame(NamedTuple):
    """A frame as it was received."""

    received_at: int
    conn: int
    raw: bytes


@dataclass(slots=True)
class Tape:
    """Frames on their way to files of an hour each; `keep` only touches memory.

    `write` and `close` may be called from any thread.
    """

    folder: Path
    written_frames: int = 0
    written_bytes: int = 0
    frame_bytes: int = 0
    fault: str | None = None
    _lines: list[bytes] = field(default_factory=list)
    _waiting_bytes: int = 0
    _file: BinaryIO | None = None
    _hour: int = -1
    _writing: Lock = field(default_factory=Lock)

    def keep(self, received_at: int, conn: int, raw: str | bytes) -> None:
        """Keep a frame."""
        data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
        line = b"%d %d %d %b\n" % (received_at, conn, len(data), data)
        self._lines.append(line)
        self._waiting_bytes += len(line)

    @property
    def due(self) -> bool:
        """Whether a whole block waits."""
        return self._waiting_bytes >= _BLOCK_BYTES

    def taken(self) -> list[bytes]:
        """Answer what waits, which is then no longer kept here: give it to `write`."""
        lines, self._lines, self._waiting_bytes = self._lines, [], 0
        return lines

    def write(self, lines: list[bytes]) -> None:
        """Write lines as one block, durable against a kill; raise TapeUnwritable."""
        if lines:
            with self._writing:
                self._write(lines)

    def _write(self, lines: list[bytes]) -> None:
        block = b"".join(lines)
        packed = bytes(_codec().compress(block, asbytes=True))
        head = _HEAD.pack(_MAGIC, _HEAD_REST, len(block), len(packed), zlib.crc32(packed))
        try:
            file = self._opened(int(lines[0][: lines[0].index(b" ")]))
            file.write(head + packed)
        except OSError as fault:
            self.fault = f"{self.folder}: {fault.strerror or fault}"
            self._let_go()
            raise TapeUnwritable(f"The tape cannot be written: {self.fault}") from fault
        self.fault = None
        self.written_frames += len(lines)
        self.frame_bytes += len(block)
        self.written_bytes += len(head) + len(packed)

    def forget(self, before: int) -> int:
        """Remove the files that were ended before a moment; answer how many."""
        files = sorted(self.folder.glob(f"*{_ENDING}"))
        # A file ends where the next begins, and the last is being written.
        over = [
            file
            for file, following in pairwise(files)
            if int(following.name.removesuffix(_ENDING)) < before
        ]
        for file in over:
            file.unlink(missing_ok=True)
        return len(over)

    def close(self) -> None:
        """Let go of the file."""
        with self._writing:
            self._let_go()

    def _let_go(self) -> None:
        file, self._file, self._hour = self._file, None, -1
        if file is not None:
            file.close()

    def _opened(self, received_at: int) -> BinaryIO:
        hour = received_at // _HOUR_US
        if self._file is None or hour != self._hour:
            self._let_go()
            self.folder.mkdir(parents=True, exist_ok=True)
            # A name of its own for each opening: what a killed process left is not written on.
            path = self.folder / f"{received_at:020d}{_ENDING}"
            self._file = path.open("ab", buffering=0)
            self._hour = hour
        return self._file


def read_tape(folder: Path) -> Iterator[Frame]:
    """Answer all whole frames of a tape in the order they were written.

    What a killed process left half written ends its file.
    """
    for path in sorted(folder.glob(f"*{_ENDING}")):
        yield from _frames(path)


def _frames(path: Path) -> Iterator[Frame]:
    with path.open("rb") as file:
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            magic, rest, length, packed_length, checksum = _HEAD.unpack(head)
            packed = file.read(packed_length)
            whole = magic == _MAGIC and rest == _HEAD_REST and len(packed) == packed_length
            if not whole or zlib.crc32(packed) != checksum:
                return
            yield from _lines(bytes(_codec().decompress(packed, length, asbytes=True)))


def _lines(block: bytes) -> Iterator[Frame]:
    at = 0
    while at < len(block):
        received_at, conn, length = block[at : at + 64].split(b" ", 3)[:3]
        start = at + len(received_at) + len(conn) + len(length) + 3
        end = start + int(length)
        yield Frame(int(received_at), int(conn), block[start:end])
        at = end + 1


def _codec() -> Any:  # noqa: ANN401 - pyarrow is published without types
    import pyarrow as pa

    return pa.Codec("zstd", compression_level=3)
