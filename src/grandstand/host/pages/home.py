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


class HomePages:
    """The home page, search and the color scheme."""

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
            raise InvalidInput(f"Unknown color scheme. Use one of {', '.join(THEMES)}.")
        response = redirect_to(safe_return(given.get("back")))
        secure = self._platform.settings.server.https
        response.set_cookie(
            THEME_COOKIE, theme, max_age=365 * 86_400, secure=secure, samesite="lax"
        )
        return response

    @page("/search")
    async def search(self, request: Request, who: CurrentCaller) -> Response:
        """Teams, markets, matches, horses and scenarios that match the query."""
        query = " ".join(request.query_params.get("q", "").split())[:MAX_QUERY_LENGTH]
        results = await search_apps(self._platform, query, who)
        return self._platform.pages.render(
            request,
            "platform/search.html",
            query_text=query,
            results=[result for result in results if result.items],
            count=sum(len(result.items) for result in results),
            failed=[result for result in results if result.error],
        )


class AppPlaceholderPages:
    """A page for each app without pages of its own."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/{name}")
    async def placeholder(self, request: Request, who: CurrentCaller, name: str) -> Response:
        """What an app is for and what it stores. Raises NotFound."""
        for app, card in await self._platform.cards(who):
            if app.name == name and app.pages is None:
                parts = [part for part in await self._platform.storage() if part.owner == name]
                return self._platform.pages.render(
                    request,
                    "platform/placeholder.html",
                    section=name,
                    app=app,
                    card=card,
                    storage=replace(storage_table(parts), csv_href="").view(request.query_params),
                )
        raise NotFound("Not found")
