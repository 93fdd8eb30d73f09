"""Coordination of Live Activities: delivering match updates and starting activities."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import msgspec

from grandstand.apps.cricket.domain import live_activities
from grandstand.apps.cricket.domain.alerts import Alert, AlertPreferences
from grandstand.apps.cricket.domain.errors import PushUnavailable
from grandstand.apps.cricket.services.interfaces import Database, PushGateway, WebhookPoster
from grandstand.apps.cricket.services.push.apns_delivery import ApnsDeliveryService
from grandstand.apps.cricket.services.push.notifications import BrowserAlertService
from grandstand.apps.cricket.services.push.updates import (
    ACTIVITY_START,
    MATCH_UPDATE,
    WEBHOOK,
    MatchUpdate,
    MatchUpdateRepository,
    ResendRequest,
    parse_update,
)
from grandstand.apps.cricket.sources.apns import ApnsPayload, start_payload
from grandstand.apps.cricket.store.matches import ActiveMatch, Delivery
from grandstand.apps.cricket.store.users import Device, Follower, LiveActivity, MatchFollow
from grandstand.core.errors import GrandstandError
from grandstand.core.logging import get_logger, redact
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Write

_CLAIM_LENGTH: Final = timedelta(seconds=30)
_RETRY_AFTER: Final = timedelta(seconds=2)
_NO_DEVICE_RECHECK: Final = timedelta(minutes=2)
_DEVICE_RECHECK: Final = timedelta(minutes=20)


@dataclass(kw_only=True, eq=False)
class LACoordinator:
    """Delivers match updates to Live Activities, the webhook and browsers.

    Updates of this process are delivered at once; the outbox delivers whatever is left. While a
    match is being delivered, its further updates wait; then only the newest is delivered, with the
    most important alert among them.
    """

    store: Database
    outbox: Outbox
    updates: MatchUpdateRepository
    delivery: ApnsDeliveryService
    browsers: BrowserAlertService
    webhook: WebhookPoster | None
    _waiting: dict[str, list[MatchUpdate]] = field(default_factory=dict)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def offer(self, update: MatchUpdate) -> None:
        """Deliver an update soon, in the background."""
        match_id = update.match_id
        self._waiting.setdefault(match_id, []).append(update)
        if match_id not in self._tasks:
            task = asyncio.create_task(self._run(match_id), name=f"cricket push {match_id}")
            self._tasks[match_id] = task
            task.add_done_callback(partial(self._finish_task, match_id))

    async def drain(self) -> None:
        """Wait until every offered update was tried."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def stop(self) -> None:
        """Stop delivering; the outbox has what is left."""
        self._waiting.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _finish_task(self, match_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(match_id, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            get_logger("cricket").error(
                "delivery_crashed", match_id=match_id, error=redact(str(error))
            )

    async def _run(self, match_id: str) -> None:
        while updates := self._waiting.pop(match_id, None):
            claims = [await self._claim(update) for update in updates]
            if claims[-1] is None:
                continue
            *older, newest = updates
            mine = [update for update, claim in zip(older, claims, strict=False) if claim]
            claimed = [claim for claim in claims if claim]
            try:
                await self._deliver_all(newest, mine)
            except GrandstandError as error:
                get_logger("cricket").warning(
                    "delivery_postponed", match_id=match_id, error=redact(str(error))
                )
                await self._postpone(claimed, str(error), _RETRY_AFTER)
            except asyncio.CancelledError:
                await self._postpone(claimed, "The process stopped.", timedelta(0))
                raise
            else:
                for message in claimed:
                    await self.store(message.delivered(self.store.clock.now()))

    async def _claim(self, update: MatchUpdate) -> OutboxMessage | None:
        message = await self.outbox.find(MATCH_UPDATE, update.key)
        if message is None or message.stage != "waiting":
            return None
        try:
            return await self.store(message.claim(self.store.clock.now() + _CLAIM_LENGTH))
        except ConditionFailed:
            return None

    async def _postpone(self, claimed: list[OutboxMessage], why: str, wait: timedelta) -> None:
        for message in claimed:
            if not await self.store.attempt(message.postpone(self.store.clock.now() + wait, why)):
                get_logger("cricket").info("delivery_taken_over", key=message.idempotency_key)

    async def _deliver_all(self, newest: MatchUpdate, older: Sequence[MatchUpdate] = ()) -> None:
        await self.delivery.push_update(newest, older)
        for update in (*older, newest):
            await self._queue_webhook(update)
            await self.browsers.queue(update)

    async def deliver(self, message: OutboxMessage) -> None:
        """Deliver an update from the outbox; of an outdated one only the alert.

        Raises what `ApnsDeliveryService.push_update` raises.
        """
        update = parse_update(message.body)
        match = await self.store(ActiveMatch.by_id_consistent(update.match_id))
        if match is None or match.latest_update_key == update.key:
            await self._deliver_all(update)
            return
        if update.audible is None or await self.delivery.find_delivery(update) is not None:
            return
        newest = await self.updates.latest(match)
        delivery = None if newest is None else await self.delivery.find_delivery(newest)
        if newest is not None and (delivery is None or delivery.finished_at is None):
            await self._deliver_all(newest, (update,))

    async def resend(self, message: OutboxMessage) -> None:
        """Push the current state, without an alert, to sessions that missed an update."""
        request = msgspec.json.decode(message.body, type=ResendRequest)
        match = await self.store(ActiveMatch.by_id_consistent(request.match_id))
        newest = None if match is None else await self.updates.latest(match)
        if newest is None:
            return
        keys = tuple(
            live_activities.ActivityKey(request.match_id, *session) for session in request.sessions
        )
        sessions = [
            session
            for session in await self.store(LiveActivity.by_keys(keys))
            if session is not None and _accepts(session, newest)
        ]
        await self.delivery.send(newest, sessions, attempt=request.attempt)

    async def post_webhook(self, message: OutboxMessage) -> None:
        """Post a key event to the webhook."""
        if self.webhook is not None:
            await self.webhook.post(message.body.encode(), message.idempotency_key)

    async def _queue_webhook(self, update: MatchUpdate) -> None:
        alert = update.audible
        if self.webhook is None or alert is None:
            return
        body = {
            "matchId": update.match_id,
            "seq": update.seq,
            "at": update.timestamp,
            "kind": alert.event.kind,
            "key": alert.event.key,
            "text": alert.event.text,
            "state": update.content_state,
        }
        await self.outbox.put(WEBHOOK, f"{update.key}:{alert.event.key}", body)


def _accepts(session: LiveActivity, update: MatchUpdate) -> bool:
    """Return whether a session gets an update; the end also if its match has ended."""
    closed = session.status == "ended" and session.end_reason == "match_ended"
    return session.status == "active" or (closed and update.kind == "end")


class ActivityStart(msgspec.Struct, frozen=True):
    """A push-to-start that was decided on, and its attempt."""

    match_id: str = msgspec.field(name="match_id")
    user_id: str = msgspec.field(name="user_id")
    device_id: str = msgspec.field(name="device_id")
    device_token: str = msgspec.field(name="device_token")
    attempt: int = msgspec.field(name="attempt")


@dataclass(kw_only=True, eq=False)
class ActivityStarter:
    """Starts Live Activities on the devices of followers by push-to-start."""

    store: Database
    outbox: Outbox
    updates: MatchUpdateRepository
    gateway: PushGateway | None
    lifetimes: live_activities.Lifetimes
    _next_checks: dict[str, dict[str, datetime]] = field(default_factory=dict)

    async def start_for(
        self,
        match: ActiveMatch,
        user_id: str,
        sessions: Sequence[LiveActivity],
        match_ends_at: datetime | None = None,
        *,
        at_once: bool = False,
    ) -> int:
        """Start the activities a follower does not have; return the number of starts.

        Devices are looked up only now and then. With `at_once` they are looked up now, and ended
        activities are started again.
        """
        now = self.store.now()
        next_check = self._next_checks.get(match.match_id, {}).get(user_id, now)
        due = [
            session
            for session in sessions
            if (at_once and session.status == "ended") or self._is_due(session, match, now)
        ]
        if not due and not at_once and next_check > now:
            return 0
        devices = [
            device
            for device in await self.store(Device.of_user(user_id))
            if device.push_to_start_token
        ]
        by_device = {session.device_id: session for session in sessions}
        started = 0
        for device in devices:
            session = by_device.get(device.device_id)
            if session is None or session in due:
                started += await self._start(match, device, session, match_ends_at)
        if not at_once:
            wait = _DEVICE_RECHECK if sessions or devices else _NO_DEVICE_RECHECK
            self._next_checks.setdefault(match.match_id, {})[user_id] = now + wait
        return started

    def _is_due(self, session: LiveActivity, match: ActiveMatch, now: datetime) -> bool:
        if session.status == "ended":
            return False
        if session.status == "active" and not live_activities.is_restart_due(
            session.session_started_at, match.match_phase, now, self.lifetimes
        ):
            return False
        sent, sent_at = session.starts_sent, session.start_sent_at
        return live_activities.decide_start(sent, sent_at, now, self.lifetimes) == "start"

    def forget_matches_except(self, match_ids: Container[str]) -> None:
        """Drop the device checks of matches that are over."""
        for match_id in [each for each in self._next_checks if each not in match_ids]:
            del self._next_checks[match_id]

    async def _start(
        self,
        match: ActiveMatch,
        device: Device,
        session: LiveActivity | None,
        match_ends_at: datetime | None,
    ) -> int:
        """Write a start to the outbox, unless another process just did."""
        now, channel_id = self.store.now(), _channel_for(match, device)
        expires = live_activities.session_expiry(now, match_ends_at, self.lifetimes)
        write: Write
        if session is None:
            follower = await self.store(Follower.by_id(device.user_id))
            preferences = follower.alert_preferences if follower else AlertPreferences()
            session = LiveActivity(
                match_id=match.match_id,
                user_id=device.user_id,
                device_id=device.device_id,
                status="pending",
                session_started_at=now,
                starts_sent=1,
                start_sent_at=now,
                alert_kinds=preferences.kinds,
                muted=preferences.muted,
                muted_until=preferences.muted_until,
                expires=expires,
                channel_id=channel_id,
            )
            write, attempt = session.create_pending(), 1
        else:
            attempt = session.starts_sent + 1
            write = session.record_start(now, expires, channel_id)
        start = ActivityStart(
            match.match_id, device.user_id, device.device_id, device.device_token, attempt
        )
        key_text = f"{match.match_id}:{session.session_key}:{int(now.timestamp() * 1000)}"
        message = self.outbox.write(ACTIVITY_START, key_text, start)
        return int(await self.store.transact(write, message))

    async def deliver(self, message: OutboxMessage) -> None:
        """Send a start once; one that may have arrived is not repeated.

        Raises PushUnavailable if APNs does not accept it yet.
        """
        start = msgspec.json.decode(message.body, type=ActivityStart)
        match = await self.store(ActiveMatch.by_id_consistent(start.match_id))
        device = await self.store(Device.by_token(start.user_id, start.device_token))
        follow = await self.store(MatchFollow.by_key(start.match_id, start.user_id))
        newest = None if match is None else await self.updates.latest(match)
        if match is None or match.status != "active" or newest is None or self.gateway is None:
            return
        if device is None or device.push_to_start_token is None or follow is None:
            return
        key = f"start#{message.idempotency_key}"
        delivery = Delivery(match_id=start.match_id, delivery=key, started_at=self.store.now())
        if not await self.store.attempt(delivery.create()):
            return
        push_id = live_activities.make_push_id(key, f"{start.user_id}#{start.device_id}")
        (result,) = await self.gateway.push(
            _start_payload(newest, _channel_for(match, device)),
            [live_activities.PushTarget(device.push_to_start_token, push_id)],
        )
        is_gone = result.outcome == "gone"
        if is_gone and not await self.store.attempt(device.remove_push_to_start()):
            get_logger("cricket").info("start_token_changed", device_id=device.device_id)
        if result.outcome == "unsent":
            await self.store(Delivery.cancel(start.match_id, key))
            raise PushUnavailable(
                f"APNs does not accept the start yet: {result.reason}.", result.retry_seconds
            )


def _start_payload(update: MatchUpdate, channel_id: str | None) -> ApnsPayload:
    names = [team["name"] for team in update.content_state["teams"]]
    home, away = (names[at] if len(names) > at else "" for at in (0, 1))
    return start_payload(
        update.content_state,
        attributes={"matchId": update.match_id, "homeTeam": home, "awayTeam": away},
        timestamp=int(update.timestamp.timestamp()),
        stale_at=update.stale_at,
        alert=Alert(f"{update.home} v {update.away}"[:60], "The match is on."),
        channel_id=channel_id,
    )


def _channel_for(match: ActiveMatch, device: Device) -> str | None:
    """Return the broadcast channel for a device that supports them: iOS 18 and later."""
    major = device.os_version.partition(".")[0]
    supported = major.isdigit() and int(major) >= 18
    return match.channel_id if supported else None
