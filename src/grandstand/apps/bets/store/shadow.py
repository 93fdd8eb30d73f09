"""Kept here: what Benny did not bet and why, and what a language model told him."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Entity, Get, Put, Query, Update, key


class ShadowBet(Entity, table=bets, times="seconds"):
    """A bet Benny's rules rejected, settled as if a unit had been staked."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    market_key: str
    selection: str
    prediction: str
    confidence: Decimal
    fair: Decimal | None = None
    odds: int
    bookmaker: str | None = None
    rule: str
    why: str
    reasoning: str
    commence_time: datetime
    placed_at: datetime
    verdict: str | None = None
    profit_units: Decimal | None = None
    settled_at: datetime | None = None

    row = key("BENNY#SHADOW", "{placed_at}#{game_id}#{market_key}")
    by_game = key("SHADOW#{game_id}", "{placed_at}#{market_key}", index="GameIndex")

    @classmethod
    def recent(cls) -> Query[Self]:
        """What was rejected, newest first."""
        return cls.row().newest()

    @classmethod
    def since(cls, start: datetime) -> Query[Self]:
        """What was rejected from a moment on."""
        return cls.row().since(placed_at=start)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """What was rejected of a game."""
        return cls.by_game(game_id=game_id)

    def record(self) -> Put[Self]:
        """Keep what was rejected."""
        return self.put()

    def judge(self, at: datetime, verdict: str, profit_units: Decimal | None) -> Update[Self]:
        """Note what would have come of it; again when the score is corrected."""
        told = type(self).update(**self.identity())
        return told.set(verdict=verdict, profit_units=profit_units, settled_at=at)


class Thought(Entity, table=bets, times="seconds"):
    """What was answered to a question, by the digest of all that was asked."""

    digest: str
    model_id: str
    asked: str
    answer: str
    at: datetime

    row = key("BENNY#THOUGHT", "{digest}")

    @classmethod
    def one(cls, digest: str) -> Get[Self]:
        """The answer to a question asked before."""
        return cls.get(digest=digest)

    def record(self) -> Put[Self]:
        """Keep an answer."""
        return self.put()
