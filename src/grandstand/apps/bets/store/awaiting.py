"""Kept here: games a result is awaited of, results in their order, bookmakers met, and quotas."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal, Self, TypeAlias

from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, key

KeptScoreStatus: TypeAlias = Literal["final", "postponed", "abandoned", "void"]


class Awaited(Entity, table=bets, times="seconds"):
    """A game that prices, predictions or bets wait for the result of."""

    sport: str
    game_id: str
    home_team: str
    away_team: str
    commence_time: datetime

    row = key("AWAITED#{sport}", "{commence_time}#{game_id}")

    @classmethod
    def one(cls, sport: str, commence_time: datetime, game_id: str) -> Get[Self]:
        """Whether a game's result is awaited."""
        return cls.get(sport=sport, commence_time=commence_time, game_id=game_id)

    @classmethod
    def begun(cls, sport: str, before: datetime) -> Query[Self]:
        """Games whose result is awaited and that began before a moment, longest ago first."""
        return cls.row(sport=sport).before(commence_time=before)

    @classmethod
    def between(cls, sport: str, start: datetime, end: datetime) -> Query[Self]:
        """Games whose result is awaited and that begin within a span of time."""
        return cls.row(sport=sport).between(commence_time=(start, end))

    def expect(self) -> Put[Self]:
        """Await a game's result."""
        return self.put()

    def cease(self) -> Delete[Self]:
        """Await it no longer."""
        return type(self).delete(**self.identity())


class ResultLine(Entity, table=bets, times="seconds"):
    """A sport's result in the order games ended, and when it was known; a correction is another."""

    sport: str
    game_id: str
    home_team: str
    away_team: str
    commence_time: datetime
    completed_at: datetime
    home_score: Decimal
    away_score: Decimal
    known_at: datetime
    status: KeptScoreStatus = "final"
    corrected: bool = False

    row = key("RESULTS#{sport}", "{completed_at}#{game_id}#{known_at}")

    @classmethod
    def since(cls, sport: str, start: datetime) -> Query[Self]:
        """Results of games that ended from a moment on, in that order."""
        return cls.row(sport=sport).since(completed_at=start)

    @classmethod
    def within(cls, sport: str, start: datetime, end: datetime) -> Query[Self]:
        """Results of games that ended within a span of time, in that order."""
        return cls.row(sport=sport).between(completed_at=(start, end))

    def record(self) -> Put[Self]:
        """Keep a result."""
        return self.put()


class GameNote(Entity, table=bets, times="seconds"):
    """Which sport a game belongs to, who plays and when: what its id alone leads to.

    `told_at` has when each bookmaker's prices were last told, changed or not.
    """

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    known_at: datetime
    told_at: dict[str, datetime] | None = None

    row = key("GAME#{game_id}", "NOTE")

    @classmethod
    def of_game(cls, game_id: str) -> Get[Self]:
        """What is known of a game."""
        return cls.get(game_id=game_id)

    def keep(self) -> Put[Self]:
        """Write what is known of a game over what was."""
        return self.put()


class BookmakerSeen(Entity, table=bets, times="seconds"):
    """That a bookmaker has given prices in a sport."""

    sport: str
    bookmaker: str
    first_seen: datetime

    row = key("BOOKMAKERS#{sport}", "{bookmaker}")

    @classmethod
    def of_sport(cls, sport: str) -> Query[Self]:
        """The bookmakers of a sport, by name."""
        return cls.row(sport=sport)

    def note(self) -> Put[Self]:
        """Note that a bookmaker gives prices."""
        return self.put()


class QuotaUse(Entity, table=bets, times="seconds"):
    """What one request took of a source's quota."""

    source: str
    at: datetime
    what: str
    credits: int
    left: int | None = None

    row = key("QUOTA#{source}", "{at}#{what}")

    @classmethod
    def since(cls, source: str, start: datetime) -> Query[Self]:
        """What was taken of a quota from a moment on."""
        return cls.row(source=source).since(at=start)

    def record(self) -> Put[Self]:
        """Keep what a request took."""
        return self.put()
