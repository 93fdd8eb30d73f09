"""Kept here: reading what a form sent, and leading on after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse

_SEE_OTHER: Final = 303


async def texts_of(request: Request) -> Mapping[str, str]:
    """Answer the texts a form sent, by the names of their fields; files are left out."""
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def lead_to(address: str) -> RedirectResponse:
    """Lead a browser on after a form, so that loading again does not send it again."""
    return RedirectResponse(address, _SEE_OTHER)
