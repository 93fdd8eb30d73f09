"""Kept here: what every group of the pages of bets is made with."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Path
from starlette.requests import Request

from grandstand.apps.bets.model import names
from grandstand.apps.bets.pages import drawings, words
from grandstand.apps.bets.service import Bets
from grandstand.kit.pages import shown
from grandstand.kit.pages.part import AppPages
from grandstand.kit.pages.rendering import Pages

GameId = Annotated[str, Path(max_length=80)]
OwnId = Annotated[str, Path(max_length=80)]

_SHOWN: Final[dict[str, Any]] = {
    "advice": words.advice,
    "age_text": words.age_text,
    "book_name": words.book_name,
    "day_text": shown.day_text,
    "decimal": words.decimal,
    "dollars": words.dollars,
    "interval_bar": drawings.interval_bar,
    "market_name": words.market_name,
    "model_name": names.model_name,
    "money": words.money,
    "moved": words.moved,
    "point_text": words.point_text,
    "rule_name": words.rule_name,
    "selection_text": words.selection_text,
    "share_bar": drawings.share_bar,
    "short_age": words.short_age,
    "side_text": words.side_text,
    "signed_bar": drawings.signed_bar,
    "signed_percent": words.signed_percent,
    "source_name": words.source_name,
    "sport_name": names.sport_name,
    "status_of": words.status_of,
    "tidy": words.tidy,
    "tone_of": words.tone_of,
    "units": words.units,
    "verdict_of": words.verdict_of,
    "within": words.within,
}
"""How single things are shown, for every template."""


class PagesPart(AppPages):
    """Some pages: what they show comes from bets, how it looks from the templates."""

    def __init__(self, bets: Bets, pages: Pages) -> None:
        super().__init__(pages, "bets", _SHOWN)
        self._bets = bets

    def _sport(self, request: Request) -> str:
        """The sport asked for; the first that is followed when none is, or none such."""
        asked = request.query_params.get("sport", "")
        known = self._bets.sports()
        return asked if asked in known else next(iter(known), "")


def content_of(text: str) -> bytes:
    """Answer the bytes of a file that came with a form."""
    return text.encode("utf-8", "surrogateescape")


def chosen(request: Request, name: str, known: tuple[str, ...], usual: str) -> str:
    """Answer what a query asks for if it is known, else what is usual."""
    asked = request.query_params.get(name, "")
    return asked if asked in known else usual
