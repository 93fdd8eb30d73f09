"""Kept here: what every group of cricket's pages is made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from grandstand.apps.cricket.model.errors import FeedKeyMissing
from grandstand.apps.cricket.pages import words
from grandstand.apps.cricket.service import Cricket
from grandstand.base.errors import LimitReached, SourceFailed, Unavailable
from grandstand.kit.pages.rendering import Pages

MatchId = Annotated[str, Path(max_length=40)]

AWAY: Final = (SourceFailed, Unavailable, LimitReached, FeedKeyMissing)
"""What a feed that cannot be asked now, or answers nonsense, raises."""

_SEE_OTHER: Final = 303
_SHOWN: Final[dict[str, Any]] = {
    "innings_of": words.innings_of,
    "kind_name": words.kind_name,
    "reason_of": words.reason_of,
    "side_name": words.side_name,
    "side_code": words.side_code,
    "status_name": words.status_name,
    "written_score": words.written_score,
}
"""How single things are shown, for every template."""


class PagesPart:
    """Some pages: what they show comes from cricket, how it looks from the templates."""

    def __init__(self, cricket: Cricket, pages: Pages) -> None:
        self._cricket = cricket
        self._pages = pages

    def _render(
        self,
        request: Request,
        template: str,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> Response:
        return self._pages.render(request, f"cricket/{template}.html", **_SHOWN, **values)


async def texts_of(request: Request) -> Mapping[str, str]:
    """Answer the texts a form sent, by the names of their fields."""
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def lead_to(address: str) -> RedirectResponse:
    """Lead a browser on after a form, so that loading again does not send it again."""
    return RedirectResponse(address, _SEE_OTHER)
