"""Kept here: a payload as bytes: packed, compressed, cut into parts, and put together again."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from grandstand.base.errors import Broken, InvalidInput
from grandstand.storage.tables.encoding.packing import pack, unpack
from grandstand.storage.tables.values import Value

PLAIN: Final = "msgpack"
DEFLATED: Final = "msgpack+zlib"

_FIELD: Final = "data"


class PayloadTooLarge(InvalidInput):
    """The payload is larger than the cache was told to keep."""


class PayloadDamaged(Broken):
    """What is stored is not the whole payload that was written; it counts as not being there."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A payload as bytes, and the name of how it became so."""

    data: bytes
    enc: str

    @property
    def sha256(self) -> str:
        """The digest that its parts must have together."""
        return digest(self.data)


def digest(data: bytes) -> str:
    """Answer the SHA-256 of some bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def pack_payload(value: Value, *, most_inflated: int) -> Packed:
    """Write a value as bytes, compressed when that makes them fewer; raise PayloadTooLarge."""
    plain = pack({_FIELD: value})
    if len(plain) > most_inflated:
        message = f"A payload of {len(plain):,} bytes is over the {most_inflated:,} that are read"
        raise PayloadTooLarge(message)
    deflated = zlib.compress(plain)
    return Packed(deflated, DEFLATED) if len(deflated) < len(plain) else Packed(plain, PLAIN)


def unpack_payload(packed: Packed, *, most_inflated: int) -> Value:
    """Read a value back; raise PayloadDamaged, also when it would grow beyond the limit."""
    try:
        if packed.enc == DEFLATED:
            plain = _inflated(packed.data, most_inflated)
        elif packed.enc == PLAIN:
            plain = packed.data
        else:
            message = f"A payload was written as {packed.enc!r}, which is not known here"
            raise PayloadDamaged(message)
        return unpack(plain)[_FIELD]
    except (zlib.error, msgspec.DecodeError, LookupError, TypeError) as fault:
        message = "A payload cannot be read back from its bytes"
        raise PayloadDamaged(message) from fault


def _inflated(data: bytes, most: int) -> bytes:
    machine = zlib.decompressobj()
    plain = machine.decompress(data, most + 1)
    if len(plain) > most:
        message = f"A compressed payload grows beyond {most:,} bytes and is not read"
        raise PayloadDamaged(message)
    if not machine.eof:
        message = "A compressed payload ends too early"
        raise PayloadDamaged(message)
    return plain


def cut(data: bytes, size: int) -> tuple[bytes, ...]:
    """Cut bytes into parts of at most that size."""
    return tuple(data[at : at + size] for at in range(0, len(data), size))


@dataclass(frozen=True, slots=True)
class Manifest:
    """What stands at the key of a payload kept in parts: all that tells whether they are whole."""

    chunks: int
    generation: str
    total_bytes: int
    sha256: str
    enc: str


def join(manifest: Manifest, parts: Sequence[bytes | None]) -> Packed:
    """Put the parts of a payload together; raise PayloadDamaged unless they are whole."""
    there = [part for part in parts if part is not None]
    if len(there) != manifest.chunks:
        message = f"{len(there)} of the {manifest.chunks} parts of a payload are there"
        raise PayloadDamaged(message)
    data = b"".join(there)
    if len(data) != manifest.total_bytes or digest(data) != manifest.sha256:
        message = "The parts of a payload are not those its manifest was written for"
        raise PayloadDamaged(message)
    return Packed(data, manifest.enc)
