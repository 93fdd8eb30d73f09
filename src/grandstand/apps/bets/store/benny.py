"""Stored data of Benny: bets, rejected bets, bankroll, learning and cached opinions."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.domain.records import BetStatus, Tally
from grandstand.apps.bets.store import GameRow, bets
from grandstand.storage.tables import Entity, Get, Put, Query, Update, absent, field, key


class BennyBet(GameRow, table=bets, times="seconds"):
    """One of Benny's bets with his reasons; `bet_id` repeats the end of its key."""

    bet_id: str
    prediction: str
    confidence: Decimal
    ai_reasoning: str
    ai_key_factors: tuple[str, ...]
    bet_amount: Decimal
    odds: int
    market_key: str
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
    opinion_digest: str | None = None
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
    def history(cls) -> Query[Self]:
        """All of Benny's bets, newest first."""
        return cls.row().newest()

    @classmethod
    def since(cls, start: datetime) -> Query[Self]:
        """Benny's bets placed from a time on."""
        return cls.row().since(placed_at=start)

    @classmethod
    def by_key(cls, placed_at: datetime, game_id: str) -> Get[Self]:
        """One of Benny's bets."""
        return cls.get(placed_at=placed_at, game_id=game_id)

    def place(self) -> Put[Self]:
        """Store a bet once, in the transaction that takes its stake."""
        return self.put().if_absent()

    def settle(
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
        """Settle a bet, or settle it again, if it did not change since it was read."""
        update = type(self).update(**self.identity())
        update = update.set(
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
            return update.when((BennyBet.status == "pending") & absent(BennyBet.revision))
        return update.when(field(BennyBet.revision) == self.revision)


class ShadowBet(GameRow, table=bets, times="seconds"):
    """A bet Benny's rules rejected, settled as if one unit had been staked."""

    market_key: str
    selection: str
    prediction: str
    confidence: Decimal
    fair: Decimal | None = None
    odds: int
    bookmaker: str | None = None
    rule: str
    reason: str
    reasoning: str
    placed_at: datetime
    verdict: str | None = None
    profit_units: Decimal | None = None
    settled_at: datetime | None = None

    row = key("BENNY#SHADOW", "{placed_at}#{game_id}#{market_key}")
    by_game = key("SHADOW#{game_id}", "{placed_at}#{market_key}", index="GameIndex")

    @classmethod
    def recent(cls) -> Query[Self]:
        """Rejected bets, newest first."""
        return cls.row().newest()

    @classmethod
    def since(cls, start: datetime) -> Query[Self]:
        """Bets rejected from a time on."""
        return cls.row().since(placed_at=start)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Rejected bets on a game."""
        return cls.by_game(game_id=game_id)

    def record(self) -> Put[Self]:
        """Store a rejected bet."""
        return self.put()

    def settle(self, at: datetime, verdict: str, profit_units: Decimal | None) -> Update[Self]:
        """Store what the bet would have returned; again if the score is corrected."""
        update = type(self).update(**self.identity())
        return update.set(verdict=verdict, profit_units=profit_units, settled_at=at)


class Bankroll(Entity, table=bets, times="seconds"):
    """Benny's current bankroll."""

    amount: Decimal
    last_reset: datetime
    updated_at: datetime

    row = key("BENNY", "BANKROLL")

    @classmethod
    def current(cls) -> Get[Self]:
        """Benny's current bankroll, read consistently."""
        return cls.get().consistent()

    def open(self) -> Put[Self]:
        """Store Benny's first bankroll, once."""
        return self.put().if_absent()

    @classmethod
    def withdraw(cls, stake: Decimal, at: datetime) -> Update[Self]:
        """Take a stake if the bankroll covers it."""
        update = cls.update().add(amount=-stake).set(updated_at=at)
        return update.when(Bankroll.amount >= stake)

    @classmethod
    def adjust(cls, amount: Decimal, at: datetime) -> Update[Self]:
        """Add or subtract the amount of a corrected result or transfer."""
        return cls.update().add(amount=amount).set(updated_at=at)

    @classmethod
    def start_week(cls, amount: Decimal, week: datetime, at: datetime) -> Update[Self]:
        """Start a week by adjusting the bankroll to its budget, once."""
        update = cls.update().add(amount=amount).set(last_reset=week, updated_at=at)
        return update.when(Bankroll.last_reset < week)


class BankrollHistory(Entity, table=bets, times="seconds"):
    """Benny's bankroll at a time."""

    amount: Decimal
    updated_at: datetime

    row = key("BENNY", "BANKROLL#{updated_at}")

    @classmethod
    def since(cls, start: datetime) -> Query[Self]:
        """Benny's bankroll from a time on."""
        return cls.row().since(updated_at=start)

    def record(self) -> Put[Self]:
        """Store Benny's current bankroll."""
        return self.put()


class Learning(Entity, table=bets, times="seconds"):
    """What Benny has learned from his settled bets."""

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
        """Benny's learning parameters."""
        return cls.get()

    def save(self) -> Put[Self]:
        """Write the learning parameters, replacing the previous ones."""
        return self.put()


class CachedOpinion(Entity, table=bets, times="seconds"):
    """A language model's answer, by the digest of the prompt."""

    digest: str
    model_id: str
    prompt: str
    answer: str
    at: datetime

    row = key("BENNY#OPINION", "{digest}")

    @classmethod
    def by_digest(cls, digest: str) -> Get[Self]:
        """The cached answer to a prompt."""
        return cls.get(digest=digest)

    def record(self) -> Put[Self]:
        """Store an answer."""
        return self.put()
