"""Live Activity sessions of users: registering, renewing and ending them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import field
from msgspec.structs import replace

from grandstand.apps.cricket.domain.alerts import AlertPreferences
from grandstand.apps.cricket.domain.errors import ActivityNotFound, PushUnavailable
from grandstand.apps.cricket.domain.live_activities import (
    ActivityKey,
    EndReason,
    Lifetimes,
    PushTarget,
    dismissal_date,
    make_push_id,
    session_expiry,
    validate_token,
)
from grandstand.apps.cricket.services.interfaces import Database, PushGateway
from grandstand.apps.cricket.services.push.updates import (
    ACTIVITY_END,
    RESEND,
    MatchUpdate,
    MatchUpdateRepository,
    ResendRequest,
)
from grandstand.apps.cricket.services.queries.fixtures import FixtureService
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.apps.cricket.store.users import Follower, LiveActivity, MatchFollow
from grandstand.core.errors import Conflict, InvalidInput
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Write

_DISMISSED_BEFORE: Final = timedelta(hours=1)
_DEVICE_ID: Final = re.compile(r"[A-Za-z0-9._:@=-]{1,100}")


class ActivityEnd(msgspec.Struct, frozen=True):
    """An activity to end on its phone, by its token, with the last state it shows."""

    session: str = field(name="session")
    token: str = field(name="token")
    update: MatchUpdate = field(name="update")


def validate_device_id(device_id: str) -> str:
    """Return a device id. Raises InvalidInput if it is malformed."""
    if _DEVICE_ID.fullmatch(device_id) is None:
        message = (
            f"Invalid device id of {len(device_id)} characters. Use 1 to 100 letters, digits and "
            ". _ : @ = -."
        )
        raise InvalidInput(message)
    return device_id


@dataclass(kw_only=True, eq=False)
class LiveActivityRepository:
    """The sessions of users' devices."""

    store: Database
    outbox: Outbox
    fixtures: FixtureService
    updates: MatchUpdateRepository
    gateway: PushGateway | None
    lifetimes: Lifetimes

    async def of_user(self, user_id: str) -> tuple[LiveActivity, ...]:
        """Return a user's sessions, newest first."""
        sessions = await self.store(LiveActivity.of_user(user_id))
        return tuple(sorted(sessions, key=lambda item: item.session_started_at, reverse=True))

    async def register(
        self, user_id: str, match_id: str, device_id: str, token: str
    ) -> LiveActivity:
        """Store the update token of an activity; one that it replaces is ended on the phone.

        The session is sent the current state. Raises MatchNotFound, InvalidInput, and Conflict if
        the match is over.
        """
        match = await self.fixtures.get(match_id)
        key = ActivityKey(match_id, user_id, validate_device_id(device_id))
        token, now = validate_token(token, "activity token"), self.store.now()
        if match.phase == "ended":
            raise Conflict(f"Match {match_id} is over. Register activities of live matches only.")
        before = await self.store(LiveActivity.by_key(key))
        if before is not None and before.update_token == token and before.status == "active":
            return before
        is_rotation = before is not None and not before.starts_sent and before.status != "ended"
        expires = session_expiry(now, match.ends_at, self.lifetimes)
        writes: list[Write] = [
            LiveActivity.rotate_token(key, token, now)
            if is_rotation
            else LiveActivity.register(key, token, now, expires)
        ]
        if before is not None and before.status == "active" and before.starts_sent:
            writes += await self._end_message(before)
        await self.store.all(*writes)
        follower = await self.store(Follower.by_id(user_id))
        preferences = follower.alert_preferences if follower else AlertPreferences()
        await self.store(LiveActivity.set_alert_preferences(key, preferences))
        session = await self.store.read(LiveActivity.by_key(key))
        await self._send_current_state(session, now)
        return session

    async def _send_current_state(self, session: LiveActivity, now: datetime) -> None:
        request = ResendRequest(session.match_id, ((session.user_id, session.device_id),), 0)
        key = f"{session.match_id}:{session.session_key}:{int(now.timestamp() * 1000)}"
        await self.outbox.put(RESEND, key, request)

    async def end(
        self,
        user_id: str,
        match_id: str,
        device_id: str | None = None,
        reason: EndReason = "dismissed",
    ) -> tuple[LiveActivity, ...]:
        """End a user's activity on one device or on all. Raises ActivityNotFound.

        A dismissed activity counts as unfollowing the match.
        """
        sessions = [
            session
            for session in await self.store(LiveActivity.of_match_and_user(match_id, user_id))
            if session.status != "ended" and device_id in (None, session.device_id)
        ]
        if not sessions:
            where = "any device" if device_id is None else f"device {device_id[:40]!r}"
            raise ActivityNotFound(f"No Live Activity for match {match_id} on {where}.")
        ended = tuple([await self._end(session, reason) for session in sessions])
        if reason == "dismissed":
            await self.store(MatchFollow.unfollow(match_id, user_id))
            followed = frozenset({match_id})
            await self.store(Follower.remove_matches(user_id, followed, self.store.now()))
        return ended

    async def _end(self, session: LiveActivity, reason: EndReason) -> LiveActivity:
        now = self.store.now()
        writes: list[Write] = [LiveActivity.end(session.activity_key, now, reason)]
        if reason != "dismissed" and session.status == "active":
            writes += await self._end_message(session)
        await self.store.all(*writes)
        return session.replace(status="ended", ended_at=now, end_reason=reason)

    async def _end_message(self, session: LiveActivity) -> list[Put[OutboxMessage]]:
        match = await self.store(ActiveMatch.by_id_consistent(session.match_id))
        newest = None if match is None else await self.updates.latest(match)
        if session.update_token is None or newest is None:
            return []
        now = self.store.now()
        # Phones ignore an update whose timestamp, in seconds, is not newer.
        timestamp = now.replace(microsecond=0) + timedelta(seconds=2)
        dismissal = dismissal_date(timestamp, self.lifetimes, at_once=True)
        last = replace(
            newest, kind="end", timestamp=timestamp, dismiss_at=dismissal - _DISMISSED_BEFORE
        )
        end = ActivityEnd(session.session_key, session.update_token, last)
        key = f"{session.match_id}:{session.session_key}:{int(now.timestamp() * 1000)}"
        return [self.outbox.write(ACTIVITY_END, key, end)]

    async def end_all(self, match_id: str, reason: EndReason = "match_ended") -> int:
        """Mark all sessions of a match as ended; the end was pushed before."""
        ended, now = 0, self.store.now()
        expires = now + self.lifetimes.kept_after_end
        async for session in self.store.each(LiveActivity.of_match(match_id)):
            if session.status == "ended":
                continue
            end = LiveActivity.end(session.activity_key, now, reason).set(expires=expires)
            try:
                await self.store(end)
            except ConditionFailed:
                continue
            ended += 1
        return ended

    async def deliver_end(self, message: OutboxMessage) -> None:
        """Remove an activity from its phone at once.

        Raises PushUnavailable if APNs may not have it.
        """
        if self.gateway is None:
            return
        end = msgspec.json.decode(message.body, type=ActivityEnd)
        target = PushTarget(end.token, make_push_id(message.idempotency_key, end.session))
        (result,) = await self.gateway.push(end.update.payload(), [target])
        if result.outcome in ("unsent", "uncertain"):
            text = f"APNs does not accept the end of an activity yet: {result.reason}."
            raise PushUnavailable(text, result.retry_seconds)
