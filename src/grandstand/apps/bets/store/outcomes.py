"""Kept here: how games ended, for both teams at once and for each of them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.model import pairing, slug
from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Entity, Get, Put, Query, key
from grandstand.storage.tables.declaration.times import TIMES


class GameOutcome(Entity, table=bets, times="seconds"):
    """How a game ended; a corrected score is a row of its own after it, and nothing is changed."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    home_score: Decimal
    away_score: Decimal
    winner: str | None = None
    completed_at: datetime
    corrected_at: datetime | None = None

    row = key("OUTCOME#{sport}#{game_id}", "{result}")
    h2h = key("H2H#{sport}#{pairing}", "{completed_at}", index="H2HIndex")

    @property
    def result(self) -> str:
        """The end of its key: RESULT, and for a correction when it came."""
        if self.corrected_at is None:
            return "RESULT"
        return f"RESULT#{TIMES['seconds'].write(self.corrected_at)}"

    @property
    def pairing(self) -> str:
        """The two teams, the same whoever was at home."""
        return pairing(self.home_team, self.away_team)

    @classmethod
    def first(cls, sport: str, game_id: str) -> Get[Self]:
        """How a game ended, as first told."""
        return cls.get(sport=sport, game_id=game_id, result="RESULT")

    @classmethod
    def final(cls, sport: str, game_id: str) -> Query[Self]:
        """How a game ended, by the last correction."""
        return cls.row(sport=sport, game_id=game_id).newest(1)

    @classmethod
    def told(cls, sport: str, game_id: str) -> Query[Self]:
        """How a game ended, as first told and then each correction."""
        return cls.row(sport=sport, game_id=game_id)

    @classmethod
    def meetings(cls, sport: str, team: str, other: str, n: int = 10) -> Query[Self]:
        """The last games two teams played against each other, newest first."""
        return cls.h2h(sport=sport, pairing=pairing(team, other)).newest(n)

    def record(self) -> Put[Self]:
        """Keep a result, or a correction, once."""
        return self.put().if_absent()


class TeamOutcome(Entity, table=bets, times="seconds"):
    """A game seen from one team, for its recent form."""

    completed_at: datetime
    game_id: str
    sport: str
    team: str
    opponent: str
    team_score: Decimal
    opponent_score: Decimal
    winner: str | None = None
    is_home: bool
    corrected_at: datetime | None = None

    row = key("TEAM_OUTCOME#{sport}#{team_slug}", "{completed_at}#{game_id}")
    form = key("TEAM#{sport}#{team_slug}", "{completed_at}", index="TeamOutcomesIndex")

    @property
    def team_slug(self) -> str:
        """The team as keys write it."""
        return slug(self.team)

    @classmethod
    def recent(cls, sport: str, team: str, n: int = 5) -> Query[Self]:
        """A team's last games, newest first."""
        return cls.form(sport=sport, team_slug=slug(team)).newest(n)

    def record(self) -> Put[Self]:
        """Keep a team's game; a correction takes its place."""
        return self.put()
