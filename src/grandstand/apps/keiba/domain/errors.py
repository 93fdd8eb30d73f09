"""Errors of reading the race site."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from grandstand.core.errors import LimitReached, NotFound, SourceFailed


class NotPublished(NotFound):
    """The site has no such page, or it is still empty."""

    code: ClassVar[str] = "not-published"

    def __init__(self, page: str, why: str) -> None:
        super().__init__(f"{page} is not published: {why}")
        self.page = page


class PageUnreadable(SourceFailed):
    """A page could not be parsed."""

    code: ClassVar[str] = "page-unreadable"

    def __init__(self, page: str, why: str) -> None:
        super().__init__(f"{page} could not be parsed: {why}")
        self.page = page
        self.why = why


class SiteCoolingDown(LimitReached):
    """The site blocked us, so no requests are sent to it for a while."""

    code: ClassVar[str] = "site-cooling-down"
    retry = False

    def __init__(self, site: str, until: datetime, why: str) -> None:
        super().__init__(
            f"{site} is paused until {until:%Y-%m-%d %H:%M:%S} UTC because {why}. "
            "Cached pages are still available."
        )
        self.site = site
        self.until = until
        self.why = why
