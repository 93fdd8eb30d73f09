"""Every way in of a running platform, and what each kind of caller must be answered there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Literal

from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from grandstand.host.server.serving import LOOPBACK
from grandstand.kit.routes import Access, AppRoute

ANSWERED: frozenset[int] = frozenset({200, 202, 204, 303, 304, 400, 404, 405, 409, 415, 422})
Verdict = Literal["answered", "not signed in", "not allowed", "led to sign in", "wrong host"]

# Ways in that are not made of marked methods; a new one has to be entered here.
_PLAIN: dict[str, Access] = {
    "/health": "anyone",
    "/health/ready": "anyone",
    "/metrics": "admin",
    "/static": "anyone",
}
# Forms of an account, which only a login with its password may send.
_PERSONAL = (
    "/account/password",
    "/account/sessions/x/end",
    "/account/keys",
    "/account/keys/x/revoke",
)
# The form to log in answers a wrong password itself.
_LOGIN = ("POST", "/login")
_SAFE = ("GET", "HEAD", "OPTIONS")
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Door:
    """One method of one route."""

    method: str
    path: str
    access: Access
    html: bool = False

    @property
    def unsafe(self) -> bool:
        return self.method not in _SAFE

    def knock(self, caller: HTTPConnection, **headers: str) -> Verdict | str:
        """Ask, and answer what was said."""
        caller.request(self.method, self.path, headers=headers)
        reply = caller.getresponse()
        said, status = reply.read(), reply.status
        problem = "problem+json" in reply.headers.get("content-type", "")
        kind = json.loads(said)["type"].rpartition(":")[2] if problem else ""
        if status == 303 and reply.headers["location"].startswith("/login?next="):
            return "led to sign in"
        if kind == "foreign-host":
            return "wrong host"
        if (self.method, self.path) == _LOGIN and status in (401, 429):
            return "answered"
        if status == 401 and kind in ("not-signed-in", "login-failed", ""):
            return "not signed in"
        if status == 403:
            return "not allowed"
        return "answered" if status in ANSWERED else f"status {status}"


@contextmanager
def calling(port: int) -> Iterator[HTTPConnection]:
    """Somebody with a connection: thousands of requests are made, and this takes least of each."""
    caller = HTTPConnection(LOOPBACK, port, timeout=_PATIENCE_SECONDS)
    try:
        yield caller
    finally:
        caller.close()


def doors(app: FastAPI) -> Iterator[Door]:
    """Every method of every route; raises KeyError for a route nobody has judged."""
    for route in app.routes:
        yield from _doors_of(route)


def _doors_of(route: BaseRoute) -> Iterator[Door]:
    if isinstance(route, AppRoute):
        path = re.sub(r"{\w+}", "x", route.path)
        for method in sorted(route.methods or ()):
            yield Door(method, path, route.spec.access, route.spec.html)
    elif isinstance(route, Mount):
        yield Door("GET", f"{route.path}/x/y.css", _PLAIN[route.path])
    elif isinstance(route, Route):
        yield Door("GET", route.path, _PLAIN[route.path])
    elif not isinstance(route, WebSocketRoute):
        raise KeyError(route)


def sockets(app: FastAPI) -> list[str]:
    """Every address where a socket can be opened."""
    return [route.path for route in app.routes if isinstance(route, WebSocketRoute)]


def expected(door: Door, rank: Literal["nobody", "user", "admin", "refused"]) -> Verdict:
    """What a caller of a rank must be answered; `refused` has a credential that is not good."""
    if rank == "refused" and door.path.startswith("/api/"):
        return "not signed in"
    if door.access != "anyone" and rank in ("nobody", "refused"):
        return "led to sign in" if door.html and not door.unsafe else "not signed in"
    if door.path in _PERSONAL and door.unsafe:
        return "not allowed"
    if door.access == "anyone" or rank == "admin":
        return "answered"
    return "answered" if door.access == "user" else "not allowed"
