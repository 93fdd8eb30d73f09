"""Kept here: every match known, the feed's words about it, and what a lock screen would show."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from grandstand.storage.tables import (
    Entity,
    Get,
    GetMany,
    Index,
    Put,
    Query,
    Scan,
    Table,
    Update,
    WriteMany,
    field,
    key,
    ttl,
)

fixtures = Table(
    "cricket-fixtures",
    partition="matchId",
    indexes=(Index("leagueCode-startTime-index", "leagueCode", "startTime"),),
    purpose="Every match known.",
)
fixture_cache = Table(
    "cricket-fixture-cache",
    partition="matchId",
    ttl="ttl",
    indexes=(Index("leagueId-startingAt-index", "leagueId", "startingAt"),),
    purpose="Fixtures as the score feed sent them, for a while.",
)
display_cache = Table(
    "DisplayStateCache",
    partition="cacheKey",
    ttl="ttl",
    purpose="Computed display states, for a while.",
)


class Fixture(Entity, table=fixtures, names="camel", times="milliseconds"):
    """A match: who plays, when, in which league, and how it stands."""

    match_id: str
    league_code: str
    start_time: datetime
    league_id: str | None = None
    season_id: str | None = None
    home_team_id: str | None = None
    away_team_id: str | None = None
    format: str | None = None
    round: str | None = None
    status: str | None = None
    note: str | None = None
    end_time: datetime | None = None
    live_updated_at: datetime | None = None
    archived_at: datetime | None = None

    row = key("{match_id}")
    by_league = key("{league_code}", "{start_time}", index="leagueCode-startTime-index")

    @classmethod
    def by_id(cls, match_id: str) -> Get[Self]:
        """One match."""
        return cls.get(match_id=match_id)

    @classmethod
    def several(cls, match_ids: tuple[str, ...]) -> GetMany[Self]:
        """Several matches at once."""
        return GetMany(tuple(cls.get(match_id=match_id) for match_id in match_ids))

    @classmethod
    def in_range(cls, league_code: str, start: datetime, end: datetime) -> Query[Self]:
        """A league's matches that begin within a span of time."""
        return cls.by_league(league_code=league_code).between(start_time=(start, end))

    @classmethod
    def sync(cls, found: tuple[Fixture, ...]) -> WriteMany:
        """Write matches as the feed has them, in batches."""
        return WriteMany(tuple(fixture.put() for fixture in found))

    @classmethod
    def progress(cls, match_id: str, status: str, note: str | None, at: datetime) -> Update[Self]:
        """Note how a match that exists stands."""
        return cls.update(match_id=match_id).set(status=status, note=note, live_updated_at=at)

    @classmethod
    def reschedule(cls, match_id: str, league_code: str, start_time: datetime) -> Update[Self]:
        """Move the start of a match that exists."""
        return cls.update(match_id=match_id).set(league_code=league_code, start_time=start_time)

    @classmethod
    def archive(cls, match_id: str, at: datetime) -> Update[Self]:
        """Note that a match has left the live list."""
        return cls.update(match_id=match_id).set(archived_at=at).remove("live_updated_at")


class CachedFixture(Entity, table=fixture_cache, names="camel", times="milliseconds"):
    """A fixture in the feed's own words; it expires sooner while the match is live."""

    match_id: str
    league_id: str
    starting_at: datetime
    fixture: dict[str, Any]
    fetched_at: datetime
    expires: datetime | None = ttl()

    row = key("{match_id}")
    by_league = key("{league_id}", "{starting_at}", index="leagueId-startingAt-index")

    @classmethod
    def by_id(cls, match_id: str) -> Get[Self]:
        """One fixture, if it is still fresh."""
        return cls.get(match_id=match_id)

    @classmethod
    def several(cls, match_ids: tuple[str, ...]) -> GetMany[Self]:
        """Several fixtures at once, those that are still fresh."""
        return GetMany(tuple(cls.get(match_id=match_id) for match_id in match_ids))

    @classmethod
    def of_league(cls, league_id: str, now: datetime) -> Query[Self]:
        """A league's fixtures that are still fresh."""
        return cls.by_league(league_id=league_id).where(field(CachedFixture.expires) > now)

    @classmethod
    def everything(cls) -> Scan[Self]:
        """Every fresh fixture, by reading the whole small table."""
        return cls.scan()

    def keep(self) -> Put[Self]:
        """Keep a fixture over what is there."""
        return self.put()

    @classmethod
    def keep_all(cls, found: tuple[CachedFixture, ...]) -> WriteMany:
        """Keep fixtures over what is there, in batches."""
        return WriteMany(tuple(fixture.put() for fixture in found))


class DisplayState(Entity, table=display_cache, names="camel", times="milliseconds"):
    """What a lock screen would show of a match to who is for a team, or for none."""

    match_id: str
    team_id: str
    state: dict[str, Any]
    computed_at: datetime
    expires: datetime | None = ttl()

    row = key("DISPLAY#{match_id}#{team_id}")

    @classmethod
    def cached(cls, match_id: str, team_id: str) -> Get[Self]:
        """The display state of a match for a team, unless it has expired."""
        return cls.get(match_id=match_id, team_id=team_id)

    def keep(self) -> Put[Self]:
        """Keep a display state until it expires."""
        return self.put()
