"""The OpenAPI document and its page, served without external files."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Any, Final

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from grandstand import __version__
from grandstand.core.errors import NotFound
from grandstand.kit.auth.credentials import SESSION_COOKIE
from grandstand.kit.pages.rendering import CONTENT_POLICY
from grandstand.kit.problems import with_problem_schemas
from grandstand.kit.routes import add_schemas, page, with_etag

_ABOUT: Final = (
    "Everything the pages of Grandstand show, for programs. Send an API key or a token as "
    "`Authorization: Bearer …`; on the machine itself, while there are no accounts, nothing is "
    "needed. Errors are problems after RFC 9457; lists go on by `cursor`."
)
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · Grandstand</title>
<link rel="icon" href="/api/docs/favicon.png">
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<main id="api"><p>The API is described in <a href="/api/openapi.json">openapi.json</a>.</p></main>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
"""
_START: Final = """"use strict";
SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
});
"""
# Swagger UI draws its arrows from data: images.
_POLICY: Final = f"{CONTENT_POLICY}; img-src 'self' data:"
_ASSETS: Final = {
    "swagger-ui.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "favicon.png": "image/png",
}
_SCHEMES: Final = {
    "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE},
    "key": {"type": "http", "scheme": "bearer", "description": "An API key."},
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
}


def build_openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of all API routes."""
    document = get_openapi(
        title="Grandstand",
        version=__version__,
        description=_ABOUT,
        routes=app.routes,
    )
    with_problem_schemas(document)
    components = document["components"]
    components["securitySchemes"] = _SCHEMES
    add_schemas(document, app.routes)
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    return document


class OpenApiRoutes:
    """Serves the OpenAPI document and its page."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._written: asyncio.Task[bytes] | None = None

    @page("/openapi.json")
    async def openapi(self, request: Request) -> Response:
        """Return the OpenAPI document."""
        if self._written is None:
            self._written = asyncio.create_task(asyncio.to_thread(self._build))
        # A caller who stops waiting does not stop the others.
        written = await asyncio.shield(self._written)
        return with_etag(request, Response(written, media_type="application/json"))

    def _build(self) -> bytes:
        return msgspec.json.encode(build_openapi(self._app))

    @page("/docs")
    async def docs(self) -> Response:
        """Return the documentation page."""
        return HTMLResponse(_PAGE, headers={"content-security-policy": _POLICY})

    @page("/docs/{name}")
    async def asset(self, request: Request, name: str) -> Response:
        """Return a file of the page. Raises NotFound."""
        if name == "start.js":
            return with_etag(request, Response(_START, media_type="text/javascript"))
        if name not in _ASSETS:
            raise NotFound("No such file")
        content = (files("fastapi_offline") / "static" / name).read_bytes()
        return with_etag(request, Response(content, media_type=_ASSETS[name]))
