"""Kept here: everything the gatherer can do, one method each."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.coverage import Covered
from grandstand.apps.gatherer.model.markets import Market
from grandstand.apps.gatherer.model.rates import days_left, estimated
from grandstand.apps.gatherer.service.checking import Checking
from grandstand.apps.gatherer.service.coverage import Coverage
from grandstand.apps.gatherer.service.means import Means, plan_of
from grandstand.apps.gatherer.service.merging import Merging, Pace
from grandstand.apps.gatherer.service.recording.healing import Healing
from grandstand.apps.gatherer.service.recording.measuring import Measuring
from grandstand.apps.gatherer.service.recording.patience import PASSING
from grandstand.apps.gatherer.service.recording.plan import Plan
from grandstand.apps.gatherer.service.recording.recorder import Recorder
from grandstand.apps.gatherer.service.recording.surroundings import Surroundings
from grandstand.apps.gatherer.service.recording.telling import brief, ingest_of
from grandstand.apps.gatherer.service.recordings import Recordings, merged_recordings
from grandstand.apps.gatherer.service.registry import EVERYTHING, Markets
from grandstand.apps.gatherer.service.reporting import Reporting
from grandstand.apps.gatherer.service.values import Estimate, Finding, Ingest, MarketView
from grandstand.apps.gatherer.service.watching import Watching
from grandstand.apps.gatherer.sources.kalshi.errors import SigningKeyUnusable
from grandstand.apps.gatherer.sources.kalshi.frames import FrameDecoder
from grandstand.apps.gatherer.store.patterns import market_history
from grandstand.apps.gatherer.store.tables import ChoiceKind
from grandstand.base.errors import NotFound, SourceFailed, Unavailable
from grandstand.kit.app import Found
from grandstand.kit.notify import Message
from grandstand.kit.sought import nearest
from grandstand.storage.series.window import Window

_APP: Final = "gatherer"
_ALARM: Final = "alarm"
_HREF: Final = "/gatherer"
_TOPIC: Final = "gatherer/ingest"
_HEARD_US: Final = 10_000_000
_ASKED_SECONDS: Final = 1.0
_MICRO: Final = 1_000_000


class MarketNotFound(NotFound):
    """There is no such market on the exchange, as far as it is known."""


class Gatherer:
    """Markets of the exchange, recorded and asked.

    `asking` answers what was recorded, `exporting` gives it to files and notebooks, `replaying`
    plays it again, and `merging` puts the recordings of several gatherers together. `reporting`
    says how whole a day is, `watching` tells open pages of the markets they show.
    `replay_server` is the host's, None where it lends none.
    """

    def __init__(self, means: Means) -> None:
        self.settings = means.settings
        self.cursors = means.cursors
        self.recordings = Recordings(means.series)
        self.asking = self.recordings.asking
        self.exporting = self.recordings.exporting
        self.replaying = self.recordings.replaying
        self.replay_server = means.replay_server
        self.merging = Merging(
            means.store,
            means.exchange,
            means.clock,
            pace=Pace(overlap_us=int(means.settings.merge_overlap_seconds * _MICRO)),
        )
        self._means = means
        self._markets = Markets(means.exchange, means.store, means.settings, means.clock)
        self._coverage = Coverage(means.series, means.settings.name)
        self._checking = Checking(means)
        self.reporting = Reporting(means, self._coverage)
        self.watching = Watching(means.clock, means.teller, self.book, self.asking)
        self._recorder: Recorder | None = None
        self._starting = False
        self._fault: str | None = None
        self._listing = asyncio.Lock()
        self._tried_at = 0

    async def record(self, tell: Callable[[str], None] = lambda _: None) -> str:
        """Record until it is asked to stop, and answer how much; one process at a time.

        Raises SigningKeyUnusable and KeyRefused for a key that does not do, DiskBudgetSpent when
        there is no room, SeriesUnavailable when another process records for this gatherer here.
        """
        means = self._means
        if means.key_fault is not None:
            raise SigningKeyUnusable(means.key_fault)
        self._starting, self._fault = True, None
        try:
            async with Recorder.opened(self._plan(), self._surroundings()) as recorder:
                self._recorder, self._starting = recorder, False
                asked = asyncio.create_task(self._until_unasked(recorder, tell))
                try:
                    await recorder.run()
                finally:
                    asked.cancel()
                return f"{recorder.figures.frames} frames, {recorder.figures.rows.total()} rows"
        except Exception as fault:
            self._fault = str(fault)
            raise
        finally:
            self._recorder, self._starting = None, False

    def stop(self) -> None:
        """Let `record` of this process come to a clean end."""
        if self._recorder is not None:
            self._recorder.stop()

    async def asked_for(self) -> bool:
        """Tell whether recording is asked for: by somebody, else by the settings."""
        choice = await self._means.store(store.Choice.get(kind="series", name=EVERYTHING))
        return self.settings.record_at_start if choice is None else choice.recorded

    async def ask_for(self, *, recording: bool) -> None:
        """Ask for recording to begin, or to stop; it outlives the process."""
        await self.choose("series", EVERYTHING, recorded=recording)

    async def choose(self, kind: ChoiceKind, name: str, *, recorded: bool) -> None:
        """Choose that a market, event, series or category is recorded, or is not."""
        now = self._means.now_us()
        choice = store.Choice(kind=kind, name=name, recorded=recorded, chosen_us=now)
        await self._means.store(choice.keep())

    async def choose_nothing(self, kind: ChoiceKind, name: str) -> None:
        """Choose nothing about it any more."""
        await self._means.store(store.Choice.forget(kind, name))

    async def choices(self) -> tuple[store.Choice, ...]:
        """Answer what was chosen."""
        found = self._means.store.each(store.Choice.all_there_are())
        return tuple([choice async for choice in found if choice.name != EVERYTHING])

    async def ingest(self) -> Ingest:
        """Answer how recording goes; of another process only whether it goes on."""
        if self._recorder is not None:
            return ingest_of(self._recorder)
        name = self.settings.name
        if self._starting:
            return Ingest("starting", name)
        if self._fault is not None:
            return Ingest("failed", name, self._fault)
        heard = await asyncio.to_thread(self._heard_at)
        elsewhere = self._means.now_us() - heard < _HEARD_US
        return Ingest("elsewhere" if elsewhere else "off", name, started_at=heard)

    async def markets(self) -> tuple[MarketView, ...]:
        """Answer all markets that are not over, the most traded first; raise what REST raises."""
        await self._list()
        await self._markets.choose()
        found = sorted(self._markets.known.markets(), key=lambda one: -one.volume_24h)
        return tuple(map(self._view, found))

    async def market(self, ticker: str) -> MarketView:
        """Answer one market; raise MarketNotFound."""
        await self._list()
        found = self._markets.known.find(ticker)
        if found is None:
            raise MarketNotFound(f"There is no market {ticker} among those that are not over")
        return self._view(found)

    async def search(self, sought: str) -> tuple[Found, ...]:
        """Answer the markets some words are about, asking nobody: those listed here so far.

        A whole ticker is found among all that was ever recorded.
        """
        known = sorted(self._markets.known.markets(), key=lambda one: -one.volume_24h)
        found = nearest(sought, known, lambda one: (one.ticker, one.title, one.event_ticker))
        if found:
            return tuple(_found(one.ticker, one.title or one.event_ticker) for one in found)
        ticker = sought.strip().upper()
        title = await asyncio.to_thread(self._recorded, ticker)
        return () if title is None else (_found(ticker, title),)

    def merged(self, place: str) -> AbstractContextManager[Recordings]:
        """Open what was merged into a place for a block; raise PlaceNotUnderstood, Unavailable."""
        return merged_recordings(place, self._means.clock)

    def now_us(self) -> int:
        """Answer the present moment in microseconds since 1970."""
        return self._means.now_us()

    def book(self, ticker: str) -> Book | None:
        """Answer the book as it is now; None when it is not followed here, or not to be trusted."""
        return None if self._recorder is None else self._recorder.pool.book(ticker)

    async def estimate(self) -> Estimate:
        """Answer what recording the markets chosen is likely to take; raise what REST raises."""
        await self._list()
        followed = await self._markets.choose()
        known = (self._markets.known.find(ticker) for ticker in followed)
        rates = estimated(market.volume_24h for market in known if market is not None)
        self._means.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._means.folder).free
        daily = rates.baked_bytes(tape=self.settings.tape)
        return Estimate(
            markets=len(followed),
            rates=rates,
            bytes_a_day=daily,
            hot_bytes=rates.hot_bytes(),
            free_bytes=free,
            days_left=days_left(max(0, free - rates.hot_bytes()), daily),
        )

    async def coverage(
        self, start_us: int, end_us: int, ticker: str | None = None
    ) -> tuple[Covered, ...]:
        """Answer how complete each market and hour is, in receive time."""
        return await self._coverage.read(start_us, end_us, ticker=ticker)

    async def gaps(self, start_us: int, end_us: int) -> tuple[store.Gap, ...]:
        """Answer the gaps found in a stretch of receive time, each once, with its end."""
        return await self._coverage.gaps(start_us, end_us)

    async def check(self) -> tuple[Finding, ...]:
        """Answer whether recording could begin now: exchange, clock, key, stream and disk."""
        return await self._checking.check()

    async def _list(self) -> None:
        """Have the markets listed, unless that was lately; while it records, the recorder does.

        What was listed before does when the exchange is away.
        """
        async with self._listing:
            at = self._markets.synced_at
            if at is None:
                await self._markets.sync()
            elif self._recorder is None and self._old(max(at, self._tried_at)):
                self._tried_at = self._means.now_us()
                with suppress(SourceFailed, Unavailable):
                    await self._markets.sync()

    def _old(self, at: int) -> bool:
        return self._means.now_us() - at > self.settings.reconcile_seconds * _MICRO

    def _plan(self) -> Plan:
        return plan_of(self.settings, self._means.folder)

    def _surroundings(self) -> Surroundings:
        means = self._means
        return Surroundings(
            exchange=means.exchange,
            choosing=self._markets,
            engine=means.series,
            signer=means.signer,
            parse=FrameDecoder().parse,
            clock=means.clock,
            random=means.random,
            metrics=means.metrics,
            alarm=self._alarm,
        )

    async def _alarm(self, title: str, text: str) -> None:
        means = self._means
        await means.events.record(_APP, _ALARM, f"{title}: {text}", _HREF)
        message = Message(_APP, _ALARM, title, text, _HREF)
        await means.notifier.tell(message, f"{_APP}:{self.settings.name}:{means.now_us()}")

    async def _until_unasked(self, recorder: Recorder, tell: Callable[[str], None]) -> None:
        measuring = Measuring(self._means.metrics)
        healing = Healing(self._means.events, self._means.clock)
        while await self._still_asked_for():
            ingest = ingest_of(recorder)
            measuring.pass_on(recorder.figures, ingest)
            self._means.teller.tell(_TOPIC, brief(ingest))
            with suppress(*PASSING):
                await healing.tell(ingest)
            tell(f"{ingest.frames} frames of {ingest.markets} markets")
            await asyncio.sleep(_ASKED_SECONDS)
        recorder.stop()

    async def _still_asked_for(self) -> bool:
        """Tell whether recording is asked for; while the tables do not answer it goes on."""
        try:
            return await self.asked_for()
        except PASSING:
            return True

    def _view(self, market: Market) -> MarketView:
        recorder = self._recorder
        connection = None if recorder is None else recorder.pool.connection_of(market.ticker)
        book = self.book(market.ticker)
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
            chosen=self._markets.chosen(market),
            followed=connection is not None,
            stale=connection is not None and book is None,
            best_yes_bid=None if book is None else book.best_yes_bid,
            best_yes_ask=None if book is None else book.best_yes_ask,
            spread=None if book is None else book.spread,
        )

    def _recorded(self, ticker: str) -> str | None:
        """What a market that was recorded is called; None when it never was."""
        self._means.series.prepare(store.MARKET_EVENTS)
        window = replace(market_history(ticker), most=1)
        newest = next(iter(self._means.series.read(window)), None)
        return None if newest is None else newest.title or newest.event_ticker or "Recorded"

    def _heard_at(self) -> int:
        self._means.series.prepare(store.SESSIONS)
        window = Window(store.SESSIONS, 0, 2**62, (self.settings.name,), order="newest", most=1)
        newest = next(iter(self._means.series.read(window)), None)
        return 0 if newest is None or newest.what == "stopped" else newest.at


def _found(ticker: str, title: str) -> Found:
    return Found("market", ticker, title, f"/gatherer/markets/{ticker}")
