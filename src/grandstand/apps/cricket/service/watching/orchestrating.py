"""Kept here: the round that sees to what begins, goes on, and ends."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.cricket.model.phases import phase_of
from grandstand.apps.cricket.model.sessions import (
    follow_expires,
    heartbeat_due,
    session_expires,
)
from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.looking.reference import Reference
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.people.activities import Activities
from grandstand.apps.cricket.service.telling.announcing import Announcing
from grandstand.apps.cricket.service.telling.bulletins import Bulletins
from grandstand.apps.cricket.service.telling.starting import Starting
from grandstand.apps.cricket.service.values import Orchestrated
from grandstand.apps.cricket.service.watching.keeping import Keeping
from grandstand.apps.cricket.service.watching.ticking import Ticking
from grandstand.apps.cricket.store import (
    ActiveMatch,
    Fixture,
    LiveActivity,
    MatchFollow,
)
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.storage.tables.errors import ConditionFailed

_BACK: Final = timedelta(days=6)
_BATCH: Final = 25
_FAR_OFF: Final = timedelta(hours=3)
_PROLONG_BELOW: Final = timedelta(hours=12)
_PLAYED: Final = ("live", "break")


@dataclass(slots=True)
class _Tally:
    registered: list[str] = field(default_factory=list)
    taken_over: list[str] = field(default_factory=list)
    announced: int = 0
    starts: int = 0
    restarts: int = 0
    heartbeats: int = 0
    closed: list[str] = field(default_factory=list)

    def done(self) -> Orchestrated:
        return Orchestrated(
            tuple(self.registered),
            tuple(self.taken_over),
            self.announced,
            self.starts,
            self.restarts,
            self.heartbeats,
            tuple(self.closed),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of the service a round calls upon."""

    matches: Matches
    reference: Reference
    ticking: Ticking
    bulletins: Bulletins
    starting: Starting
    announcing: Announcing
    activities: Activities


