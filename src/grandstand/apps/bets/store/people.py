"""Kept here: the models people build, and Benny's bets, bankroll and what he has learnt."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.model import BetStatus, ModelStatus, Tally
from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, Update, absent, field, key


class UserModel(Entity, table=bets, times="seconds"):
    """A model a person built by weighing sources."""

    user_id: str
    model_id: str
    name: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: dict[str, Decimal]
    min_confidence: Decimal
    status: ModelStatus = "active"
    auto_adjust_weights: bool | None = None
    description: str | None = None
    datasets: dict[str, Decimal] | None = None
    created_at: datetime
    updated_at: datetime

    row = key("USER_MODEL#{user_id}", "{model_id}")
    owned = key("{user_id}", "{model_id}", index="UserModelsIndex")
    by_sport = key("USER_MODELS#{sport}", "{user_id}#{model_id}", index="GSI1")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's models."""
        return cls.owned(user_id=user_id)

    @classmethod
    def of_sport(cls, sport: str) -> Query[Self]:
        """Everybody's models of a sport."""
        return cls.by_sport(sport=sport)

    @classmethod
    def by_id(cls, user_id: str, model_id: str) -> Get[Self]:
        """One of a person's models."""
        return cls.get(user_id=user_id, model_id=model_id)

    def create(self) -> Put[Self]:
        """Keep a model that is not there yet."""
        return self.put().if_absent()

    def revise(self) -> Put[Self]:
        """Write a model over what it was."""
        return self.put().if_present()

    @classmethod
    def weigh(
        cls, user_id: str, model_id: str, data_sources: dict[str, Decimal], at: datetime
    ) -> Update[Self]:
        """Give a model's sources new weights, if it lets them be adjusted."""
        model = cls.update(user_id=user_id, model_id=model_id)
        model = model.set(data_sources=data_sources, updated_at=at)
        return model.when(UserModel.auto_adjust_weights == True)  # noqa: E712 - a condition

    @classmethod
    def turn(cls, user_id: str, model_id: str, status: ModelStatus, at: datetime) -> Update[Self]:
        """Pause a model, or let it go on."""
        return cls.update(user_id=user_id, model_id=model_id).set(status=status, updated_at=at)

    @classmethod
    def remove(cls, user_id: str, model_id: str) -> Delete[Self]:
        """Remove one of a person's models."""
        return cls.delete(user_id=user_id, model_id=model_id)


class ModelSlot(Entity, table=bets, times="seconds"):
    """One of the places a person has for models, and which model takes it."""

    user_id: str
    slot: str
    model_id: str

    row = key("USER_MODEL_SLOT#{user_id}", "{slot}")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """The places a person has taken, every write counted."""
        return cls.row(user_id=user_id).consistent()

    def take(self) -> Put[Self]:
        """Take a place that is free, in the transaction that creates the model."""
        return self.put().if_absent()

    def free(self) -> Delete[Self]:
        """Free a place, in the transaction that removes the model."""
        return type(self).delete(**self.identity())


