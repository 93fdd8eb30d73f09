"""Fixtures, the fixture and display state caches, and reference data: leagues, teams, standings."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from grandstand.storage.tables import (
    Delete,
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
    purpose="All known matches.",
)
fixture_cache = Table(
    "cricket-fixture-cache",
    partition="matchId",
    ttl="ttl",
    indexes=(Index("leagueId-startingAt-index", "leagueId", "startingAt"),),
    purpose="Fixtures as the score feed sent them.",
)
display_cache = Table(
    "DisplayStateCache",
    partition="cacheKey",
    ttl="ttl",
    purpose="Computed display states.",
)


class Fixture(Entity, table=fixtures, names="camel", times="milliseconds"):
    """A match: teams, start, league and status."""

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
        """Get a fixture."""
        return cls.get(match_id=match_id)

    @classmethod
    def by_ids(cls, match_ids: tuple[str, ...]) -> GetMany[Self]:
        """Get several fixtures."""
        return GetMany(tuple(cls.get(match_id=match_id) for match_id in match_ids))

    @classmethod
    def starting_between(cls, league_code: str, start: datetime, end: datetime) -> Query[Self]:
        """Get a league's matches by start."""
        return cls.by_league(league_code=league_code).between(start_time=(start, end))

    @classmethod
    def save_all(cls, items: tuple[Fixture, ...]) -> WriteMany:
        """Write fixtures in batches."""
        return WriteMany(tuple(fixture.put() for fixture in items))

    @classmethod
    def update_progress(
        cls, match_id: str, status: str, note: str | None, at: datetime
    ) -> Update[Self]:
        """Update the status of an existing match."""
        return cls.update(match_id=match_id).set(status=status, note=note, live_updated_at=at)

    @classmethod
    def archive(cls, match_id: str, at: datetime) -> Update[Self]:
        """Mark an existing match as gone from the livescores."""
        return cls.update(match_id=match_id).set(archived_at=at).remove("live_updated_at")


class CachedFixture(Entity, table=fixture_cache, names="camel", times="milliseconds"):
    """A fixture as the feed sent it; it expires sooner while the match is live."""

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
        """Get a cached fixture."""
        return cls.get(match_id=match_id)

    @classmethod
    def by_ids(cls, match_ids: tuple[str, ...]) -> GetMany[Self]:
        """Get several cached fixtures."""
        return GetMany(tuple(cls.get(match_id=match_id) for match_id in match_ids))

    @classmethod
    def of_league(cls, league_id: str, now: datetime) -> Query[Self]:
        """Return a league's fixtures that have not expired."""
        return cls.by_league(league_id=league_id).where(field(CachedFixture.expires) > now)

    @classmethod
    def all_items(cls) -> Scan[Self]:
        """Get all cached fixtures."""
        return cls.scan()

    def save(self) -> Put[Self]:
        """Cache a fixture."""
        return self.put()

    @classmethod
    def save_all(cls, items: tuple[CachedFixture, ...]) -> WriteMany:
        """Cache fixtures in batches."""
        return WriteMany(tuple(fixture.put() for fixture in items))


class DisplayState(Entity, table=display_cache, names="camel", times="milliseconds"):
    """The display state of a match for supporters of a team, or for neutrals."""

    match_id: str
    team_id: str
    state: dict[str, Any]
    computed_at: datetime
    expires: datetime | None = ttl()

    row = key("DISPLAY#{match_id}#{team_id}")

    @classmethod
    def by_key(cls, match_id: str, team_id: str) -> Get[Self]:
        """Get the cached display state of a match for a team."""
        return cls.get(match_id=match_id, team_id=team_id)

    def save(self) -> Put[Self]:
        """Cache a display state."""
        return self.put()


teams = Table("cricket-teams", partition="teamId", purpose="Teams; fewer than a hundred.")
team_seasons = Table(
    "cricket-team-seasons",
    partition="seasonId",
    sort="teamId",
    purpose="Season tables.",
)
leagues = Table("cricket-leagues", partition="leagueId", purpose="Leagues; fewer than thirty.")


class Team(Entity, table=teams, names="camel"):
    team_id: str
    name: str
    code: str | None = None
    image_path: str | None = None
    national_team: bool | None = None

    row = key("{team_id}")

    @classmethod
    def by_id(cls, team_id: str) -> Get[Self]:
        """Get a team."""
        return cls.get(team_id=team_id)

    @classmethod
    def all_items(cls) -> Scan[Self]:
        """Get all teams."""
        return cls.scan()

    @classmethod
    def save_all(cls, items: tuple[Team, ...]) -> WriteMany:
        """Write teams in batches."""
        return WriteMany(tuple(team.put() for team in items))

    @classmethod
    def update_fields(
        cls, team_id: str, *, name: str | None, code: str | None, image_path: str | None
    ) -> Update[Self]:
        """Update the given fields of an existing team."""
        given = {"name": name, "code": code, "image_path": image_path}
        changed = {name: value for name, value in given.items() if value is not None}
        return cls.update(team_id=team_id).set(**changed)


class TeamSeason(Entity, table=team_seasons, names="camel"):
    """A team's row in a season table."""

    season_id: str
    team_id: str
    league_id: str
    position: int | None = None
    played: int = 0
    won: int = 0
    lost: int = 0
    drawn: int = 0
    no_result: int = 0
    points: int = 0

    row = key("{season_id}", "{team_id}")

    @classmethod
    def of_season(cls, season_id: str) -> Query[Self]:
        """Get the teams of a season."""
        return cls.row(season_id=season_id)

    @classmethod
    def save_all(cls, items: tuple[TeamSeason, ...]) -> WriteMany:
        """Write season tables in batches."""
        return WriteMany(tuple(standing.put() for standing in items))


class League(Entity, table=leagues, names="camel"):
    """A league; only active ones are synced and polled."""

    league_id: str
    name: str
    code: str
    active: bool
    season_id: str | None = None
    image_path: str | None = None

    row = key("{league_id}")

    @classmethod
    def by_id(cls, league_id: str) -> Get[Self]:
        """Get a league."""
        return cls.get(league_id=league_id)

    @classmethod
    def all_items(cls) -> Scan[Self]:
        """Get all leagues."""
        return cls.scan()

    @classmethod
    def active_leagues(cls) -> Scan[Self]:
        """Get the leagues that are active."""
        return cls.scan().where(League.active == True)  # noqa: E712 - a condition, not a test

    def save(self) -> Put[Self]:
        """Create or replace a league."""
        return self.put()

    @classmethod
    def update_fields(
        cls, league_id: str, *, name: str | None, code: str | None, active: bool | None
    ) -> Update[Self]:
        """Update the given fields of an existing league."""
        given = {"name": name, "code": code, "active": active}
        changed = {name: value for name, value in given.items() if value is not None}
        return cls.update(league_id=league_id).set(**changed)

    @classmethod
    def remove(cls, league_id: str) -> Delete[Self]:
        """Delete a league."""
        return cls.delete(league_id=league_id)
