"""Kept here: the one ASGI application: every way in of every application, behind the stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, WebSocketRoute

from grandstand.base.errors import GrandstandError
from grandstand.host.house import House
from grandstand.host.pages.rooms import rooms_of
from grandstand.host.server.access import AccessLog, Write
from grandstand.host.server.credentials_api import CredentialsApi
from grandstand.host.server.documents import Documents
from grandstand.host.server.health import HealthRoutes
from grandstand.host.server.house_api import HouseApi
from grandstand.host.server.stack import Doorkeeping, Stack
from grandstand.host.server.story_api import StoryApi
from grandstand.kit.limits import Limits, Pace
from grandstand.kit.pages.policy import CONTENT_POLICY
from grandstand.kit.problems import Problems
from grandstand.kit.routes import router_of

SECURITY_HEADERS: Final = (
    ("content-security-policy", CONTENT_POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)
_HTTPS_ONLY: Final = ("strict-transport-security", "max-age=31536000")


def routed(house: House, problems: Problems) -> FastAPI:
    """Make the routes of the whole house; the stack is not before them yet."""
    app = _empty(problems)
    app.router.routes.extend(_routes(house, app))
    return app


def _routes(house: House, app: FastAPI) -> list[BaseRoute]:
    """Hot reads first: routes are tried in order."""
    routes: list[BaseRoute] = []
    for card in house.apps:
        service = house.services.get(card.name)
        if card.api is not None:
            routes += router_of(card.api(service), f"/api/{card.name}").routes
    for part in (HouseApi(house), CredentialsApi(house)):
        routes += router_of(part, "/api/house").routes
    routes += router_of(StoryApi(house), "/api").routes
    routes += HealthRoutes(house.metrics, house.checks()).routes()
    routes.append(Mount(house.pages.assets.prefix, house.pages.assets, name="static"))
    routes.append(WebSocketRoute("/live", house.hub.serve))
    routes += router_of(Documents(app), "/api").routes
    for card in house.apps:
        if card.pages is not None:
            shown = card.pages(house.services.get(card.name), house.pages)
            routes += router_of(shown, f"/{card.name}").routes
    for room in rooms_of(house):
        routes += router_of(room, "").routes
    return routes


def monitored(house: House, problems: Problems) -> FastAPI:
    """Make the routes monitors ask, and no others: for a process that only works."""
    app = _empty(problems)
    app.router.routes.extend(HealthRoutes(house.metrics, house.checks()).routes())
    return app


def _empty(problems: Problems) -> FastAPI:
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    for kind in (GrandstandError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, problems.handle)
    return app


def application(
    house: House,
    *,
    write: Write | None = None,
    json: bool = True,
    routes: Callable[[House, Problems], FastAPI] = routed,
) -> tuple[Stack, FastAPI]:
    """Make the whole application, and answer also the routes inside it.

    `write` gets the lines of the access log; without it nothing is logged of requests.
    """
    server = house.settings.server
    problems = Problems(house.pages.problem)
    app = routes(house, problems)
    limits = Limits(
        body_bytes=server.body_bytes,
        request_seconds=server.request_seconds,
        requests_per_minute=server.requests_per_minute,
    )
    parts = Doorkeeping(
        gate=house.gate,
        policy=house.policy,
        limits=limits,
        pace=Pace(limits.requests_per_minute, house.clock),
        problems=problems,
        access=AccessLog(house.metrics, house.clock, write, json=json),
        clock=house.clock,
        random=house.random,
        headers=SECURITY_HEADERS + ((_HTTPS_ONLY,) if server.https else ()),
        simulated=tuple(f"{way}/{app}" for app in sorted(house.simulated) for way in ("/api", "")),
    )
    return Stack(app, parts), app
