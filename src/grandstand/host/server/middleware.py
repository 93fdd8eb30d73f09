"""The middleware in front of all routes."""

from __future__ import annotations

import asyncio
import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grandstand.core.clock import Clock
from grandstand.core.errors import Broken, GrandstandError, InvalidInput, NotAllowed
from grandstand.core.logging import get_logger
from grandstand.host.server.monitoring import AccessLog
from grandstand.kit.auth.accounts import Authenticator
from grandstand.kit.auth.caller import Caller, Refusal
from grandstand.kit.auth.host_policy import (
    FORWARDED_HEADERS,
    SAFE_METHODS,
    HostPolicy,
    is_loopback,
    parse_host,
)
from grandstand.kit.problems import NotSignedIn, Problems, RequestTimeout, RequestTooLarge
from grandstand.kit.request_limits import CallerRateLimiter, RequestLimits

HeaderList = list[tuple[bytes, bytes]]

_SMALLEST: Final = 1024
_IN_LINE: Final = 262_144
_LEVEL: Final = 5
_COMPRESSED: Final = (b"text/", b"application/json", b"application/problem+json", b"image/svg")


class AsgiExchange:
    """One request and its response: body size, start of the response, headers."""

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
        """Whether the start of a response was sent."""
        return self.status != 0 and self._kept is None

    async def receive(self) -> Message:
        """Receive a part of the body; raise RequestTooLarge if it exceeds the limit."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._taken += len(message.get("body", b""))
            if self._taken > self.most_bytes:
                raise too_large(self.most_bytes)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response, with our headers, compressed where that pays."""
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
    """Return the error for a body that exceeds the limit."""
    return RequestTooLarge(f"At most {most:,} bytes are taken in one request")


_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
_OPEN: Final = ("/static/", "/health")
# A proxy in front speaks for somebody else, also when it stands on this machine.
_TELLING: Final = ("authorization", "cookie", *FORWARDED_HEADERS)
_OWNER_SECONDS: Final = 1.0
_MOST_HOSTS: Final = 64
_TOO_LARGE: Final = 413
_BREACH: Final = 1008
_NOTHING: Final[Mapping[str, str]] = {}
_SIMULATED: Final = (b"grandstand-simulated", b"yes")


class UnknownHost(InvalidInput):
    """The Host header names an unknown host."""

    code = "foreign-host"


class CrossOriginRequest(NotAllowed):
    """Another site's page requested a change or a WebSocket."""

    code = "foreign-origin"


@dataclass(frozen=True, slots=True)
class MiddlewareConfig:
    """The parts of the middleware.

    Responses under the `simulated` paths carry a header that says so.
    """

    gate: Authenticator
    policy: HostPolicy
    limits: RequestLimits
    pace: CallerRateLimiter
    problems: Problems
    access: AccessLog
    clock: Clock
    random: Random
    headers: tuple[tuple[str, str], ...]
    simulated: tuple[str, ...] = ()


