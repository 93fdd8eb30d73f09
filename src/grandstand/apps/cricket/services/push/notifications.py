"""Notifications outside Live Activities: announced starts, test pushes and browser alerts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

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
from grandstand.core.errors import Unavailable
from grandstand.core.logging import get_logger, redact
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed

_TEST_ALERT: Final = Alert("Grandstand", "Test notification: this device receives pushes.")
_MAX_BROWSERS: Final = 5
_MAX_ATTEMPTS: Final = 8
_PAGE_SIZE: Final = 100
_MAX_CONCURRENT_SENDS: Final = 32
_MAX_RETRIES: Final = 5
_FIRST_RETRY_SECONDS: Final = 5.0
_ALERT_LIFETIME: Final = timedelta(minutes=10)

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


class BrowserAlert(msgspec.Struct, frozen=True, omit_defaults=True):
    """An alert for the browsers of a match's followers.

    With `after`, only for followers after that user id. With `recipients`, pairs of a user id and
    the id of a browser, only for those; `attempt` counts how often they were tried before.
    `created_at` is that of the first message.
    """

    match_id: str = msgspec.field(name="match_id")
    event_alert: updates.EventAlert = msgspec.field(name="event_alert")
    after: str = msgspec.field(name="after", default="")
    recipients: tuple[tuple[str, str], ...] = msgspec.field(name="recipients", default=())
    attempt: int = msgspec.field(name="attempt", default=0)
    created_at: datetime | None = msgspec.field(name="created_at", default=None)


@dataclass(frozen=True, slots=True)
class _Recipient:
    """A browser of a follower; `browser_id` identifies it without naming its endpoint."""

    user_id: str
    browser: live_activities.BrowserSubscription
    browser_id: str


@dataclass(kw_only=True, eq=False)
class BrowserAlertService:
    """Browser subscriptions of users, and the alerts sent to them.

    An alert is sent for `round_seconds`; the rest is left to another outbox message. The outbox
    ends a delivery after 30 seconds, so this plus the time limit of one browser must be less.
    """

    store: Database
    outbox: Outbox
    gateway: BrowserGateway | None
    round_seconds: float = 15.0
    _slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_MAX_CONCURRENT_SENDS)
    )

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
        """Send an alert once to the browsers of all followers it alerts.

        Progress is stored for each browser, so that a further attempt continues where this one
        stopped. Browsers that cannot be reached now are left to messages of their own.
        """
        if self.gateway is None:
            return
        alert = msgspec.json.decode(message.body, type=BrowserAlert)
        alert = replace(alert, created_at=alert.created_at or message.created_at)
        now, key = self.store.now(), f"web#{message.idempotency_key}"
        delivery = Delivery(match_id=alert.match_id, delivery=key, started_at=now)
        if not await self.store.attempt(delivery.create()):
            stored = await self.store(Delivery.by_key(alert.match_id, key))
            delivery = stored or delivery
        if delivery.finished_at is not None:
            return
        ends_at = self.store.clock.monotonic() + self.round_seconds
        done_until, cursor, is_last = delivery.sent_until or alert.after, None, False
        while not is_last:
            user_ids, cursor = await self._next_followers(alert, done_until, cursor)
            is_last = cursor is None
            recipients = await self._find_recipients(alert, user_ids, delivery.browsers)
            missed = await self._send_page(self.gateway, alert, delivery, recipients, ends_at)
            done_until = user_ids[-1] if user_ids else done_until
            writes = self._retries(alert, message.idempotency_key, missed)
            if not is_last and self.store.clock.monotonic() >= ends_at:
                rest_key = f"{message.idempotency_key}:{done_until}"
                rest = replace(alert, after=done_until)
                writes.append(self.outbox.write(updates.WEBPUSH, rest_key, rest))
                is_last = True
            ended_at = self.store.now() if is_last else None
            progress = delivery.mark_followers(done_until, ended_at)
            if not await self.store.transact(progress, *writes):
                raise Unavailable(f"Another process is alerting browsers: {key}.")

    async def _next_followers(
        self, alert: BrowserAlert, done_until: str, cursor: str | None
    ) -> tuple[list[str], str | None]:
        """Return the user ids of the next page, and the cursor after it."""
        if alert.recipients:
            return sorted({user_id for user_id, _ in alert.recipients}), None
        query = MatchFollow.of_match(alert.match_id)
        page = await self.store.page(query, _PAGE_SIZE, after=cursor)
        user_ids = [follow.user_id for follow in page.items if follow.user_id > done_until]
        return user_ids, page.cursor

    async def _find_recipients(
        self, alert: BrowserAlert, user_ids: Sequence[str], done: frozenset[str]
    ) -> list[_Recipient]:
        """Return the browsers of users to alert, without those that may have been alerted."""
        gets = [Follower.by_id(user_id) for user_id in user_ids]
        now, wanted = self.store.now(), {browser_id for _, browser_id in alert.recipients}
        return [
            recipient
            for follower in (await self.store.get_many(gets) if gets else [])
            if follower is not None
            and should_alert(follower.alert_preferences, alert.event_alert.event, now)
            for recipient in _recipients(follower)
            if recipient.browser_id not in done and (not wanted or recipient.browser_id in wanted)
        ]

    async def _send_page(
        self,
        gateway: BrowserGateway,
        alert: BrowserAlert,
        delivery: Delivery,
        recipients: Sequence[_Recipient],
        ends_at: float,
    ) -> list[tuple[_Recipient, float | None]]:
        """Send to browsers; return those that were not reached, with the wait if one was tried."""
        text = alert.event_alert
        message = msgspec.json.encode(
            {"matchId": alert.match_id, "title": text.title, "body": text.body}
        )
        topic = f"match-{alert.match_id}"[:32]
        missed: list[tuple[_Recipient, float | None]] = []

        async def send(recipient: _Recipient) -> None:
            async with self._slots:
                if self.store.clock.monotonic() >= ends_at:
                    missed.append((recipient, None))
                    return
                # The mark comes first: a process that dies while sending does not alert twice.
                await self.store(delivery.mark_browser(recipient.browser_id))
                try:
                    result = await gateway.send(
                        recipient.browser, message, urgency="high", topic=topic
                    )
                except Exception as error:  # noqa: BLE001 - one browser does not stop the others
                    get_logger("cricket").warning("browser_push_failed", error=redact(str(error)))
                    return
            if result.outcome == "gone":
                await self.unsubscribe(recipient.user_id, recipient.browser.endpoint)
            elif result.outcome == "unsent":
                # Rounded up, so that browsers of a page share a few messages.
                wait_seconds = 10.0 * ceil((result.retry_seconds or 0.0) / 10)
                missed.append((recipient, wait_seconds))
                await self.store(delivery.unmark_browser(recipient.browser_id))
            elif result.outcome != "delivered":
                get_logger("cricket").warning("browser_push_failed", error=result.reason)

        async with asyncio.TaskGroup() as group:
            for recipient in recipients:
                group.create_task(send(recipient))
        return missed

    def _retries(
        self,
        alert: BrowserAlert,
        key: str,
        missed: Sequence[tuple[_Recipient, float | None]],
    ) -> list[Put[OutboxMessage]]:
        """Return the outbox messages for browsers that were not reached, one for each wait."""
        groups: dict[float | None, list[_Recipient]] = {}
        for recipient, wait_seconds in missed:
            groups.setdefault(wait_seconds, []).append(recipient)
        now, writes = self.store.now(), []
        for wait_seconds, recipients in groups.items():
            attempt, due_at = alert.attempt, now
            if wait_seconds is not None:
                wait = max(wait_seconds, _FIRST_RETRY_SECONDS * 2**attempt)
                attempt, due_at = attempt + 1, now + timedelta(seconds=wait)
            expires_at = (alert.created_at or now) + _ALERT_LIFETIME
            if attempt > _MAX_RETRIES or due_at > expires_at:
                get_logger("cricket").warning(
                    "browser_alert_dropped", match_id=alert.match_id, browsers=len(recipients)
                )
                continue
            pairs = tuple((each.user_id, each.browser_id) for each in recipients)
            again = replace(alert, after="", recipients=pairs, attempt=attempt)
            again_key = f"{key}:{attempt}:{recipients[0].browser_id}"
            writes.append(self.outbox.write(updates.WEBPUSH, again_key, again, due_at=due_at))
        return writes


def _recipients(follower: Follower) -> list[_Recipient]:
    return [
        _Recipient(
            follower.user_id,
            browser,
            sha256(f"{follower.user_id} {browser.endpoint}".encode()).hexdigest()[:16],
        )
        for browser in follower.browsers
    ]


def _without(browsers: _Subscriptions, endpoint: str) -> _Subscriptions:
    return tuple(browser for browser in browsers if browser.endpoint != endpoint)
