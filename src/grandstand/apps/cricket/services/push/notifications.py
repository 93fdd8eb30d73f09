"""Notifications outside Live Activities: announced starts, test pushes and browser alerts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import msgspec

from grandstand.apps.cricket.domain import errors, live_activities
from grandstand.apps.cricket.domain.alerts import (
    Alert,
    is_announcement_due,
    should_alert,
)
from grandstand.apps.cricket.services.interfaces import BrowserGateway, Database, PushGateway
from grandstand.apps.cricket.services.push import updates
from grandstand.apps.cricket.services.queries.fixtures import Match
from grandstand.apps.cricket.sources.apns import alert_payload
from grandstand.apps.cricket.store.matches import Delivery
from grandstand.apps.cricket.store.users import Device, Follower, MatchFollow
from grandstand.core.errors import InvalidInput
from grandstand.core.logging import get_logger
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables.errors import ConditionFailed

_TEST_ALERT: Final = Alert("Grandstand", "Test notification: this device receives pushes.")
_MAX_BROWSERS: Final = 5
_MAX_ATTEMPTS: Final = 8
_PAGE_SIZE: Final = 100

_Subscriptions: TypeAlias = tuple[live_activities.BrowserSubscription, ...]


class Announcement(msgspec.Struct, frozen=True):
    """A notification to one follower that a match starts soon."""

    match_id: str = msgspec.field(name="match_id")
    user_id: str = msgspec.field(name="user_id")
    starts_at: datetime = msgspec.field(name="starts_at")
    title: str = msgspec.field(name="title")
    body: str = msgspec.field(name="body")


@dataclass(kw_only=True, eq=False)
class AnnouncementService:
    """Notifies each follower once before a match starts, and again if the start was moved."""

    store: Database
    outbox: Outbox
    gateway: PushGateway | None
    lead_time: timedelta

    async def announce(self, match: Match) -> int:
        """Write the announcements that are due; return how many."""
        now, announced = self.store.now(), 0
        if not is_announcement_due(match.starts_at, now, None, ahead=self.lead_time):
            return 0
        async for follow in self.store.each(MatchFollow.of_match(match.match_id)):
            if is_announcement_due(
                match.starts_at, now, follow.announced_for, ahead=self.lead_time
            ):
                announced += await self._write(match, follow, now)
        return announced

    async def _write(self, match: Match, follow: MatchFollow, now: datetime) -> int:
        minutes = max(1, round((match.starts_at - now).total_seconds() / 60))
        home, away = (side.name or side.code or "?" for side in (match.home, match.away))
        announcement = Announcement(
            match.match_id,
            follow.user_id,
            match.starts_at,
            f"{home} v {away}"[:60],
            f"Starts in {minutes} minutes" if minutes > 1 else "Starts in 1 minute",
        )
        key = f"{match.match_id}:{follow.user_id}:{int(match.starts_at.timestamp())}"
        return int(
            await self.store.transact(
                follow.mark_announced(match.starts_at),
                self.outbox.write(updates.ANNOUNCEMENT, key, announcement),
            )
        )

    async def deliver(self, message: OutboxMessage) -> None:
        """Push an announcement once to all devices of a user, unless the match has started.

        Raises PushUnavailable if APNs does not accept it yet.
        """
        announcement = msgspec.json.decode(message.body, type=Announcement)
        now = self.store.now()
        follower = await self.store(Follower.by_id(announcement.user_id))
        devices = await self.store(Device.of_user(announcement.user_id))
        if self.gateway is None or now >= announcement.starts_at or not devices:
            return
        if follower is not None and follower.alert_preferences.is_muted(now):
            return
        key = f"announce#{message.idempotency_key}"
        delivery = Delivery(match_id=announcement.match_id, delivery=key, started_at=now)
        if not await self.store.attempt(delivery.create()):
            return
        payload = alert_payload(
            Alert(announcement.title, announcement.body),
            match_id=announcement.match_id,
            expires_at=announcement.starts_at,
        )
        results = await self.gateway.push(payload, _targets(devices, key))
        for device, result in zip(devices, results, strict=True):
            if result.outcome == "gone":
                await self.store(Device.remove(device.user_id, device.device_token))
        if all(result.outcome == "unsent" for result in results):
            await self.store(Delivery.cancel(announcement.match_id, key))
            raise errors.PushUnavailable(
                f"APNs does not accept the announcement yet: {results[0].reason}.",
                results[0].retry_seconds,
            )

    async def send_test(self, user_id: str) -> Mapping[str, str]:
        """Push a test to a user's devices; return the outcomes by device id.

        Raises PushNotConfigured and DeviceNotFound.
        """
        if self.gateway is None:
            raise errors.PushNotConfigured(
                "Push notifications are not configured. Set GRANDSTAND_CRICKET_APNS_KEY, "
                "_APNS_KEY_ID, _APNS_TEAM_ID and _APNS_BUNDLE_ID."
            )
        devices = await self.store(Device.of_user(user_id))
        if not devices:
            raise errors.DeviceNotFound("You have no device. Register one with POST /user/device.")
        now = self.store.now()
        payload = alert_payload(_TEST_ALERT, match_id="test", expires_at=now + timedelta(minutes=5))
        results = await self.gateway.push(payload, _targets(devices, str(now)))
        return {
            device.device_id: f"{result.outcome} {result.reason}".strip()
            for device, result in zip(devices, results, strict=True)
        }


def _targets(devices: list[Device], key: str) -> list[live_activities.PushTarget]:
    return [
        live_activities.PushTarget(
            device.apns_token, live_activities.make_push_id(key, device.device_id)
        )
        for device in devices
    ]


class BrowserAlert(msgspec.Struct, frozen=True):
    """An alert for the browsers of a match's followers."""

    match_id: str = msgspec.field(name="match_id")
    event_alert: updates.EventAlert = msgspec.field(name="event_alert")


