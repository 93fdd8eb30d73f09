"""Kept here: headers packed for HTTP/2 (RFC 7541), without a table that both sides must share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from hpack import Decoder
from hpack.exceptions import HPACKError

from grandstand.wire.errors import AnswerGarbled, told

MOST_BLOCK_BYTES: Final = 16_384
POST: Final = b"\x83"
_GET: Final = b"\x82"
_HTTPS: Final = b"\x87"
# A literal that is never indexed: tokens and keys do not belong into anybody's table.
_METHOD: Final = b"\x12"
_AUTHORITY: Final = b"\x11"
_PATH: Final = b"\x14"
_LITERAL: Final = b"\x10"

_SEVEN_BITS: Final = 127
_STATUS: Final = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}


def _length(size: int) -> bytes:
    if size < _SEVEN_BITS:
        return bytes((size,))
    rest, packed = size - _SEVEN_BITS, bytearray((_SEVEN_BITS,))
    while rest > _SEVEN_BITS:
        packed.append(rest & _SEVEN_BITS | 128)
        rest >>= 7
    packed.append(rest)
    return bytes(packed)


_LENGTHS: Final = tuple(_length(size) for size in range(1024))


def _text(value: str) -> bytes:
    plain = value.encode("ascii")
    size = len(plain)
    return (_LENGTHS[size] if size < len(_LENGTHS) else _length(size)) + plain


@cache
def _name(name: str) -> bytes:
    return _LITERAL + _text(name)


def pack(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Answer headers packed; names are small letters. Raise UnicodeEncodeError unless ASCII."""
    return b"".join([_name(name) + _text(value) for name, value in pairs])


@cache
def pack_start(method: str, authority: str) -> bytes:
    """Answer all that stands before the path."""
    known = {"POST": POST, "GET": _GET}.get(method)
    asked = known or _METHOD + _text(method)
    return asked + _HTTPS + _AUTHORITY + _text(authority)


def pack_path(path: str) -> bytes:
    """Answer a path packed."""
    return _PATH + _text(path)


def status_of(block: bytes) -> int:
    """Answer the status of packed headers; raise AnswerGarbled when there is none."""
    # A change of the table's size may come first.
    first = block[1] if len(block) > 1 and block[0] == 0x20 else block[0] if block else 0  # noqa: PLR2004
    known = _STATUS.get(first)
    if known is not None:
        return known
    said = unpack(block).get(":status", "")
    if not said.isdigit():
        message = "An answer came without a status"
        raise AnswerGarbled(message)
    return int(said)


def unpack(block: bytes) -> dict[str, str]:
    """Answer packed headers by their names; raise AnswerGarbled when they cannot be read."""
    decoder = Decoder()
    decoder.max_allowed_table_size = decoder.header_table_size = 0
    try:
        pairs = decoder.decode(block, raw=True)
        return {_plain(name): _plain(value) for name, value, *_ in pairs}
    except (HPACKError, IndexError) as error:
        message, cause = "An answer's headers cannot be read", told(error)
    raise AnswerGarbled(message) from cause


def _plain(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("latin-1")
