"""Kept here: teams, their seasons, and leagues: what hardly changes."""

from __future__ import annotations

from typing import Self

from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Put,
    Query,
    Scan,
    Table,
    Update,
    WriteMany,
    key,
)

teams = Table("cricket-teams", partition="teamId", purpose="Teams; fewer than a hundred.")
team_seasons = Table(
    "cricket-team-seasons",
    partition="seasonId",
    sort="teamId",
    purpose="A team's figures in a season.",
)
leagues = Table("cricket-leagues", partition="leagueId", purpose="Leagues; fewer than thirty.")


class Team(Entity, table=teams, names="camel"):
    """A team as the score feed names it."""

    team_id: str
    name: str
    code: str | None = None
    image_path: str | None = None
    national_team: bool | None = None

    row = key("{team_id}")

    @classmethod
    def by_id(cls, team_id: str) -> Get[Self]:
        """One team."""
        return cls.get(team_id=team_id)

    @classmethod
    def everyone(cls) -> Scan[Self]:
        """Every team, by reading the whole small table."""
        return cls.scan()

    @classmethod
    def sync(cls, found: tuple[Team, ...]) -> WriteMany:
        """Write teams as the feed has them, in batches."""
        return WriteMany(tuple(team.put() for team in found))

    @classmethod
    def amend(
        cls, team_id: str, *, name: str | None, code: str | None, image_path: str | None
    ) -> Update[Self]:
        """Change what is given of a team that exists."""
        given = {"name": name, "code": code, "image_path": image_path}
        changed = {name: value for name, value in given.items() if value is not None}
        return cls.update(team_id=team_id).set(**changed)


class TeamSeason(Entity, table=team_seasons, names="camel"):
    """How a team stands in a season of a league."""

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
        """The teams of a season."""
        return cls.row(season_id=season_id)

    @classmethod
    def sync(cls, found: tuple[TeamSeason, ...]) -> WriteMany:
        """Write how teams stand in their seasons, in batches."""
        return WriteMany(tuple(standing.put() for standing in found))


class League(Entity, table=leagues, names="camel"):
    """A league or competition; only active ones are followed."""

    league_id: str
    name: str
    code: str
    active: bool
    season_id: str | None = None
    image_path: str | None = None

    row = key("{league_id}")

    @classmethod
    def by_id(cls, league_id: str) -> Get[Self]:
        """One league."""
        return cls.get(league_id=league_id)

    @classmethod
    def everyone(cls) -> Scan[Self]:
        """Every league, by reading the whole small table."""
        return cls.scan()

    @classmethod
    def followed(cls) -> Scan[Self]:
        """The active leagues, by reading the whole small table."""
        return cls.scan().where(League.active == True)  # noqa: E712 - a condition, not a test

    def keep(self) -> Put[Self]:
        """Write a league over what is there."""
        return self.put()

    @classmethod
    def amend(
        cls, league_id: str, *, name: str | None, code: str | None, active: bool | None
    ) -> Update[Self]:
        """Change what is given of a league that exists."""
        given = {"name": name, "code": code, "active": active}
        changed = {name: value for name, value in given.items() if value is not None}
        return cls.update(league_id=league_id).set(**changed)

    @classmethod
    def remove(cls, league_id: str) -> Delete[Self]:
        """Remove a league."""
        return cls.delete(league_id=league_id)
