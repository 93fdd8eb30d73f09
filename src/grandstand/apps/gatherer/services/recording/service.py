"""Starts, stops and reports on recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.messages import datetime_from_us
from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.services.market_registry import ALL_MARKETS, MarketRegistry
from grandstand.apps.gatherer.services.recording.recorder import (
    Recorder,
    buffer_limits,
    open_buffer,
)
from grandstand.apps.gatherer.services.recording.rest_polling import TRANSIENT_ERRORS
from grandstand.apps.gatherer.services.recording.status import RecorderMetrics, RecorderStatus
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.apps.gatherer.sources.kalshi.signing import InvalidSigningKey, Signer
from grandstand.core.clock import Clock
from grandstand.core.metrics import Metrics
from grandstand.kit.app import HomeCard
from grandstand.kit.auth.caller import Caller
from grandstand.kit.events import Events
from grandstand.kit.live import Publisher
from grandstand.kit.notify import Notification, Notifier
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from grandstand.storage.tables import AsyncStore

_APP: Final = "gatherer"
_ALERT_KIND: Final = "alert"
_ELSEWHERE_US: Final = 10_000_000
_STATUS_SECONDS: Final = 1.0
_GAP_EVENT_SECONDS: Final = 60.0
_MICRO: Final = 1_000_000


class RecordingService:
    """Records the chosen markets while that is requested, in one process per gatherer.

    The request is stored and survives a restart. `key_error` is the reason why a configured key
    cannot be used; it is raised when recording starts.
    """

    def __init__(
        self,
        *,
        settings: GathererSettings,
        folder: Path,
        client: KalshiClient,
        registry: MarketRegistry,
        tables: AsyncStore,
        series: SeriesEngine,
        signer: Signer | None,
        key_error: str | None,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        publisher: Publisher,
        events: Events,
        notifier: Notifier,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._client = client
        self._registry = registry
        self._tables = tables
        self._series = series
        self._signer = signer
        self._key_error = key_error
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._publisher = publisher
        self._events = events
        self._notifier = notifier
        self._recorder: Recorder | None = None
        self._starting = False
        self._error: str | None = None

    async def run(self, on_progress: Callable[[str], None] = lambda _: None) -> str:
        """Record until it is no longer requested, and return a summary.

        Raises InvalidSigningKey or KeyRejected for an unusable key, DiskLimitReached if the disk is
        full, and SeriesUnavailable if another process records for this gatherer here.
        """
        if self._key_error is not None:
            raise InvalidSigningKey(self._key_error)
        self._starting, self._error = True, None
        try:
            async with open_buffer(
                self._settings.name,
                self._folder,
                buffer_limits(self._settings),
                self._series,
                clock=self._clock,
                random=self._random,
            ) as opened:
                self._recorder = recorder = Recorder(
                    self._settings,
                    self._folder,
                    *opened,
                    client=self._client,
                    selection=self._registry,
                    engine=self._series,
                    signer=self._signer,
                    clock=self._clock,
                    random=self._random,
                    metrics=self._metrics,
                    alert=self._alert,
                )
                self._starting = False
                watching = asyncio.create_task(self._watch(recorder, on_progress))
                try:
                    await recorder.run()
                finally:
                    watching.cancel()
                counters = recorder.counters
                return f"{counters.frames} frames, {sum(counters.rows.values())} rows"
        except Exception as error:
            self._error = str(error)
            raise
        finally:
            self._recorder, self._starting = None, False

    def stop(self) -> None:
        """Let `run` of this process end cleanly."""
        if self._recorder is not None:
            self._recorder.stop()

    async def is_requested(self) -> bool:
        """Return whether recording is requested: by a person, else by the settings."""
        choice = await self._tables(store.RecordingChoice.get(kind="series", name=ALL_MARKETS))
        return self._settings.record_at_start if choice is None else choice.recorded

    async def request(self, *, recording: bool) -> None:
        """Request recording to start or to stop."""
        choice = store.RecordingChoice(
            kind="series", name=ALL_MARKETS, recorded=recording, chosen_us=self._now_us()
        )
        await self._tables(choice.put())

    async def status(self) -> RecorderStatus:
        """Return the status; of another process only whether it is recording."""
        if self._recorder is not None:
            return self._recorder.status()
        name = self._settings.name
        if self._starting:
            return RecorderStatus("starting", name)
        if self._error is not None:
            return RecorderStatus("failed", name, self._error)
        seen_at = await asyncio.to_thread(self._last_session_at)
        elsewhere = self._now_us() - seen_at < _ELSEWHERE_US
        started_at = datetime_from_us(seen_at) if seen_at else None
        return RecorderStatus("elsewhere" if elsewhere else "off", name, started_at=started_at)

    @property
    def is_running(self) -> bool:
        return self._recorder is not None

    def is_following(self, ticker: str) -> bool:
        recorder = self._recorder
        return recorder is not None and ticker in recorder.pool.by_market

    def book(self, ticker: str) -> OrderBook | None:
        """Return the live book of a market; None if it is stale or not followed here."""
        return None if self._recorder is None else self._recorder.pool.book(ticker)

    async def home_card(self, caller: Caller) -> HomeCard:
        del caller
        status, href = await self.status(), f"/{_APP}/recording"
        if status.state == "recording":
            headline = f"{status.frames_per_second:,.0f} messages/s"
            stale = f", {status.stale} catching up" if status.stale else ""
            return HomeCard(
                headline, f"Recording {status.markets:,} markets{stale}", href, live=True
            )
        if status.state == "elsewhere":
            return HomeCard("Recording", "In another process of this gatherer", href, live=True)
        if status.state == "starting":
            return HomeCard("Starting", "Listing the markets", href)
        if status.state == "failed":
            return HomeCard("Stopped", status.reason or "Recording failed", href)
        return HomeCard("Not recording", "Choose markets and start recording", f"/{_APP}")

    async def _alert(self, title: str, text: str) -> None:
        await self._events.record(_APP, _ALERT_KIND, f"{title}: {text}", f"/{_APP}")
        message = Notification(_APP, _ALERT_KIND, title, text, f"/{_APP}")
        await self._notifier.send(message, f"{_APP}:{self._settings.name}:{self._now_us()}")

    async def _watch(self, recorder: Recorder, on_progress: Callable[[str], None]) -> None:
        """Publish the status every second, and stop the recorder when it is no longer requested."""
        metrics = RecorderMetrics(self._metrics)
        gap_events = GapEvents(self._events, self._clock)
        while await self._is_still_requested():
            status = recorder.status()
            metrics.export(status)
            self._publisher.publish("gatherer/status", status.summary())
            with suppress(*TRANSIENT_ERRORS):
                await gap_events.record(status)
            on_progress(f"{status.frames} frames of {status.markets} markets")
            await asyncio.sleep(_STATUS_SECONDS)
        recorder.stop()

    async def _is_still_requested(self) -> bool:
        """Return whether recording is requested; it goes on while the tables are unavailable."""
        try:
            return await self.is_requested()
        except TRANSIENT_ERRORS:
            return True

    def _last_session_at(self) -> int:
        """Return when this gatherer last wrote a session row; 0 if it stopped."""
        self._series.prepare(store.SESSIONS)
        window = Window(
            store.SESSIONS, 0, store.LATEST, (self._settings.name,), order="newest", limit=1
        )
        newest = next(iter(self._series.read(window)), None)
        return 0 if newest is None or newest.what == "stopped" else newest.at

    def _now_us(self) -> int:
        return int(self._clock.epoch() * _MICRO)


class GapEvents:
    """Records an event when gaps were closed: at once for the first, then at most every minute."""

    def __init__(self, events: Events, clock: Clock) -> None:
        self._events = events
        self._clock = clock
        self._recorded = 0
        self._recorded_at = float("-inf")

    async def record(self, status: RecorderStatus) -> None:
        closed, now = status.gaps_closed - self._recorded, self._clock.monotonic()
        if closed <= 0 or now - self._recorded_at < _GAP_EVENT_SECONDS:
            return
        self._recorded, self._recorded_at = status.gaps_closed, now
        gaps = "1 gap" if closed == 1 else f"{closed:,} gaps"
        still_open = f"{status.gaps_open:,} still open" if status.gaps_open else "none open"
        text = f"{status.gatherer} closed {gaps}, {still_open}"
        await self._events.record(_APP, "gaps-closed", text, f"/{_APP}/coverage")
