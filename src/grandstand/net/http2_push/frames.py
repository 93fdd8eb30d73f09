"""HTTP/2 frames and flow control (RFC 9113)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final

from grandstand.net.errors import InvalidResponse

FRAME_HEADER: Final = struct.Struct(">IBI")
"""Length and type in one number, then flags, then the stream id."""

FRAME_HEADER_BYTES: Final = 9
MAX_FRAME_BYTES: Final = 16_384
MAX_STREAM_ID: Final = 2**31 - 1
INITIAL_WINDOW: Final = 65_535
OUR_WINDOW: Final = 1_048_576
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_U32: Final = struct.Struct(">I")
_SETTING: Final = struct.Struct(">HI")


class FrameType(IntEnum):
    """Frame types."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


class Flag(IntFlag):
    """Frame flags; ACK and END_STREAM share a bit on different types."""

    END_STREAM = 1
    ACK = 1
    END_HEADERS = 4
    PADDED = 8
    PRIORITY = 32


class Setting(IntEnum):
    """Connection settings."""

    HEADER_TABLE_SIZE = 1
    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4


class ErrorCode(IntEnum):
    """Error codes of streams and connections."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    REFUSED_STREAM = 7
    CANCEL = 8


def build_frame(frame_type: FrameType, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a complete frame."""
    return FRAME_HEADER.pack(len(payload) << 8 | frame_type, flags, stream) + payload


def client_preface() -> bytes:
    """Return the connection preface with our settings.

    With a header table of size 0, the headers of each response can be decoded on their own, and
    only when they are needed.
    """
    values = {
        Setting.HEADER_TABLE_SIZE: 0,
        Setting.ENABLE_PUSH: 0,
        Setting.INITIAL_WINDOW_SIZE: OUR_WINDOW,
    }
    return PREFACE + settings_frame(values) + window_update_frame(0, OUR_WINDOW)


def settings_frame(values: Mapping[Setting, int]) -> bytes:
    """Return a SETTINGS frame."""
    packed = b"".join(_SETTING.pack(name, value) for name, value in values.items())
    return build_frame(FrameType.SETTINGS, 0, 0, packed)


def window_update_frame(stream: int, more: int) -> bytes:
    """Return a WINDOW_UPDATE frame."""
    return build_frame(FrameType.WINDOW_UPDATE, 0, stream, _U32.pack(more))


def reset_frame(stream: int, code: ErrorCode) -> bytes:
    """Return a RST_STREAM frame."""
    return build_frame(FrameType.RST_STREAM, 0, stream, _U32.pack(code))


def goaway_frame(last_stream: int, code: ErrorCode) -> bytes:
    """Return a GOAWAY frame."""
    return build_frame(FrameType.GOAWAY, 0, 0, _U32.pack(last_stream) + _U32.pack(code))


def read_uint31(payload: bytes, at: int = 0) -> int:
    """Return the 31-bit number at an offset; raise struct.error if the payload is too short."""
    read: int = _U32.unpack_from(payload, at)[0]
    return read & MAX_STREAM_ID


def read_settings(payload: bytes) -> Iterator[tuple[int, int]]:
    """Yield each setting as (id, value); raise struct.error if one is cut off."""
    return _SETTING.iter_unpack(payload)


def strip_padding(flags: int, payload: bytes) -> bytes:
    """Return a payload without padding and priority."""
    if flags & Flag.PADDED:
        payload = payload[1 : len(payload) - payload[0]]
    return payload[5:] if flags & Flag.PRIORITY else payload


_DATA: Final = int(FrameType.DATA)
_END: Final = int(Flag.END_STREAM)


@dataclass(slots=True)
class _PendingBody:
    """The unsent rest of a body, and the stream's window."""

    body: bytes
    window: int


class FlowControl:
    """The send windows of one connection (RFC 9113 §5.2)."""

    def __init__(self) -> None:
        self._window = INITIAL_WINDOW
        self._stream_window = INITIAL_WINDOW
        self._pending: dict[int, _PendingBody] = {}

    def can_send(self) -> bool:
        """Return whether another body may be started."""
        return self._window > 0

    def add(self, stream: int, body: bytes, output: list[bytes]) -> None:
        """Append a body, or as much of it as the windows allow, to the output."""
        size = len(body)
        if size <= self._window and size <= self._stream_window:
            self._window -= size
            output += (FRAME_HEADER.pack(size << 8 | _DATA, _END, stream), body)
            return
        self._pending[stream] = _PendingBody(body, self._stream_window)
        output.append(self._release(stream))

    def widen(self, stream: int, more: int) -> bytes:
        """Widen the window of a stream, or of the connection for stream 0; return what to send.

        Raises InvalidResponse if a window exceeds the protocol's maximum.
        """
        if stream:
            pending = self._pending.get(stream)
            if pending is None:
                return b""
            pending.window += more
            return self._release(stream)
        self._window += more
        if self._window > MAX_STREAM_ID:
            raise InvalidResponse("a window larger than 2**31 - 1")
        return self._release_all()

    def resize(self, size: int) -> bytes:
        """Change the window of every stream; return what to send."""
        change, self._stream_window = size - self._stream_window, size
        for pending in self._pending.values():
            pending.window += change
        return self._release_all()

    def forget(self, stream: int) -> None:
        """Drop a stream that has ended."""
        if self._pending:
            self._pending.pop(stream, None)

    def _release_all(self) -> bytes:
        return b"".join([self._release(stream) for stream in list(self._pending)])

    def _release(self, stream: int) -> bytes:
        pending = self._pending[stream]
        size = min(self._window, pending.window, len(pending.body))
        if size <= 0:
            return b""
        part, pending.body = pending.body[:size], pending.body[size:]
        self._window -= size
        pending.window -= size
        if not pending.body:
            del self._pending[stream]
        return build_frame(FrameType.DATA, 0 if pending.body else _END, stream, part)
