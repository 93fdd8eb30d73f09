"""Kept here: all pages of keiba, put together from their parts."""

from __future__ import annotations

from grandstand.apps.keiba.pages.anew import AnewPages
from grandstand.apps.keiba.pages.caching import CachePages
from grandstand.apps.keiba.pages.cards import CardPages
from grandstand.apps.keiba.pages.days import DayPages
from grandstand.apps.keiba.pages.horses import HorsePages
from grandstand.apps.keiba.pages.jockeys import JockeyPages
from grandstand.apps.keiba.pages.previews import PreviewPages
from grandstand.apps.keiba.pages.results import ResultPages
from grandstand.apps.keiba.pages.watching import WatchPages


class KeibaPages(
    AnewPages,
    CachePages,
    WatchPages,
    JockeyPages,
    HorsePages,
    PreviewPages,
    ResultPages,
    CardPages,
    DayPages,
):
    """Days, cards, results, previews, horses, jockeys, what is watched and what is kept."""
