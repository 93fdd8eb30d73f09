"""Kept here: reading what a form of a page sent, and leading on after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse

_SEE_OTHER: Final = 303


async def form_of(request: Request) -> FormData:
    """Answer what a form sent, its files read."""
    async with request.form() as form:
        return FormData([(name, await _read(value)) for name, value in form.multi_items()])


async def texts_of(request: Request) -> Mapping[str, str]:
    """Answer the texts a form sent by the names of their fields, as `texts_in` does.

    Files are left out.
    """
    async with request.form() as form:
        return texts_in(form)


def texts_in(form: FormData) -> dict[str, str]:
    """Answer the texts of a form by the names of their fields, lines ended as ours are.

    Browsers end the lines of a form with a return and a feed.
    """
    return {
        name: value.replace("\r\n", "\n") for name, value in form.items() if isinstance(value, str)
    }


def lead_to(address: str) -> RedirectResponse:
    """Lead a browser on after a form, so that loading again does not send it again."""
    return RedirectResponse(address, _SEE_OTHER)


async def _read(value: UploadFile | str) -> str:
    if isinstance(value, str):
        return value
    # Bytes that are no text stand for themselves, so that whoever parses them may refuse them.
    return (await value.read()).decode("utf-8", "surrogateescape")
