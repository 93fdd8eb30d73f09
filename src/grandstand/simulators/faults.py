"""Fault injection between a client and a simulator, reproducible by seed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, TypeAlias

import msgspec

from grandstand.simulators import asgi

Sleep: TypeAlias = Callable[[float], Awaitable[None]]

Kind: TypeAlias = Literal[
    "delay", "drop", "duplicate", "reorder", "garbage", "too many", "failing", "disconnect"
]

CONTROL: Final = "/simulator/faults"
ABORT: Final = "grandstand.abort"
_GARBAGE: Final = b"\xff\xfe<<garbage>>\x00"


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault rule.

    Attributes:
        path: Prefix of the paths it applies to.
        share: Share of requests or frames that are affected.
        times: How often it applies; None is unlimited.
        seconds: Length of a delay, or the Retry-After of a refusal.
    """

    kind: Kind
    path: str = "/"
    share: float = 1.0
    times: int | None = None
    seconds: float = 1.0


@dataclass
class Faults:
    """The current fault rules, and how often each kind was applied."""

    random: Random
    rules: list[Fault] = field(default_factory=list)
    struck: dict[str, int] = field(default_factory=dict)
    _left: dict[int, int] = field(default_factory=dict)

    def ask_for(self, *rules: Fault) -> None:
        """Replace the rules."""
        self.rules = [*rules]
        self._left = {at: rule.times for at, rule in enumerate(rules) if rule.times is not None}

    def strike(self, path: str, *kinds: Kind) -> Fault | None:
        """Return the fault for this request or frame, or None."""
        for at, rule in enumerate(self.rules):
            if rule.kind not in kinds or not path.startswith(rule.path) or self._left.get(at) == 0:
                continue
            if self.random.random() >= rule.share:
                continue
            if at in self._left:
                self._left[at] -= 1
            self.struck[rule.kind] = self.struck.get(rule.kind, 0) + 1
            return rule
        return None


class Faulty:
    """ASGI middleware that injects faults, set by `faults` or by PUT to the control path.

    A request can be delayed, dropped, refused, fail, be cut off half way, or get a garbage reply.
    A WebSocket frame can be delayed, dropped, duplicated, swapped with the next, replaced by
    garbage, or end the connection.
    """

    def __init__(self, app: asgi.Application, faults: Faults, sleep: Sleep = asyncio.sleep) -> None:
        self._app = app
        self._faults = faults
        self._sleep = sleep

    async def __call__(self, scope: asgi.Message, receive: asgi.Receive, send: asgi.Send) -> None:
        """Handle one request or WebSocket."""
        if scope["type"] == "http" and scope["path"] == CONTROL:
            await self._control(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, _Frames(self._faults, scope, send, self._sleep))
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: asgi.Message, receive: asgi.Receive, send: asgi.Send) -> None:
        path, faults = scope["path"], self._faults
        if slow := faults.strike(path, "delay"):
            await self._sleep(slow.seconds)
        if faults.strike(path, "drop"):
            scope["extensions"][ABORT]["now"]()
            # The server notices the aborted connection in the next iteration of the loop.
            await asyncio.sleep(0)
            raise ConnectionAborted
        if refused := faults.strike(path, "too many", "failing"):
            status = 429 if refused.kind == "too many" else 503
            wait = [(b"retry-after", f"{refused.seconds:g}".encode())]
            await asgi.send_response(send, status, b'{"error": "injected fault"}', wait)
            return
        if faults.strike(path, "garbage"):
            await asgi.send_response(send, 200, _GARBAGE, [asgi.JSON])
            return
        await self._app(scope, receive, _cut(send) if faults.strike(path, "disconnect") else send)

    async def _control(self, scope: asgi.Message, receive: asgi.Receive, send: asgi.Send) -> None:
        if scope["method"] == "PUT":
            try:
                rules = msgspec.json.decode(await asgi.read_body(receive), type=list[Fault])
            except msgspec.MsgspecError as error:
                await asgi.send_response(send, 400, str(error).encode())
                return
            self._faults.ask_for(*rules)
        await asgi.send_json(
            send, 200, {"rules": self._faults.rules, "struck": self._faults.struck}
        )


class ConnectionAborted(Exception):
    """Ends a request or WebSocket immediately."""


class _Frames:
    """Sends the frames of one WebSocket, with faults."""

    def __init__(self, faults: Faults, scope: asgi.Message, send: asgi.Send, sleep: Sleep) -> None:
        self._faults = faults
        self._path: str = scope["path"]
        self._send = send
        self._sleep = sleep
        self._delayed: asgi.Message | None = None
        self._is_closed = False

    async def __call__(self, message: asgi.Message) -> None:
        if message["type"] != "websocket.send":
            await self._release()
            await self._send(message)
            return
        if self._is_closed:
            raise ConnectionAborted
        fault = self._faults.strike(
            self._path, "delay", "drop", "duplicate", "reorder", "garbage", "disconnect"
        )
        await self._frame(message, fault)

    async def _frame(self, message: asgi.Message, fault: Fault | None) -> None:
        if fault is None:
            await self._send(message)
            await self._release()
        elif fault.kind == "delay":
            await self._sleep(fault.seconds)
            await self._send(message)
        elif fault.kind == "duplicate":
            await self._send(message)
            await self._send(message)
        elif fault.kind == "reorder":
            await self._release()
            self._delayed = message
        elif fault.kind == "garbage":
            await self._send({"type": "websocket.send", "text": _GARBAGE.decode("latin-1")})
        elif fault.kind == "disconnect":
            self._is_closed = True
            await self._send({"type": "websocket.close", "code": 1011})
            raise ConnectionAborted

    async def _release(self) -> None:
        if self._delayed is not None:
            delayed, self._delayed = self._delayed, None
            await self._send(delayed)


def _cut(send: asgi.Send) -> asgi.Send:
    """Send the headers and half of the first body part, then end the connection."""

    async def half(message: asgi.Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        body = message.get("body", b"")
        await send(
            {"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True}
        )
        raise ConnectionAborted

    return half
