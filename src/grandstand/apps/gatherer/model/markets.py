"""Kept here: the registry of markets in memory: what is listed, told, due, and followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from heapq import heappop, heappush
from typing import Final

from grandstand.apps.gatherer.model.messages import Lifecycle

INITIALIZED: Final = "initialized"
ACTIVE: Final = "active"
INACTIVE: Final = "inactive"
CLOSED: Final = "closed"
DETERMINED: Final = "determined"
FINALIZED: Final = "finalized"
_LIVE: Final = frozenset({ACTIVE, INACTIVE})
NOT_OVER: Final = frozenset({INITIALIZED, *_LIVE})


@dataclass(frozen=True, slots=True)
class Market:
    """A market as it is known; instants are microseconds, volumes hundredths of a contract."""

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
        """Whether it has a book that can change: trading, or paused."""
        return self.status in _LIVE

    def at(self, now: int) -> Market:
        """Answer the market with the status the clock gives it: opens and closes are not told."""
        opened = self.open_ts is not None and self.open_ts <= now
        over = self.close_ts is not None and self.close_ts <= now
        if over and self.status in NOT_OVER:
            return replace(self, status=CLOSED)
        if self.status == INITIALIZED and opened:
            return replace(self, status=ACTIVE)
        if self.status == CLOSED and self.close_ts is not None and not over:
            return replace(self, status=ACTIVE)
        return self

    def due(self) -> int | None:
        """Answer when the clock will next change its status; None when it will not."""
        if self.status == INITIALIZED:
            return self.open_ts if self.open_ts is not None else self.close_ts
        return self.close_ts if self.live else None


class Why(StrEnum):
    """What made a change known."""

    LISTED = "listed"
    TOLD = "told"
    CLOCK = "clock"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Change:
    """A market before and after; None before it was known, and after it is gone."""

    at: int
    why: Why
    old: Market | None
    new: Market | None

    @property
    def ticker(self) -> str:
        """The market it is about."""
        market = self.new or self.old
        return "" if market is None else market.ticker

    @property
    def began(self) -> bool:
        """Whether the market's book can change now and could not before."""
        return _is_live(self.new) and not _is_live(self.old)

    @property
    def ended(self) -> bool:
        """Whether the market's book could change before and cannot now."""
        return _is_live(self.old) and not _is_live(self.new)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which markets are wanted: an empty set wants all; `tickers` are wanted whatever else."""

    series: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tickers: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    least_volume_24h: int = 0

    def wants(self, market: Market) -> bool:
        """Say whether a market is among those chosen."""
        if market.ticker in self.refused:
            return False
        if market.ticker in self.tickers:
            return True
        if self.tickers and not (self.series or self.categories or self.least_volume_24h):
            return False
        return (
            (not self.series or market.series_ticker in self.series)
            and (not self.categories or market.category in self.categories)
            and market.volume_24h >= self.least_volume_24h
        )


@dataclass(slots=True)
class Registry:
    """Every market that is listed or was told of; nothing else is asked what exists."""

    _markets: dict[str, Market] = field(default_factory=dict)
    _seen_at: dict[str, int] = field(default_factory=dict)
    _told_at: dict[str, int] = field(default_factory=dict)
    _timers: list[tuple[int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._markets)

    def find(self, ticker: str) -> Market | None:
        """Answer a market; None when it is not known."""
        return self._markets.get(ticker)

    def markets(self) -> tuple[Market, ...]:
        """Answer all markets, in the order they became known."""
        return tuple(self._markets.values())

    def wanted(self, choice: Choice) -> tuple[str, ...]:
        """Answer the markets to follow: chosen, and with a book that can change."""
        return tuple(
            market.ticker
            for market in self._markets.values()
            if market.live and choice.wants(market)
        )

    def listed(self, markets: Iterable[Market], at: int) -> tuple[Change, ...]:
        """Take markets as REST lists them, some or all; answer what changed."""
        found = (self._put(market.at(at), at, Why.LISTED) for market in markets)
        return tuple(change for change in found if change is not None)

    def reconciled(
        self, markets: Iterable[Market], *, began_at: int, at: int
    ) -> tuple[Change, ...]:
        """Take a whole list, asked for from `began_at` on; what is not on it is gone.

        A market told of since then is kept: the pages may have been made before it was.
        """
        listed = {market.ticker: self._newer(market, began_at) for market in markets}
        changes = self.listed(listed.values(), at)
        missing = [
            ticker
            for ticker in self._markets
            if ticker not in listed and self._seen_at[ticker] < began_at
        ]
        return (*changes, *(self._remove(ticker, at) for ticker in missing))

    def _newer(self, market: Market, began_at: int) -> Market:
        """Answer a market as listed, but for what was told of it since the list was asked for."""
        known = self._markets.get(market.ticker)
        if known is None or self._told_at.get(market.ticker, -1) < began_at:
            return market
        return replace(
            market,
            status=known.status,
            result=known.result,
            open_ts=known.open_ts,
            close_ts=known.close_ts,
        )

    def told(self, event: Lifecycle, at: int) -> tuple[Change, ...]:
        """Take an event of the lifecycle; one of a kind we do not know changes nothing."""
        known = self._markets.get(event.ticker) or Market(event.ticker)
        told = _EVENTS.get(event.event_type, _unchanged)(known, event)
        if event.event_type not in _EVENTS and event.ticker not in self._markets:
            return ()
        change = self._put(told.at(at), at, Why.TOLD)
        self._told_at[event.ticker] = at
        return () if change is None else (change,)

    def next_due(self) -> int | None:
        """Answer when `tick` must be called next; None when no timer runs."""
        while self._timers and not self._runs(*self._timers[0]):
            heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def tick(self, now: int) -> tuple[Change, ...]:
        """Open and close what the clock says; answer what changed."""
        changes: list[Change] = []
        due = self.next_due()
        while due is not None and due <= now:
            _, ticker = heappop(self._timers)
            change = self._put(self._markets[ticker].at(now), now, Why.CLOCK)
            changes += [] if change is None else [change]
            due = self.next_due()
        return tuple(changes)

    def _runs(self, due: int, ticker: str) -> bool:
        market = self._markets.get(ticker)
        return market is not None and market.due() == due

    def _put(self, market: Market, at: int, why: Why) -> Change | None:
        old = self._markets.get(market.ticker)
        self._seen_at[market.ticker] = at
        if market == old:
            return None
        self._markets[market.ticker] = market
        due = market.due()
        if due is not None and (old is None or old.due() != due):
            heappush(self._timers, (due, market.ticker))
        return Change(at, why, old, market)

    def _remove(self, ticker: str, at: int) -> Change:
        del self._seen_at[ticker]
        self._told_at.pop(ticker, None)
        return Change(at, Why.GONE, self._markets.pop(ticker), None)


def _is_live(market: Market | None) -> bool:
    return market is not None and market.live


def _unchanged(market: Market, event: Lifecycle) -> Market:  # noqa: ARG001 - as every event
    return market


def _created(market: Market, event: Lifecycle) -> Market:
    return replace(
        market,
        event_ticker=event.event_ticker or market.event_ticker,
        title=event.title or market.title,
        open_ts=market.open_ts if event.open_ts is None else event.open_ts,
        close_ts=market.close_ts if event.close_ts is None else event.close_ts,
    )


def _activated(market: Market, event: Lifecycle) -> Market:
    return replace(_created(market, event), status=ACTIVE)


def _deactivated(market: Market, event: Lifecycle) -> Market:
    return replace(market, status=ACTIVE if event.is_deactivated is False else INACTIVE)


def _determined(market: Market, event: Lifecycle) -> Market:
    return replace(market, status=DETERMINED, result=event.result or market.result)


def _settled(market: Market, event: Lifecycle) -> Market:
    return replace(market, status=FINALIZED, result=event.result or market.result)


_EVENTS: Final[dict[str, Callable[[Market, Lifecycle], Market]]] = {
    "created": _created,
    "activated": _activated,
    "deactivated": _deactivated,
    "close_date_updated": _created,
    "determined": _determined,
    "settled": _settled,
    "metadata_updated": _created,
    "price_level_structure_updated": _unchanged,
}
