"""Kept here: how much a peer lets us send, and the bodies that wait for it to let us send more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.wire.errors import AnswerGarbled
from grandstand.wire.push import frames
from grandstand.wire.push.frames import Flag, Kind, frame

_DATA: Final = int(Kind.DATA)
_END: Final = int(Flag.END_STREAM)


@dataclass(slots=True)
class _Held:
    """The part of a body that had to wait, and how much of it the stream would take."""

    body: bytes
    window: int


class Outflow:
    """The windows of one connection (RFC 9113 §5.2); a body nearly always goes out whole."""

    def __init__(self) -> None:
        self._window = frames.FIRST_WINDOW
        self._stream_window = frames.FIRST_WINDOW
        self._held: dict[int, _Held] = {}

    def takes_more(self) -> bool:
        """Tell whether another body may be begun; those that wait do so by themselves."""
        return self._window > 0

    def add(self, stream: int, body: bytes, written: list[bytes]) -> None:
        """Put a body behind what is to be written, or as much of it as may go now."""
        size = len(body)
        if size <= self._window and size <= self._stream_window:
            self._window -= size
            written += (frames.HEAD.pack(size << 8 | _DATA, _END, stream), body)
            return
        self._held[stream] = _Held(body, self._stream_window)
        written.append(self._release(stream))

    def allow(self, stream: int, more: int) -> bytes:
        """Widen the window of a stream, or of the connection for stream 0; answer what goes out.

        Raises AnswerGarbled when a window grows beyond what the protocol has room for.
        """
        if stream:
            held = self._held.get(stream)
            if held is None:
                return b""
            held.window += more
            return self._release(stream)
        self._window += more
        if self._window > frames.LARGEST_STREAM:
            message = "a window larger than 2**31 - 1"
            raise AnswerGarbled(message)
        return self._release_all()

    def resize(self, size: int) -> bytes:
        """Give every stream a window of another size; answer what goes out because of it."""
        change, self._stream_window = size - self._stream_window, size
        for held in self._held.values():
            held.window += change
        return self._release_all()

    def forget(self, stream: int) -> None:
        """Let go of a stream that has ended."""
        if self._held:
            self._held.pop(stream, None)

    def _release_all(self) -> bytes:
        return b"".join([self._release(stream) for stream in list(self._held)])

    def _release(self, stream: int) -> bytes:
        held = self._held[stream]
        size = min(self._window, held.window, len(held.body))
        if size <= 0:
            return b""
        part, held.body = held.body[:size], held.body[size:]
        self._window -= size
        held.window -= size
        if not held.body:
            del self._held[stream]
        return frame(Kind.DATA, 0 if held.body else _END, stream, part)
