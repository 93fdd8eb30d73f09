"""Kept here: what every request passes before it reaches a route, in one layer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from grandstand.base.clock import Clock
from grandstand.base.errors import Broken, GrandstandError, InvalidInput, NotAllowed
from grandstand.base.log import log
from grandstand.host.server.access import AccessLog
from grandstand.host.server.passage import HeaderList, Passage, too_large
from grandstand.kit.limits import Limits, Pace
from grandstand.kit.problems import NotSignedIn, Problems, TookTooLong
from grandstand.kit.who.caller import Caller
from grandstand.kit.who.gate import Gate, Refused
from grandstand.kit.who.policy import FORWARDED, SAFE_METHODS, Policy, is_loopback, parse_place

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
_OPEN: Final = ("/static/", "/health")
# A proxy in front speaks for somebody else, also when it stands on this machine.
_TELLING: Final = ("authorization", "cookie", *FORWARDED)
_OWNER_SECONDS: Final = 1.0
_MOST_HOSTS: Final = 64
_TOO_LARGE: Final = 413
_BREACH: Final = 1008
_NOTHING: Final[Mapping[str, str]] = {}
_SIMULATED: Final = (b"grandstand-simulated", b"yes")


class ForeignHost(InvalidInput):
    """The request is for a host name this house does not answer to."""


class ForeignOrigin(NotAllowed):
    """A page of another site asked for a change, or for a socket."""


@dataclass(frozen=True, slots=True)
class Doorkeeping:
    """What the stack is made of, besides the routes behind it.

    What is answered under the `simulated` addresses says so in a header.
    """

    gate: Gate
    policy: Policy
    limits: Limits
    pace: Pace
    problems: Problems
    access: AccessLog
    clock: Clock
    random: Random
    headers: tuple[tuple[str, str], ...]
    simulated: tuple[str, ...] = ()


class Stack:
    """The one layer before the routes.

    It names the request, refuses foreign hosts and origins, asks the gate who calls, limits the
    body, the time and the pace, adds headers, compresses, logs and counts.
    """

    def __init__(self, app: ASGIApp, parts: Doorkeeping) -> None:
        self._app = app
        self._parts = parts
        self._added: HeaderList = [(n.encode(), v.encode()) for n, v in parts.headers]
        self._log = log("server")
        self._hosts: dict[str, bool] = {}
        self._owner: Caller | None = None
        self._owner_at = -_OWNER_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request or a socket pass, or answer why not."""
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
        passage = Passage(receive, send, added, accepts_gzip=gzip)
        passage.most_bytes = parts.limits.body_bytes
        try:
            await self._admitted(scope, headers, passage)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the last door: everything is answered
            await self._answer(scope, passage, error)
        finally:
            taken = parts.clock.monotonic() - began
            parts.access.tell(scope, passage.status, taken, passage.sent_bytes)

    async def _admitted(self, scope: Scope, headers: Mapping[str, str], passage: Passage) -> None:
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
            raise TookTooLong(f"This took longer than {seconds:g} s and was given up") from fault

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Raise ForeignHost or ForeignOrigin."""
        host = headers.get("host", "")
        # A header that is given twice is in the mapping once.
        if host not in self._hosts or len(headers) != len(scope["headers"]):
            given = [v.decode("latin-1") for n, v in scope["headers"] if n == b"host"]
            refused = self._parts.policy.refuses_host(given)
            if refused is not None:
                raise ForeignHost(refused.reason)
            if len(self._hosts) < _MOST_HOSTS:
                self._hosts[host] = is_loopback(_name(host))
        socket = scope["type"] == "websocket"
        method = "GET" if socket else scope["method"]
        if socket or method not in SAFE_METHODS:
            refused = self._parts.policy.refuses_origin(method, headers, socket=socket)
            if refused is not None:
                raise ForeignOrigin(refused.reason)

    async def _identified(self, scope: Scope, headers: Mapping[str, str]) -> Caller | None:
        """Ask the gate; whoever shows nothing at all is looked up once a second only."""
        here = self._from_here(scope, headers)
        bare = here and not any(name in headers for name in _TELLING)
        now = self._parts.clock.monotonic()
        if bare and scope.get("method") == "GET" and now - self._owner_at < _OWNER_SECONDS:
            scope["state"]["caller"] = self._owner
            return self._owner
        cookies = cookie_parser(headers["cookie"]) if "cookie" in headers else _NOTHING
        found = await self._parts.gate.identify(headers, cookies, client_is_loopback=here)
        if isinstance(found, Refused) and scope["path"].startswith("/api/"):
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

    async def _answer(self, scope: Scope, passage: Passage, error: Exception) -> None:
        """Answer an error that no route answered; too late, the connection is cut off."""
        if not isinstance(error, GrandstandError) or isinstance(error, Broken):
            name = scope["state"]["request_id"]
            self._log.error("request failed", path=scope["path"], request_id=name, exc_info=error)
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
            self._log.info("socket refused", path=scope["path"], why=str(error))
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
    place = parse_place(host)
    return "" if place is None else place.name


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0]}" if client else "address unknown"
