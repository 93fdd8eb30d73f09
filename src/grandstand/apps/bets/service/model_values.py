"""Kept here: what the service answers of people's models, their back-tests and their figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from grandstand.apps.bets.model import ModelStatus
from grandstand.apps.bets.service.values import Performance


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """A person's wish for a model: weights by source, which add up to 1."""

    name: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: dict[str, Decimal]
    min_confidence: Decimal
    description: str = ""
    auto_adjust_weights: bool = False
    datasets: dict[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelView:
    """A person's model."""

    model_id: str
    name: str
    description: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: dict[str, Decimal]
    datasets: dict[str, Decimal]
    min_confidence: Decimal
    status: ModelStatus
    auto_adjust_weights: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class WalkWish:
    """What is to be walked forward: days, and the windows of training and testing in days.

    With `anchored` every window begins with the first day; `purge_days` lie between both.
    """

    start: date
    end: date
    train_days: int = 60
    test_days: int = 14
    purge_days: int = 1
    anchored: bool = False


@dataclass(frozen=True, slots=True)
class Tested:
    """One prediction of a back-test."""

    game_id: str
    commence_time: datetime
    prediction: str
    market_key: str
    probability: float
    price: int | None
    verdict: str
    profit_units: float | None
    clv: float | None


@dataclass(frozen=True, slots=True)
class WindowResult:
    """One window of a walk: its days of testing, and how it went."""

    start: date
    end: date
    predictions: int
    roi: float | None
    brier: float | None


@dataclass(frozen=True, slots=True)
class BacktestView:
    """A back-test as it was run; `trials` is how many this person had run in the sport by then."""

    backtest_id: str
    model: str
    name: str
    sport: str
    wish: WalkWish
    created_at: datetime
    games: int
    performance: Performance
    windows: tuple[WindowResult, ...]
    trials: int
    deflated_sharpe: float | None
    predictions: tuple[Tested, ...]


@dataclass(frozen=True, slots=True)
class DatasetView:
    """A table of figures a person brought; `subject` is team or player."""

    dataset_id: str
    name: str
    sport: str
    subject: str
    columns: tuple[str, ...]
    rows: int
    created_at: datetime
