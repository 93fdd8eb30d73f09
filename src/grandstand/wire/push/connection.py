"""Kept here: one HTTP/2 connection that sends as many requests at once as the other side allows."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

import msgspec

from grandstand.wire.errors import AnswerGarbled
from grandstand.wire.push import frames
from grandstand.wire.push.batch import Batch, Job
from grandstand.wire.push.flow import Outflow
from grandstand.wire.push.frames import Code, Flag, Kind, Setting, frame
from grandstand.wire.push.headers import pack, pack_path, pack_start, status_of
from grandstand.wire.push.values import Answer, Lost, Outcome, Request

# Plain numbers, for looking up a member of an enumeration costs more than packing a frame.
_HEADERS: Final = int(Kind.HEADERS)
_LAST: Final = int(Flag.END_HEADERS)
_WHOLE: Final = int(Flag.END_STREAM | Flag.END_HEADERS)
_OK: Final = 0x88
_FORBIDDEN: Final = 403
_RETIRES_AT: Final = frames.LARGEST_STREAM - 2**16
_UNLIMITED: Final = 2**31
# A write of this size keeps both sides busy: larger ones make them take turns.
_WRITE_REQUESTS: Final = 64
_HIGH_WATER: Final = 1_048_576


class Owner(Protocol):
    """Who keeps connections and hands them work."""

    def has_room(self, connection: Connection) -> None:
        """Hear that more may be sent over a connection."""
        ...

    def refused(self, job: Job) -> None:
        """Take back a request that the other side has not looked at."""
        ...

    def ended(self, connection: Connection) -> None:
        """Hear that a connection takes no more requests; it may still answer old ones."""
        ...


@dataclass(slots=True)
class _Incoming:
    """An answer that comes in several frames."""

    block: bytearray = field(default_factory=bytearray)
    body: bytearray = field(default_factory=bytearray)
    ended: bool = False


class Connection(asyncio.Protocol):
    """Speaks HTTP/2 as a client.

    Nothing is sent before the other side has told its settings, of which windows are a part. Only
    one request is under way until the first one is answered, for a push service trusts nobody
    before that; then as many as the other side's settings say at the time, and at most
    `most_streams`.
    """

    def __init__(
        self, owner: Owner, authority: str, most_streams: int, most_answer_bytes: int
    ) -> None:
        self._owner = owner
        self._authority = authority
        self._most_streams = most_streams
        self._most_answer_bytes = most_answer_bytes
        self._transport: asyncio.Transport | None = None
        self._flying: dict[int, Job] = {}
        self._incoming: dict[int, _Incoming] = {}
        self._outflow = Outflow()
        self._rest = b""
        self._next_stream = 1
        self._continued: tuple[int, int] | None = None
        self._writable = True
        self.peer_streams: int | None = None
        self.proven = False
        self.open = False
        self.answered = 0
        self.frames_heard = 0
        self.farewell = ""

    @property
    def streams(self) -> int:
        """How many requests may be under way at once, now."""
        if not self.open or not self._writable or self.peer_streams is None:
            return 0
        return min(self.peer_streams, self._most_streams if self.proven else 1)

    @property
    def flying(self) -> int:
        """How many requests wait for their answers."""
        return len(self._flying)

    @property
    def expectant(self) -> bool:
        """Whether the other side owes us something: answers, or its settings."""
        return bool(self._flying) or self.peer_streams is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet the other side."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_HIGH_WATER)
        self._transport.write(frames.opening())
        self.open = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up on everything that has no answer."""
        reason = self.farewell or (f"{type(exc).__name__}: {exc}" if exc else "connection closed")
        self._retire()
        self._transport = None
        lost = Lost(reason, sent=True)
        flying, self._flying = self._flying, {}
        for batch, index in flying.values():
            batch.take(index, lost)

    def pause_writing(self) -> None:
        """Send nothing for now: the other side does not keep up."""
        self._writable = False

    def resume_writing(self) -> None:
        """Go on sending."""
        self._writable = True
        self._owner.has_room(self)

    def fill(self, queue: deque[Job]) -> None:
        """Send requests from the front of a queue, as many as may go now."""
        room = self.streams - len(self._flying)
        while room > 0 and queue and self._outflow.takes_more():
            written: list[bytes] = []
            for _ in range(min(room, len(queue), _WRITE_REQUESTS)):
                if not self._outflow.takes_more():
                    break
                batch, index = job = queue.popleft()
                if batch.outcomes[index] is None:
                    self._add(batch.requests[index], job, written)
            self._write(b"".join(written))
            room = self.streams - len(self._flying)

    def ping(self) -> None:
        """Ask for a sign of life; whatever comes counts in `frames_heard`."""
        self._write(frame(Kind.PING, 0, 0, b"alive?!?"))

    def cancel(self, batch: Batch, outcome: Outcome) -> None:
        """Stop waiting for the answers to a batch."""
        streams = [stream for stream, job in self._flying.items() if job[0] is batch]
        self._write(b"".join(frames.reset(stream, Code.CANCEL) for stream in streams))
        for stream in streams:
            self._settle(stream, outcome)

    def drain(self) -> None:
        """Take no more requests, and close when the last answer is there."""
        self._retire()
        self._close_if_idle()

    def abort(self, reason: str) -> None:
        """End the connection at once."""
        self.farewell = self.farewell or reason
        self._retire()
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Say goodbye and end the connection."""
        self._retire()
        if self._transport is not None:
            self._write(frames.goaway(0, Code.NO_ERROR))
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Read frames; what is no HTTP/2 ends the connection."""
        data = self._rest + data if self._rest else data
        try:
            at = self._read(data)
        except (struct.error, IndexError, AnswerGarbled) as error:
            self.abort(f"the other side does not speak HTTP/2 properly: {error}")
            return
        self._rest = data[at:]
        if self.open:
            self._owner.has_room(self)
        else:
            self._close_if_idle()

    def _read(self, data: bytes) -> int:
        at, end, unpack, flying = 0, len(data), frames.HEAD.unpack_from, self._flying
        while end - at >= frames.HEAD_BYTES:
            head, flags, stream = unpack(data, at)
            size = head >> 8
            start = at + frames.HEAD_BYTES
            if size > frames.MOST_FRAME_BYTES:
                message = f"a frame of {size} bytes"
                raise AnswerGarbled(message)
            if start + size > end:
                break
            at = start + size
            # Nearly every answer is one frame that begins with the status 200.
            if head & 255 == _HEADERS and flags == _WHOLE and data[start] == _OK:
                self.proven = True
                job = flying.pop(stream, None)
                if job is not None:
                    self.answered += 1
                    job[0].take(job[1], Answer(200, data[start:at]))
                continue
            self._take(head & 255, flags, stream & frames.LARGEST_STREAM, data[start:at])
        self.frames_heard += 1
        return at

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self._continued is not None and kind != Kind.CONTINUATION:
            message = "headers were interrupted"
            raise AnswerGarbled(message)
        match kind:
            case Kind.HEADERS:
                self._headers(flags, stream, frames.unpadded(flags, payload))
            case Kind.CONTINUATION:
                self._continuation(flags, stream, payload)
            case Kind.DATA:
                self._data(flags, stream, payload)
            case Kind.RST_STREAM:
                self._reset(stream, frames.number(payload))
            case Kind.WINDOW_UPDATE:
                self._write(self._outflow.allow(stream, frames.number(payload)))
            case _:
                self._take_control(kind, flags, payload)

    def _take_control(self, kind: int, flags: int, payload: bytes) -> None:
        match kind:
            case Kind.SETTINGS:
                self._settings(flags, payload)
            case Kind.PING:
                self._pinged(flags, payload)
            case Kind.GOAWAY:
                self._goaway(payload)
            case Kind.PUSH_PROMISE:
                message = "a push that we had declined"
                raise AnswerGarbled(message)
            case _:
                pass

    def _headers(self, flags: int, stream: int, payload: bytes) -> None:
        coming = self._incoming.setdefault(stream, _Incoming())
        # What follows a body are trailers, which nobody needs.
        if not coming.body:
            if coming.block and status_of(bytes(coming.block)) < 200:  # noqa: PLR2004 - interim
                coming.block.clear()
            coming.block += payload
        coming.ended = bool(flags & Flag.END_STREAM)
        self._continued = None if flags & Flag.END_HEADERS else (stream, len(payload))
        self._finish(stream)

    def _continuation(self, flags: int, stream: int, payload: bytes) -> None:
        before = self._continued
        if before is None or before[0] != stream or before[1] > self._most_answer_bytes:
            message = "headers that continue nothing, or never end"
            raise AnswerGarbled(message)
        coming = self._incoming[stream]
        if not coming.body:
            coming.block += payload
        self._continued = None if flags & Flag.END_HEADERS else (stream, before[1] + len(payload))
        self._finish(stream)

    def _data(self, flags: int, stream: int, payload: bytes) -> None:
        if payload:
            more = frames.window_update(0, len(payload))
            more += b"" if flags & Flag.END_STREAM else frames.window_update(stream, len(payload))
            self._write(more)
        coming = self._incoming.get(stream)
        if coming is None:
            return
        coming.body += frames.unpadded(flags & ~Flag.PRIORITY, payload)
        coming.ended = bool(flags & Flag.END_STREAM)
        if len(coming.body) > self._most_answer_bytes:
            self._write(frames.reset(stream, Code.CANCEL))
            self._settle(stream, Lost("the answer is too long", sent=True))
        else:
            self._finish(stream)

    def _finish(self, stream: int) -> None:
        coming = self._incoming[stream]
        if not coming.ended or self._continued is not None:
            return
        block = bytes(coming.block)
        status = status_of(block)
        # A request with a wrong key does not make the other side trust us.
        self.proven = self.proven or status != _FORBIDDEN
        self.answered += 1
        self._settle(stream, Answer(status, block, bytes(coming.body)))

    def _settle(self, stream: int, outcome: Outcome) -> None:
        self._incoming.pop(stream, None)
        self._outflow.forget(stream)
        job = self._flying.pop(stream, None)
        if job is not None:
            job[0].take(job[1], outcome)

    def _settings(self, flags: int, payload: bytes) -> None:
        if flags & Flag.ACK:
            return
        unblocked = b""
        self.peer_streams = _UNLIMITED if self.peer_streams is None else self.peer_streams
        for name, value in frames.settings_of(payload):
            if name == Setting.MAX_CONCURRENT_STREAMS:
                self.peer_streams = value
            elif name == Setting.INITIAL_WINDOW_SIZE:
                unblocked = self._outflow.resize(value)
        self._write(frame(Kind.SETTINGS, Flag.ACK, 0) + unblocked)

    def _pinged(self, flags: int, payload: bytes) -> None:
        if not flags & Flag.ACK:
            self._write(frame(Kind.PING, Flag.ACK, 0, payload))

    def _reset(self, stream: int, code: int) -> None:
        job = self._flying.get(stream)
        if job is not None and code == Code.REFUSED_STREAM:
            del self._flying[stream]
            self._owner.refused(job)
        self._settle(stream, Lost(f"the stream was reset with code {code}", sent=True))

    def _goaway(self, payload: bytes) -> None:
        last, code = frames.number(payload), frames.number(payload, 4)
        self.farewell = f"sent away: {_reason(payload[8:]) or f'code {code}'}"
        unseen = sorted(stream for stream in self._flying if stream > last)
        self._retire()
        for stream in unseen:
            self._owner.refused(self._flying.pop(stream))
            self._settle(stream, Lost(self.farewell, sent=False))

    def _add(self, request: Request, job: Job, written: list[bytes]) -> None:
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        shared, body = request.shared.block, request.body
        start = pack_start(request.method, self._authority)
        path, own = pack_path(request.path), pack(request.own)
        size = len(start) + len(path) + len(shared) + len(own)
        head = frames.HEAD.pack(size << 8 | _HEADERS, _LAST if body else _WHOLE, stream)
        written += (head, start, path, shared, own)
        self._flying[stream] = job
        if body:
            self._outflow.add(stream, body, written)
        if stream > _RETIRES_AT:
            self._retire()

    def _retire(self) -> None:
        if self.open:
            self.open = False
            self._owner.ended(self)

    def _close_if_idle(self) -> None:
        if not self.open and not self._flying and self._transport is not None:
            self.close()

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _reason(debug: bytes) -> str:
    try:
        return str(msgspec.json.decode(debug, type=dict[str, object]).get("reason", ""))
    except msgspec.DecodeError:
        return debug[:100].decode("ascii", "replace")
