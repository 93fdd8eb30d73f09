"""The platform's pages in the order their routes are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grandstand.host.pages.account import AccountPages
from grandstand.host.pages.demo import DemoPages
from grandstand.host.pages.gallery import GalleryPages
from grandstand.host.pages.home import AppPlaceholderPages, HomePages, SearchPages
from grandstand.host.pages.scoreboard import ScoreboardPages
from grandstand.host.pages.status import StatusPages

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform


def platform_pages(platform: Platform) -> tuple[object, ...]:
    """Return the page objects; placeholders come after every app's pages."""
    return (
        HomePages(platform),
        SearchPages(platform),
        ScoreboardPages(platform),
        StatusPages(platform),
        AccountPages(platform),
        DemoPages(platform),
        GalleryPages(platform.pages, platform.hub, platform.clock),
        AppPlaceholderPages(platform),
    )
