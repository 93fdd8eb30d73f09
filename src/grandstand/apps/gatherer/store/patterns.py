"""Kept here: the named access patterns of the gatherer's series, each a window to be read."""

from __future__ import annotations

from typing import Final

from grandstand.apps.gatherer.model.rows import OrderbookDelta, OrderbookSnapshot, Trade
from grandstand.apps.gatherer.store.journals import (
    AUDITS,
    FOLLOWED,
    KEYFRAMES,
    MARKET_EVENTS,
    SESSIONS,
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
    TRADES,
    Gap,
)
from grandstand.storage.series.window import Window

EARLIEST: Final = 0
LATEST: Final = 2**62


def deltas_between(ticker: str, start: int, end: int) -> Window[OrderbookDelta]:
    """Changes of one book in a stretch of exchange time, in whichever order costs least."""
    return Window(DELTAS, start, end, (ticker,), order="any")


def all_deltas(start: int, end: int) -> Window[OrderbookDelta]:
    """Changes of every book in a stretch of exchange time, in whichever order costs least."""
    return Window(DELTAS, start, end, order="any")


def first_deltas(ticker: str, start: int, end: int, most: int) -> Window[OrderbookDelta]:
    """The first changes of one book at or after a moment of exchange time."""
    return Window(DELTAS, start, end, (ticker,), most=most)


def latest_snapshots(ticker: str, start: int, end: int) -> Window[OrderbookSnapshot]:
    """Whole books of one market, newest first; of both sources: only `ws` can be built on."""
    return Window(SNAPSHOTS, start, end, (ticker,), order="newest")


def latest_keyframes(ticker: str, end: int, most: int) -> Window[Keyframe]:
    """The newest keyframes of one book before a moment, newest first."""
    return Window(KEYFRAMES, EARLIEST, end, (ticker,), order="newest", most=most)


def recent_trades(ticker: str, end: int, most: int) -> Window[Trade]:
    """The newest trades of one market before a moment; of one instant in the order of their ids."""
    return Window(TRADES, EARLIEST, end, (ticker,), order="newest", most=most)


def trades_between(ticker: str, start: int, end: int) -> Window[Trade]:
    """Trades of one market in a stretch of exchange time, oldest first."""
    return Window(TRADES, start, end, (ticker,))


def all_trades(start: int, end: int) -> Window[Trade]:
    """Trades of every market in a stretch of exchange time, to be added up."""
    return Window(TRADES, start, end, order="any")


def gaps_between(start: int, end: int) -> Window[Gap]:
    """What was missed in a stretch of receive time, by every gatherer."""
    return Window(GAPS, start, end)


def sessions_between(start: int, end: int) -> Window[Session]:
    """When gatherers and connections came and went, in a stretch of receive time."""
    return Window(SESSIONS, start, end)


def audits_between(ticker: str, start: int, end: int) -> Window[Audit]:
    """Comparisons of one book in a stretch of time."""
    return Window(AUDITS, start, end, (ticker,))


def followed_between(ticker: str, start: int, end: int) -> Window[Followed]:
    """Since when one market was followed, by every gatherer, in a stretch of exchange time."""
    return Window(FOLLOWED, start, end, (ticker,))


def market_history(ticker: str, end: int = LATEST) -> Window[MarketEvent]:
    """What became known of a market or event before a moment, newest first."""
    return Window(MARKET_EVENTS, EARLIEST, end, (ticker,), order="newest")
