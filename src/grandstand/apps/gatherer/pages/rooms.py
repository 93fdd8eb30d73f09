"""Kept here: all pages of the gatherer, put together from their parts."""

from __future__ import annotations

from grandstand.apps.gatherer.pages.coverage import CoveragePages
from grandstand.apps.gatherer.pages.listing import MarketPages
from grandstand.apps.gatherer.pages.market import OneMarketPages
from grandstand.apps.gatherer.pages.recording import RecordingPages


class GathererPages(CoveragePages, RecordingPages, OneMarketPages, MarketPages):
    """Markets, one market, recording as it goes, and how complete it is."""
