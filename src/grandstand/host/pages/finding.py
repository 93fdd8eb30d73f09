"""Kept here: the page of what a search found in every application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from grandstand.host.asking import LONGEST, search
from grandstand.kit.routes import Who, page

if TYPE_CHECKING:
    from grandstand.host.house import House


class FindingPages:
    """One search box for all applications."""

    def __init__(self, house: House) -> None:
        self._house = house

    @page("/search")
    async def search(self, request: Request, who: Who) -> Response:
        """Teams, markets, matches, horses and scenarios that some words are about."""
        words = " ".join(request.query_params.get("q", "").split())[:LONGEST]
        answers = await search(self._house, words, who)
        return self._house.pages.render(
            request,
            "house/search.html",
            words=words,
            answers=[one for one in answers if one.answer],
            count=sum(len(one.answer) for one in answers),
            silent=[one for one in answers if one.silent],
        )
