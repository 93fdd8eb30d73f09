"""Everything the gatherer can do."""

from grandstand.apps.gatherer.service.gatherer import Gatherer, MarketNotFound
from grandstand.apps.gatherer.service.means import Means
from grandstand.apps.gatherer.service.recording.disk import DiskBudgetSpent
from grandstand.apps.gatherer.service.values import (
    ConnectionView,
    Estimate,
    Finding,
    Ingest,
    MarketView,
)
from grandstand.apps.gatherer.store import Choice, Gap, Trade

__all__ = [
    "Choice",
    "ConnectionView",
    "DiskBudgetSpent",
    "Estimate",
    "Finding",
    "Gap",
    "Gatherer",
    "Ingest",
    "MarketNotFound",
    "MarketView",
    "Means",
    "Trade",
]
