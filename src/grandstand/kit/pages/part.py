"""Kept here: what every group of an application's pages is made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from grandstand.kit.pages.rendering import Pages


class AppPages:
    """Some pages of an application: its templates, and what each of them may say."""

    def __init__(self, pages: Pages, app: str, words: Mapping[str, Any]) -> None:
        self._pages = pages
        self._app = app
        self._words = words

    def _render(
        self,
        request: Request,
        template: str,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> Response:
        """Answer a page made from a template of the application."""
        made = f"{self._app}/{template}.html"
        return self._pages.render(request, made, **{**self._words, **values})
