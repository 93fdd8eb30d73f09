"""Kept here: the figures of teams and players, and who is injured."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.model import InjuryStatus, slug
from grandstand.apps.bets.store.table import SCHEMA_VERSION, bets, end_of_key
from grandstand.storage.tables import Entity, Put, Query, attribute, key
from grandstand.storage.tables.values import Item


class TeamStats(Entity, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """A team's figures at a date of a season."""

    team: str
    sport: str
    season: str
    stat_date: date = attribute("date")
    stats: dict[str, Decimal]
    updated_at: datetime

    row = key("TEAM_STATS#{sport}#{team_slug}", "{season}#{stat_date}")

    @property
    def team_slug(self) -> str:
        """The team as keys write it."""
        return slug(self.team)

    @classmethod
    def of_season(cls, sport: str, team: str, season: str) -> Query[Self]:
        """A team's figures through a season, newest first."""
        return cls.row(sport=sport, team_slug=slug(team), season=season).newest()

    def keep(self) -> Put[Self]:
        """Write a team's figures of a date over what is there."""
        return self.put()

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Without a version the date stands in the key alone."""
        return {"date": end_of_key(item), **item}


class PlayerStats(Entity, table=bets, times="seconds"):
    """A player's figures in a game."""

    player_name: str
    sport: str
    team: str
    game_id: str
    stats: dict[str, Decimal]
    updated_at: datetime

    row = key("PLAYER_STATS#{sport}#{player_name}", "{game_id}")
    by_game = key("{game_id}", "PLAYER_STATS#{sport}#{player_name}", index="GameIndex")

    @classmethod
    def of_player(cls, sport: str, player_name: str) -> Query[Self]:
        """A player's figures in every game."""
        return cls.row(sport=sport, player_name=player_name)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Every player's figures in a game."""
        return cls.by_game(game_id=game_id)

    def keep(self) -> Put[Self]:
        """Write a player's figures in a game over what is there."""
        return self.put()


class Meeting(Entity, table=bets, times="seconds"):
    """A game on a team's schedule, and when that was known."""

    sport: str
    team: str
    opponent: str
    starts_at: datetime
    is_home: bool
    known_at: datetime

    row = key("SCHEDULE#{sport}#{team_slug}", "{starts_at}#{opponent_slug}")

    @property
    def team_slug(self) -> str:
        """The team as keys write it."""
        return slug(self.team)

    @property
    def opponent_slug(self) -> str:
        """The other team as keys write it."""
        return slug(self.opponent)

    @classmethod
    def of_team(cls, sport: str, team: str, since: datetime) -> Query[Self]:
        """A team's games from a moment on, played and to come."""
        return cls.row(sport=sport, team_slug=slug(team)).since(starts_at=since)

    def keep(self) -> Put[Self]:
        """Write a game of a schedule over what is there."""
        return self.put()


class Injury(Entity, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """A player's injury as reported on a date."""

    team: str
    player: str
    sport: str
    reported_on: date = attribute("date")
    status: InjuryStatus
    injury: str
    impact: Decimal
    updated_at: datetime

    row = key("INJURIES#{sport}#{team_slug}", "{player}#{reported_on}")

    @property
    def team_slug(self) -> str:
        """The team as keys write it."""
        return slug(self.team)

    @classmethod
    def of_team(cls, sport: str, team: str) -> Query[Self]:
        """Every injury reported of a team's players."""
        return cls.row(sport=sport, team_slug=slug(team))

    def keep(self) -> Put[Self]:
        """Write the report of a date over what is there."""
        return self.put()

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Without a version the date stands in the key alone."""
        return {"date": end_of_key(item), **item}
