"""Users' devices, follows, Live Activities, alert preferences and personal data."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from grandstand.apps.cricket.domain import errors
from grandstand.apps.cricket.domain.alerts import AlertPreferences, parse_event_kinds
from grandstand.apps.cricket.domain.live_activities import (
    ActivityKey,
    DeviceRegistration,
    EndReason,
    Lifetimes,
    PushTarget,
    SessionStatus,
    dismissal_date,
    follow_expiry,
    make_push_id,
    session_expiry,
    validate_token,
)
from grandstand.apps.cricket.domain.matches import NEUTRAL_TEAM
from grandstand.apps.cricket.services.interfaces import Database, PushGateway, copy_fields
from grandstand.apps.cricket.services.push.la_coordinator import ActivityStarter
from grandstand.apps.cricket.services.push.updates import (
    ACTIVITY_END,
    RESEND,
    MatchUpdate,
    MatchUpdateRepository,
    ResendRequest,
)
from grandstand.apps.cricket.services.queries.fixtures import (
    DisplayStateCacheService,
    DisplayView,
    FixtureService,
    Match,
    format_innings,
)
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.apps.cricket.store.users import Device, Follower, LiveActivity, MatchFollow
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from grandstand.kit.app import HomeCard
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.personal_data import to_jsonable
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Write

_MAX_VERSION_CHARS: Final = 40
# DynamoDB updates an index a moment after the table, usually within a second.
_INDEX_LAG_SECONDS: Final = 1.0
_DEVICE_ID: Final = re.compile(r"[A-Za-z0-9._:@=-]{1,100}")


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A device; `startable` if it has a push-to-start token."""

    device_id: str
    device_token: str
    platform: str
    os_version: str
    app_version: str
    last_seen_at: datetime
    startable: bool


@dataclass(frozen=True, slots=True)
class FollowRecord:
    """A followed match and the supported team, `neutral` for none."""

    match_id: str
    team_id: str
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class ActivityRecord:
    """A Live Activity on one device."""

    match_id: str
    device_id: str
    status: SessionStatus
    session_started_at: datetime
    ended_at: datetime | None
    end_reason: EndReason | None
    suspended_at: datetime | None
    muted: bool
    muted_until: datetime | None


@dataclass(frozen=True, slots=True)
class FollowResult:
    """A follow; for a live match with its display state and activities."""

    follow: FollowRecord
    display: DisplayView | None
    activities: tuple[ActivityRecord, ...] = ()


@dataclass(kw_only=True, eq=False)
class DeviceService:
    """Registered devices: several per user, or only the newest if `single`."""

    store: Database
    single: bool

    async def of_user(self, user_id: str) -> tuple[DeviceRecord, ...]:
        """Return a user's devices, last seen first."""
        devices = await self.store(Device.of_user(user_id))
        newest = sorted(devices, key=lambda device: device.last_seen_at, reverse=True)
        return tuple(copy_fields(DeviceRecord, device) for device in newest)

    async def register(self, user_id: str, registration: DeviceRegistration) -> DeviceRecord:
        """Store a device and remove its earlier records; its push-to-start token is kept.

        Raises InvalidInput.
        """
        registration = _validate_registration(registration)
        token, device_id = registration.device_token, registration.device_id
        orphans = [
            device
            for device in await self.store(Device.of_user(user_id))
            if device.device_token != token and (self.single or device.device_id == device_id)
        ]
        now = self.store.now()
        device = await self.store(Device.register(user_id, registration, now))
        start_tokens = (each.push_to_start_token for each in orphans if each.device_id == device_id)
        start_token = next(start_tokens, None)
        if device.push_to_start_token is None and start_token is not None:
            device = await self.store(Device.set_push_to_start(user_id, token, start_token, now))
        for orphan in orphans:
            await self.store(Device.remove(user_id, orphan.device_token))
        return copy_fields(DeviceRecord, device)

    async def set_push_to_start(self, user_id: str, device_token: str, token: str) -> DeviceRecord:
        """Store the push-to-start token of a device. Raises InvalidInput and DeviceNotFound."""
        device_token = validate_token(device_token, "device token")
        token = validate_token(token, "push-to-start token")
        change = Device.set_push_to_start(user_id, device_token, token, self.store.now())
        try:
            return copy_fields(DeviceRecord, await self.store(change))
        except ConditionFailed as error:
            raise _device_not_found(device_token) from error

    async def remove(self, user_id: str, device_token: str) -> None:
        """Remove a device. Raises InvalidInput and DeviceNotFound."""
        device_token = validate_token(device_token, "device token")
        if await self.store(Device.remove(user_id, device_token)) is None:
            raise _device_not_found(device_token)


