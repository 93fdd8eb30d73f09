"""Kept here: how batches of rows are written to a spill file, and told from what a stop cut off.

A file is a signature, a record that names the columns, and a record for each batch. A record is its
length, its number of rows and the checksum of its content, the checksum of these three, and the
content. Whatever is shorter than its record says was never acknowledged.
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO, Final, NamedTuple

SIGNATURE: Final = b"grandstand spill 1\n"

_HEAD: Final = struct.Struct("<III")
_SEAL: Final = struct.Struct("<I")
_BEFORE: Final = _HEAD.size + _SEAL.size


class Record(NamedTuple):
    """A record found in a file: its rows, where it ends; without content when it is damaged."""

    rows: int
    end: int
    content: bytes | None


def sealed(content: bytes, rows: int) -> bytes:
    """Answer a record of that content."""
    head = _HEAD.pack(len(content), rows, zlib.crc32(content))
    return b"".join((head, _SEAL.pack(zlib.crc32(head)), content))


def found(held: BinaryIO, start: int, end: int) -> Record | None:
    """Read the record at a place of a file that ends there; None when there is no whole one."""
    head = _head(held, start, end)
    if head is None:
        return None
    length, rows, checksum = head
    content = held.read(length) if length else b""
    whole = length > 0 and zlib.crc32(content) == checksum
    # A damaged head does not say where its record ends: nothing after it can be told apart.
    return Record(rows, start + _BEFORE + length if length else end, content if whole else None)


def counted(held: BinaryIO, start: int, end: int) -> tuple[int, int]:
    """Answer how many rows the records from a place on hold, and where the last whole one ends."""
    rows, at = 0, start
    while at < end:
        head = _head(held, at, end)
        if head is None:
            break
        length, more, _ = head
        rows += more
        at = at + _BEFORE + length if length else end
    return rows, at


def _head(held: BinaryIO, start: int, end: int) -> tuple[int, int, int] | None:
    """Answer length, rows and checksum; None for one that was cut off, zeros for a damaged one."""
    held.seek(start)
    before = held.read(_BEFORE) if start < end else b""
    if len(before) < _BEFORE:
        return None
    head, (seal,) = before[: _HEAD.size], _SEAL.unpack(before[_HEAD.size :])
    length, rows, checksum = _HEAD.unpack(head)
    if zlib.crc32(head) != seal or length == 0:
        # After a loss of power a file may end in zeros that were never written.
        return None if _only_zeros(held, start) else (0, 0, 0)
    return None if start + _BEFORE + length > end else (length, rows, checksum)


def _only_zeros(held: BinaryIO, start: int) -> bool:
    held.seek(start)
    while piece := held.read(1 << 20):
        if piece.strip(b"\x00"):
            return False
    return True
