"""The life cycle of matches: registering, announcing, starting, refreshing and closing them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.cricket.domain.live_activities import (
    Lifetimes,
    follow_expiry,
    is_heartbeat_due,
    session_expiry,
)
from grandstand.apps.cricket.domain.matches import phase_for_status
from grandstand.apps.cricket.services.interfaces import Database, PushGateway
from grandstand.apps.cricket.services.polling.match_ticks import (
    ActiveMatchRepository,
    MatchTicker,
)
from grandstand.apps.cricket.services.push.la_coordinator import ActivityStarter
from grandstand.apps.cricket.services.push.notifications import AnnouncementService
from grandstand.apps.cricket.services.push.updates import MatchUpdateRepository
from grandstand.apps.cricket.services.queries.fixtures import FixtureService
from grandstand.apps.cricket.services.queries.reference import LeagueService
from grandstand.apps.cricket.services.users import LiveActivityRepository
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.store.fixtures import Fixture
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.apps.cricket.store.users import LiveActivity, MatchFollow
from grandstand.core.errors import GrandstandError
from grandstand.core.logging import get_logger
from grandstand.storage.tables.errors import ConditionFailed

_LOOKBACK: Final = timedelta(days=6)
_IDLE_BEFORE_START: Final = timedelta(hours=3)
_EXTEND_SESSIONS_BELOW: Final = timedelta(hours=12)
_MAX_DELIVERY_WAIT: Final = timedelta(minutes=10)
_IN_PLAY: Final = ("live", "break")


@dataclass(slots=True)
class OrchestrationResult:
    """What one round of the orchestrator did."""

    registered: list[str] = field(default_factory=list)
    taken_over: list[str] = field(default_factory=list)
    announced: int = 0
    starts: int = 0
    restarts: int = 0
    heartbeats: int = 0
    closed: list[str] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """A summary, None if nothing was done."""
        counts = {
            "matches registered": len(self.registered),
            "taken over": len(self.taken_over),
            "announcements": self.announced,
            "starts": self.starts,
            "restarts": self.restarts,
            "heartbeats": self.heartbeats,
            "matches closed": len(self.closed),
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or None


@dataclass(kw_only=True, eq=False)
class MatchOrchestrator:
    """Runs rounds; every step can be repeated, so an interrupted round does no harm."""

    store: Database
    settings: CricketSettings
    gateway: PushGateway | None
    fixtures: FixtureService
    leagues: LeagueService
    matches: ActiveMatchRepository
    ticker: MatchTicker
    updates: MatchUpdateRepository
    starter: ActivityStarter
    announcements: AnnouncementService
    live_activities: LiveActivityRepository
    lifetimes: Lifetimes

    async def run(self) -> OrchestrationResult:
        """Register, announce, take over, start, refresh and close what is due."""
        result, now = OrchestrationResult(), self.store.now()
        matches = {match.match_id: match for match in await self.matches.all()}
        await self._check_fixtures(matches, result, now)
        self.starter.forget_matches_except(
            {match.match_id for match in matches.values() if match.status != "ended"}
        )
        for match in matches.values():
            try:
                if match.status == "ended":
                    await self._close(match, result, now)
                elif match.status == "active":
                    await self._maintain(match, result, now)
            except GrandstandError as error:
                get_logger("cricket").warning(
                    "orchestration_failed", match_id=match.match_id, error=str(error)
                )
        return result

    async def _check_fixtures(
        self, matches: dict[str, ActiveMatch], result: OrchestrationResult, now: datetime
    ) -> None:
        """Register live matches that are not polled, and announce those that start soon."""
        leagues = await self.leagues.all(active=True)
        soon = now + timedelta(minutes=self.settings.announce_minutes)
        for fixture in await self.fixtures.starting_between(leagues, now - _LOOKBACK, soon):
            match_id, phase = fixture.match_id, phase_for_status(fixture.status or "")
            match = matches.get(match_id)
            polled = match is not None and match.status == "active"
            if phase in _IN_PLAY and not polled and await self.matches.register(match_id):
                self.matches.disown(match_id)
                result.registered.append(match_id)
            if phase in ("prematch", None) and fixture.start_time > now:
                upcoming = await self.fixtures.get(match_id)
                result.announced += await self.announcements.announce(upcoming)

    async def _maintain(
        self, match: ActiveMatch, result: OrchestrationResult, now: datetime
    ) -> None:
        if self._is_silent(match, now):
            await self.ticker.fetch_and_tick(match.match_id)
            self.matches.disown(match.match_id)
            result.taken_over.append(match.match_id)
            match = await self.store.read(ActiveMatch.by_id_consistent(match.match_id))
        fixture = await self.store(Fixture.by_id(match.match_id))
        starts_later = fixture is not None and fixture.start_time - now > _IDLE_BEFORE_START
        if match.match_phase == "prematch" and starts_later:
            await self.store(ActiveMatch.set_idle(match.match_id, match.epoch))
        if match.match_phase not in _IN_PLAY or match.status != "active":
            return
        match = await self._with_channel(match)
        await self._start_activities(match, fixture, result, now)
        pushed_at = match.latest_update_at
        if pushed_at and is_heartbeat_due(pushed_at, match.match_phase, now, self.lifetimes):
            result.heartbeats += await self.updates.repeat(match)

    def _is_silent(self, match: ActiveMatch, now: datetime) -> bool:
        """Return whether a match has not been ticked for so long that it is taken over."""
        registered_at = datetime.fromtimestamp(match.epoch / 1000, now.tzinfo)
        limit = timedelta(seconds=self.settings.takeover_seconds)
        return now - (match.last_tick_at or registered_at) > limit

    async def _with_channel(self, match: ActiveMatch) -> ActiveMatch:
        """Create the broadcast channel of a match, if broadcasts are on."""
        if not self.settings.broadcast or self.gateway is None or match.channel_id:
            return match
        channel_id = await self.gateway.create_channel()
        try:
            return await self.store(ActiveMatch.open_channel(match.match_id, channel_id))
        except ConditionFailed:
            await self.gateway.delete_channel(channel_id)
            return match

    async def _start_activities(
        self,
        match: ActiveMatch,
        fixture: Fixture | None,
        result: OrchestrationResult,
        now: datetime,
    ) -> None:
        """Start and restart the activities of followers, and extend their records."""
        sessions: defaultdict[str, list[LiveActivity]] = defaultdict(list)
        ends_at = fixture.end_time if fixture else None
        expiry = session_expiry(now, ends_at, self.lifetimes)
        async for session in self.store.each(LiveActivity.of_match(match.match_id)):
            sessions[session.user_id].append(session)
            if session.expires is not None and session.expires - now < _EXTEND_SESSIONS_BELOW:
                await self.store(LiveActivity.extend_expiry(session.activity_key, expiry))
        starts_at = fixture.start_time if fixture else now
        async for follow in self.store.each(MatchFollow.of_match(match.match_id)):
            await self._extend_follow(
                follow, follow_expiry(starts_at, ends_at, now, self.lifetimes), now
            )
            own = sessions[follow.user_id]
            started = await self.starter.start_for(match, follow.user_id, own, ends_at)
            if any(session.status == "active" for session in own):
                result.restarts += started
            else:
                result.starts += started

    async def _extend_follow(self, follow: MatchFollow, expiry: datetime, now: datetime) -> None:
        if follow.expires_at is None or follow.expires_at - now > self.lifetimes.follow / 2:
            return
        extended = MatchFollow.extend_expiry(follow.match_id, follow.user_id, expiry)
        if not await self.store.attempt(extended):
            get_logger("cricket").debug("follow_removed", match_id=follow.match_id)

    async def _close(self, match: ActiveMatch, result: OrchestrationResult, now: datetime) -> None:
        """End the sessions of a match whose end was pushed, and remove its follows."""
        is_late = match.last_tick_at is None or now - match.last_tick_at > _MAX_DELIVERY_WAIT
        if match.closed_at is not None or not (is_late or await self.updates.is_delivered(match)):
            return
        await self.live_activities.end_all(match.match_id)
        follows = self.store.each(MatchFollow.of_match(match.match_id))
        users = [follow.user_id async for follow in follows]
        for at in range(0, len(users), 25):
            batch = tuple(users[at : at + 25])
            await self.store(MatchFollow.remove_all(match.match_id, batch))
        if match.channel_id and self.gateway is not None:
            await self.gateway.delete_channel(match.channel_id)
        await self.fixtures.archive(match.match_id, now)
        await self.store(ActiveMatch.close(match.match_id, now))
        result.closed.append(match.match_id)
