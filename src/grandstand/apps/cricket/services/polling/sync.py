"""Syncing leagues, teams, season tables and fixtures from the feed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from grandstand.apps.cricket.services.interfaces import Database, ScoreFeed
from grandstand.apps.cricket.services.queries.fixtures import (
    FixtureCacheService,
    build_fixture,
)
from grandstand.apps.cricket.services.queries.reference import LeagueService, TeamService
from grandstand.apps.cricket.sources.sportmonks import FeedMatch
from grandstand.apps.cricket.store.fixtures import (
    CachedFixture,
    Fixture,
    League,
    Team,
    TeamSeason,
)

T = TypeVar("T")

BATCH_SIZE: Final = 25
_READ_SIZE: Final = 100


@dataclass(frozen=True, slots=True)
class SyncResult:
    """How many records the feed has, and how many were new or changed."""

    found: int
    written: int
    warnings: tuple[str, ...] = ()

    def __add__(self, other: SyncResult) -> SyncResult:
        return SyncResult(
            self.found + other.found,
            self.written + other.written,
            (*self.warnings, *other.warnings),
        )


def _batches(items: Sequence[T], size: int = BATCH_SIZE) -> Iterator[tuple[T, ...]]:
    for at in range(0, len(items), size):
        yield tuple(items[at : at + size])


@dataclass(kw_only=True, eq=False)
class LeagueSyncJob:
    """Syncs the leagues; whether a league is active is kept, and true at first."""

    store: Database
    feed: ScoreFeed
    leagues: LeagueService

    async def run(self) -> SyncResult:
        fetched = await self.feed.leagues()
        stored = {league.league_id: league for league in await self.store(League.all_items())}
        written = 0
        for record in fetched.value:
            before = stored.get(record.league_id)
            league = League(**asdict(record))
            if before is not None:
                league = league.replace(active=before.active)
            if league != before:
                await self.store(league.save())
                written += 1
        self.leagues.cache.clear()
        return SyncResult(len(fetched.value), written, fetched.warnings)


@dataclass(kw_only=True, eq=False)
class TeamSyncJob:
    """Syncs the teams, and the tables of the current seasons of active leagues."""

    store: Database
    feed: ScoreFeed
    teams: TeamService
    leagues: LeagueService

    async def run(self) -> SyncResult:
        fetched = await self.feed.teams()
        stored = {team.team_id: team for team in await self.store(Team.all_items())}
        teams = [Team(**asdict(record)) for record in fetched.value]
        changed = [team for team in teams if stored.get(team.team_id) != team]
        for batch in _batches(changed):
            await self.store(Team.save_all(batch))
        self.teams.cache.clear()
        rows = 0
        for league in await self.leagues.all(active=True):
            if league.season_id:
                rows += await self._sync_season(league.season_id)
        return SyncResult(len(teams) + rows, len(changed) + rows, fetched.warnings)

    async def _sync_season(self, season_id: str) -> int:
        fetched = await self.feed.standings(season_id)
        rows = [TeamSeason(**asdict(record)) for record in fetched.value]
        stored = {row.team_id: row for row in await self.store(TeamSeason.of_season(season_id))}
        changed = [row for row in rows if stored.get(row.team_id) != row]
        for batch in _batches(changed):
            await self.store(TeamSeason.save_all(batch))
        return len(changed)


@dataclass(kw_only=True, eq=False)
class FixtureSyncJob:
    """Syncs the fixtures of active leagues for the days around now."""

    store: Database
    feed: ScoreFeed
    leagues: LeagueService
    sync_days: int

    async def run(self) -> SyncResult:
        now, days = self.store.now(), timedelta(days=self.sync_days)
        fetched = await self.feed.fixtures((now - days).date(), (now + days).date())
        matches = [
            match
            for match in fetched.value
            if await self.leagues.is_active(match.snapshot.competition.league_id)
        ]
        written = 0
        for batch in _batches(matches, _READ_SIZE):
            written += await self._write(batch, now)
        return SyncResult(len(matches), written, fetched.warnings)

    async def _write(self, matches: Sequence[FeedMatch], now: datetime) -> int:
        ids = tuple(match.snapshot.match_id for match in matches)
        stored = await self.store(Fixture.by_ids(ids))
        cached = await self.store(CachedFixture.by_ids(ids))
        changed: list[Fixture] = []
        entries: list[CachedFixture] = []
        for match, before, entry in zip(matches, stored, cached, strict=True):
            fixture = await self._merge(match, before, now)
            if fixture != before:
                changed.append(fixture)
            if entry is None or fixture != before:
                entries.append(FixtureCacheService.build(match, now))
        for batch in _batches(changed):
            await self.store(Fixture.save_all(batch))
        for cache_batch in _batches(entries):
            await self.store(CachedFixture.save_all(cache_batch))
        return len(changed)

    async def _merge(self, match: FeedMatch, before: Fixture | None, now: datetime) -> Fixture:
        """Return the fixture of the feed with what only the store knows."""
        fixture = build_fixture(match.snapshot, now)
        league = await self.leagues.find(fixture.league_id or "")
        if league is not None:
            fixture = fixture.replace(league_code=league.code or league.league_id)
        if before is None:
            return fixture
        has_start = match.snapshot.starting_at is not None
        return fixture.replace(
            live_updated_at=before.live_updated_at,
            archived_at=before.archived_at,
            start_time=fixture.start_time if has_start else before.start_time,
        )
