"""Push requests and responses, their HPACK headers (RFC 7541), and batches of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, TypeAlias

import msgspec
from hpack import Decoder
from hpack.exceptions import HPACKError

from grandstand.net.errors import InvalidRequest, InvalidResponse, redacted
from grandstand.net.http2_push.frames import MAX_FRAME_BYTES

MAX_HEADER_BLOCK_BYTES: Final = 16_384
POST: Final = b"\x83"
_GET: Final = b"\x82"
_HTTPS: Final = b"\x87"
# Never-indexed literals: tokens and keys do not belong in a shared table.
_METHOD: Final = b"\x12"
_AUTHORITY: Final = b"\x11"
_PATH: Final = b"\x14"
_LITERAL: Final = b"\x10"

_SEVEN_BITS: Final = 127
_STATUS: Final = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}


def _length(size: int) -> bytes:
    if size < _SEVEN_BITS:
        return bytes((size,))
    rest, encoded = size - _SEVEN_BITS, bytearray((_SEVEN_BITS,))
    while rest > _SEVEN_BITS:
        encoded.append(rest & _SEVEN_BITS | 128)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


_LENGTHS: Final = tuple(_length(size) for size in range(1024))


def _text(value: str) -> bytes:
    encoded = value.encode("ascii")
    size = len(encoded)
    return (_LENGTHS[size] if size < len(_LENGTHS) else _length(size)) + encoded


@cache
def _name(name: str) -> bytes:
    return _LITERAL + _text(name)


def encode_headers(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Encode headers with lower-case names; raise UnicodeEncodeError unless ASCII."""
    return b"".join([_name(name) + _text(value) for name, value in pairs])


@cache
def encode_method_and_authority(method: str, authority: str) -> bytes:
    """Encode the pseudo-headers before the path."""
    known = {"POST": POST, "GET": _GET}.get(method)
    encoded = known or _METHOD + _text(method)
    return encoded + _HTTPS + _AUTHORITY + _text(authority)


def encode_path(path: str) -> bytes:
    """Encode the path."""
    return _PATH + _text(path)


def decode_status(block: bytes) -> int:
    """Return the status of encoded headers; raise InvalidResponse if there is none."""
    # A table size update may come first.
    first = block[1] if len(block) > 1 and block[0] == 0x20 else block[0] if block else 0
    known = _STATUS.get(first)
    if known is not None:
        return known
    status = decode_headers(block).get(":status", "")
    if not status.isdigit():
        raise InvalidResponse("The response has no status")
    return int(status)


def decode_headers(block: bytes) -> dict[str, str]:
    """Return headers by name; raise InvalidResponse if they cannot be decoded."""
    decoder = Decoder()
    decoder.max_allowed_table_size = decoder.header_table_size = 0
    try:
        pairs = decoder.decode(block, raw=True)
        return {_to_str(name): _to_str(value) for name, value, *_ in pairs}
    except (HPACKError, IndexError) as error:
        message, cause = "The response headers cannot be decoded", redacted(error)
    raise InvalidResponse(message) from cause


def _to_str(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("latin-1")


_RESERVED_BYTES: Final = 4_096
_MAX_TEXT: Final = 1_024


class SharedHeaders:
    """Headers shared by many requests, encoded once; they have no repr because of the keys."""

    __slots__ = ("block",)

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Raises InvalidRequest if the headers are not ASCII or too long."""
        try:
            self.block = encode_headers((name.lower(), value) for name, value in pairs)
        except UnicodeEncodeError:
            message = "Headers must be ASCII"
        else:
            if len(self.block) + _RESERVED_BYTES <= MAX_HEADER_BLOCK_BYTES:
                return
            message = "The headers do not fit into one frame"
        raise InvalidRequest(message)


class PushRequest(msgspec.Struct, frozen=True, gc=False):
    """A request: `shared` headers are encoded once for many requests, `own` are its own.

    A msgspec Struct takes 0.2 µs to create, a dataclass 1.2; an update creates 100,000.
    """

    path: str
    shared: SharedHeaders
    body: bytes = b""
    own: tuple[tuple[str, str], ...] = ()
    method: str = "POST"

    def check(self) -> None:
        """Raise InvalidRequest if the request cannot be sent."""
        path = self.path
        if len(self.body) > MAX_FRAME_BYTES or len(path) > _MAX_TEXT:
            raise InvalidRequest(
                f"The path has {len(path)} characters (limit {_MAX_TEXT}) and the body "
                f"{len(self.body)} bytes (limit {MAX_FRAME_BYTES})"
            )
        if path[:1] != "/" or not (path.isascii() and path.isprintable()):
            raise InvalidRequest("The path must start with / and be ASCII")
        for _, value in self.own:
            if len(value) > _MAX_TEXT or not (value.isascii() and value.isprintable()):
                message = f"Header values must be ASCII of at most {_MAX_TEXT} characters"
                raise InvalidRequest(message)


class PushResponse(msgspec.Struct, frozen=True, gc=False):
    """A response; its headers are decoded only on access."""

    status: int
    block: bytes = b""
    body: bytes = b""

    @property
    def headers(self) -> dict[str, str]:
        """The headers by name. Raises InvalidResponse if they cannot be decoded."""
        return decode_headers(self.block)


class NoResponse(msgspec.Struct, frozen=True, gc=False):
    """No response came; with `sent` False the service cannot have received the request."""

    reason: str
    sent: bool


PushOutcome: TypeAlias = PushResponse | NoResponse


class Batch:
    """Requests and their outcomes in the same order; `done` is set with the last outcome."""

    __slots__ = ("done", "left", "outcomes", "requests")

    def __init__(self, requests: Sequence[PushRequest], done: asyncio.Future[None]) -> None:
        self.requests = requests
        self.outcomes: list[PushOutcome | None] = [None] * len(requests)
        self.left = len(requests)
        self.done = done

    def record(self, index: int, outcome: PushOutcome) -> None:
        """Record an outcome; a second one for the same request is ignored."""
        if self.outcomes[index] is not None:
            return
        self.outcomes[index] = outcome
        self.left -= 1
        if not self.left and not self.done.done():
            self.done.set_result(None)


PendingRequest: TypeAlias = tuple[Batch, int]
"""One request of a batch."""
