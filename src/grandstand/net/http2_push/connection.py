"""One HTTP/2 client connection with as many concurrent streams as the peer allows."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

import msgspec

from grandstand.net.errors import InvalidResponse
from grandstand.net.http2_push import frames
from grandstand.net.http2_push.requests import (
    Batch,
    NoResponse,
    PendingRequest,
    PushOutcome,
    PushRequest,
    PushResponse,
    decode_status,
    encode_headers,
    encode_method_and_authority,
    encode_path,
)

# Plain integers: looking up an enum member costs more than packing a frame.
_HEADERS: Final = int(frames.FrameType.HEADERS)
_LAST: Final = int(frames.Flag.END_HEADERS)
_WHOLE: Final = int(frames.Flag.END_STREAM | frames.Flag.END_HEADERS)
_OK: Final = 0x88
_RETIRES_AT: Final = frames.MAX_STREAM_ID - 2**16
_UNLIMITED: Final = 2**31
# Writes of this size keep both sides busy; larger ones make them take turns.
_WRITE_REQUESTS: Final = 64
_HIGH_WATER: Final = 1_048_576


class Owner(Protocol):
    """The client that owns a connection."""

    def has_room(self, connection: Connection) -> None:
        """Handle that more requests can be sent."""

    def refused(self, job: PendingRequest) -> None:
        """Handle a request that the peer has not processed."""

    def ended(self, connection: Connection) -> None:
        """Handle that a connection takes no new requests; responses may still arrive."""


@dataclass(slots=True)
class _Incoming:
    """A response that arrives in several frames."""

    block: bytearray = field(default_factory=bytearray)
    body: bytearray = field(default_factory=bytearray)
    ended: bool = False


class Connection(asyncio.Protocol):
    """An HTTP/2 client connection.

    Nothing is sent before the peer's settings have arrived. Until the first response only one
    request is in flight, because APNs allows one stream before it has verified the token; then as
    many as the peer allows, at most `most_streams`.
    """

    def __init__(
        self, owner: Owner, authority: str, most_streams: int, most_response_bytes: int
    ) -> None:
        self._owner = owner
        self._authority = authority
        self._most_streams = most_streams
        self._most_response_bytes = most_response_bytes
        self._transport: asyncio.Transport | None = None
        self._in_flight: dict[int, PendingRequest] = {}
        self._incoming: dict[int, _Incoming] = {}
        self._flow = frames.FlowControl()
        self._rest = b""
        self._next_stream = 1
        self._open_headers: tuple[int, int] | None = None
        self._writable = True
        self.peer_streams: int | None = None
        self.verified = False
        self.open = False
        self.response_count = 0
        self.frames_received = 0
        self.close_reason = ""

    @property
    def streams(self) -> int:
        """How many requests may be in flight now."""
        if not self.open or not self._writable or self.peer_streams is None:
            return 0
        return min(self.peer_streams, self._most_streams if self.verified else 1)

    @property
    def in_flight(self) -> int:
        """How many requests are in flight."""
        return len(self._in_flight)

    @property
    def awaits_response(self) -> bool:
        """Whether the peer owes us responses or its settings."""
        return bool(self._in_flight) or self.peer_streams is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the connection preface."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_HIGH_WATER)
        self._transport.write(frames.client_preface())
        self.open = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Resolve all requests in flight as NoResponse."""
        reason = self.close_reason or (
            f"{type(exc).__name__}: {exc}" if exc else "connection closed"
        )
        self._retire()
        self._transport = None
        lost = NoResponse(reason, sent=True)
        in_flight, self._in_flight = self._in_flight, {}
        for batch, index in in_flight.values():
            batch.record(index, lost)

    def pause_writing(self) -> None:
        """Stop sending: the write buffer is full."""
        self._writable = False

    def resume_writing(self) -> None:
        """Resume sending."""
        self._writable = True
        self._owner.has_room(self)

    def fill(self, queue: deque[PendingRequest]) -> None:
        """Send as many requests from the queue as allowed."""
        room = self.streams - len(self._in_flight)
        while room > 0 and queue and self._flow.can_send():
            output: list[bytes] = []
            for _ in range(min(room, len(queue), _WRITE_REQUESTS)):
                if not self._flow.can_send():
                    break
                batch, index = job = queue.popleft()
                if batch.outcomes[index] is None:
                    self._add(batch.requests[index], job, output)
            self._write(b"".join(output))
            room = self.streams - len(self._in_flight)

    def ping(self) -> None:
        """Send a ping; any frame that arrives increases `frames_received`."""
        self._write(frames.build_frame(frames.FrameType.PING, 0, 0, b"alive?!?"))

    def cancel(self, batch: Batch, outcome: PushOutcome) -> None:
        """Cancel the requests of a batch."""
        streams = [stream for stream, job in self._in_flight.items() if job[0] is batch]
        self._write(
            b"".join(frames.reset_frame(stream, frames.ErrorCode.CANCEL) for stream in streams)
        )
        for stream in streams:
            self._resolve(stream, outcome)

    def drain(self) -> None:
        """Take no new requests, and close after the last response."""
        self._retire()
        self._close_if_idle()

    def abort(self, reason: str) -> None:
        """Abort the connection."""
        self.close_reason = self.close_reason or reason
        self._retire()
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Send GOAWAY and close the connection."""
        self._retire()
        if self._transport is not None:
            self._write(frames.goaway_frame(0, frames.ErrorCode.NO_ERROR))
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Process frames; a protocol error aborts the connection."""
        data = self._rest + data if self._rest else data
        try:
            at = self._read(data)
        except (struct.error, IndexError, InvalidResponse) as error:
            self.abort(f"HTTP/2 protocol error: {error}")
            return
        self._rest = data[at:]
        if self.open:
            self._owner.has_room(self)
        else:
            self._close_if_idle()

    def _read(self, data: bytes) -> int:
        at, end, unpack, in_flight = 0, len(data), frames.FRAME_HEADER.unpack_from, self._in_flight
        while end - at >= frames.FRAME_HEADER_BYTES:
            head, flags, stream = unpack(data, at)
            size = head >> 8
            start = at + frames.FRAME_HEADER_BYTES
            if size > frames.MAX_FRAME_BYTES:
                raise InvalidResponse(f"a frame of {size} bytes")
            if start + size > end:
                break
            at = start + size
            # Nearly every response is a single frame that starts with status 200.
            if head & 255 == _HEADERS and flags == _WHOLE and data[start] == _OK:
                self.verified = True
                job = in_flight.pop(stream, None)
                if job is not None:
                    self.response_count += 1
                    job[0].record(job[1], PushResponse(200, data[start:at]))
                continue
            self._take(head & 255, flags, stream & frames.MAX_STREAM_ID, data[start:at])
        self.frames_received += 1
        return at

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self._open_headers is not None and kind != frames.FrameType.CONTINUATION:
            raise InvalidResponse("headers were interrupted")
        match kind:
            case frames.FrameType.HEADERS:
                self._headers(flags, stream, frames.strip_padding(flags, payload))
            case frames.FrameType.CONTINUATION:
                self._continuation(flags, stream, payload)
            case frames.FrameType.DATA:
                self._data(flags, stream, payload)
            case frames.FrameType.RST_STREAM:
                self._reset(stream, frames.read_uint31(payload))
            case frames.FrameType.WINDOW_UPDATE:
                self._write(self._flow.widen(stream, frames.read_uint31(payload)))
            case _:
                self._take_control(kind, flags, payload)

    def _take_control(self, kind: int, flags: int, payload: bytes) -> None:
        match kind:
            case frames.FrameType.SETTINGS:
                self._settings(flags, payload)
            case frames.FrameType.PING:
                if not flags & frames.Flag.ACK:
                    self._write(
                        frames.build_frame(frames.FrameType.PING, frames.Flag.ACK, 0, payload)
                    )
            case frames.FrameType.GOAWAY:
                self._goaway(payload)
            case frames.FrameType.PUSH_PROMISE:
                raise InvalidResponse("an unexpected PUSH_PROMISE")
            case _:
                pass

    def _headers(self, flags: int, stream: int, payload: bytes) -> None:
        response = self._incoming.setdefault(stream, _Incoming())
        # Headers after a body are trailers and are ignored.
        if not response.body:
            if response.block and decode_status(bytes(response.block)) < 200:
                response.block.clear()
            response.block += payload
        response.ended = bool(flags & frames.Flag.END_STREAM)
        self._open_headers = None if flags & frames.Flag.END_HEADERS else (stream, len(payload))
        self._finish(stream)

    def _continuation(self, flags: int, stream: int, payload: bytes) -> None:
        before = self._open_headers
        if before is None or before[0] != stream or before[1] > self._most_response_bytes:
            raise InvalidResponse("an invalid CONTINUATION")
        response = self._incoming[stream]
        if not response.body:
            response.block += payload
        self._open_headers = (
            None if flags & frames.Flag.END_HEADERS else (stream, before[1] + len(payload))
        )
        self._finish(stream)

    def _data(self, flags: int, stream: int, payload: bytes) -> None:
        if payload:
            more = frames.window_update_frame(0, len(payload))
            more += (
                b""
                if flags & frames.Flag.END_STREAM
                else frames.window_update_frame(stream, len(payload))
            )
            self._write(more)
        response = self._incoming.get(stream)
        if response is None:
            return
        response.body += frames.strip_padding(flags & ~frames.Flag.PRIORITY, payload)
        response.ended = bool(flags & frames.Flag.END_STREAM)
        if len(response.body) > self._most_response_bytes:
            self._write(frames.reset_frame(stream, frames.ErrorCode.CANCEL))
            self._resolve(stream, NoResponse("the response is too large", sent=True))
        else:
            self._finish(stream)

    def _finish(self, stream: int) -> None:
        response = self._incoming[stream]
        if not response.ended or self._open_headers is not None:
            return
        block = bytes(response.block)
        status = decode_status(block)
        # A request with a wrong key does not verify the connection.
        self.verified = self.verified or status != 403
        self.response_count += 1
        self._resolve(stream, PushResponse(status, block, bytes(response.body)))

    def _resolve(self, stream: int, outcome: PushOutcome) -> None:
        self._incoming.pop(stream, None)
        self._flow.forget(stream)
        job = self._in_flight.pop(stream, None)
        if job is not None:
            job[0].record(job[1], outcome)

    def _settings(self, flags: int, payload: bytes) -> None:
        if flags & frames.Flag.ACK:
            return
        unblocked = b""
        self.peer_streams = _UNLIMITED if self.peer_streams is None else self.peer_streams
        for name, value in frames.read_settings(payload):
            if name == frames.Setting.MAX_CONCURRENT_STREAMS:
                self.peer_streams = value
            elif name == frames.Setting.INITIAL_WINDOW_SIZE:
                unblocked = self._flow.resize(value)
        self._write(frames.build_frame(frames.FrameType.SETTINGS, frames.Flag.ACK, 0) + unblocked)

    def _reset(self, stream: int, code: int) -> None:
        job = self._in_flight.get(stream)
        if job is not None and code == frames.ErrorCode.REFUSED_STREAM:
            del self._in_flight[stream]
            self._owner.refused(job)
        self._resolve(stream, NoResponse(f"the stream was reset with code {code}", sent=True))

    def _goaway(self, payload: bytes) -> None:
        last, code = frames.read_uint31(payload), frames.read_uint31(payload, 4)
        self.close_reason = f"closed by the host: {_reason(payload[8:]) or f'code {code}'}"
        unprocessed = sorted(stream for stream in self._in_flight if stream > last)
        self._retire()
        for stream in unprocessed:
            self._owner.refused(self._in_flight.pop(stream))
            self._resolve(stream, NoResponse(self.close_reason, sent=False))

    def _add(self, request: PushRequest, job: PendingRequest, output: list[bytes]) -> None:
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        shared, body = request.shared.block, request.body
        start = encode_method_and_authority(request.method, self._authority)
        path, own = encode_path(request.path), encode_headers(request.own)
        size = len(start) + len(path) + len(shared) + len(own)
        head = frames.FRAME_HEADER.pack(size << 8 | _HEADERS, _LAST if body else _WHOLE, stream)
        output += (head, start, path, shared, own)
        self._in_flight[stream] = job
        if body:
            self._flow.add(stream, body, output)
        if stream > _RETIRES_AT:
            self._retire()

    def _retire(self) -> None:
        if self.open:
            self.open = False
            self._owner.ended(self)

    def _close_if_idle(self) -> None:
        if not self.open and not self._in_flight and self._transport is not None:
            self.close()

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _reason(debug: bytes) -> str:
    try:
        return str(msgspec.json.decode(debug, type=dict[str, object]).get("reason", ""))
    except msgspec.DecodeError:
        return debug[:100].decode("ascii", "replace")
