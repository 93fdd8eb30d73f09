"""The access log and request metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec
from starlette.types import Scope

from grandstand.core.clock import Clock
from grandstand.core.logging import redact
from grandstand.core.metrics import Metrics

UNMATCHED: Final = "unmatched"
_FAULT: Final = 500

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


@dataclass(frozen=True, slots=True)
class _RouteMetrics:
    """The metrics of one route, method and status."""

    count: Callable[[], None]
    observe: Callable[[float], None]


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
        self._figures: dict[tuple[str, str, int], _RouteMetrics] = {}
        self._second = (0, "")

    def tell(self, scope: Scope, status: int, seconds: float, sent_bytes: int) -> None:
        """Count and log a finished request."""
        place = (scope["method"], route_template(scope), status)
        figures = self._figures.get(place)
        if figures is None:
            figures = self._figures[place] = self._made(*place)
        figures.count()
        figures.observe(seconds)
        if self._write is None:
            return
        caller = scope["state"]["caller"]
        line = AccessLine(
            at=self._now(),
            level="info" if status < _FAULT else "error",
            event="request",
            method=scope["method"],
            path=_shown(scope["path"]),
            status=status,
            milliseconds=round(seconds * 1000, 2),
            bytes=sent_bytes,
            request_id=scope["state"]["request_id"],
            user=None if caller is None else caller.user_id,
        )
        self._write(self._line(line))

    def _made(self, method: str, route: str, status: int) -> _RouteMetrics:
        return _RouteMetrics(
            self._metrics.counting("requests", method=method, route=route, status=str(status)),
            self._metrics.observing("request_seconds", route=route),
        )

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
    return "/static" if scope["path"].startswith("/static/") else UNMATCHED


@lru_cache(maxsize=4096)
def _shown(path: str) -> str:
    return redact(path.replace("\r", "").replace("\n", ""))[:300]
