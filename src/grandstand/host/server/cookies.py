"""Kept here: how a cookie of ours is put on an answer."""

from __future__ import annotations

from typing import cast

from starlette.responses import Response

from grandstand.kit.who.gate import Cookie


def set_cookie(response: Response, cookie: Cookie) -> None:
    """Put a cookie on an answer; an empty one makes the browser forget it."""
    response.set_cookie(
        cookie.name,
        cookie.value,
        max_age=cookie.max_age_seconds,
        path=cookie.path,
        secure=cookie.secure,
        httponly=cookie.http_only,
        samesite=cast("None", cookie.same_site),
    )
