"""Routes for model performance, user models, backtests and datasets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from grandstand.apps.bets.api import parameters as params
from grandstand.apps.bets.domain.records import (
    AnalysisType,
    Evidence,
    ModelStatus,
    Recommendation,
)
from grandstand.apps.bets.services.backtests import (
    BacktestPrediction,
    BacktestReport,
    BacktestWindow,
)
from grandstand.apps.bets.services.database import copy_as, format_dollars
from grandstand.apps.bets.services.predictions import Pick
from grandstand.apps.bets.services.scoreboard import (
    Adjustment,
    ModelComparison,
    ModelPerformance,
    interval_value,
)
from grandstand.apps.bets.services.user_models import DatasetView, TooManyModels, UserModelView
from grandstand.core.errors import InvalidInput, NotFound
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Page
from grandstand.kit.routes import CurrentCaller, delete, get, patch, post, put

_FLAT_STAKE_CENTS = 10_000


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A model, its inverse, and the recommendation."""

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


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """The number of models by recommendation."""

    total_models: int
    inverse_recommended: int
    original_recommended: int
    avoid: int


@dataclass(frozen=True, slots=True)
class ComparisonList:
    """All models and the caller's own, highest return first in each sport."""

    models: tuple[ComparedModel, ...]
    summary: ComparisonSummary
    days: int


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model by the result of flat $100 stakes; `avg_odds` are decimal."""

    model: str
    name: str
    is_user_model: bool
    mode: params.Mode
    total_bets: int
    wins: int
    losses: int
    win_rate: float | None
    avg_odds: float | None
    profit: str
    roi: float | None
    sharpe_ratio: float | None


@dataclass(frozen=True, slots=True)
class RankingSummary:
    """Totals of a ranking."""

    total_models: int
    total_bets: int
    profitable: int


@dataclass(frozen=True, slots=True)
class RankingList:
    """Models by return, best first; models without bets last."""

    rankings: tuple[RankedModel, ...]
    summary: RankingSummary
    days: int
    mode: params.Mode


@dataclass(frozen=True, slots=True)
class AdjustmentList:
    """The recommendations for the models of a sport."""

    adjustments: tuple[Adjustment, ...]


@dataclass(frozen=True, slots=True)
class UserModelList:
    """The caller's models by name."""

    models: tuple[UserModelView, ...]
    count: int


@dataclass(frozen=True, slots=True)
class PredictionList:
    """Predictions of the caller's models."""

    predictions: tuple[Pick, ...]
    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class UserModelPerformance:
    """The performance of one of the caller's models; pushes and voids are undecided."""

    total: int
    correct: int
    incorrect: int
    undecided: int
    accuracy: float | None
    avg_confidence: float | None
    details: ModelPerformance


@dataclass(frozen=True, slots=True)
class BacktestResponse:
    """A backtest; `trials` counts the caller's backtests in the sport so far."""

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
    performance: ModelPerformance
    windows: tuple[BacktestWindow, ...]
    trials: int
    deflated_sharpe: float | None
    predictions: tuple[BacktestPrediction, ...]


@dataclass(frozen=True, slots=True)
class BacktestList:
    """Backtests, newest first, without their predictions."""

    backtests: tuple[BacktestResponse, ...]
    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class DatasetList:
    """The caller's datasets."""

    datasets: tuple[DatasetView, ...]
    count: int


