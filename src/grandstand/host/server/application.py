"""The ASGI application: all routes behind the middleware."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, WebSocketRoute

from grandstand.core.errors import GrandstandError
from grandstand.host.pages.account import AccountPages
from grandstand.host.pages.demo import DemoPages
from grandstand.host.pages.gallery import GalleryPages
from grandstand.host.pages.home import AppPlaceholderPages, HomePages
from grandstand.host.pages.scoreboard import ScoreboardPages
from grandstand.host.pages.status import StatusPages
from grandstand.host.runtime import Platform
from grandstand.host.server.middleware import GatewayMiddleware
from grandstand.host.server.monitoring import AccessLog, HealthRoutes, Write
from grandstand.host.server.openapi import OpenApiRoutes
from grandstand.host.server.platform_api import CredentialsApi, CrossAppApi, PlatformApi
from grandstand.kit.app import load
from grandstand.kit.pages.rendering import CONTENT_POLICY
from grandstand.kit.problems import Problems
from grandstand.kit.request_limits import CallerRateLimiter, RequestLimits
from grandstand.kit.routes import build_router

SECURITY_HEADERS: Final = (
    ("content-security-policy", CONTENT_POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)
_HTTPS_ONLY: Final = ("strict-transport-security", "max-age=31536000")


def app_routes(platform: Platform, problems: Problems) -> FastAPI:
    """Return the FastAPI app with all routes, without middleware."""
    fastapi = _empty(problems)
    fastapi.router.routes.extend(_routes(platform, fastapi))
    return fastapi


def _routes(platform: Platform, fastapi: FastAPI) -> list[BaseRoute]:
    """Return all routes, hot reads first because routes are tried in order."""
    routes: list[BaseRoute] = []
    for app in platform.apps:
        if app.api is not None:
            api = load(app.api)(platform.services.get(app.name))
            routes += build_router(api, f"/api/{app.name}", names=app.json_names).routes
    for part in (PlatformApi(platform), CredentialsApi(platform)):
        routes += build_router(part, "/api/platform").routes
    routes += build_router(CrossAppApi(platform), "/api").routes
    routes += _health(platform).routes()
    routes.append(Mount(platform.pages.assets.prefix, platform.pages.assets, name="static"))
    routes.append(WebSocketRoute("/live", platform.hub.serve))
    routes += build_router(OpenApiRoutes(fastapi), "/api").routes
    for app in platform.apps:
        if app.pages is not None:
            pages = load(app.pages)(platform.services.get(app.name), platform.pages)
            routes += build_router(pages, f"/{app.name}").routes
    # The placeholder's path matches every app: it comes after the pages of all apps.
    for handlers in (
        HomePages(platform),
        ScoreboardPages(platform),
        StatusPages(platform),
        AccountPages(platform),
        DemoPages(platform),
        GalleryPages(platform.pages, platform.hub, platform.clock),
        AppPlaceholderPages(platform),
    ):
        routes += build_router(handlers, "").routes
    return routes


def monitoring_routes(platform: Platform, problems: Problems) -> FastAPI:
    """Return the FastAPI app with the monitoring routes only, for workers."""
    app = _empty(problems)
    app.router.routes.extend(_health(platform).routes())
    return app


def _health(platform: Platform) -> HealthRoutes:
    published = platform.settings.server.published
    return HealthRoutes(platform.metrics, platform.checks(), published=published)


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


def build_application(
    platform: Platform,
    *,
    write: Write | None = None,
    json: bool = True,
    routes: Callable[[Platform, Problems], FastAPI] = app_routes,
) -> tuple[GatewayMiddleware, FastAPI]:
    """Return the whole application and the FastAPI app inside it.

    `write` gets the lines of the access log; without it requests are not logged.
    """
    server = platform.settings.server
    problems = Problems(platform.pages.problem)
    app = routes(platform, problems)
    limits = RequestLimits(
        body_bytes=server.body_bytes,
        request_seconds=server.request_seconds,
        requests_per_minute=server.requests_per_minute,
    )
    gateway = GatewayMiddleware(
        app,
        gate=platform.gate,
        policy=platform.policy,
        limits=limits,
        pace=CallerRateLimiter(limits.requests_per_minute, platform.clock),
        problems=problems,
        access=AccessLog(platform.metrics, platform.clock, write, json=json),
        clock=platform.clock,
        random=platform.random,
        headers=SECURITY_HEADERS + ((_HTTPS_ONLY,) if server.https else ()),
        simulated=tuple(
            f"{way}/{app}" for app in sorted(platform.simulated) for way in ("/api", "")
        ),
    )
    return gateway, app
