"""Unfinished markets of the exchange, and the choice of what to record."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import Field

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.markets import Market
from grandstand.apps.gatherer.domain.messages import Time
from grandstand.apps.gatherer.domain.order_book import Price, Size
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
    volume: Size
    volume_24h: Size
    open_ts: Time | None
    close_ts: Time | None
    chosen: bool
    followed: bool
    stale: bool
    best_yes_bid: Price | None = None
    best_yes_ask: Price | None = None
    spread: Price | None = None

    def matches(self, search: str, *, series: str = "", category: str = "") -> bool:
        """Return whether ticker and title contain all words; "" matches all."""
        text = f"{self.ticker} {self.title}".casefold()
        return (
            series in ("", self.series_ticker)
            and category in ("", self.category)
            and all(word in text for word in search.casefold().split())
        )


# From a public report on the whole exchange in July 2026: about 95 tickers per second over all
# markets, and some 60 book changes per ticker. The other figures were measured.
_CONTRACTS_PER_TRADE: Final = 40
_TICKERS_PER_TRADE: Final = 3
_DELTAS_PER_TICKER: Final = 60
_MIN_DELTAS: Final = 200
_REST_SNAPSHOTS: Final = 96

_COMPACTED_BYTES: Final = {"delta": 10, "trade": 40, "ticker": 14, "snapshot": 400}
_HOT_BYTES: Final = {"delta": 70, "trade": 130, "ticker": 90, "snapshot": 2000}
_RAW_LOG_BYTES: Final = 26


@dataclass(frozen=True, slots=True)
class DailyRows:
    """Rows per day of each kind."""

    deltas: int = 0
    trades: int = 0
    tickers: int = 0
    snapshots: int = 0

    @property
    def frames(self) -> int:
        """Frames per day on the stream."""
        return self.deltas + self.trades + self.tickers

    def compacted_bytes(self, *, raw_log: bool) -> int:
        """Return the bytes per day after compaction, with or without the raw log."""
        return self._bytes(_COMPACTED_BYTES) + self.frames * _RAW_LOG_BYTES * raw_log

    def hot_bytes(self) -> int:
        """Return the bytes per day before compaction."""
        return self._bytes(_HOT_BYTES)

    def _bytes(self, row_bytes: dict[str, int]) -> int:
        return (
            self.deltas * row_bytes["delta"]
            + self.trades * row_bytes["trade"]
            + self.tickers * row_bytes["ticker"]
            + self.snapshots * row_bytes["snapshot"]
        )


def estimate_daily_rows(volumes_24h: Iterable[int]) -> DailyRows:
    """Estimate the rows of markets with these volumes, in hundredths of a contract."""
    deltas = trades = markets = 0
    for volume in volumes_24h:
        traded = volume // (100 * _CONTRACTS_PER_TRADE)
        deltas += _MIN_DELTAS + traded * _TICKERS_PER_TRADE * _DELTAS_PER_TICKER
        trades += traded
        markets += 1
    return DailyRows(
        deltas=deltas,
        trades=trades,
        tickers=trades * _TICKERS_PER_TRADE,
        snapshots=markets * (_REST_SNAPSHOTS + 1),
    )


def days_left(free_bytes: int, daily_bytes: int) -> int | None:
    """Return how many whole days the space lasts; None if nothing is written."""
    return free_bytes // daily_bytes if daily_bytes > 0 else None


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
    chosen_us: Annotated[Time, Field(serialization_alias="chosen_at")]


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
        market = self._registry.index.markets.get(ticker)
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
        await self._tables(choice.put())

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
        markets = (self._registry.index.markets.get(ticker) for ticker in followed)
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
                return
            age_us = self._now_us() - max(synced_at, self._tried_at)
            is_old = age_us > self._settings.reconcile_seconds * _MICRO
            if is_old and not self._recording.is_running:
                self._tried_at = self._now_us()
                with suppress(SourceFailed, Unavailable):
                    await self._registry.sync()

    def _by_volume(self) -> Sequence[Market]:
        return sorted(self._registry.index.markets.values(), key=lambda market: -market.volume_24h)

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
        newest = next(iter(self._series.read(store.market_history(ticker, limit=1))), None)
        return None if newest is None else newest.title or newest.event_ticker or "Recorded"

    def _now_us(self) -> int:
        return int(self._clock.epoch() * _MICRO)


def _hit(ticker: str, title: str) -> SearchHit:
    return SearchHit("market", ticker, title, f"/gatherer/markets/{ticker}")
