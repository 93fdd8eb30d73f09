"""Unfinished markets of the exchange, and the choice of what to record."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.markets import Market
from grandstand.apps.gatherer.domain.storage_estimate import (
    DailyRows,
    days_left,
    estimate_daily_rows,
)
from grandstand.apps.gatherer.services.market_registry import ALL_MARKETS, MarketRegistry
from grandstand.apps.gatherer.services.recording.service import RecordingService
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound, SourceFailed, Unavailable
from grandstand.kit.app import SearchHit
from grandstand.kit.auth.caller import Caller
from grandstand.kit.text_search import best_matches
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import AsyncStore

_MICRO: Final = 1_000_000


class MarketNotFound(NotFound):
    """The exchange lists no unfinished market with this ticker."""

    code: ClassVar[str] = "market-not-found"


@dataclass(frozen=True, slots=True)
class MarketView:
    """A market with its recording state and best prices; None without a live book."""

    ticker: str
    event_ticker: str
    series_ticker: str
    category: str
    title: str
    status: str
    volume: int
    volume_24h: int
    open_ts: int | None
    close_ts: int | None
    chosen: bool
    followed: bool
    stale: bool
    best_yes_bid: int | None = None
    best_yes_ask: int | None = None
    spread: int | None = None


@dataclass(frozen=True, slots=True)
class StorageEstimate:
    """What recording the chosen markets is likely to take, and how many days the disk lasts."""

    markets: int
    rows_per_day: DailyRows
    bytes_per_day: int
    hot_bytes: int
    free_bytes: int
    days_left: int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether to record a market, event, series or category."""

    kind: store.ChoiceKind
    name: str
    recorded: bool
    chosen_us: int


class MarketService:
    """Lists markets and stores the choices of what to record.

    Listing fetches the markets from the exchange if the list is old; while recording, the recorder
    keeps it up to date.
    """

    def __init__(
        self,
        *,
        registry: MarketRegistry,
        recording: RecordingService,
        tables: AsyncStore,
        series: SeriesEngine,
        settings: GathererSettings,
        folder: Path,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._recording = recording
        self._tables = tables
        self._series = series
        self._settings = settings
        self._folder = folder
        self._clock = clock
        self._listing = asyncio.Lock()
        self._tried_at = 0

    async def list(self) -> tuple[MarketView, ...]:
        """Return all unfinished markets, the most traded first."""
        await self._refresh()
        await self._registry.followed()
        return tuple(map(self._view, self._by_volume()))

    async def get(self, ticker: str) -> MarketView:
        """Return one market.

        Raises MarketNotFound if it is unknown or finished.
        """
        await self._refresh()
        market = self._registry.index.find(ticker)
        if market is None:
            raise MarketNotFound(f"There is no unfinished market {ticker}.")
        return self._view(market)

    async def search(self, query: str, caller: Caller) -> tuple[SearchHit, ...]:
        """Search the markets listed so far; a complete ticker also finds recorded ones."""
        del caller
        hits = best_matches(
            query,
            self._by_volume(),
            lambda market: (market.ticker, market.title, market.event_ticker),
        )
        if hits:
            return tuple(
                _hit(market.ticker, market.title or market.event_ticker) for market in hits
            )
        ticker = query.strip().upper()
        title = await asyncio.to_thread(self._recorded_title, ticker)
        return () if title is None else (_hit(ticker, title),)

    async def choose(self, kind: store.ChoiceKind, name: str, *, recorded: bool) -> None:
        """Choose whether to record a market, event, series or category."""
        choice = store.RecordingChoice(
            kind=kind, name=name, recorded=recorded, chosen_us=self._now_us()
        )
        await self._tables(choice.save())

    async def clear_choice(self, kind: store.ChoiceKind, name: str) -> None:
        await self._tables(store.RecordingChoice.remove(kind, name))

    async def choices(self) -> tuple[Choice, ...]:
        stored = self._tables.each(store.RecordingChoice.all())
        return tuple(
            [
                Choice(choice.kind, choice.name, choice.recorded, choice.chosen_us)
                async for choice in stored
                if choice.name != ALL_MARKETS
            ]
        )

    async def estimate(self) -> StorageEstimate:
        """Estimate what recording the chosen markets takes."""
        await self._refresh()
        followed = await self._registry.followed()
        markets = (self._registry.index.find(ticker) for ticker in followed)
        rows = estimate_daily_rows(market.volume_24h for market in markets if market is not None)
        self._folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._folder).free
        daily = rows.compacted_bytes(raw_log=self._settings.raw_log)
        return StorageEstimate(
            markets=len(followed),
            rows_per_day=rows,
            bytes_per_day=daily,
            hot_bytes=rows.hot_bytes(),
            free_bytes=free,
            days_left=days_left(max(0, free - rows.hot_bytes()), daily),
        )

    async def _refresh(self) -> None:
        """Fetch the list if there is none or it is old; an old list serves while that fails."""
        async with self._listing:
            synced_at = self._registry.synced_at
            if synced_at is None:
                await self._registry.sync()
            elif not self._recording.is_running and self._is_old(max(synced_at, self._tried_at)):
                self._tried_at = self._now_us()
                with suppress(SourceFailed, Unavailable):
                    await self._registry.sync()

    def _is_old(self, at_us: int) -> bool:
        return self._now_us() - at_us > self._settings.reconcile_seconds * _MICRO

    def _by_volume(self) -> Sequence[Market]:
        return sorted(self._registry.index.markets(), key=lambda market: -market.volume_24h)

    def _view(self, market: Market) -> MarketView:
        followed = self._recording.is_following(market.ticker)
        book = self._recording.book(market.ticker)
        return MarketView(
            ticker=market.ticker,
            event_ticker=market.event_ticker,
            series_ticker=market.series_ticker,
            category=market.category,
            title=market.title,
            status=market.status,
            volume=market.volume,
            volume_24h=market.volume_24h,
            open_ts=market.open_ts,
            close_ts=market.close_ts,
            chosen=self._registry.is_chosen(market),
            followed=followed,
            stale=followed and book is None,
            best_yes_bid=None if book is None else book.best_yes_bid,
            best_yes_ask=None if book is None else book.best_yes_ask,
            spread=None if book is None else book.spread,
        )

    def _recorded_title(self, ticker: str) -> str | None:
        """Return the title of a recorded market; None if it was never recorded."""
        self._series.prepare(store.MARKET_EVENTS)
        window = replace(store.market_history(ticker), limit=1)
        newest = next(iter(self._series.read(window)), None)
        return None if newest is None else newest.title or newest.event_ticker or "Recorded"

    def _now_us(self) -> int:
        return int(self._clock.epoch() * _MICRO)


def _hit(ticker: str, title: str) -> SearchHit:
    return SearchHit("market", ticker, title, f"/gatherer/markets/{ticker}")