class ModelRoutes(params.BetsRoutes):
    """Model performance, and the caller's models, backtests and datasets."""

    @get("/model-performance", summary="Get the performance of a model", problems=(NotFound,))
    async def model_performance(
        self,
        sport: params.OptionalSport = None,
        model: params.ModelName = "ensemble",
        days: params.Days = 30,
        kind: params.Kind = "game",
        *,
        inverse: bool = False,
    ) -> ModelPerformance:
        """Accuracy, calibration, return and closing line value of a built-in model."""
        return await self._bets.scoreboard.performance(
            self._sport(sport), model, days=days, analysis_type=kind, inverse=inverse
        )

    @get("/model-comparison", summary="Compare models", problems=(NotFound,))
    async def model_comparison(
        self,
        who: CurrentCaller,
        sport: params.SportOrAll = None,
        days: params.Days = 90,
        kind: params.Kind = "game",
    ) -> ComparisonList:
        """All models and the caller's own with their inverses and recommendations."""
        models = tuple(map(to_compared, await self._compare(who, sport, days, kind)))
        advice = [model.recommendation for model in models]
        summary = ComparisonSummary(
            total_models=len(models),
            inverse_recommended=advice.count("INVERSE"),
            original_recommended=advice.count("ORIGINAL"),
            avoid=advice.count("AVOID"),
        )
        return ComparisonList(models, summary, days)

    @get("/model-rankings", summary="Rank models by return", problems=(NotFound,))
    async def model_rankings(
        self,
        who: CurrentCaller,
        sport: params.SportOrAll = None,
        days: params.Days = 30,
        mode: params.Mode = "original",
        kind: params.Kind = "game",
    ) -> RankingList:
        """Models, their inverses, or both, by the result of flat stakes, best first."""
        ranked = [
            to_ranked(comparison, performance)
            for comparison in await self._compare(who, sport, days, kind)
            for performance in (comparison.original, comparison.inverse)
            if mode in {"both", "inverse" if performance.inverse else "original"}
        ]
        ranked.sort(key=lambda model: (model.roi is None, -(model.roi or 0.0), model.model))
        summary = RankingSummary(
            total_models=len(ranked),
            total_bets=sum(model.total_bets for model in ranked),
            profitable=sum((model.roi or 0.0) > 0 for model in ranked),
        )
        return RankingList(tuple(ranked), summary, days, mode)

    @get("/model-adjustments", summary="List the recommendations", problems=(NotFound,))
    async def model_adjustments(
        self, sport: params.OptionalSport = None, kind: params.Kind = "game"
    ) -> AdjustmentList:
        """Whether to follow, invert or avoid each model, and the evidence."""
        return AdjustmentList(
            await self._bets.adjustments.list_adjustments(self._sport(sport), kind)
        )

    @get("/user-models", summary="List your models")
    async def user_models(self, who: CurrentCaller) -> UserModelList:
        """The caller's models by name."""
        models = await self._bets.user_models.list_models(who)
        return UserModelList(models, len(models))

    @post(
        "/user-models",
        summary="Create a model",
        problems=(InvalidInput, TooManyModels),
        status=201,
    )
    async def create_model(self, who: CurrentCaller, body: params.UserModelBody) -> UserModelView:
        """The model. It makes predictions from the next run on."""
        model = await self._bets.user_models.create(who, body.to_request())
        return await self._with_status(who, model, body.status)

    @get("/user-models/predictions", summary="List the predictions of your models")
    async def predictions(
        self, who: CurrentCaller, limit: params.Limit = 20, cursor: params.Cursor = None
    ) -> PredictionList:
        """Predictions of the caller's models for upcoming games, model by model."""
        query = "bets.predictions"
        after = self._cursors.read(who, query, cursor)
        page = await self._all_picks(who, limit, after=after)
        return PredictionList(
            page.items, len(page.items), self._cursors.write(who, query, page.cursor)
        )

    @get("/user-models/{model_id}", summary="Get a model", problems=(NotFound,))
    async def user_model(self, who: CurrentCaller, model_id: params.ModelId) -> UserModelView:
        return await self._bets.user_models.get(who, model_id)

    @put(
        "/user-models/{model_id}",
        summary="Update a model",
        problems=(NotFound, InvalidInput),
    )
    async def update_model(
        self, who: CurrentCaller, model_id: params.ModelId, body: params.UserModelBody
    ) -> UserModelView:
        """The updated model. Earlier predictions do not change."""
        model = await self._bets.user_models.update(who, model_id, body.to_request())
        return await self._with_status(who, model, body.status)

    @patch("/user-models/{model_id}", summary="Pause or resume a model", problems=(NotFound,))
    async def set_model_status(
        self, who: CurrentCaller, model_id: params.ModelId, body: params.ModelStatusBody
    ) -> UserModelView:
        """The model. A paused model makes no predictions."""
        return await self._bets.user_models.set_paused(
            who, model_id, paused=body.status == "paused"
        )

    @delete("/user-models/{model_id}", summary="Delete a model", problems=(NotFound,))
    async def delete_model(self, who: CurrentCaller, model_id: params.ModelId) -> None:
        await self._bets.user_models.delete(who, model_id)

    @get(
        "/user-models/{model_id}/predictions",
        summary="List the predictions of a model",
        problems=(NotFound,),
    )
    async def model_predictions(
        self,
        who: CurrentCaller,
        model_id: params.ModelId,
        limit: params.Limit = 20,
        cursor: params.Cursor = None,
    ) -> PredictionList:
        """Predictions of one of the caller's models for upcoming games."""
        query = f"bets.predictions/{model_id}"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.user_models.picks(who, model_id, limit=limit, after=after)
        return PredictionList(
            page.items, len(page.items), self._cursors.write(who, query, page.cursor)
        )

    @get(
        "/user-models/{model_id}/performance",
        summary="Get the performance of your model",
        problems=(NotFound,),
    )
    async def user_model_performance(
        self, who: CurrentCaller, model_id: params.ModelId, days: params.Days = 90
    ) -> UserModelPerformance:
        found = await self._bets.scoreboard.user_model_performance(who, model_id, days=days)
        return UserModelPerformance(
            total=found.predictions,
            correct=found.correct,
            incorrect=found.decided - found.correct,
            undecided=found.predictions - found.decided,
            accuracy=interval_value(found.accuracy),
            avg_confidence=found.mean_probability,
            details=found,
        )

    @get(
        "/user-models/{model_id}/backtests",
        summary="List the backtests of a model",
        problems=(NotFound,),
    )
    async def model_backtests(
        self,
        who: CurrentCaller,
        model_id: params.ModelId,
        limit: params.Limit = 20,
        cursor: params.Cursor = None,
    ) -> BacktestList:
        """The backtests of one of the caller's models, newest first."""
        await self._bets.user_models.get(who, model_id)
        return await self._list_backtests(who, model_id, limit, cursor)

    @post(
        "/user-models/{model_id}/backtests",
        summary="Backtest a model",
        problems=(NotFound, InvalidInput),
        status=201,
    )
    async def backtest_model(
        self, who: CurrentCaller, model_id: params.ModelId, body: params.BacktestBody
    ) -> BacktestResponse:
        """The result of a walk-forward test over stored seasons."""
        return to_backtest(await self._bets.backtests.run(who, model_id, body.to_request()))

    @get("/backtests", summary="List your backtests")
    async def backtests(
        self, who: CurrentCaller, limit: params.Limit = 20, cursor: params.Cursor = None
    ) -> BacktestList:
        """All backtests of the caller, built-in models included, newest first."""
        return await self._list_backtests(who, None, limit, cursor)

    @post(
        "/backtests",
        summary="Backtest a built-in model",
        problems=(NotFound, InvalidInput),
        status=201,
    )
    async def backtest_builtin(
        self, who: CurrentCaller, body: params.BuiltinBacktestBody
    ) -> BacktestResponse:
        """The result of a walk-forward test over stored seasons."""
        request = body.to_request()
        return to_backtest(
            await self._bets.backtests.run_builtin(who, body.model, body.sport, request)
        )

    @get("/backtests/{backtest_id}", summary="Get a backtest", problems=(NotFound,))
    async def backtest(self, who: CurrentCaller, backtest_id: params.RecordId) -> BacktestResponse:
        """One of the caller's backtests with its predictions."""
        return to_backtest(await self._bets.backtests.get(who, backtest_id))

    @get("/custom-data", summary="List your datasets")
    async def datasets(self, who: CurrentCaller) -> DatasetList:
        """The caller's datasets by name."""
        datasets = await self._bets.datasets.list_datasets(who)
        return DatasetList(datasets, len(datasets))

    @post(
        "/custom-data/upload",
        summary="Upload a dataset",
        problems=(InvalidInput, NotFound),
        status=201,
    )
    async def upload_dataset(self, who: CurrentCaller, body: params.DatasetBody) -> DatasetView:
        """The dataset. It is stored completely or not at all; errors name the line."""
        return await self._bets.datasets.add(who, body.name, body.sport, body.data.encode())

    @delete("/custom-data/{dataset_id}", summary="Delete a dataset", problems=(NotFound,))
    async def delete_dataset(self, who: CurrentCaller, dataset_id: params.RecordId) -> None:
        await self._bets.datasets.remove(who, dataset_id)

    async def _compare(
        self, who: Caller, sport: str | None, days: int, kind: AnalysisType
    ) -> list[ModelComparison]:
        sports = self._bets.settings.sports if sport == "all" else (self._sport(sport),)
        return [
            comparison
            for key in sports
            for comparison in await self._bets.scoreboard.compare(
                who, key, days=days, analysis_type=kind
            )
        ]

    async def _with_status(
        self, who: Caller, model: UserModelView, status: ModelStatus | None
    ) -> UserModelView:
        if status in {None, model.status}:
            return model
        paused = status == "paused"
        return await self._bets.user_models.set_paused(who, model.model_id, paused=paused)

    async def _all_picks(self, who: Caller, limit: int, after: str | None) -> Page[Pick]:
        """Return picks from a position on: a model id and a position within its picks."""
        first, _, position = (after or "").partition("|")
        picks: list[Pick] = []
        models = sorted(model.model_id for model in await self._bets.user_models.list_models(who))
        for model_id in (name for name in models if name >= first):
            start = (position or None) if model_id == first else None
            page = await self._bets.user_models.picks(
                who, model_id, limit=limit - len(picks), after=start
            )
            picks += page.items
            if page.cursor is not None:
                return Page(tuple(picks), f"{model_id}|{page.cursor}")
            following = next((name for name in models if name > model_id), None)
            if len(picks) >= limit and following is not None:
                return Page(tuple(picks), f"{following}|")
        return Page(tuple(picks))

    async def _list_backtests(
        self, who: Caller, model_id: str | None, limit: int, cursor: str | None
    ) -> BacktestList:
        query = f"bets.backtests/{model_id}"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.backtests.list_backtests(who, model_id, limit=limit, after=after)
        return BacktestList(
            tuple(map(to_backtest, page.items)),
            len(page.items),
            self._cursors.write(who, query, page.cursor),
        )


