"""Kept here: what monitors ask: whether the process lives, whether it is ready, and its figures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from grandstand.base.errors import GrandstandError, NotAllowed
from grandstand.base.metrics import FORM, Metrics
from grandstand.kit.problems import NotSignedIn
from grandstand.kit.who.caller import Caller
from grandstand.kit.who.policy import FORWARDED, is_loopback

Check: TypeAlias = Callable[[], Awaitable[str]]
_OK, _UNAVAILABLE = 200, 503


class HealthRoutes:
    """Answers monitors; `checks` say in a word how a part is, or raise why it is not."""

    def __init__(self, metrics: Metrics, checks: Mapping[str, Check]) -> None:
        self._metrics = metrics
        self._checks = checks

    def routes(self) -> list[Route]:
        """Answer the routes."""
        return [
            Route("/health", self.alive, include_in_schema=False),
            Route("/health/ready", self.ready, include_in_schema=False),
            Route("/metrics", self.figures, include_in_schema=False),
        ]

    async def alive(self, _request: Request) -> Response:
        """Say that the process answers."""
        return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})

    async def ready(self, _request: Request) -> Response:
        """Say whether everything a request needs is there."""
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
        """Answer all figures to administrators, and to whoever asks on this machine."""
        caller = request.scope["state"].get("caller")
        if not isinstance(caller, Caller):
            if not _on_this_machine(request):
                raise NotSignedIn("Figures are for administrators, or on the machine itself")
        elif not caller.admin and not _on_this_machine(request):
            raise NotAllowed("Figures are for administrators, or on the machine itself")
        return Response(self._metrics.exposition(), headers={"content-type": FORM})


def _on_this_machine(request: Request) -> bool:
    if any(name in request.headers for name in FORWARDED):
        return False
    return request.client is not None and is_loopback(request.client.host)
