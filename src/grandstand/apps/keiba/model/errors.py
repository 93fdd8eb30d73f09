"""Kept here: what can go wrong between us and a race site, each with the page it is about.

InvalidInput   IdInvalid
NotFound       NotPublished
SourceFailed   PageUnreadable
LimitReached   SitePaused
"""

from __future__ import annotations

from datetime import datetime

from grandstand.base.errors import InvalidInput, LimitReached, NotFound, SourceFailed


class IdInvalid(InvalidInput):
    """This cannot be the id of a race, a horse, a jockey or a trainer."""


class NotPublished(NotFound):
    """The site has no such page, or not yet what it is to show."""

    def __init__(self, page: str, why: str) -> None:
        super().__init__(f"{page} has nothing to show: {why}")
        self.page = page


class PageUnreadable(SourceFailed):
    """A page came, and what was looked for cannot be found in it."""

    def __init__(self, page: str, why: str) -> None:
        super().__init__(f"{page} cannot be read: {why}")
        self.page = page
        self.why = why


class SitePaused(LimitReached):
    """The site turned us away, so it is left alone until a moment."""

    retry = False

    def __init__(self, site: str, until: datetime, why: str) -> None:
        super().__init__(
            f"{site} is left alone until {until:%Y-%m-%d %H:%M:%S} UTC, because {why}: what is "
            "already kept can still be seen"
        )
        self.site = site
        self.until = until
        self.why = why