class GatewayMiddleware:
    """One layer in front of all routes.

    It assigns the request id, refuses unknown hosts and foreign origins, authenticates, limits
    body, time and rate, adds headers, compresses, logs and counts.
    """

    def __init__(self, app: ASGIApp, parts: MiddlewareConfig) -> None:
        self._app = app
        self._parts = parts
        self._added: HeaderList = [(n.encode(), v.encode()) for n, v in parts.headers]
        self._log = get_logger("server")
        self._hosts: dict[str, bool] = {}
        self._owner: Caller | None = None
        self._owner_at = -_OWNER_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or WebSocket."""
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts = self._parts
        began = parts.clock.monotonic()
        headers = _read(scope)
        request_id = self._name(scope, headers)
        gzip = "gzip" in headers.get("accept-encoding", "")
        added = [(b"x-request-id", request_id.encode()), *self._added]
        if parts.simulated and scope["path"].startswith(parts.simulated):
            added.append(_SIMULATED)
        passage = AsgiExchange(receive, send, added, accepts_gzip=gzip)
        passage.most_bytes = parts.limits.body_bytes
        try:
            await self._admitted(scope, headers, passage)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the last door: everything is answered
            await self._answer(scope, passage, error)
        finally:
            taken = parts.clock.monotonic() - began
            parts.access.record(scope, passage.status, taken, passage.sent_bytes)

    async def _admitted(
        self, scope: Scope, headers: Mapping[str, str], passage: AsgiExchange
    ) -> None:
        parts = self._parts
        self._check(scope, headers)
        length = headers.get("content-length")
        if length is not None and length.isdigit() and int(length) > parts.limits.body_bytes:
            raise too_large(parts.limits.body_bytes)
        if not scope["path"].startswith(_OPEN):
            caller = await self._identified(scope, headers)
            if caller is None or caller.via != "owner":
                parts.pace.spend(caller.user_id if caller else _address(scope))
        try:
            async with asyncio.timeout(parts.limits.request_seconds) as limit:
                passage.on_start = lambda: limit.reschedule(None)
                await self._app(scope, passage.receive, passage.send)
        except TimeoutError as fault:
            passage.on_start = None
            seconds = parts.limits.request_seconds
            raise RequestTimeout(f"This took longer than {seconds:g} s and was given up") from fault

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Raise UnknownHost or CrossOriginRequest."""
        host = headers.get("host", "")
        # A header that is given twice is in the mapping once.
        if host not in self._hosts or len(headers) != len(scope["headers"]):
            given = [v.decode("latin-1") for n, v in scope["headers"] if n == b"host"]
            refused = self._parts.policy.refuses_host(given)
            if refused is not None:
                raise UnknownHost(refused.reason)
            if len(self._hosts) < _MOST_HOSTS:
                self._hosts[host] = is_loopback(_name(host))
        socket = scope["type"] == "websocket"
        method = "GET" if socket else scope["method"]
        if socket or method not in SAFE_METHODS:
            refused = self._parts.policy.refuses_origin(method, headers, socket=socket)
            if refused is not None:
                raise CrossOriginRequest(refused.reason)

    async def _identified(self, scope: Scope, headers: Mapping[str, str]) -> Caller | None:
        """Authenticate; without credentials, look up accounts at most once a second."""
        here = self._from_here(scope, headers)
        bare = here and not any(name in headers for name in _TELLING)
        now = self._parts.clock.monotonic()
        if bare and scope.get("method") == "GET" and now - self._owner_at < _OWNER_SECONDS:
            scope["state"]["caller"] = self._owner
            return self._owner
        cookies = cookie_parser(headers["cookie"]) if "cookie" in headers else _NOTHING
        found = await self._parts.gate.identify(headers, cookies, client_is_loopback=here)
        if isinstance(found, Refusal) and scope["path"].startswith("/api/"):
            raise NotSignedIn(found.reason)
        caller = found if isinstance(found, Caller) else None
        scope["state"]["caller"] = caller
        if bare:
            safe = scope.get("method") == "GET"
            self._owner, self._owner_at = caller, now if safe else now - _OWNER_SECONDS
        return caller

    def _from_here(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        client = scope.get("client")
        if client is None or not self._hosts.get(headers.get("host", ""), False):
            return False
        return client[0] in ("127.0.0.1", "::1") or is_loopback(client[0])

    async def _answer(self, scope: Scope, passage: AsgiExchange, error: Exception) -> None:
        """Respond to an error; if a response has started, cut the connection."""
        if not isinstance(error, GrandstandError) or isinstance(error, Broken):
            name = scope["state"]["request_id"]
            self._log.error("request_failed", path=scope["path"], request_id=name, exc_info=error)
        if passage.begun:
            if passage.ended:
                return
            raise error
        response = self._parts.problems.answer(Request(scope), error)
        if response.status_code == _TOO_LARGE:
            response.headers["connection"] = "close"
        await response(scope, passage.receive, passage.send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _read(scope)
        self._name(scope, headers)
        try:
            self._check(scope, headers)
            await self._identified(scope, headers)
        except GrandstandError as error:
            self._log.info("websocket_refused", path=scope["path"], why=str(error))
            await send({"type": "websocket.close", "code": _BREACH, "reason": ""})
            return
        await self._app(scope, receive, send)

    def _name(self, scope: Scope, headers: Mapping[str, str]) -> str:
        given = headers.get("x-request-id")
        if given is None or not _REQUEST_ID.fullmatch(given):
            moment = int(self._parts.clock.epoch() * 1000)
            given = f"{moment:011x}{self._parts.random.getrandbits(52):013x}"
        scope["state"] = {**scope.get("state", _NOTHING), "request_id": given, "caller": None}
        return given


def _read(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _name(host: str) -> str:
    place = parse_host(host)
    return "" if place is None else place.name


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0]}" if client else "address unknown"