def _validate_registration(registration: DeviceRegistration) -> DeviceRegistration:
    versions = (registration.platform, registration.os_version, registration.app_version)
    if any(len(version) > _MAX_VERSION_CHARS for version in versions):
        raise InvalidInput(
            f"Platform and versions must have at most {_MAX_VERSION_CHARS} characters each."
        )
    return replace(
        registration,
        device_token=validate_token(registration.device_token, "device token"),
        device_id=validate_device_id(registration.device_id),
        platform=registration.platform or "ios",
    )


def _device_not_found(device_token: str) -> errors.DeviceNotFound:
    return errors.DeviceNotFound(f"No device with token …{device_token[-6:]}. Register it first.")


class ActivityEnd(msgspec.Struct, frozen=True):
    """An activity to end on its phone, by its token, with the last state it shows."""

    session: str = msgspec.field(name="session")
    token: str = msgspec.field(name="token")
    update: MatchUpdate = msgspec.field(name="update")


def validate_device_id(device_id: str) -> str:
    """Return a device id. Raises InvalidInput if it is malformed."""
    if _DEVICE_ID.fullmatch(device_id) is None:
        raise InvalidInput(
            f"Invalid device id of {len(device_id)} characters. Use 1 to 100 letters, digits and "
            ". _ : @ = -."
        )
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

    async def of_user(self, user_id: str) -> tuple[ActivityRecord, ...]:
        """Return a user's sessions, newest first."""
        sessions = await self.store(LiveActivity.of_user(user_id))
        newest = sorted(sessions, key=lambda session: session.session_started_at, reverse=True)
        return tuple(copy_fields(ActivityRecord, session) for session in newest)

    async def register(
        self, user_id: str, match_id: str, device_id: str, token: str
    ) -> ActivityRecord:
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
            return copy_fields(ActivityRecord, before)
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
        return copy_fields(ActivityRecord, session)

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
    ) -> tuple[ActivityRecord, ...]:
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
            raise errors.ActivityNotFound(f"No Live Activity for match {match_id} on {where}.")
        ended = tuple([await self._end(session, reason) for session in sessions])
        if reason == "dismissed":
            await self.store(MatchFollow.unfollow(match_id, user_id))
            followed = frozenset({match_id})
            await self.store(Follower.remove_matches(user_id, followed, self.store.now()))
        return ended

    async def _end(self, session: LiveActivity, reason: EndReason) -> ActivityRecord:
        now = self.store.now()
        writes: list[Write] = [LiveActivity.end(session.activity_key, now, reason)]
        if reason != "dismissed" and session.status == "active":
            writes += await self._end_message(session)
        await self.store.all(*writes)
        ended = session.replace(status="ended", ended_at=now, end_reason=reason)
        return copy_fields(ActivityRecord, ended)

    async def _end_message(self, session: LiveActivity) -> list[Put[OutboxMessage]]:
        match = await self.store(ActiveMatch.by_id_consistent(session.match_id))
        newest = None if match is None else await self.updates.latest(match)
        if session.update_token is None or newest is None:
            return []
        now = self.store.now()
        # Phones ignore an update whose timestamp, in seconds, is not newer.
        timestamp = now.replace(microsecond=0) + timedelta(seconds=2)
        dismissal = dismissal_date(timestamp, self.lifetimes, at_once=True)
        last = msgspec.structs.replace(
            newest, kind="end", timestamp=timestamp, dismiss_at=dismissal - timedelta(hours=1)
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
            ended += await self.store.attempt(end)
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
            raise errors.PushUnavailable(
                f"APNs does not accept the end of an activity yet: {result.reason}.",
                result.retry_seconds,
            )


@dataclass(kw_only=True, eq=False)
class MatchFollowService:
    """Follows and alert preferences of users."""

    store: Database
    fixtures: FixtureService
    displays: DisplayStateCacheService
    live_activities: LiveActivityRepository
    starter: ActivityStarter
    lifetimes: Lifetimes

    async def find(self, user_id: str, match_id: str) -> FollowRecord | None:
        follow = await self.store(MatchFollow.by_key(match_id, user_id))
        return None if follow is None else copy_fields(FollowRecord, follow)

    async def get(self, user_id: str, match_id: str) -> FollowRecord:
        """Return a user's follow of a match. Raises NotFound."""
        follow = await self.find(user_id, match_id)
        if follow is None:
            raise _follow_not_found(match_id)
        return follow

    async def of_user(self, user_id: str) -> tuple[FollowRecord, ...]:
        """Return a user's follows, and drop expired ones from the user's list."""
        follower = await self.store(Follower.by_id(user_id))
        if follower is None or not follower.match_ids:
            return ()
        ids = sorted(follower.match_ids)
        follows = await self.store.get_many(MatchFollow.by_key(item, user_id) for item in ids)
        expired = frozenset(
            match_id for match_id, follow in zip(ids, follows, strict=True) if follow is None
        )
        if expired:
            await self.store(Follower.remove_matches(user_id, expired, self.store.now()))
        return tuple(copy_fields(FollowRecord, follow) for follow in follows if follow is not None)

    async def follow(self, user_id: str, match_id: str, team_id: str | None = None) -> FollowResult:
        """Follow a match; if it is live, start activities on the user's devices.

        Raises MatchNotFound, TeamNotPlaying, and Conflict if the match is over.
        """
        match, now = await self.fixtures.get(match_id), self.store.now()
        if match.phase == "ended":
            raise Conflict(f"Match {match_id} is over. Follow upcoming or live matches only.")
        team = _supported_team(match, team_id)
        expires = follow_expiry(match.starts_at, match.ends_at, now, self.lifetimes)
        await self.store.all(
            MatchFollow.follow(match_id, user_id, team, now, expires),
            Follower.add_match(user_id, match_id, now),
        )
        follow = await self.get(user_id, match_id)
        active = await self.store(ActiveMatch.by_id(match_id))
        if active is None or active.status != "active":
            return FollowResult(follow, None)
        activities: tuple[ActivityRecord, ...] = ()
        if active.match_phase in ("live", "break"):
            activities = await self._start(active, user_id, match.ends_at)
        display = await self.displays.find(match_id, team)
        return FollowResult(follow, display, activities)

    async def _start(
        self, match: ActiveMatch, user_id: str, match_ends_at: datetime | None
    ) -> tuple[ActivityRecord, ...]:
        query = LiveActivity.of_match_and_user(match.match_id, user_id)
        sessions = await self.store(query)
        await self.starter.start_for(match, user_id, sessions, match_ends_at, at_once=True)
        return tuple(
            copy_fields(ActivityRecord, session)
            for session in await self.store(query)
            if session.status != "ended"
        )

    async def change_team(self, user_id: str, match_id: str, team_id: str) -> FollowRecord:
        """Change the supported team. Raises NotFound, MatchNotFound and TeamNotPlaying."""
        team = _supported_team(await self.fixtures.get(match_id), team_id)
        try:
            follow = await self.store(MatchFollow.change_team(match_id, user_id, team))
        except ConditionFailed as error:
            raise _follow_not_found(match_id) from error
        return copy_fields(FollowRecord, follow)

    async def unfollow(self, user_id: str, match_id: str) -> None:
        """Unfollow a match and end its activities. Raises NotFound."""
        follow = await self.store(MatchFollow.unfollow(match_id, user_id))
        followed = frozenset({match_id})
        await self.store(Follower.remove_matches(user_id, followed, self.store.now()))
        if follow is None:
            raise _follow_not_found(match_id)
        try:
            await self.live_activities.end(user_id, match_id, None, "unfollowed")
        except errors.ActivityNotFound:
            return

    async def alert_preferences(self, user_id: str) -> AlertPreferences:
        follower = await self.store(Follower.by_id(user_id))
        return AlertPreferences() if follower is None else follower.alert_preferences

    async def set_alert_preferences(
        self,
        user_id: str,
        *,
        kinds: tuple[str, ...] | None = None,
        muted: bool = False,
        muted_until: datetime | None = None,
    ) -> AlertPreferences:
        """Set the alerts of a user, for all sessions; `kinds` None means the default kinds.

        Raises InvalidInput for an unknown kind.
        """
        parsed = None if kinds is None else parse_event_kinds(kinds)
        preferences = AlertPreferences(parsed, muted, muted_until)
        await self.store(Follower.set_alert_preferences(user_id, preferences, self.store.now()))
        for session in await self.store(LiveActivity.of_user(user_id)):
            if session.status != "ended":
                await self.store(
                    LiveActivity.set_alert_preferences(session.activity_key, preferences)
                )
        return preferences

    async def home_card(self, caller: Caller) -> HomeCard:
        """Return the home page card: the followed live match, another live one, or the next."""
        live = (await self.fixtures.page(status="live", limit=20)).matches
        if not live:
            page = await self.fixtures.page(status="upcoming", start=self.store.now(), limit=1)
            if not page.matches:
                return HomeCard("No live matches", "No upcoming matches.", "/cricket")
            (match,) = page.matches
            href = f"/cricket/matches/{match.match_id}"
            return HomeCard("No live matches", f"Next: {match.home.name} v {match.away.name}", href)
        followed = {follow.match_id for follow in await self.of_user(caller.user_id)}
        first = next((match for match in live if match.match_id in followed), live[0])
        headline = "1 live match" if len(live) == 1 else f"{len(live)} live matches"
        score = format_innings(first.innings) or first.status
        detail = f"{first.home.name} v {first.away.name}: {score}"
        return HomeCard(headline, detail, f"/cricket/matches/{first.match_id}", live=True)


def _supported_team(match: Match, team_id: str | None) -> str:
    if team_id is None or team_id == NEUTRAL_TEAM:
        return NEUTRAL_TEAM
    if team_id not in (match.home.team_id, match.away.team_id):
        raise errors.TeamNotPlaying(
            f"Team {team_id[:40]!r} does not play in match {match.match_id}. Choose "
            f"{match.home.team_id}, {match.away.team_id} or {NEUTRAL_TEAM}."
        )
    return team_id


def _follow_not_found(match_id: str) -> NotFound:
    return NotFound(f"You do not follow match {match_id[:40]!r}.")


@dataclass(kw_only=True, eq=False)
class CricketPersonalData:
    """Export and erasure of everything stored about a user."""

    store: Database

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield everything stored about a user, as (kind, JSON-ready record)."""
        for device in await self.store(Device.of_user(user_id)):
            yield "device", to_jsonable(device)
        follower = await self.store(Follower.by_id(user_id))
        if follower is not None:
            yield "follower", to_jsonable(follower)
            for match_id in sorted(follower.match_ids):
                follow = await self.store(MatchFollow.by_key(match_id, user_id))
                if follow is not None:
                    yield "follow", to_jsonable(follow)
        async for session in self.store.each(LiveActivity.of_user(user_id)):
            yield "activity", to_jsonable(session)

    async def erase(self, user_id: str) -> int:
        """Erase everything stored about a user and return the number of records.

        Follows go first, so that no activity is started any more.
        """
        store, erased = self.store, 0
        follower = await store(Follower.by_id(user_id))
        for match_id in sorted(follower.match_ids) if follower else ():
            erased += await store(MatchFollow.unfollow(match_id, user_id)) is not None
        for device in await store(Device.of_user(user_id)):
            await store(Device.remove(user_id, device.device_token))
            erased += 1
        erased += await self._erase_sessions(user_id)
        if store.store.session.engine.remote:
            await self.store.sleep(_INDEX_LAG_SECONDS)
            erased += await self._erase_sessions(user_id)
        if follower is not None:
            await store(Follower.remove(user_id))
            erased += 1
        return erased

    async def _erase_sessions(self, user_id: str) -> int:
        erased = 0
        for session in await self.store(LiveActivity.of_user(user_id)):
            erased += await self.store(LiveActivity.remove(session.activity_key)) is not None
        return erased
