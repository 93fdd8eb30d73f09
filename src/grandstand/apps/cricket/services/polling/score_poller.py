"""Polling the livescores as often as the quota of the feed allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.cricket.domain.errors import MatchNotFound
from grandstand.apps.cricket.domain.matches import MatchSnapshot, phase_for_status
from grandstand.apps.cricket.services.interfaces import Database, ScoreFeed
from grandstand.apps.cricket.services.polling.match_ticks import (
    ActiveMatchRepository,
    MatchTicker,
    TickResult,
)
from grandstand.apps.cricket.services.queries.reference import LeagueService
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import FeedMatch
from grandstand.core.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.core.logging import get_logger

_OWNERSHIP_CHECK_SECONDS: Final = 10.0
_RECONCILE_SECONDS: Final = 30.0
_REGISTER_BEFORE_START: Final = timedelta(hours=1)
_MAX_WAIT_SECONDS: Final = 300.0

ProcessMatch = Callable[[FeedMatch, datetime], Awaitable[TickResult | None]]


@dataclass(frozen=True, slots=True)
class PollResult:
    """The ticks of one poll, and when the next poll is due."""

    ticks: tuple[TickResult, ...]
    next_seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(kw_only=True, eq=False)
class LiveMatchReconciler:
    """Fetches active matches that have left the livescores, every 30 seconds each."""

    store: Database
    feed: ScoreFeed
    matches: ActiveMatchRepository
    _fetched_at: dict[str, float] = field(default_factory=dict)

    async def reconcile(self, listed: set[str], process: ProcessMatch) -> list[TickResult | None]:
        """Fetch and process the owned matches that are not in the list."""
        now = self.store.clock.monotonic()
        missing = [
            match_id
            for match_id in self.matches.owned
            if match_id not in listed
            and now - self._fetched_at.get(match_id, float("-inf")) >= _RECONCILE_SECONDS
        ]
        results: list[TickResult | None] = []
        for match_id in missing:
            self._fetched_at[match_id] = now
            match, requested_at = self.matches.owned[match_id], self.store.now()
            try:
                fetched = await self.feed.fixture(match_id, since=match.previous_ball_id)
            except MatchNotFound:
                get_logger("cricket").warning("match_missing_in_feed", match_id=match_id)
                continue
            except GrandstandError as error:
                get_logger("cricket").warning(
                    "match_fetch_failed", match_id=match_id, error=str(error)
                )
                continue
            results.append(await process(fetched.value, requested_at))
        return results


@dataclass(kw_only=True, eq=False)
class ScorePoller:
    """Polls the livescores; the process that polls owns every active match."""

    store: Database
    feed: ScoreFeed
    matches: ActiveMatchRepository
    ticker: MatchTicker
    reconciler: LiveMatchReconciler
    leagues: LeagueService
    settings: CricketSettings
    _owned_at: float = float("-inf")
    _marquee: bool = False

    async def poll(self) -> PollResult:
        """Take over the active matches, fetch the livescores and tick each match.

        A failure of the feed or an exhausted quota delays the next poll and raises nothing.
        """
        await self._own_all()
        since = {
            match_id: match.previous_ball_id
            for match_id, match in self.matches.owned.items()
            if match.previous_ball_id is not None
        }
        requested_at = self.store.now()
        try:
            with_balls = self._marquee or not self.settings.marquee_leagues
            fetched = await self.feed.livescores(balls=with_balls, since=since)
        except (LimitReached, SourceFailed, Unavailable) as error:
            seconds = getattr(error, "retry_after_seconds", None) or self._interval
            seconds = min(max(seconds, self._interval), _MAX_WAIT_SECONDS)
            get_logger("cricket").warning(
                "livescores_failed", error=str(error), retry_in_seconds=seconds
            )
            return PollResult((), seconds, (str(error),))
        listed = fetched.value
        ticks = await asyncio.gather(*(self._process(match, requested_at) for match in listed))
        listed_ids = {match.snapshot.match_id for match in listed}
        missing = await self.reconciler.reconcile(listed_ids, self._process)
        self._marquee = any(self._is_marquee(match) for match in listed)
        results = tuple(result for result in (*ticks, *missing) if result is not None)
        seconds = await self.feed.next_poll_seconds(self._interval)
        return PollResult(results, seconds, fetched.warnings)

    @property
    def _interval(self) -> float:
        settings = self.settings
        return settings.marquee_poll_seconds if self._marquee else settings.poll_seconds

    def _is_marquee(self, fetched: FeedMatch) -> bool:
        match = self.matches.owned.get(fetched.snapshot.match_id)
        is_live = match is not None and match.match_phase == "live"
        return is_live and self._has_balls(fetched.snapshot)

    def _has_balls(self, snapshot: MatchSnapshot) -> bool:
        leagues = self.settings.marquee_leagues
        return not leagues or snapshot.competition.league_id in leagues

    async def _own_all(self) -> None:
        """Own every active match; new ones are looked up every ten seconds."""
        now = self.store.clock.monotonic()
        if now - self._owned_at < _OWNERSHIP_CHECK_SECONDS:
            return
        for match in await self.matches.all():
            if match.status == "active":
                await self.matches.own(match.match_id)
        self._owned_at = now

    async def _process(self, fetched: FeedMatch, requested_at: datetime) -> TickResult | None:
        """Tick a match, or register it if it is live or starts soon."""
        snapshot, match_id = fetched.snapshot, fetched.snapshot.match_id
        if not self._has_balls(snapshot):
            # Balls count only in leagues that are always polled with balls.
            fetched = replace(fetched, snapshot=replace(snapshot, balls=()))
        try:
            if match_id not in self.matches.owned:
                return await self._register(snapshot)
            result = await self.ticker.tick(fetched, requested_at)
        except GrandstandError as error:
            self.matches.disown(match_id)
            get_logger("cricket").warning("tick_failed", match_id=match_id, error=str(error))
            self._owned_at = float("-inf")
            return None
        if result.outcome == "lost":
            self._owned_at = float("-inf")
        return result

    async def _register(self, snapshot: MatchSnapshot) -> TickResult | None:
        if not is_worth_polling(snapshot, self.store.now(), _REGISTER_BEFORE_START):
            return None
        if not await self.leagues.is_active(snapshot.competition.league_id):
            return None
        if not await self.matches.register(snapshot.match_id):
            self._owned_at = float("-inf")
            return None
        # This response is older than our epoch, so the next poll is the first tick.
        return TickResult(snapshot.match_id, "registered")


def is_worth_polling(snapshot: MatchSnapshot, now: datetime, before_start: timedelta) -> bool:
    """Return whether a match is live or starts soon."""
    phase = phase_for_status(snapshot.status)
    if phase == "prematch":
        return snapshot.starting_at is not None and snapshot.starting_at - now <= before_start
    return phase in ("live", "break")
