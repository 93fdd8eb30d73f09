"""Kept here: who follows which match, for whom, and what wakes them."""

from __future__ import annotations

from grandstand.apps.cricket.model import NEUTRAL_TEAM
from grandstand.apps.cricket.model.alerts import AlertChoice, check_kinds
from grandstand.apps.cricket.model.sessions import follow_expires
from grandstand.apps.cricket.service.looking.displays import Displays
from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.people.activities import Activities
from grandstand.apps.cricket.service.refusals import (
    ActivityUnknown,
    FollowUnknown,
    MatchOver,
    TeamNotPlaying,
)
from grandstand.apps.cricket.service.telling.starting import Starting
from grandstand.apps.cricket.service.values import AlertsGiven, DisplayView, Followed, MatchView
from grandstand.apps.cricket.store import ActiveMatch, Follower, LiveActivity, MatchFollow
from grandstand.storage.tables.errors import ConditionFailed


class Follows:
    """Follows of one person at a time, with what follows from them."""

    def __init__(
        self,
        means: Means,
        matches: Matches,
        displays: Displays,
        activities: Activities,
        starting: Starting,
    ) -> None:
        self._means = means
        self._matches = matches
        self._displays = displays
        self._activities = activities
        self._starting = starting

    async def find(self, user_id: str, match_id: str) -> MatchFollow | None:
        """Answer whether a person follows a match."""
        return await self._means.store(MatchFollow.one(match_id, user_id))

    async def of_user(self, user_id: str) -> tuple[MatchFollow, ...]:
        """Answer what a person follows; what is over is forgotten on the way."""
        follower = await self._means.store(Follower.by_id(user_id))
        if follower is None or not follower.match_ids:
            return ()
        named = sorted(follower.match_ids)
        found = await self._means.store.get_many(MatchFollow.one(each, user_id) for each in named)
        gone = frozenset(each for each, follow in zip(named, found, strict=True) if follow is None)
        if gone:
            await self._means.store(Follower.leaves(user_id, gone, self._means.now()))
        return tuple(each for each in found if each is not None)

    async def follow(self, user_id: str, match_id: str, team_id: str | None) -> Followed:
        """Follow a match; raise MatchUnknown, TeamNotPlaying and MatchOver."""
        match, now = await self._matches.read(match_id), self._means.now()
        if match.phase == "ended":
            raise MatchOver(f"Match {match_id} is over: there is nothing more to follow")
        team = _team(match, team_id)
        expires = follow_expires(match.starts_at, match.ends_at, now, self._means.lifetimes)
        await self._means.store.all(
            MatchFollow.follow(match_id, user_id, team, now, expires),
            Follower.follows(user_id, match_id, now),
        )
        follow = await self._means.store.read(MatchFollow.one(match_id, user_id))
        active = await self._means.store(ActiveMatch.by_id(match_id))
        shown: DisplayView | None = None
        activities: tuple[LiveActivity, ...] = ()
        if active is not None and active.status == "active":
            if active.match_phase in ("live", "break"):
                activities = await self._started(active, user_id, match)
            shown = await self._displays.find(match_id, team)
        return Followed(follow, shown, activities)

    async def _started(
        self, active: ActiveMatch, user_id: str, match: MatchView
    ) -> tuple[LiveActivity, ...]:
        known = await self._means.store(LiveActivity.of_person(match.match_id, user_id))
        await self._starting.start_for(active, user_id, known, match.ends_at, at_once=True)
        found = await self._means.store(LiveActivity.of_person(match.match_id, user_id))
        return tuple(each for each in found if each.status != "ended")

    async def change_team(self, user_id: str, match_id: str, team_id: str) -> MatchFollow:
        """Be for another team; raise FollowUnknown, MatchUnknown and TeamNotPlaying."""
        team = _team(await self._matches.read(match_id), team_id)
        try:
            return await self._means.store(MatchFollow.change_team(match_id, user_id, team))
        except ConditionFailed as refused:
            raise _unknown(match_id) from refused

    async def unfollow(self, user_id: str, match_id: str) -> None:
        """Follow a match no longer; raise FollowUnknown."""
        known = await self.leave(user_id, match_id)
        if not known:
            raise _unknown(match_id)
        try:
            await self._activities.end(user_id, match_id, None, "unfollowed")
        except ActivityUnknown:
            return

    async def leave(self, user_id: str, match_id: str) -> bool:
        """Take a follow away; False when there was none."""
        known = await self._means.store(MatchFollow.unfollow(match_id, user_id))
        left = Follower.leaves(user_id, frozenset({match_id}), self._means.now())
        await self._means.store(left)
        return known is not None

    async def choice(self, user_id: str) -> AlertChoice:
        """Answer what a person wants to be alerted of."""
        return await self._means.choice(user_id)

    async def choose(self, user_id: str, given: AlertsGiven) -> AlertChoice:
        """Keep what a person wants to be alerted of, for all sessions; raise AlertKindUnknown."""
        kinds = None if given.kinds is None else check_kinds(given.kinds)
        choice = AlertChoice(kinds, given.muted, given.muted_until)
        await self._means.store(Follower.choose(user_id, choice, self._means.now()))
        for session in await self._activities.of_user(user_id):
            if session.status == "ended":
                continue
            await self._means.store(LiveActivity.choose(session.seat, choice))
        return choice


def _team(match: MatchView, team_id: str | None) -> str:
    if team_id is None or team_id == NEUTRAL_TEAM:
        return NEUTRAL_TEAM
    if team_id not in (match.home.team_id, match.away.team_id):
        message = (
            f"Team {team_id[:40]!r} does not play in match {match.match_id}; "
            f"{match.home.team_id} and {match.away.team_id} do"
        )
        raise TeamNotPlaying(message)
    return team_id


def _unknown(match_id: str) -> FollowUnknown:
    return FollowUnknown(f"You do not follow match {match_id[:40]!r}")
