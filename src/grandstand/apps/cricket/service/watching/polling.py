"""Kept here: looking at the live list, again and again, as often as the budget allows."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.looking.reference import Reference
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.values import Polled, Ticked
from grandstand.apps.cricket.service.watching.ticking import Ticking, is_worth_polling
from grandstand.apps.cricket.sources.sportmonks import HeardFixture
from grandstand.apps.cricket.store import ActiveMatch
from grandstand.base.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.base.log import log

_LOOK_AGAIN_SECONDS: Final = 10.0
_RECONCILE_SECONDS: Final = 30.0
_REGISTER_AHEAD: Final = timedelta(hours=1)
_LONGEST_WAIT_SECONDS: Final = 300.0


class Polling:
    """One look at a time; whoever is elected to poll owns every match that is polled."""

    def __init__(
        self, means: Means, ticking: Ticking, matches: Matches, reference: Reference
    ) -> None:
        self._means = means
        self._ticking = ticking
        self._matches = matches
        self._reference = reference
        self._looked_at = float("-inf")
        self._asked_alone: dict[str, float] = {}
        self._marquee = False

    async def poll(self) -> Polled:
        """Look once: own what is polled, then ask the feed, then tick what it says.

        What the feed or the budget does not allow now is a later look, not an error.
        """
        settings, feed = self._means.settings, self._means.feed
        every = settings.marquee_poll_seconds if self._marquee else settings.poll_seconds
        await self._own_all()
        since = {
            match_id: match.previous_ball_id
            for match_id, match in self._ticking.owned.items()
            if match.previous_ball_id is not None
        }
        asked_at = self._means.now()
        try:
            heard = await feed.livescores(balls=self._wants_balls(), since=since)
        except (LimitReached, SourceFailed, Unavailable) as fault:
            log("cricket").warning("the live list was not had", error=str(fault))
            wait = getattr(fault, "retry_after_seconds", None) or every
            wait = min(max(wait, every), _LONGEST_WAIT_SECONDS)
            return Polled((), wait, (str(fault),))
        listed = [self._fitting(each) for each in heard.value]
        ticks = await asyncio.gather(*(self._look_at(each, asked_at) for each in listed))
        missing = await self._reconcile({each.fixture.match_id for each in listed})
        self._marquee = any(self._is_marquee(each) for each in listed)
        every = settings.marquee_poll_seconds if self._marquee else settings.poll_seconds
        done = tuple(each for each in (*ticks, *missing) if each is not None)
        return Polled(done, await feed.pace(every), heard.warnings)

    def _wants_balls(self) -> bool:
        return self._marquee or not self._means.settings.marquee_leagues

    def _is_marquee(self, heard: HeardFixture) -> bool:
        match = self._ticking.owned.get(heard.fixture.match_id)
        leagues = self._means.settings.marquee_leagues
        named = not leagues or heard.fixture.competition.league_id in leagues
        return named and match is not None and match.match_phase == "live"

    def _fitting(self, heard: HeardFixture) -> HeardFixture:
        """Balls count only where a league is always followed ball by ball."""
        leagues = self._means.settings.marquee_leagues
        if not leagues or heard.fixture.competition.league_id in leagues:
            return heard
        return replace(heard, fixture=replace(heard.fixture, balls=()))

    async def _own_all(self) -> None:
        """Become the owner of every match that is polled; look for new ones now and then."""
        now = self._means.clock.monotonic()
        if now - self._looked_at < _LOOK_AGAIN_SECONDS:
            return
        for match in await self._means.store(ActiveMatch.everything()):
            if match.status == "active":
                await self._ticking.own(match.match_id)
        self._looked_at = now

    async def _look_at(self, heard: HeardFixture, asked_at: datetime) -> Ticked | None:
        scores, ticking = heard.fixture, self._ticking
        try:
            if scores.match_id not in ticking.owned:
                if not is_worth_polling(scores, self._means.now(), _REGISTER_AHEAD):
                    return None
                if not await self._reference.is_followed(scores.competition.league_id):
                    return None
                if not await ticking.register(scores.match_id):
                    self._looked_at = float("-inf")
                    return None
                # What was heard is older than our epoch: the next look is the first tick.
                return Ticked(scores.match_id, "registered")
            ticked = await ticking.tick(heard, asked_at)
        except GrandstandError as fault:
            ticking.disown(scores.match_id)
            log("cricket").warning("a tick failed", match=scores.match_id, error=str(fault))
            self._looked_at = float("-inf")
            return None
        if ticked.outcome == "lost":
            self._looked_at = float("-inf")
        return ticked

    async def _reconcile(self, listed: set[str]) -> list[Ticked | None]:
        """Ask for the polled matches that have left the live list, each now and then."""
        now = self._means.clock.monotonic()
        left = [
            match_id
            for match_id in self._ticking.owned
            if match_id not in listed
            and now - self._asked_alone.get(match_id, float("-inf")) >= _RECONCILE_SECONDS
        ]
        done: list[Ticked | None] = []
        for match_id in left:
            self._asked_alone[match_id] = now
            known, asked_at = self._ticking.owned[match_id], self._means.now()
            try:
                heard = await self._means.feed.fixture(match_id, since=known.previous_ball_id)
            except MatchUnknown:
                log("cricket").warning("the feed knows a match no longer", match=match_id)
                continue
            except GrandstandError as fault:
                log("cricket").warning("a match was not had", match=match_id, error=str(fault))
                continue
            done.append(await self._look_at(self._fitting(heard.value), asked_at))
        return done