def to_compared(comparison: ModelComparison) -> ComparedModel:
    original, inverse = comparison.original, comparison.inverse
    accuracy, inverse_accuracy = interval_value(original.accuracy), interval_value(inverse.accuracy)
    known = accuracy is not None and inverse_accuracy is not None
    return copy_as(
        ComparedModel,
        comparison,
        bet_type=original.analysis_type,
        sample_size=original.decided,
        original_accuracy=accuracy,
        original_correct=original.correct,
        original_total=original.decided,
        inverse_accuracy=inverse_accuracy,
        inverse_correct=inverse.correct,
        inverse_total=inverse.decided,
        accuracy_diff=(accuracy or 0.0) - (inverse_accuracy or 0.0) if known else None,
    )


def to_ranked(comparison: ModelComparison, found: ModelPerformance) -> RankedModel:
    return copy_as(
        RankedModel,
        comparison,
        mode="inverse" if found.inverse else "original",
        total_bets=found.decided,
        wins=found.correct,
        losses=found.decided - found.correct,
        win_rate=interval_value(found.accuracy),
        avg_odds=found.mean_price,
        profit=format_dollars(round((found.profit_units or 0.0) * _FLAT_STAKE_CENTS)),
        roi=interval_value(found.roi),
        sharpe_ratio=found.sharpe,
    )


def to_backtest(report: BacktestReport) -> BacktestResponse:
    performance, request = report.performance, report.request
    return copy_as(
        BacktestResponse,
        report,
        start_date=request.start,
        end_date=request.end,
        train_days=request.train_days,
        test_days=request.test_days,
        purge_days=request.purge_days,
        anchored=request.anchored,
        accuracy=interval_value(performance.accuracy),
        roi=interval_value(performance.roi),
        total_predictions=performance.predictions,
        avg_confidence=performance.mean_probability,
    )
