"""The gallery of parts alone: pages, hub and static files, without a store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.routing import Mount, WebSocketRoute
from starlette.types import Receive, Scope, Send

import grandstand.host.pages
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.host.pages.gallery import GalleryPages
from grandstand.host.registry import APPS
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.live import LIFETIME_SECONDS, LiveHub
from grandstand.kit.pages.assets import read_assets
from grandstand.kit.pages.rendering import Links, NavSection, Pages
from grandstand.kit.routes import build_router
from tests.pages.app_server import OpenApp

_TEMPLATES = Path(grandstand.host.pages.__file__).parent / "templates"


@asynccontextmanager
async def open_gallery(lifetime_seconds: float = LIFETIME_SECONDS) -> AsyncIterator[OpenApp]:
    """Make the application; its sockets live so long."""
    clock = SystemClock()
    hub = LiveHub(clock, Metrics(), lifetime_seconds=lifetime_seconds)
    pages = Pages(
        read_assets(),
        [NavSection(app.name, app.title, app.purpose) for app in APPS],
        {"platform": _TEMPLATES},
        clock,
        Links(csrf=lambda _: "", number=hub.number),
    )
    routes = [
        Mount(pages.assets.prefix, pages.assets),
        WebSocketRoute("/live", hub.serve),
        *build_router(GalleryPages(pages, hub, clock), "").routes,
    ]
    inner = FastAPI(openapi_url=None)
    inner.router.routes.extend(routes)

    async def as_owner(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"caller": LOCAL_OWNER}
        await inner(scope, receive, send)

    yield OpenApp(as_owner, hub)
