"""Kept here: Benny, people's bets, limits and favourites, as they are asked and told."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from grandstand.apps.bets.api.asking import GameText, Moment, to_second
from grandstand.apps.bets.api.shapes import (
    MONEY,
    BinModel,
    Dollars,
    IntervalModel,
    Number,
    RecordModel,
    Told,
    cents,
    dollars,
    interval_of,
    value_of,
)
from grandstand.apps.bets.service import (
    BennyView,
    LimitsDraft,
    WagerDraft,
    WagersImported,
    WagerSummary,
)
from grandstand.kit.routes import Strict

Money = Annotated[str, Field(pattern=MONEY, examples=["15.50"])]
_MOST_PRICE = 1_000_000


class BennyBetModel(Told):
    """A bet of Benny's; in the shadow book `rejected_by` names the rule that kept it out."""

    bet_id: str
    game_id: str
    sport: str
    home_team: str
    away_team: str
    market_key: str
    prediction: str
    confidence: Annotated[float, Field(validation_alias="probability")]
    odds: Annotated[int, Field(validation_alias="price")]
    bet_amount: Annotated[Dollars, Field(validation_alias="stake_cents")]
    commence_time: datetime
    placed_at: datetime
    status: str
    verdict: str | None
    payout: Annotated[Dollars | None, Field(validation_alias="payout_cents")]
    profit: Annotated[Dollars | None, Field(validation_alias="profit_cents")]
    settled_at: datetime | None
    ai_reasoning: Annotated[str, Field(validation_alias="reasoning")]
    ai_key_factors: Annotated[tuple[str, ...], Field(validation_alias="key_factors")]
    clv: float | None
    rejected_by: str | None


class BennyBetList(Told):
    """Bets, newest first; `cursor` leads to more."""

    bets: tuple[BennyBetModel, ...]
    count: int
    cursor: str | None


class BankrollPoint(Told):
    """How much there was at a moment."""

    timestamp: datetime
    bankroll: Dollars


class LearntModel(Told):
    """What Benny has learnt so far."""

    threshold: float
    adjustment: float
    kelly_fraction: float
    win_rate: float | None
    bets: int
    updated_at: datetime | None


class RuleModel(Told):
    """What a rule of Benny's kept away, had one unit been bet each time."""

    rule: str
    rejected: int
    settled: int
    won: int
    profit_units: float
    roi: IntervalModel | None


class BennyDashboard(Told):
    """Benny in public. All money is virtual; rates and returns are shares."""

    current_bankroll: Dollars
    open_stakes: Dollars
    weekly_budget: Dollars
    week_began: datetime
    total_bets: int
    pending_bets: int
    win_rate: float | None
    win_rate_interval: IntervalModel | None
    roi: float | None
    roi_interval: IntervalModel | None
    clv: IntervalModel | None
    profit: Dollars
    sports_performance: tuple[RecordModel, ...]
    bet_type_performance: tuple[RecordModel, ...]
    confidence_accuracy: tuple[BinModel, ...]
    best_bet: BennyBetModel | None
    worst_bet: BennyBetModel | None
    bankroll_history: tuple[BankrollPoint, ...]
    recent_bets: tuple[BennyBetModel, ...]
    learning: LearntModel
    rules: tuple[RuleModel, ...]

    @classmethod
    def of(cls, benny: BennyView) -> BennyDashboard:
        """Answer Benny as the public sees him."""
        recent = (*benny.open_bets, *benny.settled_bets)
        return cls(
            current_bankroll=dollars(benny.bankroll_cents),
            open_stakes=dollars(benny.open_stakes_cents),
            weekly_budget=dollars(benny.weekly_budget_cents),
            week_began=benny.week_began,
            total_bets=benny.bets,
            pending_bets=benny.pending,
            win_rate=value_of(benny.win_rate),
            win_rate_interval=interval_of(benny.win_rate),
            roi=value_of(benny.roi),
            roi_interval=interval_of(benny.roi),
            clv=interval_of(benny.clv),
            profit=dollars(benny.profit_cents),
            sports_performance=tuple(map(RecordModel.of, benny.by_sport)),
            bet_type_performance=tuple(map(RecordModel.of, benny.by_bet_type)),
            confidence_accuracy=tuple(map(BinModel.model_validate, benny.calibration)),
            best_bet=None if benny.best is None else BennyBetModel.model_validate(benny.best),
            worst_bet=None if benny.worst is None else BennyBetModel.model_validate(benny.worst),
            bankroll_history=_curve(benny.curve),
            recent_bets=tuple(map(BennyBetModel.model_validate, recent)),
            learning=LearntModel.model_validate(benny.learnt),
            rules=tuple(map(RuleModel.model_validate, benny.rules)),
        )


