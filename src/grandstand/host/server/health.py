"""Monitoring routes: liveness, readiness and metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from grandstand.core.errors import GrandstandError, NotAllowed
from grandstand.core.metrics import CONTENT_TYPE, Metrics
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.host_policy import FORWARDED_HEADERS, is_loopback
from grandstand.kit.problems import NotSignedIn

Check: TypeAlias = Callable[[], Awaitable[str]]
_OK, _UNAVAILABLE = 200, 503


class HealthRoutes:
    """The monitoring routes; each check returns a word on its part or raises."""

    def __init__(self, metrics: Metrics, checks: Mapping[str, Check]) -> None:
        self._metrics = metrics
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
                parts[name] = {"status": "ok", "told": await check()}
            except GrandstandError as error:
                good = False
                parts[name] = {"status": "failed", "told": str(error)}
        told = {"status": "ok" if good else "failed", "parts": parts}
        headers = {"cache-control": "no-store"}
        return JSONResponse(told, _OK if good else _UNAVAILABLE, headers)

    async def figures(self, request: Request) -> Response:
        """Return all metrics, to administrators and to this machine only."""
        caller = request.scope["state"].get("caller")
        if not isinstance(caller, Caller):
            if not _on_this_machine(request):
                raise NotSignedIn(
                    "Metrics are available to administrators and on this machine only"
                )
        elif not caller.admin and not _on_this_machine(request):
            raise NotAllowed("Metrics are available to administrators and on this machine only")
        return Response(self._metrics.exposition(), headers={"content-type": CONTENT_TYPE})


def _on_this_machine(request: Request) -> bool:
    if any(name in request.headers for name in FORWARDED_HEADERS):
        return False
    return request.client is not None and is_loopback(request.client.host)
