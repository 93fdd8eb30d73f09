"""An app's server and the push service it talks to, put together for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from grandstand.apps.cricket.domain.alerts import Alert
from grandstand.apps.cricket.domain.display import DisplayTeam, UnifiedDisplayState, content_state
from grandstand.apps.cricket.domain.live_activities import PushTarget, make_push_id
from grandstand.apps.cricket.sources.apns import (
    ApnsClient,
    ApnsPayload,
    ProviderToken,
    update_payload,
)
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.simulators.push.phones import Activity, Phone
from grandstand.simulators.push.service import Addresses, PushService
from grandstand.simulators.push.validation import SigningKey

BUNDLE = "org.example.cricket"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
KEY = SigningKey.make()
WICKET = Alert("IND v AUS: IND 120-4", "Kohli is out.")


@dataclass
class Pair:
    """Our side, their side and the clock of both."""

    service: PushService
    apns: ApnsClient
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
        chosen = PushConfig(connections=1, stagger_seconds=0, tries=1)
        token = ProviderToken(key=key.pem, key_id=key.key_id, team_id=key.team_id, clock=clock)
        async with (
            _client(addresses.apns, addresses, chosen) as client,
            _client(addresses.manage, addresses, chosen) as managing,
        ):
            metrics = Metrics()
            apns = ApnsClient(
                client, token, bundle_id=BUNDLE, metrics=metrics, channels_client=managing
            )
            yield Pair(service, apns, token, clock, metrics, client)


def _client(host: str, addresses: Addresses, chosen: PushConfig) -> PushClient:
    return PushClient(
        host, clock=SystemClock(), random=Random(1), context=addresses.trusting, config=chosen
    )


def shown(score: str = "120-4") -> dict[str, object]:
    """Return a small content state."""
    teams = (DisplayTeam("1", "IND", "India", "", ()), DisplayTeam("2", "AUS", "Australia", "", ()))
    state = UnifiedDisplayState(
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
    return content_state(state)


def update(timestamp: int, score: str = "120-4", alert: Alert | None = None) -> ApnsPayload:
    """Return an update of a small state."""
    stale_at = NOW + timedelta(minutes=15)
    return update_payload(shown(score), timestamp=timestamp, stale_at=stale_at, alert=alert)


def target(token: str) -> PushTarget:
    """Return a target with an id of its own."""
    return PushTarget(token, make_push_id("m1", token))
