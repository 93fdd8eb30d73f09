"""Kept here: what the service answers of games, predictions, models and how good they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Generic, TypeVar

from grandstand.apps.bets.model import (
    AnalysisType,
    Evidence,
    PricedOutcome,
    Recommendation,
)
from grandstand.apps.bets.service.ports import ExchangePrice

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of many, and the position the next ones follow; None at the end."""

    items: tuple[T, ...]
    position: str | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """One bookmaker's latest price of one market; `age_seconds` since it was last told."""

    bookmaker: str
    market_key: str
    outcomes: tuple[PricedOutcome, ...]
    captured_at: datetime
    age_seconds: int
    player: str | None = None


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game on the board: who, when, and every bookmaker's latest prices."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    quotes: tuple[Quoted, ...]
    picks: tuple[Pick, ...] = ()
    home_path: tuple[tuple[datetime, float], ...] = ()
    exchange: tuple[ExchangePrice, ...] = ()


@dataclass(frozen=True, slots=True)
class Contribution:
    """How far one input moved a prediction, in log-odds towards the pick."""

    source: str
    contribution: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """A model's prediction as it stands, with what is known of how it turned out.

    `probability` is the calibrated chance of the pick; `price` the American price it was taken at.
    """

    model: str
    analysis_type: AnalysisType
    sport: str
    bookmaker: str
    game_id: str
    home_team: str
    away_team: str
    market_key: str
    side: str
    point: Decimal | None
    prediction: str
    probability: float
    reasoning: str
    commence_time: datetime
    created_at: datetime
    player_name: str | None = None
    price: int | None = None
    expected_return: float | None = None
    risk_level: str = ""
    is_inverse: bool = False
    original_prediction: str | None = None
    reasons: tuple[Contribution, ...] = ()
    verdict: str | None = None
    correct: bool | None = None
    closing_probability: float | None = None


@dataclass(frozen=True, slots=True)
class LinePoint:
    """One captured price of a bookmaker's market."""

    captured_at: datetime
    outcomes: tuple[PricedOutcome, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Every price one bookmaker gave for one market, oldest first."""

    bookmaker: str
    market_key: str
    points: tuple[LinePoint, ...]
    player: str | None = None


@dataclass(frozen=True, slots=True)
class PastResult:
    """A finished game seen from one team."""

    game_id: str
    completed_at: datetime
    team: str
    opponent: str
    team_score: Decimal
    opponent_score: Decimal
    is_home: bool


@dataclass(frozen=True, slots=True)
class InjuryView:
    """Who is injured, as last reported."""

    team: str
    player: str
    status: str
    injury: str
    reported_on: date


@dataclass(frozen=True, slots=True)
class FinalScore:
    """How a game ended; `corrected_at` when the score was told anew."""

    home_score: Decimal
    away_score: Decimal
    completed_at: datetime
    corrected_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GameView:
    """Everything about one game."""

    game: GameSummary
    lines: tuple[Line, ...]
    closing: tuple[Quoted, ...]
    picks: tuple[Pick, ...]
    home_form: tuple[PastResult, ...]
    away_form: tuple[PastResult, ...]
    meetings: tuple[PastResult, ...]
    injuries: tuple[InjuryView, ...]
    exchange: tuple[ExchangePrice, ...] = ()
    score: FinalScore | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability diagram; the share that won lies between `low` and `high`."""

    low: float
    high: float
    count: int
    mean_probability: float
    share_won: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with the bounds it lies within at 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Performance:
    """How a model has done over some days, decided predictions only.

    Everything that needs data is None without it; `bets_needed` is how many decided bets it would
    take to tell this rate of winning from break-even.
    """

    model: str
    sport: str
    analysis_type: AnalysisType
    inverse: bool
    days: int
    predictions: int
    decided: int
    correct: int
    accuracy: Interval | None = None
    break_even: float | None = None
    mean_probability: float | None = None
    brier: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None
    calibration: tuple[Bin, ...] = ()
    roi: Interval | None = None
    profit_units: float | None = None
    clv: Interval | None = None
    bets_needed: int | None = None
    mean_price: float | None = None
    sharpe: float | None = None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """How far a model is to be trusted, inverted or avoided in a sport, and on what evidence."""

    model: str
    sport: str
    analysis_type: AnalysisType
    recommendation: Recommendation
    original_accuracy: float
    inverse_accuracy: float
    sample_size: int
    confidence_multiplier: float
    evidence: Evidence | None
    calculated_at: datetime


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model beside the others: itself, its inverse and what to do with it."""

    model: str
    is_user_model: bool
    sport: str
    original: Performance
    inverse: Performance
    recommendation: Recommendation
    evidence: Evidence | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Leak:
    """A fact a prediction used that was not known when it was made."""

    model: str
    game_id: str
    made_at: datetime
    row: str
    known_at: datetime


@dataclass(frozen=True, slots=True)
class Audit:
    """Past predictions run again with the data as it was: what differs, and what leaked."""

    sport: str
    checked: int
    same: int
    differing: tuple[str, ...]
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was not taken in, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection did."""

    sport: str
    seen: int
    written: int
    refused: tuple[Refusal, ...] = ()
    credits: int = 0


@dataclass(frozen=True, slots=True)
class Verified:
    """What a look at the scores did."""

    sport: str
    completed: int
    corrected: int
    predictions: int
    bets: int
    wagers: int
    voided: int
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysed:
    """What a run of the models did."""

    sport: str
    games: int
    published: int
    frozen: int
