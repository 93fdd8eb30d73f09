"""Kept here: the home page, the doors of applications without pages, and the choice of colours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.base.errors import InvalidInput, NotFound
from grandstand.host.pages.listing import storage_table
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.rendering import THEME_COOKIE, THEMES, safe_return
from grandstand.kit.routes import MaybeWho, Who, page

if TYPE_CHECKING:
    from grandstand.host.house import House

EVENTS_SHOWN: Final = 12
_YEAR_SECONDS: Final = 31_536_000


class HomePages:
    """What everybody sees first."""

    def __init__(self, house: House) -> None:
        self._house = house

    @page("/")
    async def home(self, request: Request, who: Who) -> Response:
        """A card for each application with what is live now, and what happened lately."""
        return self._house.pages.render(
            request,
            "house/home.html",
            cards=await self._house.cards(who),
            events=await self._house.events.recent(EVENTS_SHOWN, who),
        )

    @page("/theme", access="anyone", method="POST")
    async def choose_theme(self, request: Request, who: MaybeWho) -> Response:
        """Keep the colours somebody chose; nobody has to be logged in for that."""
        del who
        given = await texts_of(request)
        theme = given.get("theme", "")
        if theme not in THEMES:
            raise InvalidInput(f"Colours are {', '.join(THEMES)}: choose one of these")
        response = lead_to(safe_return(given.get("back")))
        secure = self._house.settings.server.https
        response.set_cookie(
            THEME_COOKIE, theme, max_age=_YEAR_SECONDS, secure=secure, samesite="lax"
        )
        return response


class DoorPages:
    """One page for each application that has no pages of its own."""

    def __init__(self, house: House) -> None:
        self._house = house

    @page("/{name}")
    async def door(self, request: Request, who: Who, name: str) -> Response:
        """What an application is for and what it keeps; raises NotFound when there is none."""
        for card, now in await self._house.cards(who):
            if card.name == name and card.pages is None:
                kept = [part for part in await self._house.storage() if part.owner == name]
                return self._house.pages.render(
                    request,
                    "house/door.html",
                    section=name,
                    card=card,
                    now=now,
                    storage=replace(storage_table(kept), csv_href="").view(request.query_params),
                )
        raise NotFound("There is nothing at this address")
