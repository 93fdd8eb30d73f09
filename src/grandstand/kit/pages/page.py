"""Base class of page handlers, form parsing and redirects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from grandstand.kit.pages.rendering import Pages


class AppPages:
    """Base class of an app's page handlers."""

    def __init__(self, pages: Pages, app: str, shared: Mapping[str, Any]) -> None:
        self._pages = pages
        self._app = app
        self._shared = shared

    def _render(
        self,
        request: Request,
        template: str,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> Response:
        """Render a template of the app."""
        path = f"{self._app}/{template}.html"
        return self._pages.render(request, path, **{**self._shared, **values})


async def read_form(request: Request) -> FormData:
    """Return a submitted form with its files."""
    async with request.form() as form:
        return FormData([(name, await _read(value)) for name, value in form.multi_items()])


async def form_fields(request: Request) -> Mapping[str, str]:
    """Return the text fields of a submitted form, as `text_fields` does."""
    async with request.form() as form:
        return text_fields(form)


def text_fields(form: FormData) -> dict[str, str]:
    """Return the text fields of a form, with newlines instead of CRLF."""
    return {
        name: value.replace("\r\n", "\n") for name, value in form.items() if isinstance(value, str)
    }


def redirect_to(address: str) -> RedirectResponse:
    """Redirect after a form submission, so that a reload does not submit it again."""
    return RedirectResponse(address, 303)


async def _read(value: UploadFile | str) -> str:
    if isinstance(value, str):
        return value
    # Undecodable bytes are kept as surrogates, so that the parser can refuse them.
    return (await value.read()).decode("utf-8", "surrogateescape")
