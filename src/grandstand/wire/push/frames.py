"""Kept here: HTTP/2 frames as bytes (RFC 9113), and the settings we open a connection with."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum, IntFlag
from typing import Final

HEAD: Final = struct.Struct(">IBI")
"""A frame's head: its length and kind in one number, its flags, its stream."""

HEAD_BYTES: Final = 9
MOST_FRAME_BYTES: Final = 16_384
LARGEST_STREAM: Final = 2**31 - 1
FIRST_WINDOW: Final = 65_535
OUR_WINDOW: Final = 1_048_576
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_U32: Final = struct.Struct(">I")
_SETTING: Final = struct.Struct(">HI")


class Kind(IntEnum):
    """What a frame is."""

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
    """What a frame's flags say; ACK and END_STREAM share a bit, on different kinds."""

    END_STREAM = 1
    ACK = 1
    END_HEADERS = 4
    PADDED = 8
    PRIORITY = 32


class Setting(IntEnum):
    """What can be agreed on."""

    HEADER_TABLE_SIZE = 1
    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4


class Code(IntEnum):
    """Why a stream or a connection ends."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    REFUSED_STREAM = 7
    CANCEL = 8


def frame(kind: Kind, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Answer a whole frame."""
    return HEAD.pack(len(payload) << 8 | kind, flags, stream) + payload


def opening() -> bytes:
    """Answer what a client says first.

    With a header table of size 0 every answer's headers can be read by themselves, and only if
    somebody asks for them.
    """
    chosen = {
        Setting.HEADER_TABLE_SIZE: 0,
        Setting.ENABLE_PUSH: 0,
        Setting.INITIAL_WINDOW_SIZE: OUR_WINDOW,
    }
    return PREFACE + settings(chosen) + window_update(0, OUR_WINDOW)


def settings(chosen: Mapping[Setting, int]) -> bytes:
    """Answer the frame that tells settings."""
    packed = b"".join(_SETTING.pack(name, value) for name, value in chosen.items())
    return frame(Kind.SETTINGS, 0, 0, packed)


def window_update(stream: int, more: int) -> bytes:
    """Answer the frame that lets the other side send so many bytes more."""
    return frame(Kind.WINDOW_UPDATE, 0, stream, _U32.pack(more))


def reset(stream: int, code: Code) -> bytes:
    """Answer the frame that ends one stream."""
    return frame(Kind.RST_STREAM, 0, stream, _U32.pack(code))


def goaway(last_stream: int, code: Code) -> bytes:
    """Answer the frame that ends a connection."""
    return frame(Kind.GOAWAY, 0, 0, _U32.pack(last_stream) + _U32.pack(code))


def number(payload: bytes, at: int = 0) -> int:
    """Answer the 31-bit number at a place of a payload; raise struct.error when it is short."""
    read: int = _U32.unpack_from(payload, at)[0]
    return read & LARGEST_STREAM


def settings_of(payload: bytes) -> Iterator[tuple[int, int]]:
    """Answer each setting by its number and value; raise struct.error when one is cut off."""
    return _SETTING.iter_unpack(payload)


def unpadded(flags: int, payload: bytes) -> bytes:
    """Answer a payload without padding and priority."""
    if flags & Flag.PADDED:
        payload = payload[1 : len(payload) - payload[0]]
    return payload[5:] if flags & Flag.PRIORITY else payload
