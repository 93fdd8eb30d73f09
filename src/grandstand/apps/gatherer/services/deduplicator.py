"""Deduplicator: merges the recordings of several gatherers into one store, each row once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import asdict

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services import merge_sources
from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.apps.gatherer.services.queries.integrity import find_uncovered
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient, ListedMarket
from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound, Unavailable
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import AsyncStore, Store

_ROUND_SECONDS: Final = 1.0
_WRITES_PER_BATCH: Final = 100
_MICRO: Final = 1_000_000

MERGED_SERIES: Final[tuple[Series[Any], ...]] = (
    store.TRADES,
    store.DELTAS,
    store.SNAPSHOTS,
    store.TICKERS,
    store.GAPS,
    store.SESSIONS,
    store.KEYFRAMES,
    store.AUDITS,
    store.FOLLOWED,
)


class Merger:
    """Merges the rows of several gatherers into one store, deduplicated by their identity.

    Receive times of two gatherers are not comparable, so a snapshot is stored at its position in
    exchange time; one without a certain position is left out. Each snapshot is compared with the
    book merged so far: a difference is recorded as an audit, and the book starts from the
    snapshot. A merger that was killed continues from its cursors.
    """

    def __init__(
        self,
        sources: Sequence[merge_sources.MergeSource],
        merged: SeriesEngine,
        tables: Store,
        *,
        clock: Clock,
        config: merge_sources.MergeConfig | None = None,
    ) -> None:
        self._merged = merged
        self._tables = tables
        self._clock = clock
        self._config = config or merge_sources.MergeConfig()
        self._books = BookHistory(merged, merged=True)
        self._gatherers = [
            merge_sources.GathererReader(source, merged, tables, self._config) for source in sources
        ]
        self._recounted_us: int | None = None

    def prepare(self) -> None:
        """Create the series of the merged store if they do not exist."""
        for series in MERGED_SERIES:
            self._merged.prepare(series)

    def run_round(self, *, recount: bool | None = None) -> merge_sources.MergeStats:
        """Merge the new rows of every gatherer, and return what was done.

        A gatherer that cannot be read is skipped and named in the result. Rows that were written
        late are searched for when it is time, or as `recount` says.
        """
        now = self._now_us()
        since = self._recounted_us
        due = since is None or now - since >= self._config.recount_us
        counting = due if recount is None else recount
        stats = merge_sources.MergeStats()
        until = self._until(stats)
        for gatherer in self._gatherers:
            if gatherer.name not in stats.failed:
                try:
                    stats.add(gatherer.read(now, until, recount=counting))
                except (NotFound, Unavailable) as error:
                    stats.failed[gatherer.name] = str(error)
        if counting:
            self._recounted_us = now
        stats.more = until < now
        self._place_snapshots(min(now, until) - self._config.overlap_us, stats)
        stats.pending = sum(len(gatherer.pending) for gatherer in self._gatherers)
        return stats

    def _until(self, stats: merge_sources.MergeStats) -> int:
        """Return up to when this round merges; records the gatherers that cannot be read."""
        following = []
        for gatherer in self._gatherers:
            try:
                following.append(gatherer.next_row_us())
            except (NotFound, Unavailable) as error:
                stats.failed[gatherer.name] = str(error)
        times = [time for time in following if time is not None]
        return min(times) + self._config.slice_us if times else store.LATEST

    def lags(self) -> tuple[merge_sources.MergeLag, ...]:
        """Return the merge position of each series of each gatherer."""
        now = self._now_us()
        return tuple(
            merge_sources.MergeLag(
                cursor.gatherer,
                cursor.series,
                cursor.position_us,
                now - cursor.position_us,
                cursor.rows,
            )
            for gatherer in self._gatherers
            for cursor in self._tables(store.SyncCursor.of_gatherer(gatherer.name))
        )

    def _place_snapshots(self, until_us: int, stats: merge_sources.MergeStats) -> None:
        placed: list[merge_sources.PlacedSnapshot] = []
        followed_rows: list[store.FollowedSince] = []
        for gatherer in self._gatherers:
            if gatherer.name not in stats.failed:
                found, followed, unplaced = gatherer.place_pending(until_us)
                placed += found
                followed_rows += followed
                stats.unplaced += unplaced
        self._merged.append(store.FOLLOWED, followed_rows)
        stats.placed += len(placed)
        placed.sort(key=lambda snapshot: (snapshot.at_us, snapshot.row.ticker))
        audits = [audit for snapshot in placed if (audit := self._audit(snapshot)) is not None]
        self._merged.append(
            store.KEYFRAMES,
            [snapshot.row for snapshot in placed if isinstance(snapshot.row, store.Keyframe)],
        )
        self._merged.append(store.AUDITS, audits)
        different = sum(audit.outcome == "different" for audit in audits)
        stats.audited += len(audits) - different
        stats.differences += different
        for gatherer in self._gatherers:
            gatherer.confirm()

    def _audit(self, placed: merge_sources.PlacedSnapshot) -> store.Audit | None:
        """Store a snapshot and compare it with the merged book; None if it is the first."""
        row = placed.row
        if isinstance(row, store.Keyframe):
            return None
        before = self._books.unverified(row.ticker, placed.at_us)
        self._merged.append(store.SNAPSHOTS, [row])
        if before.base_us is None:
            return None
        yes = tuple(sorted(store.decode_levels(row.yes_bids).items()))
        no = tuple(sorted(store.decode_levels(row.no_bids).items()))
        equal = not before.negative and (before.yes, before.no) == (yes, no)
        # A period that no gatherer covered explains a difference, and since when.
        base = before.base_us
        missed = None if equal else find_uncovered(self._merged, row.ticker, base, placed.at_us)
        return store.Audit(
            audited_at=placed.at_us,
            ticker=row.ticker,
            gatherer=placed.gatherer,
            against="snapshot",
            outcome="equal" if equal else "different",
            since=base if missed is None else missed.start,
        )

    def _now_us(self) -> int:
        return int(self._clock.epoch() * _MICRO)


@dataclass(frozen=True, slots=True)
class RefreshedMetadata:
    """The number of series, events and markets fetched."""

    series: int
    events: int
    markets: int


def _market(listed: ListedMarket, now_us: int) -> store.MarketInfo:
    return store.MarketInfo(
        ticker=listed.ticker,
        event_ticker=listed.event_ticker,
        title=listed.title,
        status=listed.status,
        subtitle=listed.subtitle,
        market_type=listed.market_type,
        result=listed.result,
        volume=listed.volume,
        volume_24h=listed.volume_24h,
        open_interest=listed.open_interest,
        open_us=listed.open_ts,
        close_us=listed.close_ts,
        updated_us=now_us,
    )


class Deduplicator:
    """Merges the recordings of several gatherers into one production store."""

    def __init__(
        self,
        tables: AsyncStore,
        client: KalshiClient,
        clock: Clock,
        *,
        config: merge_sources.MergeConfig | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._tables = tables
        self._client = client
        self._clock = clock
        self._config = config
        self._sleep = sleep

    @asynccontextmanager
    async def open(self, sources: Sequence[str], into: str) -> AsyncIterator[Merger]:
        """Open the sources, each `NAME:LOCATION`, and the location to merge into.

        Raises InvalidLocation, and Unavailable if a server does not answer.
        """
        with ExitStack() as stack:
            found: list[merge_sources.MergeSource] = []
            for text in sources:
                found.append(source := merge_sources.parse_source(text, self._clock))
                stack.enter_context(closing(source.engine))
            merged = stack.enter_context(closing(merge_sources.open_location(into, self._clock)))
            tables = self._tables.store
            merger = Merger(found, merged, tables, clock=self._clock, config=self._config)
            await asyncio.to_thread(merger.prepare)
            yield merger

    async def run_once(
        self, merger: Merger, on_round: Callable[[merge_sources.MergeStats], None] = lambda _: None
    ) -> merge_sources.MergeStats:
        """Merge everything including late rows, and return the last round."""
        while True:
            stats = await asyncio.to_thread(merger.run_round, recount=True)
            on_round(stats)
            if not stats.more:
                return stats

    async def run(
        self,
        merger: Merger,
        on_round: Callable[[merge_sources.MergeStats, tuple[merge_sources.MergeLag, ...]], None],
        until: asyncio.Event,
    ) -> None:
        """Merge round after round until `until` is set."""
        while not until.is_set():
            stats = await asyncio.to_thread(merger.run_round)
            on_round(stats, await asyncio.to_thread(merger.lags))
            if not stats.more:
                await self._sleep(_ROUND_SECONDS)

    async def refresh(self) -> RefreshedMetadata:
        """Fetch all listings into the tables; what is no longer listed stays as it was."""
        now, events, markets = int(self._clock.epoch() * _MICRO), 0, 0
        series = await self._client.series()
        await self._write(
            store.SeriesInfo(**asdict(listed) | {"tags": listed.tags or ()}, updated_us=now)
            for listed in series
        )
        async for event_page in self._client.events():
            await self._write(
                store.EventInfo(**asdict(event), updated_us=now) for event in event_page.items
            )
            events += len(event_page.items)
        async for market_page in self._client.markets():
            await self._write(_market(market, now) for market in market_page.items)
            markets += len(market_page.items)
        return RefreshedMetadata(len(series), events, markets)

    async def _write(
        self, entities: Iterable[store.SeriesInfo | store.EventInfo | store.MarketInfo]
    ) -> None:
        writes = [entity.put() for entity in entities]
        for at in range(0, len(writes), _WRITES_PER_BATCH):
            await self._tables.write_many(writes[at : at + _WRITES_PER_BATCH])
