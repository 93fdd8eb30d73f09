"""Kept here: one request on its way: what is counted going in, and added going out."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable
from typing import Any, Final

from starlette.types import Message, Receive, Send

from grandstand.kit.problems import RequestTooLarge

HeaderList = list[tuple[bytes, bytes]]

_SMALLEST: Final = 1024
_IN_LINE: Final = 262_144
_LEVEL: Final = 5
_COMPRESSED: Final = (b"text/", b"application/json", b"application/problem+json", b"image/svg")


class Passage:
    """One request: how large its body is, how its answer began, and what that answer carries."""

    __slots__ = (
        "_added",
        "_gzip",
        "_kept",
        "_receive",
        "_send",
        "_squeeze",
        "_taken",
        "ended",
        "most_bytes",
        "on_start",
        "sent_bytes",
        "status",
    )

    def __init__(
        self, receive: Receive, send: Send, added: HeaderList, *, accepts_gzip: bool
    ) -> None:
        self._receive = receive
        self._send = send
        self._added = added
        self._gzip = accepts_gzip
        self._taken = 0
        self._kept: Message | None = None
        self._squeeze: Any = None
        self.ended = False
        self.most_bytes = 0
        self.on_start: Callable[[], None] | None = None
        self.sent_bytes = 0
        self.status = 0

    @property
    def begun(self) -> bool:
        """Whether the client has been sent the beginning of an answer."""
        return self.status != 0 and self._kept is None

    async def receive(self) -> Message:
        """Receive a part of the body; raise RequestTooLarge when it grows too large."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._taken += len(message.get("body", b""))
            if self._taken > self.most_bytes:
                raise too_large(self.most_bytes)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the house's headers, compressed where that pays."""
        if message["type"] == "http.response.start":
            self._begin(message)
        elif message["type"] == "http.response.body":
            await self._send_body(message)
        else:
            await self._send(message)

    def _begin(self, message: Message) -> None:
        self.status = message["status"]
        if self.on_start is not None:
            self.on_start()
        headers: HeaderList = list(message.get("headers", ()))
        present = {name for name, _ in headers}
        headers.extend(pair for pair in self._added if pair[0] not in present)
        message["headers"] = headers
        self._kept = message

    async def _send_body(self, message: Message) -> None:
        start, body = self._kept, message.get("body", b"")
        more = message.get("more_body", False)
        if start is not None:
            self._kept = None
            if self._pays(start["headers"], body, more=more):
                _mark_compressed(start["headers"])
                if more:
                    self._squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
                else:
                    body = await _compressed(body)
                    start["headers"].append((b"content-length", str(len(body)).encode()))
            await self._send(start)
        if self._squeeze is not None:
            end = zlib.Z_SYNC_FLUSH if more else zlib.Z_FINISH
            body = self._squeeze.compress(body) + self._squeeze.flush(end)
        self.sent_bytes += len(body)
        self.ended = not more
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    def _pays(self, headers: HeaderList, body: bytes, *, more: bool) -> bool:
        if not self._gzip or (len(body) < _SMALLEST and not more):
            return False
        kind = b""
        for name, value in headers:
            if name == b"content-encoding":
                return False
            if name == b"content-type":
                kind = value
        return kind.startswith(_COMPRESSED)


def _mark_compressed(headers: HeaderList) -> None:
    headers[:] = [pair for pair in headers if pair[0] != b"content-length"]
    headers.append((b"content-encoding", b"gzip"))
    headers.append((b"vary", b"accept-encoding"))


async def _compressed(body: bytes) -> bytes:
    if len(body) <= _IN_LINE:
        return gzip.compress(body, _LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)


def too_large(most: int) -> RequestTooLarge:
    """Answer the error for a body that is larger than is taken."""
    return RequestTooLarge(f"At most {most:,} bytes are taken in one request")
