"""The home page, search, placeholder pages and the color scheme."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.core.errors import InvalidInput, NotFound
from grandstand.host.cross_app import MAX_QUERY_LENGTH, search_apps
from grandstand.host.pages.status import storage_table
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.rendering import THEME_COOKIE, THEMES, safe_return
from grandstand.kit.routes import CurrentCaller, OptionalCaller, page

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform

EVENTS_SHOWN: Final = 12
_YEAR_SECONDS: Final = 31_536_000


class HomePages:
    """The home page and the color scheme."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/")
    async def home(self, request: Request, who: CurrentCaller) -> Response:
        """A card for each app, and recent events."""
        return self._platform.pages.render(
            request,
            "platform/home.html",
            cards=await self._platform.cards(who),
            events=await self._platform.events.recent(EVENTS_SHOWN, who),
        )

    @page("/theme", access="anyone", method="POST")
    async def choose_theme(self, request: Request, who: OptionalCaller) -> Response:
        """Store the color scheme; no login needed."""
        del who
        given = await form_fields(request)
        theme = given.get("theme", "")
        if theme not in THEMES:
            raise InvalidInput(f"Colours are {', '.join(THEMES)}: choose one of these")
        response = redirect_to(safe_return(given.get("back")))
        secure = self._platform.settings.server.https
        response.set_cookie(
            THEME_COOKIE, theme, max_age=_YEAR_SECONDS, secure=secure, samesite="lax"
        )
        return response


class AppPlaceholderPages:
    """A page for each app without pages of its own."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/{name}")
    async def door(self, request: Request, who: CurrentCaller, name: str) -> Response:
        """What an app is for and what it stores. Raises NotFound."""
        for card, now in await self._platform.cards(who):
            if card.name == name and card.pages is None:
                kept = [part for part in await self._platform.storage() if part.owner == name]
                return self._platform.pages.render(
                    request,
                    "platform/door.html",
                    section=name,
                    card=card,
                    now=now,
                    storage=replace(storage_table(kept), csv_href="").view(request.query_params),
                )
        raise NotFound("Not found")


class SearchPages:
    """Search across all apps."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/search")
    async def search(self, request: Request, who: CurrentCaller) -> Response:
        """Teams, markets, matches, horses and scenarios that some words are about."""
        words = " ".join(request.query_params.get("q", "").split())[:MAX_QUERY_LENGTH]
        answers = await search_apps(self._platform, words, who)
        return self._platform.pages.render(
            request,
            "platform/search.html",
            words=words,
            answers=[one for one in answers if one.answer],
            count=sum(len(one.answer) for one in answers),
            silent=[one for one in answers if one.silent],
        )