class WagerAsked(Strict):
    """A bet one made elsewhere; the same `token` is recorded once.

    `price` is American: at most -100, or at least 100.
    """

    game_id: GameText
    market_key: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$", examples=["spreads"])]
    side: Literal["home", "away", "draw", "over", "under"]
    price: Annotated[int, Field(ge=-_MOST_PRICE, le=_MOST_PRICE, examples=[-110])]
    stake: Money
    point: Annotated[
        Decimal | None, Field(ge=-10_000, le=10_000, decimal_places=2, examples=[-3.5])
    ] = None
    participant: Annotated[str | None, Field(max_length=80)] = None
    bookmaker: Annotated[str, Field(pattern=r"^[^#\x00-\x1f]{0,60}$")] = ""
    placed_at: Moment | None = None
    note: Annotated[str, Field(max_length=500)] = ""
    token: Annotated[str | None, Field(min_length=1, max_length=200)] = None

    def draft(self) -> WagerDraft:
        """Answer it as a draft."""
        return WagerDraft(
            game_id=self.game_id,
            market_key=self.market_key,
            side=self.side,
            price=self.price,
            stake_cents=cents(self.stake),
            point=self.point,
            bookmaker=self.bookmaker,
            placed_at=None if self.placed_at is None else to_second(self.placed_at),
            note=self.note,
            participant=self.participant,
            token=self.token,
        )


class WagerModel(Told):
    """A bet of the caller's, and how it turned out; `clv` in shares of the price."""

    wager_id: str
    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    side: str
    point: Number | None
    participant: str | None
    price: int
    stake: Annotated[Dollars, Field(validation_alias="stake_cents")]
    bookmaker: str
    note: str
    placed_at: datetime
    status: str
    verdict: str | None
    payout: Annotated[Dollars | None, Field(validation_alias="payout_cents")]
    profit: Annotated[Dollars | None, Field(validation_alias="profit_cents")]
    clv: float | None
    settled_at: datetime | None


class WagerList(Told):
    """The caller's bets; `cursor` leads to more."""

    wagers: tuple[WagerModel, ...]
    count: int
    cursor: str | None


class WagerSummaryModel(Told):
    """The caller's bets in sum; returns and rates are shares."""

    bets: int
    open: int
    staked: Dollars
    open_stakes: Dollars
    profit: Dollars
    roi: IntervalModel | None
    clv: IntervalModel | None
    win_rate: IntervalModel | None
    by_sport: tuple[RecordModel, ...]
    by_bet_type: tuple[RecordModel, ...]
    profit_history: tuple[BankrollPoint, ...]

    @classmethod
    def of(cls, found: WagerSummary) -> WagerSummaryModel:
        """Answer bets in sum as they are told."""
        return cls(
            bets=found.bets,
            open=found.open,
            staked=dollars(found.staked_cents),
            open_stakes=dollars(found.open_stakes_cents),
            profit=dollars(found.profit_cents),
            roi=interval_of(found.roi),
            clv=interval_of(found.clv),
            win_rate=interval_of(found.win_rate),
            by_sport=tuple(map(RecordModel.of, found.by_sport)),
            by_bet_type=tuple(map(RecordModel.of, found.by_bet_type)),
            profit_history=_curve(found.curve),
        )


class WagersAsked(Strict):
    """Bets as the text of a CSV file."""

    data: Annotated[
        str,
        Field(
            max_length=2_000_000, examples=["game_id,market,side,price,stake\ng1,h2h,home,-110,5"]
        ),
    ]


class LineRefused(Told):
    """A line that was not taken, and why."""

    line: int
    why: str


class WagersTaken(Told):
    """What of a file was taken in; lines that were there before are `known`."""

    recorded: int
    known: int
    refused: tuple[LineRefused, ...]

    @classmethod
    def of(cls, found: WagersImported) -> WagersTaken:
        """Answer what became of a file as it is told."""
        refused = tuple(LineRefused(line=line, why=why) for line, why in found.refused)
        return cls(recorded=found.recorded, known=found.known, refused=refused)


class LimitsAsked(Strict):
    """The limits one wants; None lifts one."""

    stake_per_bet: Money | None = None
    stake_per_day: Money | None = None
    loss_per_week: Money | None = None

    def draft(self) -> LimitsDraft:
        """Answer them as a draft."""
        return LimitsDraft(*(None if each is None else cents(each) for each in self._all()))

    def _all(self) -> tuple[str | None, str | None, str | None]:
        return self.stake_per_bet, self.stake_per_day, self.loss_per_week


class TimeOutAsked(Strict):
    """Until when no bets are taken."""

    until: Moment


class LimitsModel(Told):
    """What the caller allows themselves and how much of it is used; None is no limit."""

    stake_per_bet: Annotated[Dollars | None, Field(validation_alias="stake_per_bet_cents")]
    stake_per_day: Annotated[Dollars | None, Field(validation_alias="stake_per_day_cents")]
    loss_per_week: Annotated[Dollars | None, Field(validation_alias="loss_per_week_cents")]
    staked_today: Annotated[Dollars, Field(validation_alias="staked_today_cents")]
    lost_this_week: Annotated[Dollars, Field(validation_alias="lost_this_week_cents")]
    time_out_until: datetime | None
    loosens_at: datetime | None


class FavouriteModel(Told):
    """A team the caller likes."""

    sport: str
    team: str
    since: datetime


class FavouriteList(Told):
    """The teams the caller likes."""

    favourites: tuple[FavouriteModel, ...]


def _curve(points: tuple[tuple[datetime, int], ...]) -> tuple[BankrollPoint, ...]:
    return tuple(BankrollPoint(timestamp=at, bankroll=dollars(amount)) for at, amount in points)
