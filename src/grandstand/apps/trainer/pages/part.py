"""Kept here: what every group of the trainer's pages is made with."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.service import Trainer
from grandstand.kit.pages.rendering import Pages

Id = Annotated[str, Path(min_length=1, max_length=128)]


class PagesPart:
    """Some pages: what they show comes from the trainer, how it looks from the templates."""

    def __init__(self, trainer: Trainer, pages: Pages) -> None:
        self._trainer = trainer
        self._pages = pages

    def _render(
        self,
        request: Request,
        template: str,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> Response:
        return self._pages.render(request, f"trainer/{template}.html", **values)
