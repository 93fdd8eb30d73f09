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
    SAFE_METHODS,
    HostPolicy,
    is_forwarded,
    is_loopback,
    parse_host,
)
from grandstand.kit.problems import (
    BodyTimeout,
    NotSignedIn,
    Problems,
    RequestTimeout,
    RequestTooLarge,
    log_failure,
)
from grandstand.kit.request_limits import CallerRateLimiter, RequestLimits

HeaderList = list[tuple[bytes, bytes]]

_LEVEL: Final = 5
_COMPRESSED: Final = (b"text/", b"application/json", b"application/problem+json", b"image/svg")


@dataclass(slots=True)
class AsgiExchange:
    """One request and its response: body size, start of the response, headers."""

    _receive: Receive
    _send: Send
    _added: HeaderList
    _accepts_gzip: bool
    most_bytes: int
    on_start: Callable[[], None] | None = None
    ended: bool = False
    body_pending: bool = False
    sent_bytes: int = 0
    status: int = 0
    _received_bytes: int = 0
    _body_received: bool = False
    _start: Message | None = None
    _compressor: Any = None

    @property
    def begun(self) -> bool:
        """Whether the start of a response was sent."""
        return self.status != 0 and self._start is None

    async def receive(self) -> Message:
        """Receive a part of the body; raise RequestTooLarge if it exceeds the limit."""
        self.body_pending = not self._body_received
        message = await self._receive()
        self.body_pending = False
        if message["type"] == "http.request":
            self._body_received = not message.get("more_body", False)
            self._received_bytes += len(message.get("body", b""))
            if self._received_bytes > self.most_bytes:
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
        self._start = message

    async def _send_body(self, message: Message) -> None:
        start, body = self._start, message.get("body", b"")
        more = message.get("more_body", False)
        if start is not None:
            self._start = None
            headers: HeaderList = start["headers"]
            if self._compresses(headers, body, more=more):
                headers[:] = [pair for pair in headers if pair[0] != b"content-length"]
                headers += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
                if more:
                    self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
                else:
                    body = await _compress(body)
                    headers.append((b"content-length", str(len(body)).encode()))
            await self._send(start)
        if self._compressor is not None:
            end = zlib.Z_SYNC_FLUSH if more else zlib.Z_FINISH
            body = self._compressor.compress(body) + self._compressor.flush(end)
        self.sent_bytes += len(body)
        self.ended = not more
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    def _compresses(self, headers: HeaderList, body: bytes, *, more: bool) -> bool:
        if not self._accepts_gzip or (len(body) < 1024 and not more):
            return False
        kind = b""
        for name, value in headers:
            if name == b"content-encoding":
                return False
            if name == b"content-type":
                kind = value
        return kind.startswith(_COMPRESSED)


async def _compress(body: bytes) -> bytes:
    if len(body) <= 262_144:
        return gzip.compress(body, _LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)


def too_large(most: int) -> RequestTooLarge:
    """Return the error for a body that exceeds the limit."""
    return RequestTooLarge(f"The request body exceeds {most:,} bytes")


_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
_OWNER_SECONDS: Final = 1.0
_NOTHING: Final[Mapping[str, str]] = {}


class UnknownHost(InvalidInput):
    """The Host header names an unknown host."""

    code = "foreign-host"


class CrossOriginRequest(NotAllowed):
    """Another site's page requested a change or a WebSocket."""

    code = "foreign-origin"