class Orchestrating:
    """Does one round; every step can be done again, so a round that breaks off does no harm."""

    def __init__(self, means: Means, parts: Parts) -> None:
        self._means = means
        self._parts = parts
        self._keeping = Keeping(means)
        self._lifetimes = means.lifetimes

    async def round(self) -> Orchestrated:
        """Register, announce, take over, start, refresh, end and clean what is due."""
        tally, now = _Tally(), self._means.now()
        known = {each.match_id: each for each in await self._means.store(ActiveMatch.everything())}
        await self._fixtures(known, tally, now)
        self._parts.starting.forget_all_but(
            {each.match_id for each in known.values() if each.status != "ended"}
        )
        for match in known.values():
            try:
                if match.status == "ended":
                    await self._close(match, tally, now)
                elif match.status == "active":
                    await self._tend(match, tally, now)
            except GrandstandError as fault:
                log("cricket").warning(
                    "a match was not seen to", match=match.match_id, error=str(fault)
                )
        return tally.done()

    async def _fixtures(self, known: dict[str, ActiveMatch], tally: _Tally, now: datetime) -> None:
        """Register what went live unnoticed, and announce what begins soon."""
        leagues = await self._parts.reference.leagues(active=True)
        soon = now + timedelta(minutes=self._means.settings.announce_minutes)
        for fixture in await self._parts.matches.starting_within(leagues, now - _BACK, soon):
            match_id, phase = fixture.match_id, phase_of(fixture.status or "")
            match = known.get(match_id)
            polled = match is not None and match.status == "active"
            if phase in _PLAYED and not polled and await self._parts.ticking.register(match_id):
                self._parts.ticking.disown(match_id)
                tally.registered.append(match_id)
            if phase in ("prematch", None) and fixture.start_time > now:
                view = await self._parts.matches.read(match_id)
                tally.announced += await self._parts.announcing.announce(view)

    async def _tend(self, match: ActiveMatch, tally: _Tally, now: datetime) -> None:
        if self._is_silent(match, now):
            await self._parts.ticking.tick_alone(match.match_id)
            self._parts.ticking.disown(match.match_id)
            tally.taken_over.append(match.match_id)
            match = await self._means.store.read(ActiveMatch.as_it_is(match.match_id))
        fixture = await self._means.store(Fixture.by_id(match.match_id))
        if match.match_phase == "prematch" and fixture and fixture.start_time - now > _FAR_OFF:
            await self._means.store(ActiveMatch.rest(match.match_id, match.epoch))
        if match.match_phase not in _PLAYED or match.status != "active":
            return
        match = await self._with_channel(match)
        await self._starts(match, fixture, tally, now)
        shown = match.told_at
        if shown and heartbeat_due(shown, match.match_phase, now, self._lifetimes):
            tally.heartbeats += await self._parts.bulletins.repeat(match)

    def _is_silent(self, match: ActiveMatch, now: datetime) -> bool:
        seen = match.last_tick_at
        silent = timedelta(seconds=self._means.settings.takeover_seconds)
        if seen is None:
            registered = datetime.fromtimestamp(match.epoch / 1000, now.tzinfo)
            return now - registered > silent
        return now - seen > silent

    async def _with_channel(self, match: ActiveMatch) -> ActiveMatch:
        """Give a match its broadcast channel, if that is the setting and it has none."""
        phones = self._means.phones
        if not self._means.settings.broadcast or phones is None or match.channel_id:
            return match
        channel_id = await phones.open_channel()
        try:
            return await self._means.store(ActiveMatch.open_channel(match.match_id, channel_id))
        except ConditionFailed:
            await phones.close_channel(channel_id)
            return match

    async def _starts(
        self, match: ActiveMatch, fixture: Fixture | None, tally: _Tally, now: datetime
    ) -> None:
        """Start and restart activities of followers, and let what they have live on."""
        sessions: defaultdict[str, list[LiveActivity]] = defaultdict(list)
        ends = fixture.end_time if fixture else None
        until = session_expires(now, ends, self._lifetimes)
        async for session in self._means.each(LiveActivity.of_match(match.match_id)):
            sessions[session.user_id].append(session)
            if session.expires is not None and session.expires - now < _PROLONG_BELOW:
                await self._means.store(LiveActivity.prolong(session.seat, until))
        starts = fixture.start_time if fixture else now
        async for follow in self._means.each(MatchFollow.of_match(match.match_id)):
            await self._prolong(follow, follow_expires(starts, ends, now, self._lifetimes), now)
            mine = sessions[follow.user_id]
            begun = await self._parts.starting.start_for(match, follow.user_id, mine, ends)
            if any(each.status == "active" for each in mine):
                tally.restarts += begun
            else:
                tally.starts += begun

    async def _prolong(self, follow: MatchFollow, until: datetime, now: datetime) -> None:
        if follow.expires_at is None or follow.expires_at - now > self._lifetimes.follow / 2:
            return
        try:
            await self._means.store(MatchFollow.prolong(follow.match_id, follow.user_id, until))
        except ConditionFailed:
            log("cricket").debug("unfollowed meanwhile", match=follow.match_id)

    async def _close(self, match: ActiveMatch, tally: _Tally, now: datetime) -> None:
        """End the sessions of a match that is over and was told so, and remove its follows."""
        if match.closed_at is not None or not await self._was_told(match, now):
            return
        await self._parts.activities.end_all(match.match_id)
        follows = self._means.each(MatchFollow.of_match(match.match_id))
        found = [follow.user_id async for follow in follows]
        for at in range(0, len(found), _BATCH):
            batch = tuple(found[at : at + _BATCH])
            await self._means.store(MatchFollow.remove_all(match.match_id, batch))
        phones = self._means.phones
        if match.channel_id and phones is not None:
            await phones.close_channel(match.channel_id)
        await self._keeping.archive(match.match_id, now)
        await self._means.store(ActiveMatch.close(match.match_id, now))
        tally.closed.append(match.match_id)

    async def _was_told(self, match: ActiveMatch, now: datetime) -> bool:
        """Tell whether the last bulletin is out, or will never be."""
        told = await self._parts.bulletins.is_delivered(match)
        late = match.last_tick_at is None or now - match.last_tick_at > timedelta(minutes=10)
        return told or late
