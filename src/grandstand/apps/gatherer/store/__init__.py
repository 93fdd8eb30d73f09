"""Kept here: the gatherer's series and tables, and every question put to them."""

from typing import Any, Final

from grandstand.apps.gatherer.model.rows import OrderbookDelta, OrderbookSnapshot, Ticker, Trade
from grandstand.apps.gatherer.store.journals import (
    AUDITS,
    KEYFRAMES,
    MARKET_EVENTS,
    SESSIONS,
    Audit,
    Keyframe,
    MarketEvent,
    Session,
)
from grandstand.apps.gatherer.store.recorded import (
    DELTAS,
    GAPS,
    SNAPSHOTS,
    TICKERS,
    TRADES,
    Gap,
)
from grandstand.apps.gatherer.store.tables import (
    TABLES,
    Choice,
    EventInfo,
    MarketInfo,
    SeriesInfo,
    SyncCursor,
)
from grandstand.storage.series.declaration import Series

SERIES: Final[tuple[Series[Any], ...]] = (
    TRADES,
    DELTAS,
    SNAPSHOTS,
    TICKERS,
    GAPS,
    MARKET_EVENTS,
    SESSIONS,
    AUDITS,
    KEYFRAMES,
)

__all__ = [
    "AUDITS",
    "DELTAS",
    "GAPS",
    "KEYFRAMES",
    "MARKET_EVENTS",
    "SERIES",
    "SESSIONS",
    "SNAPSHOTS",
    "TABLES",
    "TICKERS",
    "TRADES",
    "Audit",
    "Choice",
    "EventInfo",
    "Gap",
    "Keyframe",
    "MarketEvent",
    "MarketInfo",
    "OrderbookDelta",
    "OrderbookSnapshot",
    "SeriesInfo",
    "Session",
    "SyncCursor",
    "Ticker",
    "Trade",
]
