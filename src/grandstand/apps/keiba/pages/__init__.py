"""Pages of the keiba app."""

from __future__ import annotations

from grandstand.apps.keiba.pages.cache import CachePages
from grandstand.apps.keiba.pages.horses import HorsePages, JockeyPages, WatchlistPages
from grandstand.apps.keiba.pages.races import CardPages, DayPages, PreviewPages, ResultPages


class KeibaPages(
    CachePages,
    WatchlistPages,
    JockeyPages,
    HorsePages,
    PreviewPages,
    ResultPages,
    CardPages,
    DayPages,
):
    """All pages of the app."""
