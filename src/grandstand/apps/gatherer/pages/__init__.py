"""Pages of the gatherer."""

from grandstand.apps.gatherer.pages.coverage import CoveragePages
from grandstand.apps.gatherer.pages.market import MarketPages
from grandstand.apps.gatherer.pages.markets import MarketListPages
from grandstand.apps.gatherer.pages.recording import RecordingPages


class GathererPages(CoveragePages, RecordingPages, MarketPages, MarketListPages):
    """All pages of the gatherer."""
