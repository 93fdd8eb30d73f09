"""Kept here: the bets of people, what they allow themselves, and the teams they like."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal, Self, TypeAlias

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Put,
    Query,
    Update,
    key,
    version,
)

WagerStatus: TypeAlias = Literal["open", "settled", "void"]


class Wager(Entity, table=bets, times="seconds"):
    """A bet a person made somewhere, and how it turned out; found by its game too."""

    user_id: str
    wager_id: str
    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    selection: str
    prediction: str
    odds: int
    stake_cents: int
    bookmaker: str | None = None
    note: str | None = None
    placed_at: datetime
    status: WagerStatus = "open"
    verdict: str | None = None
    payout_cents: int | None = None
    profit_cents: int | None = None
    closing: Decimal | None = None
    clv: Decimal | None = None
    settled_at: datetime | None = None
    revision: int = 0

    row = key("WAGER#{user_id}", "{wager_id}")
    by_game = key("WAGERS#{game_id}", "{user_id}#{wager_id}", index="GameIndex")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's bets, newest first."""
        return cls.row(user_id=user_id).newest()

    @classmethod
    def one(cls, user_id: str, wager_id: str) -> Get[Self]:
        """One bet of a person, every write counted."""
        return cls.get(user_id=user_id, wager_id=wager_id).consistent()

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Everybody's bets on a game."""
        return cls.by_game(game_id=game_id)

    def record(self) -> Put[Self]:
        """Keep a bet, once, in the transaction that counts its stake."""
        return self.put().if_absent()

    def judge(
        self,
        at: datetime,
        status: WagerStatus,
        verdict: str,
        *,
        payout_cents: int,
        profit_cents: int,
        closing: Decimal | None = None,
        clv: Decimal | None = None,
    ) -> Update[Self]:
        """End a bet, or end it anew, if it was not ended since it was read."""
        told = type(self).update(**self.identity())
        told = told.set(
            status=status,
            verdict=verdict,
            payout_cents=payout_cents,
            profit_cents=profit_cents,
            closing=closing,
            clv=clv,
            settled_at=at,
            revision=self.revision + 1,
        )
        return told.when(Wager.revision == self.revision)

    def withdraw(self) -> Delete[Self]:
        """Take an open bet back, in the transaction that gives its stake back."""
        return type(self).delete(**self.identity()).when(Wager.status == "open")

    def drop(self) -> Delete[Self]:
        """Erase a bet with everything kept of its person."""
        return type(self).delete(**self.identity())


class KeptLimits(Entity, table=bets, times="seconds"):
    """What a person allows themselves; None is no limit."""

    user_id: str
    stake_per_bet_cents: int | None = None
    stake_per_day_cents: int | None = None
    loss_per_week_cents: int | None = None
    wanted: dict[str, int] | None = None
    loosens_at: datetime | None = None
    time_out_until: datetime | None = None
    written: int = version()

    row = key("LIMITS#{user_id}", "CURRENT")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """A person's limits, every write counted."""
        return cls.get(user_id=user_id).consistent()

    def keep(self) -> Put[Self]:
        """Write limits over those they were read as."""
        return self.put()

    @classmethod
    def forget(cls, user_id: str) -> Delete[Self]:
        """Erase a person's limits."""
        return cls.delete(user_id=user_id)


class FavouriteTeam(Entity, table=bets, times="seconds"):
    """A team a person likes; found by the team too."""

    user_id: str
    sport: str
    team: str
    since: datetime

    row = key("FAVOURITES#{user_id}", "{sport}#{team_slug}")
    by_team = key("FAVOURED#{sport}#{team_slug}", "{user_id}", index="GSI1")

    @property
    def team_slug(self) -> str:
        """The team as keys write it."""
        return slug(self.team)

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """The teams a person likes."""
        return cls.row(user_id=user_id)

    @classmethod
    def of_team(cls, sport: str, team: str) -> Query[Self]:
        """Everybody who likes a team."""
        return cls.by_team(sport=sport, team_slug=slug(team))

    def like(self) -> Put[Self]:
        """Like a team."""
        return self.put()

    @classmethod
    def unlike(cls, user_id: str, sport: str, team: str) -> Delete[Self]:
        """Like a team no longer; the answer is None when it was not liked."""
        return cls.delete(user_id=user_id, sport=sport, team_slug=slug(team))
