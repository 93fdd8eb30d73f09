"""Kept here: what the service answers of money: Benny, the ledger, people's bets and limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.service.values import Bin, Interval


@dataclass(frozen=True, slots=True)
class BennyBetView:
    """One bet of Benny's; in the shadow book `rejected_by` names the rule that kept it out."""

    bet_id: str
    game_id: str
    sport: str
    home_team: str
    away_team: str
    market_key: str
    prediction: str
    probability: float
    price: int
    stake_cents: int
    commence_time: datetime
    placed_at: datetime
    status: str
    verdict: str | None
    payout_cents: int | None
    profit_cents: int | None
    settled_at: datetime | None
    reasoning: str
    key_factors: tuple[str, ...]
    clv: float | None = None
    rejected_by: str | None = None
    model_id: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """Bets of one kind: how many, how many won, and what came of them."""

    name: str
    settled: int
    won: int
    staked_cents: int
    profit_cents: int
    roi: float | None


@dataclass(frozen=True, slots=True)
class RuleWorth:
    """What a rule of Benny's kept away, had it been bet flat: below 0 the rule earned its keep."""

    rule: str
    rejected: int
    settled: int
    won: int
    profit_units: float
    roi: Interval | None


@dataclass(frozen=True, slots=True)
class Learnt:
    """What Benny has learnt so far."""

    threshold: float
    adjustment: float
    kelly_fraction: float
    win_rate: float | None
    bets: int
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class BennyView:
    """Benny in public: his money, his bets, what he has learnt and what his rules are worth."""

    bankroll_cents: int
    open_stakes_cents: int
    weekly_budget_cents: int
    week_began: datetime
    bets: int
    pending: int
    win_rate: Interval | None
    roi: Interval | None
    clv: Interval | None
    profit_cents: int
    by_sport: tuple[Record, ...]
    by_bet_type: tuple[Record, ...]
    calibration: tuple[Bin, ...]
    learnt: Learnt
    curve: tuple[tuple[datetime, int], ...]
    open_bets: tuple[BennyBetView, ...]
    settled_bets: tuple[BennyBetView, ...]
    best: BennyBetView | None
    worst: BennyBetView | None
    rules: tuple[RuleWorth, ...]


@dataclass(frozen=True, slots=True)
class Traded:
    """What a day's trading did."""

    considered: int
    placed: int
    rejected: int
    staked_cents: int
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class LedgerProof:
    """A book of the ledger recomputed: entries, balances by account, and whatever is wrong."""

    book: str
    entries: int
    balances: dict[str, int]
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether every balance and link holds."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class WagerDraft:
    """A bet a person made somewhere: on what, at which price, for how much.

    `side` is home, away, draw, over or under; a player's market needs its `participant`. The same
    `token` records it once.
    """

    game_id: str
    market_key: str
    side: str
    price: int
    stake_cents: int
    point: Decimal | None = None
    bookmaker: str = ""
    placed_at: datetime | None = None
    note: str = ""
    participant: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class WagerView:
    """A person's bet, and how it turned out; `clv` in shares of the price."""

    wager_id: str
    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    side: str
    point: Decimal | None
    participant: str | None
    price: int
    stake_cents: int
    bookmaker: str
    note: str
    placed_at: datetime
    status: str
    verdict: str | None
    payout_cents: int | None
    profit_cents: int | None
    clv: float | None
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class WagerSummary:
    """A person's bets in sum."""

    bets: int
    open: int
    staked_cents: int
    open_stakes_cents: int
    profit_cents: int
    roi: Interval | None
    clv: Interval | None
    win_rate: Interval | None
    by_sport: tuple[Record, ...]
    by_bet_type: tuple[Record, ...]
    curve: tuple[tuple[datetime, int], ...]


@dataclass(frozen=True, slots=True)
class WagersImported:
    """What of a file of bets was taken in, and what was refused and why."""

    recorded: int
    known: int
    refused: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class LimitsView:
    """What a person allows themselves, and how much of it is used; None is no limit.

    A tighter limit counts at once, a looser one a day later (`loosens_at`).
    """

    stake_per_bet_cents: int | None
    stake_per_day_cents: int | None
    loss_per_week_cents: int | None
    time_out_until: datetime | None
    staked_today_cents: int
    lost_this_week_cents: int
    loosens_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LimitsDraft:
    """The limits a person wants; None lifts one."""

    stake_per_bet_cents: int | None = None
    stake_per_day_cents: int | None = None
    loss_per_week_cents: int | None = None


@dataclass(frozen=True, slots=True)
class Favourite:
    """A team a person likes."""

    sport: str
    team: str
    since: datetime


@dataclass(frozen=True, slots=True)
class BestPrice:
    """The best price there is for one side, and where; `fair` is its chance without margin."""

    game_id: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    name: str
    point: Decimal | None
    price: int
    bookmaker: str
    age_seconds: int
    fair: float | None
    expected_return: float | None


@dataclass(frozen=True, slots=True)
class Leg:
    """One bet of several that belong together; `share` is its part of the whole stake."""

    bookmaker: str
    outcome: PricedOutcome
    share: float
    age_seconds: int


@dataclass(frozen=True, slots=True)
class Arbitrage:
    """Bets at several bookmakers that pay more than they cost, however the game ends."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    profit_share: float
    legs: tuple[Leg, ...]


@dataclass(frozen=True, slots=True)
class Middle:
    """Two bets that both win when the result falls between their lines."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    low: Decimal
    high: Decimal
    cost_share: float
    legs: tuple[Leg, Leg]


@dataclass(frozen=True, slots=True)
class StaleLine:
    """A bookmaker whose price stood still, for `age_seconds`, while the others moved."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    bookmaker: str
    market_key: str
    outcome: PricedOutcome
    fair: float
    edge: float
    age_seconds: int


@dataclass(frozen=True, slots=True)
class FairOdds:
    """Prices without their margin: chance, decimal and American price of each side."""

    method: str
    margin: float
    probabilities: tuple[float, ...]
    decimals: tuple[float, ...]
    americans: tuple[int, ...]
