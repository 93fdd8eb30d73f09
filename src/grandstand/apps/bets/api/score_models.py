"""Kept here: how good models are, as it is told over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from grandstand.apps.bets.api.shapes import (
    BinModel,
    Dollars,
    IntervalModel,
    Told,
    interval_of,
    value_of,
)
from grandstand.apps.bets.model import AnalysisType, Evidence, Recommendation
from grandstand.apps.bets.service import Comparison, Performance

Mode: TypeAlias = Literal["original", "inverse", "both"]
_FLAT_DOLLARS = 100


class PerformanceModel(Told):
    """How a model has done, decided predictions only; None where there is no data.

    `accuracy` and `roi` are shares; their intervals stand beside them.
    """

    model: str
    sport: str
    analysis_type: AnalysisType
    inverse: bool
    days: int
    total_predictions: int
    decided: int
    correct: int
    accuracy: float | None
    accuracy_interval: IntervalModel | None
    break_even: float | None
    avg_confidence: float | None
    confidence_calibration: tuple[BinModel, ...]
    calibration_error: float | None
    brier: float | None
    log_loss: float | None
    roi: float | None
    roi_interval: IntervalModel | None
    clv: IntervalModel | None
    bets_needed: int | None

    @classmethod
    def of(cls, found: Performance) -> PerformanceModel:
        """Answer a performance as it is told."""
        return cls(
            model=found.model,
            sport=found.sport,
            analysis_type=found.analysis_type,
            inverse=found.inverse,
            days=found.days,
            total_predictions=found.predictions,
            decided=found.decided,
            correct=found.correct,
            accuracy=value_of(found.accuracy),
            accuracy_interval=interval_of(found.accuracy),
            break_even=found.break_even,
            avg_confidence=found.mean_probability,
            confidence_calibration=tuple(map(BinModel.model_validate, found.calibration)),
            calibration_error=found.calibration_error,
            brier=found.brier,
            log_loss=found.log_loss,
            roi=value_of(found.roi),
            roi_interval=interval_of(found.roi),
            clv=interval_of(found.clv),
            bets_needed=found.bets_needed,
        )


class ComparedModel(Told):
    """A model beside its inverse, and what to do with it on which evidence."""

    model: str
    name: str
    is_user_model: bool
    sport: str
    bet_type: AnalysisType
    sample_size: int
    original_accuracy: float | None
    original_correct: int
    original_total: int
    inverse_accuracy: float | None
    inverse_correct: int
    inverse_total: int
    accuracy_diff: float | None
    recommendation: Recommendation
    evidence: Evidence | None

    @classmethod
    def of(cls, one: Comparison) -> ComparedModel:
        """Answer a model beside its inverse as it is told."""
        own = value_of(one.original.accuracy)
        other = value_of(one.inverse.accuracy)
        return cls(
            model=one.model,
            name=one.name,
            is_user_model=one.is_user_model,
            sport=one.sport,
            bet_type=one.original.analysis_type,
            sample_size=one.original.decided,
            original_accuracy=own,
            original_correct=one.original.correct,
            original_total=one.original.decided,
            inverse_accuracy=other,
            inverse_correct=one.inverse.correct,
            inverse_total=one.inverse.decided,
            accuracy_diff=None if own is None or other is None else own - other,
            recommendation=one.recommendation,
            evidence=one.evidence,
        )


class ComparisonSummary(Told):
    """How many models are to be followed, inverted or left alone."""

    total_models: int
    inverse_recommended: int
    original_recommended: int
    avoid: int


class ComparisonList(Told):
    """All models and the caller's own, best first in each sport."""

    models: tuple[ComparedModel, ...]
    summary: ComparisonSummary
    days: int

    @classmethod
    def of(cls, found: Iterable[Comparison], days: int) -> ComparisonList:
        """Answer models as they are compared."""
        told = tuple(map(ComparedModel.of, found))
        advised = [each.recommendation for each in told]
        return cls(
            models=told,
            summary=ComparisonSummary(
                total_models=len(told),
                inverse_recommended=advised.count("INVERSE"),
                original_recommended=advised.count("ORIGINAL"),
                avoid=advised.count("AVOID"),
            ),
            days=days,
        )


class RankedModel(Told):
    """A model by what flat stakes of 100 dollars at the published prices would have brought.

    `avg_odds` is a decimal price.
    """

    model: str
    name: str
    is_user_model: bool
    mode: Mode
    total_bets: int
    wins: int
    losses: int
    win_rate: float | None
    avg_odds: float | None
    profit: Dollars
    roi: float | None
    sharpe_ratio: float | None

    @classmethod
    def of(cls, one: Comparison, found: Performance) -> RankedModel:
        """Answer a model, or its inverse, as it is ranked."""
        return cls(
            model=one.model,
            name=one.name,
            is_user_model=one.is_user_model,
            mode="inverse" if found.inverse else "original",
            total_bets=found.decided,
            wins=found.correct,
            losses=found.decided - found.correct,
            win_rate=value_of(found.accuracy),
            avg_odds=found.mean_price,
            profit=f"{(found.profit_units or 0.0) * _FLAT_DOLLARS + 0.0:.2f}",
            roi=value_of(found.roi),
            sharpe_ratio=found.sharpe,
        )


class RankingSummary(Told):
    """How many were ranked, over how many bets."""

    total_models: int
    total_bets: int
    profitable: int


class RankingList(Told):
    """Models by return, the best first; those without bets last."""

    rankings: tuple[RankedModel, ...]
    summary: RankingSummary
    days: int
    mode: Mode


class AdjustmentModel(Told):
    """How far a model is to be trusted, inverted or avoided."""

    model: str
    sport: str
    bet_type: Annotated[AnalysisType, Field(validation_alias="analysis_type")]
    recommendation: Recommendation
    original_accuracy: float
    inverse_accuracy: float
    sample_size: int
    confidence_multiplier: float
    evidence: Evidence | None
    calculated_at: datetime


class AdjustmentList(Told):
    """What to do with each model of a sport."""

    adjustments: tuple[AdjustmentModel, ...]
