"""Monitoring: the access log, request metrics, liveness and readiness."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, NotAllowed
from grandstand.core.logging import redact
from grandstand.core.metrics import CONTENT_TYPE, Metrics
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.host_policy import is_forwarded, is_loopback
from grandstand.kit.problems import NotSignedIn

Write = Callable[[str], object]


class AccessLine(msgspec.Struct, frozen=True):
    """One line of the access log, without query, headers and body."""

    at: str
    level: str
    event: str
    method: str
    path: str
    status: int
    milliseconds: float
    bytes: int
    request_id: str
    user: str | None


class AccessLog:
    """Logs and counts each request.

    Lines are written without structlog: its processors take as long as a small request, and the
    path is the only field that could contain a secret.
    """

    def __init__(
        self, metrics: Metrics, clock: Clock, write: Write | None = None, *, json: bool = True
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._write = write
        self._json = json
        self._metrics_by_route: dict[
            tuple[str, str, int], tuple[Callable[[], None], Callable[[float], None]]
        ] = {}
        self._second = (0, "")

    def record(self, scope: Scope, status: int, seconds: float, sent_bytes: int) -> None:
        """Count and log a finished request."""
        method, route = scope["method"], route_template(scope)
        figures = self._metrics_by_route.get((method, route, status))
        if figures is None:
            figures = self._metrics_by_route[method, route, status] = (
                self._metrics.counting("requests", method=method, route=route, status=str(status)),
                self._metrics.observing("request_seconds", route=route),
            )
        count, observe = figures
        count()
        observe(seconds)
        if self._write is None:
            return
        caller = scope["state"]["caller"]
        line = AccessLine(
            at=self._now(),
            level="info" if status < 500 else "error",
            event="request",
            method=method,
            path=_safe_path(scope["path"]),
            status=status,
            milliseconds=round(seconds * 1000, 2),
            bytes=sent_bytes,
            request_id=scope["state"]["request_id"],
            user=None if caller is None else caller.user_id,
        )
        self._write(self._line(line))

    def _now(self) -> str:
        """Return the time as text, cached per second."""
        now = self._clock.epoch()
        whole = int(now)
        if whole != self._second[0]:
            self._second = (whole, self._clock.now().isoformat(timespec="seconds")[:19])
        return f"{self._second[1]}.{int(now % 1 * 1000):03d}Z"

    def _line(self, line: AccessLine) -> str:
        if self._json:
            return msgspec.json.encode(line).decode() + "\n"
        return (
            f"{line.at} {line.method} {line.path} {line.status} "
            f"{line.milliseconds:.1f} ms {line.user or '-'} {line.request_id}\n"
        )


def route_template(scope: Scope) -> str:
    """Return the template of the matched route, so that metrics stay few."""
    route = scope.get("route")
    if route is not None:
        path: str = route.path
        return path
    return "/static" if scope["path"].startswith("/static/") else "unmatched"


@lru_cache(maxsize=4096)
def _safe_path(path: str) -> str:
    return redact(path.replace("\r", "").replace("\n", ""))[:300]


class HealthRoutes:
    """The monitoring routes; each check returns a word on its part or raises.

    `published` means that metrics need an administrator on this machine, too.
    """

    def __init__(
        self,
        metrics: Metrics,
        checks: Mapping[str, Callable[[], Awaitable[str]]],
        *,
        published: bool = False,
    ) -> None:
        self._metrics = metrics
        self._published = published
        self._checks = checks

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/health", self.alive, include_in_schema=False),
            Route("/health/ready", self.ready, include_in_schema=False),
            Route("/metrics", self.figures, include_in_schema=False),
        ]

    async def alive(self, _request: Request) -> Response:
        """Report that the process responds."""
        return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})

    async def ready(self, _request: Request) -> Response:
        """Report whether everything a request needs is available."""
        parts: dict[str, Any] = {}
        good = True
        for name, check in self._checks.items():
            try:
                parts[name] = {"status": "ok", "detail": await check()}
            except GrandstandError as error:
                good = False
                parts[name] = {"status": "failed", "detail": str(error)}
        content = {"status": "ok" if good else "failed", "parts": parts}
        return JSONResponse(content, 200 if good else 503, {"cache-control": "no-store"})

    async def figures(self, request: Request) -> Response:
        """Return all metrics, to administrators and to this machine only."""
        caller = request.scope["state"].get("caller")
        local = not self._published and _on_this_machine(request)
        if not local and not (isinstance(caller, Caller) and caller.admin):
            error = NotAllowed if isinstance(caller, Caller) else NotSignedIn
            raise error("Metrics are available to administrators and on this machine only")
        return Response(self._metrics.exposition(), headers={"content-type": CONTENT_TYPE})


def _on_this_machine(request: Request) -> bool:
    if is_forwarded(request.headers.keys()):
        return False
    return request.client is not None and is_loopback(request.client.host)
