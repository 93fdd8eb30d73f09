"""Kept here: the markets of the exchange as they stand, and which of them are to be recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.markets import (
    NOT_OVER,
    Change,
    Choice,
    Market,
    Registry,
    Why,
)
from grandstand.apps.gatherer.model.messages import EventTold, Lifecycle
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.answers import MarketListed
from grandstand.apps.gatherer.sources.kalshi.rest import Exchange
from grandstand.base.clock import Clock
from grandstand.storage.tables import AsyncStore

EVERYTHING: Final = "*"
_HUNDREDTHS: Final = 100
_MICRO: Final = 1_000_000
_REREAD_SECONDS: Final = 2.0
# The exchange's words for what is not over: it may still open, trade, or be paused. The paused are
# asked for twice: what is paused or goes on between two questions is listed by one of them.
_LISTS: Final = ("unopened", "paused", "open", "paused")
_SOURCES: Final = {Why.LISTED: "rest", Why.TOLD: "ws", Why.CLOCK: "clock", Why.GONE: "rest"}


class Markets:
    """What is listed, told and due, and what people chose of it.

    A choice about a market counts more than one about its event, then its series, then its
    category. Without any, the filters of the settings decide; without those, what was chosen
    first decides whether the rest is wanted: choosing something means wanting nothing else.
    """

    def __init__(
        self, exchange: Exchange, tables: AsyncStore, settings: GathererSettings, clock: Clock
    ) -> None:
        self.known = Registry()
        self.synced_at: int | None = None
        self._exchange = exchange
        self._tables = tables
        self._clock = clock
        self._gatherer = settings.name
        self._filters = Choice(
            series=frozenset(settings.series),
            categories=frozenset(settings.categories),
            tickers=frozenset(settings.tickers),
            least_volume_24h=settings.least_volume * _HUNDREDTHS,
        )
        self._filtered = self._filters != Choice()
        self._choices: dict[tuple[str, str], bool] = {}
        self._read_at = float("-inf")
        self._categories: dict[str, str] = {}
        self._said: dict[str, str] = {}
        self._put: Callable[[store.MarketEvent], None] = _nowhere
        self._stamp: Callable[[], int] = self._now
        self._changed = True
        self._followed: frozenset[str] = frozenset()
        self._unwanted: set[str] = set()

    def attach(self, put: Callable[[store.MarketEvent], None], stamp: Callable[[], int]) -> None:
        """Learn where what becomes known of markets is kept, and the stamps it gets."""
        self._put, self._stamp = put, stamp

    async def sync(self) -> None:
        """Ask the exchange for everything that is not over; what is no longer listed is gone."""
        began_at = self._stamp()
        if not self._categories or self._filters.categories:
            listed = await self._exchange.series()
            self._categories = {one.ticker: one.category or "" for one in listed}
        found: dict[str, Market] = {}
        for status in _LISTS:
            async for page in self._exchange.markets(status=status):
                self._found(page.items, found)
        # What is listed nowhere may have changed between two pages, or could not be read.
        unlisted = [
            one.ticker
            for one in self.known.markets()
            if one.ticker not in found and one.status in NOT_OVER
        ]
        named = await self._exchange.markets_named(unlisted)
        self._found((one for one in named if one.status in NOT_OVER), found)
        at = self._stamp()
        self._take(self.known.reconciled(found.values(), began_at=began_at, at=at))
        self._said.clear()
        self.synced_at = at

    def _found(self, listed: Iterable[MarketListed], found: dict[str, Market]) -> None:
        for told in listed:
            found[told.ticker] = self._market(told)
            self._said[told.ticker] = told.said

    def told(self, message: Lifecycle | EventTold, at: int, conn: int) -> None:
        """Take what the stream tells of a market or an event, and journal it as it was told."""
        changes: tuple[Change, ...] = ()
        if isinstance(message, Lifecycle):
            changes = (*self.known.told(message, at), *self._placed(message.ticker, at))
            self._take((), touched=bool(changes))
        market = None if isinstance(message, EventTold) else self.known.find(message.ticker)
        self._put(_told_row(message, market, at, (self._gatherer, conn)))

    def _placed(self, ticker: str, at: int) -> tuple[Change, ...]:
        """Find the series of a market that was told of with its event only."""
        market = self.known.find(ticker)
        if market is None or market.series_ticker or not market.event_ticker:
            return ()
        series = market.event_ticker.partition("-")[0]
        category = self._categories.get(series, "")
        return self.known.listed([replace(market, series_ticker=series, category=category)], at)

    def turn(self, at: int) -> None:
        """Let time pass: markets open and close without a word."""
        self._take(self.known.tick(at))

    async def choose(self) -> frozenset[str]:
        """Answer the markets whose books are to be recorded now."""
        if self._clock.monotonic() - self._read_at >= _REREAD_SECONDS:
            await self._reread()
        if self._changed:
            self._changed = False
            chosen = {one.ticker: self.chosen(one) for one in self.known.markets()}
            self._unwanted = {ticker for ticker, wanted in chosen.items() if not wanted}
            self._followed = frozenset(
                one.ticker for one in self.known.markets() if one.live and chosen[one.ticker]
            )
        return self._followed

    def wants(self, ticker: str) -> bool:
        """Tell whether trades and summaries of a market are to be recorded."""
        if ticker in self._unwanted:
            return False
        return not self._narrowed or self.known.find(ticker) is not None

    def chosen(self, market: Market) -> bool:
        """Tell whether a market is among those to be recorded, when it is open."""
        names = (
            ("market", market.ticker),
            ("event", market.event_ticker),
            ("series", market.series_ticker),
            ("category", market.category),
        )
        for name in names:
            if name in self._choices:
                return self._choices[name]
        if self._filtered:
            return self._filters.wants(market)
        return not any(self._choices.values())

    @property
    def _narrowed(self) -> bool:
        return self._filtered or any(self._choices.values())

    async def _reread(self) -> None:
        self._read_at = self._clock.monotonic()
        found: dict[tuple[str, str], bool] = {
            (choice.kind, choice.name): choice.recorded
            async for choice in self._tables.each(store.Choice.all_there_are())
            if choice.name != EVERYTHING
        }
        if found != self._choices:
            self._choices, self._changed = found, True

    def _take(self, changes: Iterable[Change], *, touched: bool = False) -> None:
        self._changed = self._changed or touched
        for change in changes:
            self._changed = True
            if not _only_volume(change):
                self._put(self._row(change))

    def _row(self, change: Change) -> store.MarketEvent:
        market = change.new or change.old or Market(change.ticker)
        status = "gone" if change.new is None else market.status
        return store.MarketEvent(
            received_at=self._stamp(),
            ticker=market.ticker,
            kind=str(change.why),
            source=_SOURCES[change.why],
            status=status,
            event_ticker=market.event_ticker or None,
            series_ticker=market.series_ticker or None,
            title=market.title or None,
            open_ts=market.open_ts,
            close_ts=market.close_ts,
            result=market.result or None,
            details=self._said.get(market.ticker),
            gatherer=self._gatherer,
        )

    def _market(self, told: MarketListed) -> Market:
        return Market(
            ticker=told.ticker,
            event_ticker=told.event_ticker,
            series_ticker=told.series_ticker,
            category=self._categories.get(told.series_ticker, ""),
            title=told.title,
            status=told.status,
            open_ts=told.open_ts,
            close_ts=told.close_ts,
            volume=told.volume or 0,
            volume_24h=told.volume_24h or 0,
            result=told.result or "",
        )

    def _now(self) -> int:
        return int(self._clock.epoch() * _MICRO)


def _only_volume(change: Change) -> bool:
    """Tell whether nothing changed but what is traded, which is not journalled."""
    old, new = change.old, change.new
    if old is None or new is None:
        return False
    return replace(old, volume=new.volume, volume_24h=new.volume_24h) == new


def _told_row(
    message: Lifecycle | EventTold, market: Market | None, at: int, source: tuple[str, int]
) -> store.MarketEvent:
    gatherer, conn = source
    if isinstance(message, EventTold):
        return store.MarketEvent(
            received_at=at,
            ticker=message.event_ticker,
            kind=message.kind,
            source="ws",
            event_ticker=message.event_ticker,
            series_ticker=message.series_ticker,
            title=message.title,
            details=message.said,
            gatherer=gatherer,
            conn=conn,
            sid=message.sid,
            seq=message.seq,
        )
    known = market or Market(message.ticker)
    return store.MarketEvent(
        received_at=at,
        ticker=message.ticker,
        kind=message.event_type,
        source="ws",
        status=None if market is None else market.status,
        event_ticker=known.event_ticker or None,
        series_ticker=known.series_ticker or None,
        title=known.title or None,
        open_ts=known.open_ts,
        close_ts=known.close_ts,
        result=known.result or None,
        details=message.said,
        gatherer=gatherer,
        conn=conn,
        sid=message.sid,
        seq=message.seq,
    )


def _nowhere(_row: store.MarketEvent) -> None:
    return
