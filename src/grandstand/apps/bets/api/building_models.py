"""Kept here: people's models, their back-tests and their figures, as they are asked and told."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from grandstand.apps.bets.api.asking import Day, SportText
from grandstand.apps.bets.api.game_models import AnalysisModel
from grandstand.apps.bets.api.score_models import PerformanceModel
from grandstand.apps.bets.api.shapes import Number, Told, value_of
from grandstand.apps.bets.model import ModelStatus
from grandstand.apps.bets.service import (
    BacktestView,
    ModelDraft,
    ModelView,
    Performance,
    WalkWish,
)
from grandstand.kit.routes import Strict

Weight = Annotated[Decimal, Field(ge=0, le=1, max_digits=5, decimal_places=4, examples=[0.5])]
Text = Annotated[str, Field(max_length=200)]
Source = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$", examples=["recent_form"])]
_MOST_SOURCES = 20


class SourceAsked(Strict):
    """How much a source counts; one that is not enabled counts nothing."""

    weight: Weight
    enabled: bool = True


class DatasetAsked(Strict):
    """How much a table of figures of one's own counts."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    weight: Weight


class ModelAsked(Strict):
    """A model: enabled weights add up to 1, tables of figures share the weight of custom_data."""

    name: Annotated[str, Field(min_length=3, max_length=50, examples=["Form and rest"])]
    sport: SportText
    bet_types: Annotated[
        tuple[Literal["h2h", "spreads", "totals"], ...], Field(min_length=1, max_length=3)
    ]
    data_sources: Annotated[dict[Source, SourceAsked], Field(max_length=_MOST_SOURCES)]
    min_confidence: Annotated[
        Decimal, Field(ge=Decimal("0.5"), le=Decimal("0.95"), decimal_places=4, examples=[0.55])
    ]
    description: Text = ""
    custom_datasets: Annotated[tuple[DatasetAsked, ...], Field(max_length=_MOST_SOURCES)] = ()
    auto_adjust_weights: bool = False
    status: ModelStatus | None = None

    def draft(self) -> ModelDraft:
        """Answer the model as a wish."""
        return ModelDraft(
            name=self.name,
            sport=self.sport,
            bet_types=tuple(dict.fromkeys(self.bet_types)),
            data_sources={
                name: each.weight for name, each in self.data_sources.items() if each.enabled
            },
            min_confidence=self.min_confidence,
            description=self.description,
            auto_adjust_weights=self.auto_adjust_weights,
            datasets={each.id: each.weight for each in self.custom_datasets},
        )


class StatusAsked(Strict):
    """Whether a model goes on or pauses."""

    status: ModelStatus


class SourceModel(Told):
    """How much a source counts."""

    enabled: bool
    weight: Number


class CustomModel(Told):
    """How much a table of figures counts."""

    id: str
    weight: Number


class UserModelModel(Told):
    """A person's model."""

    model_id: str
    name: str
    description: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: dict[str, SourceModel]
    custom_datasets: tuple[CustomModel, ...]
    min_confidence: Number
    status: ModelStatus
    auto_adjust_weights: bool
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, model: ModelView) -> UserModelModel:
        """Answer a model as its owner is told of it."""
        return cls(
            model_id=model.model_id,
            name=model.name,
            description=model.description,
            sport=model.sport,
            bet_types=model.bet_types,
            data_sources={
                name: SourceModel(enabled=True, weight=weight)
                for name, weight in model.data_sources.items()
            },
            custom_datasets=tuple(
                CustomModel(id=name, weight=weight) for name, weight in model.datasets.items()
            ),
            min_confidence=model.min_confidence,
            status=model.status,
            auto_adjust_weights=model.auto_adjust_weights,
            created_at=model.created_at,
            updated_at=model.updated_at,
        )


class UserModelList(Told):
    """The caller's models, by name."""

    models: tuple[UserModelModel, ...]
    count: int


class PredictionList(Told):
    """What the caller's models predict; `cursor` leads to more."""

    predictions: tuple[AnalysisModel, ...]
    count: int
    cursor: str | None


