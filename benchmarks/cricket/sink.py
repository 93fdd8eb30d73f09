"""A push service that only counts: it answers 200 to every request, frame by frame, over TLS.

Run as `python -m benchmarks.cricket.sink CERTIFICATE DELAY_MS [echo]`; it prints its port. With
`echo` it unpacks headers and gives each request's apns-id back, which aioapns cannot do without.
"""

import asyncio
import ssl
import struct
import sys
from typing import cast

import uvloop
from hpack import Decoder

APNS_ID = b"00000000-0000-4000-8000-000000000000"

_HEAD = struct.Struct(">IBI")
_PREFACE_BYTES = 24
_STREAMS = 1_000
_WINDOW = 2**30
_PING = 8 << 8 | 6

_SETTINGS = struct.pack(">IBIHIHI", 12 << 8 | 4, 0, 0, 3, _STREAMS, 4, 2**20)
_SETTINGS_ACK = struct.pack(">IBI", 4, 1, 0)


def block(apns_id: bytes) -> bytes:
    """The packed headers of an answer: status 200 and the id."""
    return b"\x88\x10\x07apns-id" + bytes([len(apns_id)]) + apns_id


_BLOCK = block(APNS_ID)
_ANSWER_HEAD = len(_BLOCK) << 8 | 1
ANSWER_BYTES = _HEAD.size + len(_BLOCK)


def _wider(by: int) -> bytes:
    return struct.pack(">IBII", 4 << 8 | 8, 0, 0, by)


class Sink(asyncio.Protocol):
    """Answers each stream as soon as it has ended, with one frame."""

    def __init__(self, delay_seconds: float) -> None:
        self._delay_seconds = delay_seconds
        self._rest = b""
        self._greeted = False
        self._left = _WINDOW

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open with a wide window."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(_SETTINGS + _wider(_WINDOW))

    def data_received(self, data: bytes) -> None:
        """Return whatever has ended."""
        data = self._rest + data if self._rest else data
        if not self._greeted:
            if len(data) < _PREFACE_BYTES:
                self._rest = data
                return
            self._greeted, data = True, data[_PREFACE_BYTES:]
        self._left -= len(data)
        out, at = self._answers(data)
        self._rest = data[at:]
        if self._left < _WINDOW // 2:
            out.append(_wider(_WINDOW // 2))
            self._left += _WINDOW // 2
        self._send(b"".join(out))

    def _answers(self, data: bytes) -> tuple[list[bytes], int]:
        """The answers to all whole frames, and where the rest begins."""
        out: list[bytes] = []
        at, end, unpack, pack = 0, len(data), _HEAD.unpack_from, _HEAD.pack
        while end - at >= 9:
            head, flags, stream = unpack(data, at)
            after = at + 9 + (head >> 8)
            if after > end:
                break
            kind = head & 255
            if kind < 2 and flags & 1:
                out += (pack(_ANSWER_HEAD, 5, stream), _BLOCK)
            elif kind > 2 and not flags:
                out.append(self._control(kind, data[at + 9 : after]))
            at = after
        return out, at

    def _control(self, kind: int, payload: bytes) -> bytes:
        if kind == 4:
            return _SETTINGS_ACK
        return _HEAD.pack(_PING, 1, 0) + payload if kind == 6 else b""

    def _send(self, frames: bytes) -> None:
        if frames and self._delay_seconds:
            loop = asyncio.get_running_loop()
            loop.call_later(self._delay_seconds, self._transport.write, frames)
        elif frames:
            self._transport.write(frames)


class EchoSink(Sink):
    """Gives every request its own apns-id back."""

    def __init__(self, delay_seconds: float) -> None:
        super().__init__(delay_seconds)
        self._decoder = Decoder()
        self._ids: dict[int, bytes] = {}

    def _answers(self, data: bytes) -> tuple[list[bytes], int]:
        out: list[bytes] = []
        at, end = 0, len(data)
        while end - at >= 9:
            head, flags, stream = _HEAD.unpack_from(data, at)
            after = at + 9 + (head >> 8)
            if after > end:
                break
            kind, payload = head & 255, data[at + 9 : after]
            if kind == 1:
                headers = dict(self._decoder.decode(payload, raw=True))
                self._ids[stream] = bytes(headers[b"apns-id"])
            if kind < 2 and flags & 1:
                answer = block(self._ids.pop(stream))
                out += (_HEAD.pack(len(answer) << 8 | 1, 5, stream), answer)
            elif kind > 2 and not flags:
                out.append(self._control(kind, payload))
            at = after
        return out, at


async def serve(certificate: str, delay_seconds: float, made: type[Sink]) -> None:
    """Serve on loopback until killed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2"])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: made(delay_seconds), "127.0.0.1", 0, ssl=context)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    _, chain, delay_ms, *how = sys.argv
    uvloop.run(serve(chain, float(delay_ms) / 1000, EchoSink if how == ["echo"] else Sink))
