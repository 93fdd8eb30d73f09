"""ASGI types and helpers shared by all simulators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, TypeAlias

import msgspec

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

JSON: Final[Header] = (b"content-type", b"application/json")


async def read_body(receive: Receive) -> bytes:
    """Read the whole body of a request."""
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def send_response(
    send: Send, status: int, body: bytes, headers: Iterable[Header] = ()
) -> None:
    """Send a complete response with its length."""
    head = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def send_json(send: Send, status: int, value: object, headers: Iterable[Header] = ()) -> None:
    """Send a JSON response."""
    await send_response(send, status, msgspec.json.encode(value), [JSON, *headers])
