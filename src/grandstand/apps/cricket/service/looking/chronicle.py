"""Kept here: reading what happened in a match."""

from __future__ import annotations

from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.values import EventPage
from grandstand.apps.cricket.store import LoggedEvent


class Chronicle:
    """The event log, page by page."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def page(self, match_id: str, limit: int, position: str | None) -> EventPage:
        """Answer what was detected in a match, newest first, from a position on."""
        page = await self._means.store.page(LoggedEvent.latest(match_id), limit, after=position)
        return EventPage(page.items, page.cursor)
