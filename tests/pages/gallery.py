"""The gallery of parts alone: pages, hub and static files, without a store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.routing import Mount, WebSocketRoute
from starlette.types import Receive, Scope, Send

import grandstand.host.pages
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.host.catalogue import APPS
from grandstand.host.pages.parts import PartsPages
from grandstand.kit.live import LIFETIME_SECONDS, Hub
from grandstand.kit.pages.assets import read_assets
from grandstand.kit.pages.rendering import Links, Pages, Section
from grandstand.kit.routes import router_of
from grandstand.kit.who.caller import LOCAL_OWNER
from tests.pages.serving import Opened

_TEMPLATES = Path(grandstand.host.pages.__file__).parent / "templates"


@asynccontextmanager
async def open_gallery(lifetime_seconds: float = LIFETIME_SECONDS) -> AsyncIterator[Opened]:
    """Make the application; its sockets live so long."""
    clock = SystemClock()
    hub = Hub(clock, Metrics(), lifetime_seconds=lifetime_seconds)
    pages = Pages(
        read_assets(),
        [Section(app.name, app.title, app.purpose) for app in APPS],
        {"house": _TEMPLATES},
        clock,
        Links(csrf=lambda _: "", number=hub.number),
    )
    routes = [
        Mount(pages.assets.prefix, pages.assets),
        WebSocketRoute("/live", hub.serve),
        *router_of(PartsPages(pages, hub, clock), "").routes,
    ]
    inner = FastAPI(openapi_url=None)
    inner.router.routes.extend(routes)

    async def as_owner(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"caller": LOCAL_OWNER}
        await inner(scope, receive, send)

    yield Opened(as_owner, hub)
