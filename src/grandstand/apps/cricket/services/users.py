"""Users' devices, follows, alert preferences and personal data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from grandstand.apps.cricket.domain.alerts import AlertPreferences, parse_event_kinds
from grandstand.apps.cricket.domain.errors import (
    ActivityNotFound,
    DeviceNotFound,
    TeamNotPlaying,
)
from grandstand.apps.cricket.domain.live_activities import (
    DeviceInfo,
    Lifetimes,
    follow_expiry,
    validate_token,
)
from grandstand.apps.cricket.domain.matches import NEUTRAL_TEAM
from grandstand.apps.cricket.services.interfaces import Database
from grandstand.apps.cricket.services.live_activities import (
    LiveActivityRepository,
    validate_device_id,
)
from grandstand.apps.cricket.services.push.la_coordinator import ActivityStarter
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
from grandstand.storage.tables.errors import ConditionFailed

_MAX_VERSION_CHARS: Final = 40
# DynamoDB updates an index a moment after the table, usually within a second.
_INDEX_LAG_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class DeviceRegistration:
    """What a device reports when it registers."""

    device_token: str
    device_id: str
    platform: str = "ios"
    os_version: str = ""
    app_version: str = ""


@dataclass(kw_only=True, eq=False)
class DeviceService:
    """Registered devices: several per user, or only the newest if `single`."""

    store: Database
    single: bool

    async def of_user(self, user_id: str) -> tuple[Device, ...]:
        """Return a user's devices, last seen first."""
        devices = await self.store(Device.of_user(user_id))
        return tuple(sorted(devices, key=lambda device: device.last_seen_at, reverse=True))

    async def register(self, user_id: str, registration: DeviceRegistration) -> Device:
        """Store a device and remove its earlier records; its push-to-start token is kept.

        Raises InvalidInput.
        """
        token = validate_token(registration.device_token, "device token")
        info = _device_info(registration, token)
        orphans = [
            device
            for device in await self.store(Device.of_user(user_id))
            if device.device_token != token and (self.single or device.device_id == info.device_id)
        ]
        device = await self.store(Device.register(user_id, token, info, self.store.now()))
        start_token = next(
            (
                orphan.push_to_start_token
                for orphan in orphans
                if orphan.device_id == info.device_id
            ),
            None,
        )
        if device.push_to_start_token is None and start_token is not None:
            device = await self.store(
                Device.set_push_to_start(user_id, token, start_token, self.store.now())
            )
        for orphan in orphans:
            await self.store(Device.remove(user_id, orphan.device_token))
        return device

    async def set_push_to_start(self, user_id: str, device_token: str, token: str) -> Device:
        """Store the push-to-start token of a device. Raises InvalidInput and DeviceNotFound."""
        device_token = validate_token(device_token, "device token")
        token = validate_token(token, "push-to-start token")
        try:
            return await self.store(
                Device.set_push_to_start(user_id, device_token, token, self.store.now())
            )
        except ConditionFailed as error:
            raise _device_not_found(device_token) from error

    async def remove(self, user_id: str, device_token: str) -> Device:
        """Remove a device and return it. Raises InvalidInput and DeviceNotFound."""
        device_token = validate_token(device_token, "device token")
        device = await self.store(Device.remove(user_id, device_token))
        if device is None:
            raise _device_not_found(device_token)
        return device


def _device_info(registration: DeviceRegistration, token: str) -> DeviceInfo:
    versions = (registration.platform, registration.os_version, registration.app_version)
    if any(len(version) > _MAX_VERSION_CHARS for version in versions):
        message = f"Platform and versions must have at most {_MAX_VERSION_CHARS} characters each."
        raise InvalidInput(message)
    return DeviceInfo(
        validate_device_id(registration.device_id),
        registration.platform or "ios",
        token,
        registration.os_version,
        registration.app_version,
    )


def _device_not_found(device_token: str) -> DeviceNotFound:
    return DeviceNotFound(f"No device with token …{device_token[-6:]}. Register it first.")


@dataclass(frozen=True, slots=True)
class FollowResult:
    """A follow; for a live match with its display state and activities."""

    follow: MatchFollow
    display: DisplayView | None
    activities: tuple[LiveActivity, ...] = ()


@dataclass(kw_only=True, eq=False)
class MatchFollowService:
    """Follows and alert preferences of users."""

    store: Database
    fixtures: FixtureService
    displays: DisplayStateCacheService
    live_activities: LiveActivityRepository
    starter: ActivityStarter
    lifetimes: Lifetimes

    async def find(self, user_id: str, match_id: str) -> MatchFollow | None:
        return await self.store(MatchFollow.by_key(match_id, user_id))

    async def of_user(self, user_id: str) -> tuple[MatchFollow, ...]:
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
        return tuple(follow for follow in follows if follow is not None)

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
        follow = await self.store.read(MatchFollow.by_key(match_id, user_id))
        active = await self.store(ActiveMatch.by_id(match_id))
        if active is None or active.status != "active":
            return FollowResult(follow, None)
        activities: tuple[LiveActivity, ...] = ()
        if active.match_phase in ("live", "break"):
            activities = await self._start(active, user_id, match.ends_at)
        display = await self.displays.find(match_id, team)
        return FollowResult(follow, display, activities)

    async def _start(
        self, match: ActiveMatch, user_id: str, match_ends_at: datetime | None
    ) -> tuple[LiveActivity, ...]:
        query = LiveActivity.of_match_and_user(match.match_id, user_id)
        sessions = await self.store(query)
        await self.starter.start_for(match, user_id, sessions, match_ends_at, at_once=True)
        return tuple(session for session in await self.store(query) if session.status != "ended")

    async def change_team(self, user_id: str, match_id: str, team_id: str) -> MatchFollow:
        """Change the supported team. Raises NotFound, MatchNotFound and TeamNotPlaying."""
        team = _supported_team(await self.fixtures.get(match_id), team_id)
        try:
            return await self.store(MatchFollow.change_team(match_id, user_id, team))
        except ConditionFailed as error:
            raise follow_not_found(match_id) from error

    async def unfollow(self, user_id: str, match_id: str) -> None:
        """Unfollow a match and end its activities. Raises NotFound."""
        follow = await self.store(MatchFollow.unfollow(match_id, user_id))
        followed = frozenset({match_id})
        await self.store(Follower.remove_matches(user_id, followed, self.store.now()))
        if follow is None:
            raise follow_not_found(match_id)
        try:
            await self.live_activities.end(user_id, match_id, None, "unfollowed")
        except ActivityNotFound:
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
        for session in await self.live_activities.of_user(user_id):
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
        message = (
            f"Team {team_id[:40]!r} does not play in match {match.match_id}. Choose "
            f"{match.home.team_id}, {match.away.team_id} or {NEUTRAL_TEAM}."
        )
        raise TeamNotPlaying(message)
    return team_id


def follow_not_found(match_id: str) -> NotFound:
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