@dataclass
class GatewayMiddleware:
    """One layer in front of all routes.

    It assigns the request id, refuses unknown hosts and foreign origins, authenticates, limits
    body, time and rate, adds headers, compresses, logs and counts. Responses under the `simulated`
    paths carry a header that says so.
    """

    app: ASGIApp
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

    def __post_init__(self) -> None:
        self._added: HeaderList = [(n.encode(), v.encode()) for n, v in self.headers]
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
            await self.app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = self.clock.monotonic()
        headers = _read_headers(scope)
        request_id = self._assign_id(scope, headers)
        gzip = "gzip" in headers.get("accept-encoding", "")
        added = [(b"x-request-id", request_id.encode()), *self._added]
        if self.simulated and scope["path"].startswith(self.simulated):
            added.append((b"grandstand-simulated", b"yes"))
        exchange = AsgiExchange(receive, send, added, gzip, self.limits.body_bytes)
        try:
            await self._handle_checked(scope, headers, exchange)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - every request gets a response
            await self._respond_error(scope, exchange, error)
        finally:
            taken = self.clock.monotonic() - began
            self.access.record(scope, exchange.status, taken, exchange.sent_bytes)

    async def _handle_checked(
        self, scope: Scope, headers: Mapping[str, str], exchange: AsgiExchange
    ) -> None:
        self._check(scope, headers)
        length = headers.get("content-length")
        if length is not None and length.isdigit() and int(length) > self.limits.body_bytes:
            raise too_large(self.limits.body_bytes)
        if not scope["path"].startswith(("/static/", "/health")):
            caller = await self._identify(scope, headers)
            if caller is None or caller.via != "owner":
                self.pace.spend(caller.user_id if caller else _address(scope))
        try:
            async with asyncio.timeout(self.limits.request_seconds) as limit:
                exchange.on_start = lambda: limit.reschedule(None)
                await self.app(scope, exchange.receive, exchange.send)
        except TimeoutError as fault:
            exchange.on_start = None
            seconds = self.limits.request_seconds
            if exchange.body_pending:
                raise BodyTimeout(f"The request body took longer than {seconds:g} s") from fault
            raise RequestTimeout(f"The request took longer than {seconds:g} s") from fault

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Raise UnknownHost or CrossOriginRequest."""
        host = headers.get("host", "")
        # A header that is given twice is in the mapping once.
        if host not in self._hosts or len(headers) != len(scope["headers"]):
            given = [v.decode("latin-1") for n, v in scope["headers"] if n == b"host"]
            refused = self.policy.refuses_host(given)
            if refused is not None:
                raise UnknownHost(refused.reason)
            if len(self._hosts) < 64:
                parsed = parse_host(host)
                self._hosts[host] = parsed is not None and is_loopback(parsed.name)
        socket = scope["type"] == "websocket"
        method = "GET" if socket else scope["method"]
        if socket or method not in SAFE_METHODS:
            refused = self.policy.refuses_origin(method, headers, socket=socket)
            if refused is not None:
                raise CrossOriginRequest(refused.reason)

    async def _identify(self, scope: Scope, headers: Mapping[str, str]) -> Caller | None:
        """Authenticate; without credentials, look up accounts at most once a second."""
        here = self._is_local(scope, headers)
        credentials = "authorization" in headers or "cookie" in headers
        bare = here and not credentials and not is_forwarded(headers)
        now = self.clock.monotonic()
        if bare and scope.get("method") == "GET" and now - self._owner_at < _OWNER_SECONDS:
            scope["state"]["caller"] = self._owner
            return self._owner
        cookies = cookie_parser(headers["cookie"]) if "cookie" in headers else _NOTHING
        found = await self.gate.identify(headers, cookies, client_is_loopback=here)
        if isinstance(found, Refusal) and scope["path"].startswith("/api/"):
            raise NotSignedIn(found.reason)
        caller = found if isinstance(found, Caller) else None
        scope["state"]["caller"] = caller
        if bare:
            safe = scope.get("method") == "GET"
            self._owner, self._owner_at = caller, now if safe else now - _OWNER_SECONDS
        return caller

    def _is_local(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        client = scope.get("client")
        if client is None:
            return False
        host = headers.get("host", "")
        named = self._hosts.get(host)
        if named is None:
            parsed = parse_host(host)
            named = parsed is not None and is_loopback(parsed.name)
        if not named:
            return False
        return client[0] in ("127.0.0.1", "::1") or is_loopback(client[0])

    async def _respond_error(self, scope: Scope, exchange: AsgiExchange, error: Exception) -> None:
        """Respond to an error; if a response has started, cut the connection."""
        if not isinstance(error, GrandstandError) or isinstance(error, Broken):
            log_failure(scope, error)
        if exchange.begun:
            if exchange.ended:
                return
            raise error
        response = self.problems.answer(Request(scope), error)
        if response.status_code in (408, 413):
            response.headers["connection"] = "close"
        await response(scope, exchange.receive, exchange.send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _read_headers(scope)
        self._assign_id(scope, headers)
        try:
            self._check(scope, headers)
            await self._identify(scope, headers)
        except GrandstandError as error:
            self._log.info("websocket_refused", path=scope["path"], why=str(error))
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        await self.app(scope, receive, send)

    def _assign_id(self, scope: Scope, headers: Mapping[str, str]) -> str:
        given = headers.get("x-request-id")
        if given is None or not _REQUEST_ID.fullmatch(given):
            moment = int(self.clock.epoch() * 1000)
            given = f"{moment:011x}{self.random.getrandbits(52):013x}"
        scope["state"] = {**scope.get("state", _NOTHING), "request_id": given, "caller": None}
        return given


def _read_headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0]}" if client else "address unknown"