class BennyBet(Entity, table=bets, times="seconds"):
    """One bet of Benny's, with his reasons; `bet_id` repeats the end of its key."""

    bet_id: str
    game_id: str
    sport: str
    home_team: str
    away_team: str
    prediction: str
    confidence: Decimal
    ai_reasoning: str
    ai_key_factors: tuple[str, ...]
    bet_amount: Decimal
    odds: int
    market_key: str
    commence_time: datetime
    placed_at: datetime
    status: BetStatus = "pending"
    bankroll_before: Decimal
    payout: Decimal | None = None
    profit: Decimal | None = None
    settled_at: datetime | None = None
    selection: str | None = None
    raw: Decimal | None = None
    fair: Decimal | None = None
    bookmaker: str | None = None
    model_id: str | None = None
    thought: str | None = None
    week: datetime | None = None
    verdict: str | None = None
    closing: Decimal | None = None
    clv: Decimal | None = None
    revision: int | None = None

    row = key("BENNY", "BET#{placed_at}#{game_id}")
    by_start = key("BENNY#BETS", "{commence_time}", index="GSI1")
    by_game = key("BENNY_BETS#{game_id}", "{placed_at}", index="GameIndex")

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Benny's bets on a game."""
        return cls.by_game(game_id=game_id)

    @classmethod
    def recent(cls, n: int = 20) -> Query[Self]:
        """Benny's last bets, newest first."""
        return cls.row().newest(n)

    @classmethod
    def starting(cls, start: datetime, end: datetime) -> Query[Self]:
        """Benny's bets on games that begin within a span of time."""
        return cls.by_start().between(commence_time=(start, end))

    @classmethod
    def history(cls) -> Query[Self]:
        """All of Benny's bets, newest first."""
        return cls.row().newest()

    @classmethod
    def since(cls, start: datetime) -> Query[Self]:
        """Benny's bets placed from a moment on."""
        return cls.row().since(placed_at=start)

    @classmethod
    def one(cls, placed_at: datetime, game_id: str) -> Get[Self]:
        """One of Benny's bets."""
        return cls.get(placed_at=placed_at, game_id=game_id)

    def place(self) -> Put[Self]:
        """Keep a bet, once, in the transaction that takes its stake."""
        return self.put().if_absent()

    def judge(
        self,
        at: datetime,
        status: BetStatus,
        verdict: str,
        *,
        payout: Decimal,
        profit: Decimal,
        closing: Decimal | None = None,
        clv: Decimal | None = None,
    ) -> Update[Self]:
        """End a bet, or end it anew, if it was not ended since it was read."""
        told = type(self).update(**self.identity())
        told = told.set(
            status=status,
            verdict=verdict,
            payout=payout,
            profit=profit,
            closing=closing,
            clv=clv,
            settled_at=at,
            revision=(self.revision or 0) + 1,
        )
        if self.revision is None:
            return told.when((BennyBet.status == "pending") & absent(BennyBet.revision))
        return told.when(field(BennyBet.revision) == self.revision)


class Bankroll(Entity, table=bets, times="seconds"):
    """What Benny has now."""

    amount: Decimal
    last_reset: datetime
    updated_at: datetime

    row = key("BENNY", "BANKROLL")

    @classmethod
    def current(cls) -> Get[Self]:
        """What Benny has now, every write counted."""
        return cls.get().consistent()

    def open(self) -> Put[Self]:
        """Give Benny his first money, once."""
        return self.put().if_absent()

    @classmethod
    def take(cls, stake: Decimal, at: datetime) -> Update[Self]:
        """Take a stake, if there is as much."""
        taken = cls.update().add(amount=-stake).set(updated_at=at)
        return taken.when(Bankroll.amount >= stake)

    @classmethod
    def change(cls, amount: Decimal, at: datetime) -> Update[Self]:
        """Add or take away what a corrected result or a transfer moves."""
        return cls.update().add(amount=amount).set(updated_at=at)

    @classmethod
    def begin(cls, amount: Decimal, week: datetime, at: datetime) -> Update[Self]:
        """Begin a week by adding, or taking back, what its budget differs by, once."""
        begun = cls.update().add(amount=amount).set(last_reset=week, updated_at=at)
        return begun.when(Bankroll.last_reset < week)


class BankrollHistory(Entity, table=bets, times="seconds"):
    """What Benny had at a moment."""

    amount: Decimal
    updated_at: datetime

    row = key("BENNY", "BANKROLL#{updated_at}")

    @classmethod
    def since(cls, start: datetime) -> Query[Self]:
        """What Benny had from a moment on."""
        return cls.row().since(updated_at=start)

    def record(self) -> Put[Self]:
        """Keep what Benny has now."""
        return self.put()


class Learning(Entity, table=bets, times="seconds"):
    """What Benny has learnt from his settled bets."""

    min_confidence_adjustment: Decimal
    kelly_fraction: Decimal
    performance_by_sport: dict[str, Tally]
    performance_by_bet_type: dict[str, Tally]
    overall_win_rate: Decimal
    total_bets_analyzed: int
    last_updated: datetime

    row = key("BENNY#LEARNING", "PARAMETERS")

    @classmethod
    def current(cls) -> Get[Self]:
        """What Benny has learnt so far."""
        return cls.get()

    def keep(self) -> Put[Self]:
        """Write what Benny has learnt over what he knew."""
        return self.put()
