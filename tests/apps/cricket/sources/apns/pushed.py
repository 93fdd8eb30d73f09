"""An app's server and the push service it talks to, put together for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from grandstand.apps.cricket.model.alerts import Alert
from grandstand.apps.cricket.model.display import TeamShown, UnifiedDisplayState
from grandstand.apps.cricket.model.tokens import push_id
from grandstand.apps.cricket.sources.apns import (
    Apns,
    ApnsChannels,
    Letter,
    Parcel,
    ProviderToken,
    update_parcel,
)
from grandstand.base.clock import ManualClock, SystemClock
from grandstand.base.metrics import Metrics
from grandstand.simulators.push import Addresses, Phone, PushService, SigningKey
from grandstand.simulators.push.activities import Activity
from grandstand.wire.push import PushClient, Pushing

BUNDLE = "org.example.cricket"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
KEY = SigningKey.make()
WICKET = Alert("IND v AUS: IND 120-4", "Kohli is out.")


@dataclass
class Pair:
    """Our side, their side and the clock of both."""

    service: PushService
    apns: Apns
    channels: ApnsChannels
    token: ProviderToken
    clock: ManualClock
    metrics: Metrics
    client: PushClient

    def phone(self, name: str = "Asha") -> Phone:
        """Put a phone on the wall."""
        return self.service.wall.add(name, BUNDLE)

    def activity(self, phone: Phone) -> Activity:
        """Begin an activity by hand on a phone."""
        return self.service.wall.begin(phone, {"matchId": "m1"}, {})


@asynccontextmanager
async def pushing(key: SigningKey = KEY, **changes: object) -> AsyncIterator[Pair]:
    """Serve a push service that knows KEY, and answer it with a client that has `key`."""
    clock = ManualClock(NOW)
    service = PushService(clock, Random(7))
    service.keys.add(KEY)
    for name, value in changes.items():
        setattr(service, name, value)
    async with service.serving() as addresses:
        chosen = Pushing(connections=1, stagger_seconds=0, tries=1)
        token = ProviderToken(key=key.pem, key_id=key.key_id, team_id=key.team_id, clock=clock)
        async with (
            _client(addresses.apns, addresses, chosen) as client,
            _client(addresses.manage, addresses, chosen) as managing,
        ):
            metrics = Metrics()
            apns = Apns(client, token, bundle_id=BUNDLE, metrics=metrics)
            channels = ApnsChannels(managing, token, bundle_id=BUNDLE)
            yield Pair(service, apns, channels, token, clock, metrics, client)


def _client(host: str, addresses: Addresses, chosen: Pushing) -> PushClient:
    return PushClient(
        host, clock=SystemClock(), random=Random(1), context=addresses.trusting, pushing=chosen
    )


def shown(score: str = "120-4") -> UnifiedDisplayState:
    """Answer a small state."""
    teams = (TeamShown("1", "IND", "India", "", ()), TeamShown("2", "AUS", "Australia", "", ()))
    return UnifiedDisplayState(
        match_id="m1",
        seq=1,
        updated_at=0,
        phase="live",
        status=score,
        league="T20I",
        venue="Pune",
        teams=teams,
        inning=1,
        this_over=("1", "W"),
        last_balls=(),
    )


def update(timestamp: int, score: str = "120-4", alert: Alert | None = None) -> Parcel:
    """Answer an update of a small state."""
    stale_at = NOW + timedelta(minutes=15)
    return update_parcel(shown(score), timestamp=timestamp, stale_at=stale_at, alert=alert)


def letter(parcel: Parcel, token: str) -> Letter:
    """Address a parcel to a token."""
    return Letter(parcel, token, push_id("m1", token))
