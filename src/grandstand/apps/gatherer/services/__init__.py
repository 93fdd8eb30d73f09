"""The gatherer's services."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from grandstand.apps.gatherer.services.coverage import CoverageService
from grandstand.apps.gatherer.services.deduplicator import Deduplicator
from grandstand.apps.gatherer.services.diagnostics import Diagnostics
from grandstand.apps.gatherer.services.live_updates import LiveUpdates
from grandstand.apps.gatherer.services.market_registry import MarketRegistry
from grandstand.apps.gatherer.services.markets import MarketService
from grandstand.apps.gatherer.services.merge_sources import MergeConfig
from grandstand.apps.gatherer.services.recording.service import RecordingService
from grandstand.apps.gatherer.services.recordings import Recordings, open_merged
from grandstand.apps.gatherer.services.replay import ReplayServer
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.apps.gatherer.sources.kalshi.signing import InvalidSigningKey, Signer, read_signer
from grandstand.core.clock import Clock
from grandstand.kit.app import AppResources, AppServices
from grandstand.kit.cursors import Cursors

_MICRO: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatherer:
    """The gatherer: records markets of the exchange and answers queries about the recordings.

    `recordings` are this gatherer's own; `open_merged` opens those merged from several gatherers.
    `replay_server` serves a replay over the exchange's protocol, None if the host provides none.
    """

    settings: GathererSettings
    cursors: Cursors
    clock: Clock
    markets: MarketService
    recording: RecordingService
    recordings: Recordings
    coverage: CoverageService
    diagnostics: Diagnostics
    live_updates: LiveUpdates
    deduplicator: Deduplicator
    replay_server: ReplayServer | None = None

    def now_us(self) -> int:
        """Return the current time in microseconds since 1970."""
        return int(self.clock.epoch() * _MICRO)

    def open_merged(self, location: str) -> AbstractContextManager[Recordings]:
        """Open merged recordings: a folder, or a PostgreSQL connection string."""
        return open_merged(location, self.clock)


def build(resources: AppResources) -> AppServices[Gatherer]:
    """Build the app's services."""
    settings: GathererSettings = resources.settings or GathererSettings()
    clock, tables, series = resources.clock, resources.store, resources.series
    folder = settings.folder or resources.home / "gatherer"
    signer, key_error = _read_signer(settings, clock)
    client = KalshiClient(
        resources.web,
        settings.rest_url,
        signer=signer,
        clock=clock,
        per_second=settings.reads_per_second,
    )
    registry = MarketRegistry(client, tables, settings, clock)
    recording = RecordingService(
        settings=settings,
        folder=folder,
        client=client,
        registry=registry,
        tables=tables,
        series=series,
        signer=signer,
        key_error=key_error,
        clock=clock,
        random=resources.random,
        metrics=resources.metrics,
        publisher=resources.publisher,
        events=resources.events,
        notifier=resources.notifier,
    )
    markets = MarketService(
        registry=registry,
        recording=recording,
        tables=tables,
        series=series,
        settings=settings,
        folder=folder,
        clock=clock,
    )
    recordings = Recordings(series)
    gatherer = Gatherer(
        settings=settings,
        cursors=resources.cursors,
        clock=clock,
        markets=markets,
        recording=recording,
        recordings=recordings,
        coverage=CoverageService(
            series, settings.name, clock=clock, events=resources.events, notifier=resources.notifier
        ),
        diagnostics=Diagnostics(
            settings=settings,
            folder=folder,
            client=client,
            signer=signer,
            key_error=key_error,
            clock=clock,
            random=resources.random,
            metrics=resources.metrics,
        ),
        live_updates=LiveUpdates(clock, resources.publisher, recording.book, recordings.history),
        deduplicator=Deduplicator(
            tables,
            client,
            clock,
            config=MergeConfig(overlap_us=int(settings.merge_overlap_seconds * _MICRO)),
        ),
        replay_server=resources.replay_server,
    )
    return AppServices(services=gatherer, home_card=recording.home_card, search=markets.search)


def _read_signer(settings: GathererSettings, clock: Clock) -> tuple[Signer | None, str | None]:
    """Return the signer, or why the key cannot be used: the app starts all the same."""
    key = settings.private_key.get_secret_value()
    try:
        return read_signer(settings.key_id, key, settings.private_key_file, clock), None
    except InvalidSigningKey as error:
        return None, str(error)
