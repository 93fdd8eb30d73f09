"""Kept here: the gatherer's series and tables, and every question put to them."""

from typing import Any, Final

from grandstand.apps.gatherer.model.rows import OrderbookDelta, OrderbookSnapshot, Ticker, Trade
from grandstand.apps.gatherer.store.journals import (
    AUDITS,
    FOLLOWED,
    KEYFRAMES,
    MARKET_EVENTS,
    SESSIONS,
    TOLD,
    Audit,
    Followed,
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
    FOLLOWED,
)

__all__ = [
    "AUDITS",
    "DELTAS",
    "FOLLOWED",
    "GAPS",
    "KEYFRAMES",
    "MARKET_EVENTS",
    "SERIES",
    "SESSIONS",
    "SNAPSHOTS",
    "TABLES",
    "TICKERS",
    "TOLD",
    "TRADES",
    "Audit",
    "Choice",
    "EventInfo",
    "Followed",
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
