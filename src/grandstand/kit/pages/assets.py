"""Static files, served under a URL that changes with their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from grandstand.core.errors import Broken

KIT_STATIC: Final = Path(__file__).parent / "static"

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
_HEADERS: Final = {
    "cache-control": "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Assets:
    """All static files in memory by path, and one hash over them.

    One hash for all lets modules import each other by relative paths.
    """

    files: Mapping[str, bytes]
    version: str
    prefix: str = "/static"

    def url(self, path: str) -> str:
        """Return the URL of a file; raise Broken if it does not exist."""
        if path not in self.files:
            raise Broken(f"No static file {path}")
        return f"{self.prefix}/{self.version}/{path}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a file (ASGI)."""
        response = self._answer(Request(scope))
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        version, _, path = request.url.path.removeprefix(f"{self.prefix}/").partition("/")
        content = self.files.get(path)
        kind = _KINDS.get(Path(path).suffix)
        if version != self.version or content is None or kind is None:
            return Response("No such file.\n", 404, media_type="text/plain")
        if request.method not in ("GET", "HEAD"):
            return Response("Only GET.\n", 405, {"allow": "GET, HEAD"}, media_type="text/plain")
        return Response(content, headers={"content-type": kind, **_HEADERS})


def read_assets(folders: Mapping[str, Path] | None = None) -> Assets:
    """Read the kit's files and those of each folder, the latter under its name."""
    files = _read(KIT_STATIC, "")
    for name, folder in sorted((folders or {}).items()):
        if folder.is_dir():
            files |= _read(folder, f"{name}/")
    digest = hashlib.sha256()
    for path, content in sorted(files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return Assets(files, digest.hexdigest()[:12])


def _read(folder: Path, prefix: str) -> dict[str, bytes]:
    return {
        f"{prefix}{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in _KINDS
    }
