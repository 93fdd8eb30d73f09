"""Kept here: what every part of the service works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from grandstand.apps.gatherer.service.recording.plan import Plan
from grandstand.apps.gatherer.service.replaying import ReplayServer
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import Exchange
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Terms
from grandstand.base.clock import Clock
from grandstand.base.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Teller
from grandstand.kit.notify import Notifier
from grandstand.storage.series.buffer import Limits
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import AsyncStore

_GIGABYTE: Final = 1_000_000_000
_ROW_BYTES: Final = 800
_MICRO: Final = 1_000_000
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Where things are kept, who is asked, whom to tell, the time and chance.

    `key_fault` says why there is no signer although a key is set: recording says so when it is
    asked for, not when the house opens.
    """

    store: AsyncStore
    series: SeriesEngine
    exchange: Exchange
    clock: Clock
    random: Random
    metrics: Metrics
    teller: Teller
    events: Events
    notifier: Notifier
    cursors: Cursors
    folder: Path
    signer: Signer | None = None
    key_fault: str | None = None
    replay_server: ReplayServer | None = None
    settings: GathererSettings = field(default_factory=GathererSettings)

    def now_us(self) -> int:
        """Answer the present moment in microseconds since 1970."""
        return int(self.clock.epoch() * _MICRO)


def plan_of(settings: GathererSettings, folder: Path) -> Plan:
    """Answer how a gatherer with these settings records."""
    audits = settings.audits_per_minute
    return Plan(
        gatherer=settings.name,
        ws_url=settings.stream_url,
        folder=folder,
        connections=settings.connections,
        terms=Terms(
            batch=settings.markets_per_command,
            per_subscription=settings.markets_per_subscription,
        ),
        limits=Limits(
            batch_rows=settings.flush_rows,
            age_seconds=settings.flush_seconds,
            memory_bytes=settings.buffer_rows * _ROW_BYTES,
        ),
        tape=settings.tape,
        tape_days=settings.tape_days,
        silence_seconds=settings.silence_seconds,
        stall_seconds=settings.stall_seconds,
        first_wait_seconds=settings.reconnect_seconds,
        longest_wait_seconds=settings.longest_reconnect_seconds,
        reconcile_seconds=settings.reconcile_seconds,
        snapshots_seconds=settings.snapshot_seconds,
        audit_seconds=_MINUTE,
        audit_markets=audits,
        keyframe_deltas=settings.keyframe_deltas,
        least_free_bytes=int(settings.free_gigabytes * _GIGABYTE),
        most_bytes=int(settings.disk_gigabytes * _GIGABYTE) or None,
    )
