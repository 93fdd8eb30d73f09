"""Markets of the exchange and their lifecycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from heapq import heappop, heappush
from typing import Final

from grandstand.apps.gatherer.domain.messages import LifecycleMessage

INITIALIZED: Final = "initialized"
ACTIVE: Final = "active"
INACTIVE: Final = "inactive"
CLOSED: Final = "closed"
_LIVE: Final = frozenset({ACTIVE, INACTIVE})
UNFINISHED: Final = frozenset({INITIALIZED, *_LIVE})


@dataclass(frozen=True, slots=True)
class Market:
    """A market; times are in microseconds, volumes in hundredths of a contract."""

    ticker: str
    event_ticker: str = ""
    series_ticker: str = ""
    category: str = ""
    title: str = ""
    status: str = INITIALIZED
    open_ts: int | None = None
    close_ts: int | None = None
    volume: int = 0
    volume_24h: int = 0
    result: str = ""

    @property
    def live(self) -> bool:
        """Whether its book can change: it is open or paused."""
        return self.status in _LIVE

    def at(self, now: int) -> Market:
        """Return the market with its status at a time: opening and closing are not announced."""
        opened = self.open_ts is not None and self.open_ts <= now
        over = self.close_ts is not None and self.close_ts <= now
        if over and self.status in UNFINISHED:
            return replace(self, status=CLOSED)
        if self.status == INITIALIZED and opened:
            return replace(self, status=ACTIVE)
        if self.status == CLOSED and self.close_ts is not None and not over:
            return replace(self, status=ACTIVE)
        return self

    def due(self) -> int | None:
        """Return when time will next change its status; None if it will not."""
        if self.status == INITIALIZED:
            return self.open_ts if self.open_ts is not None else self.close_ts
        return self.close_ts if self.live else None


class ChangeReason(StrEnum):
    """The source of a change."""

    LISTED = "listed"
    STREAM = "stream"
    CLOCK = "clock"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class MarketChange:
    """A market before and after; None before it was known, and after it is gone."""

    at: int
    reason: ChangeReason
    old: Market | None
    new: Market | None

    @property
    def ticker(self) -> str:
        market = self.new or self.old
        return "" if market is None else market.ticker


@dataclass(frozen=True, slots=True)
class MarketFilter:
    """A filter of markets: an empty set matches all; `tickers` always match."""

    series: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tickers: frozenset[str] = frozenset()
    min_volume_24h: int = 0

    def is_wanted(self, market: Market) -> bool:
        if market.ticker in self.tickers:
            return True
        if self.tickers and not (self.series or self.categories or self.min_volume_24h):
            return False
        return (
            (not self.series or market.series_ticker in self.series)
            and (not self.categories or market.category in self.categories)
            and market.volume_24h >= self.min_volume_24h
        )


@dataclass(slots=True)
class MarketIndex:
    """All known markets, by ticker."""

    markets: dict[str, Market] = field(default_factory=dict)
    _seen_at: dict[str, int] = field(default_factory=dict)
    _event_at: dict[str, int] = field(default_factory=dict)
    _timers: list[tuple[int, str]] = field(default_factory=list)

    def update(self, markets: Iterable[Market], at: int) -> tuple[MarketChange, ...]:
        """Update markets listed by REST, and return what changed."""
        changes = (self._set(market.at(at), at, ChangeReason.LISTED) for market in markets)
        return tuple(change for change in changes if change is not None)

    def reconcile(
        self, markets: Iterable[Market], *, began_at: int, at: int
    ) -> tuple[MarketChange, ...]:
        """Update from a complete list requested at `began_at`; markets not on it are removed.

        A market with an event since then stays: its page may have been created before.
        """
        listed = {market.ticker: self._with_events(market, began_at) for market in markets}
        changes = self.update(listed.values(), at)
        missing = [
            ticker
            for ticker in self.markets
            if ticker not in listed and self._seen_at[ticker] < began_at
        ]
        return (*changes, *(self._remove(ticker, at) for ticker in missing))

    def _with_events(self, market: Market, began_at: int) -> Market:
        """Return a listed market, with what the stream reported since the list was requested."""
        known = self.markets.get(market.ticker)
        if known is None or self._event_at.get(market.ticker, -1) < began_at:
            return market
        return replace(
            market,
            status=known.status,
            result=known.result,
            open_ts=known.open_ts,
            close_ts=known.close_ts,
        )

    def apply_event(self, event: LifecycleMessage, at: int) -> tuple[MarketChange, ...]:
        """Apply a lifecycle event; unknown kinds change nothing."""
        market = self.markets.get(event.ticker)
        apply = _EVENTS.get(event.event_type)
        if apply is not None:
            market = apply(market or Market(event.ticker), event)
        if market is None:
            return ()
        change = self._set(market.at(at), at, ChangeReason.STREAM)
        self._event_at[event.ticker] = at
        return () if change is None else (change,)

    def next_due(self) -> int | None:
        """Return when `tick` must be called next; None if no timer is set."""
        while self._timers:
            due, ticker = self._timers[0]
            market = self.markets.get(ticker)
            if market is not None and market.due() == due:
                return due
            heappop(self._timers)
        return None

    def tick(self, now: int) -> tuple[MarketChange, ...]:
        """Open and close the markets that are due, and return what changed."""
        changes: list[MarketChange] = []
        due = self.next_due()
        while due is not None and due <= now:
            _, ticker = heappop(self._timers)
            change = self._set(self.markets[ticker].at(now), now, ChangeReason.CLOCK)
            changes += [] if change is None else [change]
            due = self.next_due()
        return tuple(changes)

    def _set(self, market: Market, at: int, reason: ChangeReason) -> MarketChange | None:
        old = self.markets.get(market.ticker)
        self._seen_at[market.ticker] = at
        if market == old:
            return None
        self.markets[market.ticker] = market
        due = market.due()
        if due is not None and (old is None or old.due() != due):
            heappush(self._timers, (due, market.ticker))
        return MarketChange(at, reason, old, market)

    def _remove(self, ticker: str, at: int) -> MarketChange:
        del self._seen_at[ticker]
        self._event_at.pop(ticker, None)
        return MarketChange(at, ChangeReason.GONE, self.markets.pop(ticker), None)


def _created(market: Market, event: LifecycleMessage) -> Market:
    return replace(
        market,
        event_ticker=event.event_ticker or market.event_ticker,
        title=event.title or market.title,
        open_ts=market.open_ts if event.open_ts is None else event.open_ts,
        close_ts=market.close_ts if event.close_ts is None else event.close_ts,
    )


def _finish(status: str) -> Callable[[Market, LifecycleMessage], Market]:
    return lambda market, event: replace(
        market, status=status, result=event.result or market.result
    )


_EVENTS: Final[dict[str, Callable[[Market, LifecycleMessage], Market]]] = {
    "created": _created,
    "activated": lambda market, event: replace(_created(market, event), status=ACTIVE),
    "deactivated": lambda market, event: replace(
        market, status=ACTIVE if event.is_deactivated is False else INACTIVE
    ),
    "close_date_updated": _created,
    "determined": _finish("determined"),
    "settled": _finish("finalized"),
    "metadata_updated": _created,
    "price_level_structure_updated": lambda market, _event: market,
}
