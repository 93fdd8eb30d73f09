"""Kept here: what every group of cricket's pages is made with."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Path

from grandstand.apps.cricket.model.errors import FeedKeyMissing
from grandstand.apps.cricket.pages import words
from grandstand.apps.cricket.service import Cricket
from grandstand.base.errors import LimitReached, SourceFailed, Unavailable
from grandstand.kit.pages.part import AppPages
from grandstand.kit.pages.rendering import Pages

MatchId = Annotated[str, Path(max_length=40)]

AWAY: Final = (SourceFailed, Unavailable, LimitReached, FeedKeyMissing)
"""What a feed that cannot be asked now, or answers nonsense, raises."""

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


class PagesPart(AppPages):
    """Some pages: what they show comes from cricket, how it looks from the templates."""

    def __init__(self, cricket: Cricket, pages: Pages) -> None:
        super().__init__(pages, "cricket", _SHOWN)
        self._cricket = cricket