class OwnPerformance(Told):
    """How a person's model has done; stakes that came back count as neither right nor wrong."""

    total: int
    correct: int
    incorrect: int
    undecided: int
    accuracy: float | None
    avg_confidence: float | None
    details: PerformanceModel

    @classmethod
    def of(cls, found: Performance) -> OwnPerformance:
        """Answer a performance as its owner is told of it."""
        return cls(
            total=found.predictions,
            correct=found.correct,
            incorrect=found.decided - found.correct,
            undecided=found.predictions - found.decided,
            accuracy=value_of(found.accuracy),
            avg_confidence=found.mean_probability,
            details=PerformanceModel.of(found),
        )


class WalkAsked(Strict):
    """Over which days to walk, and the windows of training and testing in days."""

    start_date: Day
    end_date: Day
    train_days: Annotated[int, Field(ge=1, le=3650)] = 60
    test_days: Annotated[int, Field(ge=1, le=3650)] = 14
    purge_days: Annotated[int, Field(ge=0, le=365)] = 1
    anchored: bool = False

    def wish(self) -> WalkWish:
        """Answer it as a wish."""
        return WalkWish(
            self.start_date,
            self.end_date,
            self.train_days,
            self.test_days,
            self.purge_days,
            self.anchored,
        )


class BuiltInWalkAsked(WalkAsked):
    """Which built-in model to walk, in which sport."""

    model: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$", examples=["elo"])]
    sport: SportText


class WindowModel(Told):
    """One window of testing, and how it went."""

    start: date
    end: date
    predictions: int
    roi: float | None
    brier: float | None


class TestedModel(Told):
    """One prediction of a back-test; `profit_units` at a stake of one."""

    game_id: str
    commence_time: datetime
    prediction: str
    market_key: str
    confidence: Annotated[float, Field(validation_alias="probability")]
    odds: Annotated[int | None, Field(validation_alias="price")]
    verdict: str
    profit_units: float | None
    clv: float | None


class BacktestModel(Told):
    """A back-test; `trials` is how many the caller had run in the sport by then."""

    backtest_id: str
    model: str
    name: str
    sport: str
    start_date: date
    end_date: date
    train_days: int
    test_days: int
    purge_days: int
    anchored: bool
    created_at: datetime
    games: int
    accuracy: float | None
    roi: float | None
    total_predictions: int
    avg_confidence: float | None
    performance: PerformanceModel
    windows: tuple[WindowModel, ...]
    trials: int
    deflated_sharpe: float | None
    predictions: tuple[TestedModel, ...]

    @classmethod
    def of(cls, found: BacktestView) -> BacktestModel:
        """Answer a back-test as it is told."""
        told, wish = PerformanceModel.of(found.performance), found.wish
        return cls(
            backtest_id=found.backtest_id,
            model=found.model,
            name=found.name,
            sport=found.sport,
            start_date=wish.start,
            end_date=wish.end,
            train_days=wish.train_days,
            test_days=wish.test_days,
            purge_days=wish.purge_days,
            anchored=wish.anchored,
            created_at=found.created_at,
            games=found.games,
            accuracy=told.accuracy,
            roi=told.roi,
            total_predictions=told.total_predictions,
            avg_confidence=told.avg_confidence,
            performance=told,
            windows=tuple(map(WindowModel.model_validate, found.windows)),
            trials=found.trials,
            deflated_sharpe=found.deflated_sharpe,
            predictions=tuple(map(TestedModel.model_validate, found.predictions)),
        )


class BacktestList(Told):
    """Back-tests, newest first, without their predictions; `cursor` leads to more."""

    backtests: tuple[BacktestModel, ...]
    count: int
    cursor: str | None


class UploadAsked(Strict):
    """A table of figures, as the text of a CSV or JSON file."""

    name: Annotated[str, Field(min_length=1, max_length=60, examples=["Travel miles"])]
    sport: SportText
    data: Annotated[
        str, Field(max_length=4_000_000, examples=["team,date,miles\nLakers,2026-01-31,812\n"])
    ]


class DatasetModel(Told):
    """A table of figures; `data_type` says whether it is about teams or players."""

    dataset_id: str
    name: str
    sport: str
    data_type: Annotated[str, Field(validation_alias="subject")]
    columns: tuple[str, ...]
    row_count: Annotated[int, Field(validation_alias="rows")]
    created_at: datetime


class DatasetList(Told):
    """The tables of figures the caller brought."""

    datasets: tuple[DatasetModel, ...]
    count: int