@dataclass(kw_only=True, eq=False)
class BrowserAlertService:
    """Browser subscriptions of users, and the alerts sent to them."""

    store: Database
    outbox: Outbox
    gateway: BrowserGateway | None

    def _configured(self) -> BrowserGateway:
        if self.gateway is None:
            raise errors.PushNotConfigured(
                "Browser alerts are not configured. Set GRANDSTAND_CRICKET_WEBPUSH and "
                "GRANDSTAND_CRICKET_WEBPUSH_KEY."
            )
        return self.gateway

    @property
    def public_key(self) -> str:
        """The application server key. Raises PushNotConfigured."""
        return self._configured().public_key

    async def subscribe(self, user_id: str, browser: live_activities.BrowserSubscription) -> None:
        """Add a browser; the newest five of a user are kept.

        Raises PushNotConfigured and InvalidInput.
        """
        self._configured().check(browser)

        def add(browsers: _Subscriptions) -> _Subscriptions:
            return (*_without(browsers, browser.endpoint), browser)[-_MAX_BROWSERS:]

        await self._change(user_id, add)

    async def unsubscribe(self, user_id: str, endpoint: str) -> None:
        """Remove a browser, if it is subscribed."""
        await self._change(user_id, lambda browsers: _without(browsers, endpoint))

    async def of_user(self, user_id: str) -> _Subscriptions:
        follower = await self.store(Follower.by_id(user_id))
        return () if follower is None else follower.browsers

    async def _change(
        self, user_id: str, change: Callable[[_Subscriptions], _Subscriptions]
    ) -> None:
        """Change the browsers of a user without undoing concurrent changes."""
        for attempts_left in reversed(range(_MAX_ATTEMPTS)):
            before = await self.of_user(user_id)
            after = change(before)
            if after == before:
                return
            now = self.store.now()
            try:
                await self.store(Follower.set_browsers(user_id, after, now, before=before))
            except ConditionFailed:
                if not attempts_left:
                    raise
            else:
                return

    async def queue(self, update: updates.MatchUpdate) -> None:
        """Write the alert of an update to the outbox, for browsers."""
        alert = update.audible
        if self.gateway is None or alert is None:
            return
        key = f"{update.key}:{alert.event.key}"
        await self.outbox.put(updates.WEBPUSH, key, BrowserAlert(update.match_id, alert))

    async def deliver(self, message: OutboxMessage) -> None:
        """Send an alert once to the browsers of all followers it alerts."""
        if self.gateway is None:
            return
        alert = msgspec.json.decode(message.body, type=BrowserAlert)
        now, key = self.store.now(), f"web#{message.idempotency_key}"
        delivery = Delivery(match_id=alert.match_id, delivery=key, started_at=now)
        if not await self.store.attempt(delivery.create()):
            return
        cursor = None
        while True:
            query = MatchFollow.of_match(alert.match_id)
            page = await self.store.page(query, _PAGE_SIZE, after=cursor)
            gets = [Follower.by_id(follow.user_id) for follow in page.items]
            for follower in await self.store.get_many(gets) if gets else []:
                if follower is not None and should_alert(
                    follower.alert_preferences, alert.event_alert.event, now
                ):
                    await self._send(self.gateway, follower, alert)
            cursor = page.cursor
            if cursor is None:
                return

    async def _send(self, gateway: BrowserGateway, follower: Follower, alert: BrowserAlert) -> None:
        text = alert.event_alert
        message = msgspec.json.encode(
            {"matchId": alert.match_id, "title": text.title, "body": text.body}
        )
        topic = f"match-{alert.match_id}"[:32]
        for browser in follower.browsers:
            try:
                result = await gateway.send(browser, message, urgency="high", topic=topic)
            except InvalidInput as error:
                get_logger("cricket").warning("browser_push_failed", error=str(error))
                continue
            if result.outcome == "gone":
                await self.unsubscribe(follower.user_id, browser.endpoint)


def _without(browsers: _Subscriptions, endpoint: str) -> _Subscriptions:
    return tuple(browser for browser in browsers if browser.endpoint != endpoint)
