"""How many requests a second the sink answers when they cost the sender nothing to make."""

import asyncio
import ssl
import struct
from typing import cast

from benchmarks.cricket.sink import ANSWER_BYTES
from grandstand.net.http2_push.frames import client_preface
from grandstand.net.http2_push.requests import (
    encode_headers,
    encode_method_and_authority,
    encode_path,
)

_CHUNK = 500
_UNANSWERED = 3_000
_HEAD = struct.Struct(">IBI")


class _Blaster(asyncio.Protocol):
    """Writes requests made beforehand and counts the bytes of the answers."""

    def __init__(self, chunks: list[bytes], done: "asyncio.Future[None]") -> None:
        self._chunks = chunks
        self._count = len(chunks) * _CHUNK
        self._done = done
        self._written = self._heard = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet the sink; its settings are answered with the first requests."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(client_preface() + _HEAD.pack(4, 1, 0))
        self._write()

    def data_received(self, data: bytes) -> None:
        """Go on as answers come."""
        self._heard += len(data)
        if self._heard // ANSWER_BYTES >= self._count and not self._done.done():
            self._done.set_result(None)
        self._write()

    def _write(self) -> None:
        answered = self._heard // ANSWER_BYTES
        while self._chunks and self._written - answered < _UNANSWERED:
            self._transport.write(self._chunks.pop())
            self._written += _CHUNK


def _requests(shared: bytes, body: bytes, count: int) -> list[bytes]:
    start, chunks = encode_method_and_authority("POST", "127.0.0.1"), []
    for first in range(0, count, _CHUNK):
        parts: list[bytes] = []
        for at in range(first, first + _CHUNK):
            block = start + encode_path(f"/3/device/{at:064x}") + shared
            parts += (_HEAD.pack(len(block) << 8 | 1, 4, 1 + 2 * at), block)
            parts += (_HEAD.pack(len(body) << 8, 1, 1 + 2 * at), body)
        chunks.append(b"".join(parts))
    return chunks[::-1]


async def blast(port: int, context: ssl.SSLContext, body: bytes, count: int = 50_000) -> float:
    """Requests answered a second, over one connection."""
    shared = encode_headers([("authorization", "x" * 200), ("apns-id", "x" * 36)])
    chunks = _requests(shared, body, count)
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    began = loop.time()
    transport, _ = await loop.create_connection(
        lambda: _Blaster(chunks, done), "127.0.0.1", port, ssl=context
    )
    await done
    taken = loop.time() - began
    transport.close()
    return count / taken
