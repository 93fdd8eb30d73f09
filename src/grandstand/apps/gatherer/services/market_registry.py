"""Market registry: the markets of the exchange, in memory, and which of them to record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.markets import (
    UNFINISHED,
    ChangeReason,
    Market,
    MarketChange,
    MarketFilter,
    MarketIndex,
)
from grandstand.apps.gatherer.domain.messages import EventMessage, LifecycleMessage
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient, ListedMarket
from grandstand.core.clock import Clock
from grandstand.storage.tables import AsyncStore

ALL_MARKETS: Final = "*"
_MICRO: Final = 1_000_000
_CHOICES_SECONDS: Final = 2.0
# The statuses of unfinished markets. Paused ones are listed twice: a market that is paused or
# resumed between two requests appears in one of them.
_LISTED_STATUSES: Final = ("unopened", "paused", "open", "paused")
_SOURCES: Final = {
    ChangeReason.LISTED: "rest",
    ChangeReason.STREAM: "ws",
    ChangeReason.CLOCK: "clock",
    ChangeReason.GONE: "rest",
}


class MarketRegistry:
    """The markets known from REST, the stream and the clock, and the choices of what to record.

    A choice for a market takes precedence over one for its event, then its series, then its
    category. Without any, the filters of the settings decide. Without filters, everything is
    recorded, unless something was chosen: then only that.
    """

    def __init__(
        self, client: KalshiClient, tables: AsyncStore, settings: GathererSettings, clock: Clock
    ) -> None:
        self.index = MarketIndex()
        self.synced_at: int | None = None
        self._client = client
        self._store = tables
        self._clock = clock
        self._gatherer = settings.name
        self._filters = MarketFilter(
            series=frozenset(settings.series),
            categories=frozenset(settings.categories),
            tickers=frozenset(settings.tickers),
            min_volume_24h=settings.min_volume * 100,
        )
        self._filtered = self._filters != MarketFilter()
        self._choices: dict[tuple[str, str], bool] = {}
        self._choices_read_at = float("-inf")
        self._categories: dict[str, str] = {}
        self._raw: dict[str, str] = {}
        self._append: Callable[[store.MarketEvent], None] = lambda _row: None
        self._stamp: Callable[[], int] = self._now
        self._changed = True
        self._followed: frozenset[str] = frozenset()
        self._excluded: set[str] = set()

    def attach(self, append: Callable[[store.MarketEvent], None], stamp: Callable[[], int]) -> None:
        """Set where market events are written and how they are stamped."""
        self._append, self._stamp = append, stamp

    async def sync(self) -> None:
        """Fetch all unfinished markets; those no longer listed are removed."""
        began_at = self._stamp()
        if not self._categories or self._filters.categories:
            listed = await self._client.series()
            self._categories = {series.ticker: series.category or "" for series in listed}
        found: dict[str, Market] = {}
        for status in _LISTED_STATUSES:
            async for page in self._client.markets(status=status):
                self._add_listed(page.items, found)
        # A market that is listed nowhere may have changed between two pages.
        unlisted = [
            market.ticker
            for market in self.index.markets.values()
            if market.ticker not in found and market.status in UNFINISHED
        ]
        named = await self._client.markets_named(unlisted)
        self._add_listed((market for market in named if market.status in UNFINISHED), found)
        at = self._stamp()
        self._apply(self.index.reconcile(found.values(), began_at=began_at, at=at))
        self._raw.clear()
        self.synced_at = at

    def _add_listed(self, listed: Iterable[ListedMarket], found: dict[str, Market]) -> None:
        for market in listed:
            found[market.ticker] = self._market(market)
            self._raw[market.ticker] = market.raw

    def on_lifecycle(self, message: LifecycleMessage | EventMessage, at: int, conn: int) -> None:
        """Handle a lifecycle message of the stream and record it as received."""
        if isinstance(message, LifecycleMessage):
            changes = (*self.index.apply_event(message, at), *self._with_series(message.ticker, at))
            self._apply((), touched=bool(changes))
            market = self.index.markets.get(message.ticker)
            row = _market_row(market or Market(message.ticker), self._gatherer)._replace(
                kind=message.event_type, status=None if market is None else market.status
            )
        else:
            event = Market(
                message.event_ticker,
                event_ticker=message.event_ticker,
                series_ticker=message.series_ticker or "",
                title=message.title or "",
            )
            row = _market_row(event, self._gatherer)._replace(kind=message.kind)
        self._append(
            row._replace(
                received_at=at,
                details=message.raw,
                conn=conn,
                sid=message.sid,
                seq=message.seq,
            )
        )

    def _with_series(self, ticker: str, at: int) -> tuple[MarketChange, ...]:
        """Set the series of a market that was announced with its event only."""
        market = self.index.markets.get(ticker)
        if market is None or market.series_ticker or not market.event_ticker:
            return ()
        series = market.event_ticker.partition("-")[0]
        category = self._categories.get(series, "")
        return self.index.update([replace(market, series_ticker=series, category=category)], at)

    def advance(self, at: int) -> None:
        """Open and close the markets whose time has come; the exchange does not announce it."""
        self._apply(self.index.tick(at))

    async def followed(self) -> frozenset[str]:
        """Return the markets whose books to record now."""
        if self._clock.monotonic() - self._choices_read_at >= _CHOICES_SECONDS:
            await self._read_choices()
        if self._changed:
            self._changed = False
            markets = self.index.markets.items()
            self._excluded = {ticker for ticker, market in markets if not self.is_chosen(market)}
            self._followed = frozenset(
                ticker for ticker, market in markets if market.live and ticker not in self._excluded
            )
        return self._followed

    def is_wanted(self, ticker: str) -> bool:
        """Return whether to record trades and tickers of a market."""
        if ticker in self._excluded:
            return False
        restricted = self._filtered or any(self._choices.values())
        return not restricted or ticker in self.index.markets

    def is_chosen(self, market: Market) -> bool:
        """Return whether a market is to be recorded while it is open."""
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
            return self._filters.is_wanted(market)
        return not any(self._choices.values())

    async def _read_choices(self) -> None:
        self._choices_read_at = self._clock.monotonic()
        choices: dict[tuple[str, str], bool] = {
            (choice.kind, choice.name): choice.recorded
            async for choice in self._store.each(store.RecordingChoice.all())
            if choice.name != ALL_MARKETS
        }
        if choices != self._choices:
            self._choices, self._changed = choices, True

    def _apply(self, changes: Iterable[MarketChange], *, touched: bool = False) -> None:
        self._changed = self._changed or touched
        for change in changes:
            self._changed = True
            if not _only_volume(change):
                self._append(self._row(change))

    def _row(self, change: MarketChange) -> store.MarketEvent:
        market = change.new or change.old or Market(change.ticker)
        status = "gone" if change.new is None else market.status
        return _market_row(market, self._gatherer)._replace(
            received_at=self._stamp(),
            kind=str(change.reason),
            source=_SOURCES[change.reason],
            status=status,
            details=self._raw.get(market.ticker),
        )

    def _market(self, listed: ListedMarket) -> Market:
        return Market(
            ticker=listed.ticker,
            event_ticker=listed.event_ticker,
            series_ticker=listed.series_ticker,
            category=self._categories.get(listed.series_ticker, ""),
            title=listed.title,
            status=listed.status,
            open_ts=listed.open_ts,
            close_ts=listed.close_ts,
            volume=listed.volume or 0,
            volume_24h=listed.volume_24h or 0,
            result=listed.result or "",
        )

    def _now(self) -> int:
        return int(self._clock.epoch() * _MICRO)


def _only_volume(change: MarketChange) -> bool:
    """Return whether only the volume changed, which is not recorded."""
    old, new = change.old, change.new
    if old is None or new is None:
        return False
    return replace(old, volume=new.volume, volume_24h=new.volume_24h) == new


def _market_row(market: Market, gatherer: str) -> store.MarketEvent:
    """Return a row with what is known of a market, to be completed by `_replace`."""
    return store.MarketEvent(
        received_at=0,
        ticker=market.ticker,
        kind="",
        source="ws",
        event_ticker=market.event_ticker or None,
        series_ticker=market.series_ticker or None,
        title=market.title or None,
        open_ts=market.open_ts,
        close_ts=market.close_ts,
        result=market.result or None,
        gatherer=gatherer,
    )
