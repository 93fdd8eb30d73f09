"""The scoreboard: performance, comparison, calibration and adjustments of models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, computed_field

from grandstand.apps.bets.domain.odds import american_to_decimal, implied_probability
from grandstand.apps.bets.domain.records import (
    AnalysisType,
    CalibrationBin,
    Evidence,
    Interval,
    Recommendation,
    VerifiedType,
    model_name,
    sport_name,
)
from grandstand.apps.bets.services.database import (
    Database,
    MoneyCents,
    check_sport,
    copy_as,
    round4,
)
from grandstand.apps.bets.services.forecasts import (
    BENNY_MODEL,
    PROP_MODELS,
    model_names,
    user_model_name,
)
from grandstand.apps.bets.services.user_models import UserModelService
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.benny import BennyBet
from grandstand.apps.bets.store.predictions import (
    ADJUSTMENT_LIFETIME,
    Analysis,
    ModelAdjustment,
)
from grandstand.apps.bets.store.user_models import UserModel
from grandstand.apps.bets.store.wagers import Wager
from grandstand.core.errors import NotFound
from grandstand.kit.app import CalibrationSeries
from grandstand.kit.auth.caller import Caller
from grandstand.kit.calibration import ResolvedForecast

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.evaluation import ModelAdvice, ModelRecord

LOOKBACK_DAYS: Final = 30
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_VERIFIED: Final[dict[AnalysisType, tuple[VerifiedType, VerifiedType]]] = {
    "game": ("game", "game#inverse"),
    "prop": ("prop", "prop#inverse"),
}


@dataclass(frozen=True, slots=True)
class ModelPerformance:
    """The performance of a model over `days`, from decided predictions only.

    Fields that need data are null without it. `accuracy` and `roi` are fractions, `brier` is the
    mean squared error of the probabilities, `clv` the value of the prices against the closing line,
    and `bets_needed` the number of decided bets it takes to tell this win rate from break-even.
    """

    model: str
    sport: str
    analysis_type: AnalysisType
    inverse: bool
    days: int
    predictions: Annotated[int, Field(serialization_alias="total_predictions")]
    decided: int
    correct: int
    accuracy: Annotated[Interval | None, Field(serialization_alias="accuracy_interval")] = None
    break_even: float | None = None
    mean_probability: Annotated[float | None, Field(serialization_alias="avg_confidence")] = None
    brier: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None
    calibration: Annotated[
        tuple[CalibrationBin, ...], Field(serialization_alias="confidence_calibration")
    ] = ()
    roi: Annotated[Interval | None, Field(serialization_alias="roi_interval")] = None
    profit_units: Annotated[float | None, Field(exclude=True)] = None
    clv: Interval | None = None
    bets_needed: int | None = None
    mean_price: Annotated[float | None, Field(exclude=True)] = None
    sharpe: Annotated[float | None, Field(exclude=True)] = None

    @computed_field(alias="accuracy")
    def accuracy_value(self) -> float | None:
        return interval_value(self.accuracy)

    @computed_field(alias="roi")
    def roi_value(self) -> float | None:
        return interval_value(self.roi)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """The recommendation to follow, invert or avoid a model in a sport, and its evidence."""

    model: str
    sport: str
    analysis_type: Annotated[AnalysisType, Field(serialization_alias="bet_type")]
    recommendation: Recommendation
    original_accuracy: float
    inverse_accuracy: float
    sample_size: int
    confidence_multiplier: float
    evidence: Evidence | None
    calculated_at: datetime


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A model, its inverse and the recommendation."""

    model: str
    is_user_model: bool
    sport: str
    original: ModelPerformance
    inverse: ModelPerformance
    recommendation: Recommendation
    evidence: Evidence | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class BetRecord:
    """The results of bets of one kind; `record` is won-lost, as in 12-9."""

    name: str
    record: str
    settled: Annotated[int, Field(serialization_alias="bets")]
    won: Annotated[int, Field(exclude=True)]
    win_rate: float | None
    roi: float | None
    staked_cents: Annotated[MoneyCents, Field(serialization_alias="wagered")]
    profit_cents: Annotated[MoneyCents, Field(serialization_alias="profit")]


@dataclass(frozen=True, slots=True)
class BalancePoint:
    """An amount of money at a time."""

    at: Annotated[datetime, Field(serialization_alias="timestamp")]
    cents: Annotated[MoneyCents, Field(serialization_alias="bankroll")]


def summarize_by_kind(bets: Iterable[tuple[str, int, int]]) -> tuple[BetRecord, ...]:
    """Summarize (kind, stake, profit) by kind."""
    kinds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for kind, stake, profit in bets:
        kinds[kind].append((stake, profit))
    return tuple(_bet_record(kind, kinds[kind]) for kind in sorted(kinds))


def _bet_record(name: str, bets: Sequence[tuple[int, int]]) -> BetRecord:
    staked, profit = sum(stake for stake, _ in bets), sum(profit for _, profit in bets)
    won = sum(profit > 0 for _, profit in bets)
    return BetRecord(
        name=name,
        record=f"{won}-{len(bets) - won}",
        settled=len(bets),
        won=won,
        win_rate=won / len(bets) if bets else None,
        roi=profit / staked if staked else None,
        staked_cents=staked,
        profit_cents=profit,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAdjustmentCalculator:
    """Recommends which models to follow, invert or avoid, over all models of a sport."""

    db: Database
    settings: BetsSettings

    async def list_adjustments(
        self, sport: str, analysis_type: AnalysisType = "game"
    ) -> tuple[Adjustment, ...]:
        """Return the adjustments of the last 24 hours, or calculate them.

        Raises NotFound if the sport is not enabled.
        """
        check_sport(self.settings, sport)
        query = ModelAdjustment.of_sport(sport, analysis_type)
        adjustments = [adjustment_view(row) async for row in self.db.each(query)]
        if adjustments:
            return tuple(sorted(adjustments, key=lambda item: item.model))
        calculated = await self.calculate(sport)
        return tuple(forecast for forecast in calculated if forecast.analysis_type == analysis_type)

    async def calculate(self, sport: str) -> tuple[Adjustment, ...]:
        """Calculate the adjustments of a sport and store them for a day."""
        from grandstand.apps.bets.domain.evaluation import recommend

        now = self.db.now()
        records = [
            await self._record(check_sport(self.settings, sport), model, kind, now)
            for kind in _VERIFIED
            for model in model_names()
        ]
        rows = [adjustment_row(advice, now) for advice in recommend(records)]
        await self.db.store.write_many([row.save() for row in rows])
        return tuple(adjustment_view(row) for row in rows)

    async def _record(
        self, sport: str, model: str, kind: AnalysisType, now: datetime
    ) -> ModelRecord:
        """Return a model's decided picks of 30 days, one per game, with both sides' prices."""
        from grandstand.apps.bets.domain.evaluation import DecidedPick, ModelRecord

        since = now - timedelta(days=LOOKBACK_DAYS)
        rows_by_side: list[list[Analysis]] = []
        for verified in _VERIFIED[kind]:
            query = Analysis.performance(model, sport, since, verified)
            rows = [row async for row in self.db.each(query)]
            rows_by_side.append(deduplicate(rows, self.settings.bookmakers))
        against = {(row.game_id, row.subject): row.price for row in rows_by_side[1]}
        picks = tuple(
            DecidedPick(
                row.analysis_correct,
                float(row.confidence),
                row.price,
                against.get((row.game_id, row.subject)),
            )
            for row in rows_by_side[0]
            if row.analysis_correct is not None and row.price is not None
        )
        return ModelRecord(model, sport, kind, picks)


def adjustment_row(advice: ModelAdvice, now: datetime) -> ModelAdjustment:
    kind: AnalysisType = "prop" if advice.bet_type == "prop" else "game"
    return ModelAdjustment(
        model=advice.model,
        sport=advice.sport,
        bet_type=kind,
        recommendation=advice.recommendation,
        original_accuracy=round4(advice.original.rate),
        inverse_accuracy=round4(advice.inverse_accuracy),
        sample_size=advice.original.total,
        confidence_multiplier=round4(advice.multiplier),
        lookback_days=LOOKBACK_DAYS,
        updated_at=now,
        calculated_at=now,
        expires_at=now + ADJUSTMENT_LIFETIME,
        evidence=advice.evidence,
    )


def adjustment_view(row: ModelAdjustment) -> Adjustment:
    return copy_as(
        Adjustment,
        row,
        analysis_type=row.bet_type,
        original_accuracy=float(row.original_accuracy),
        inverse_accuracy=float(row.inverse_accuracy),
        confidence_multiplier=float(row.confidence_multiplier),
        calculated_at=row.calculated_at or row.updated_at or row.expires_at or _NEVER,
    )


def interval_value(interval: Interval | None) -> float | None:
    return None if interval is None else interval.value


def rate_interval(right: int, total: int) -> Interval | None:
    """Return a win rate with its Wilson interval; None without bets."""
    from grandstand.apps.bets.domain.scoring import wilson

    return wilson(right, total) if total else None


def roi_interval(bets: Sequence[tuple[float, float]]) -> Interval | None:
    """Return the return on investment of (stake, profit) pairs; None without bets."""
    from grandstand.apps.bets.domain.scoring import return_on_stake

    return return_on_stake([bet[0] for bet in bets], [bet[1] for bet in bets]) if bets else None


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return a mean with its interval; None for fewer than two values."""
    from grandstand.apps.bets.domain.scoring import estimate_mean

    return estimate_mean(values) if len(values) > 1 else None


def calibration_bins(
    probabilities: Sequence[float], won: Sequence[bool]
) -> tuple[CalibrationBin, ...]:
    """Return the bins of a reliability diagram, lowest first."""
    from grandstand.apps.bets.domain.scoring import reliability_bins

    return reliability_bins(probabilities, won) if probabilities else ()


@dataclass(frozen=True, slots=True)
class DecidedPrediction:
    """A prediction that won or lost, with the profit of one unit at its price.

    `clv` is the value of the price against the closing line.
    """

    probability: float
    won: bool
    price: int | None
    profit: float | None
    clv: float | None


def summarize_decided(
    blank: ModelPerformance, decided: Sequence[DecidedPrediction]
) -> ModelPerformance:
    """Add the figures of the decided predictions to a performance."""
    if not decided:
        return blank
    from grandstand.apps.bets.domain.scoring import brier, calibration_error, log_loss

    stated = [prediction.probability for prediction in decided]
    won = [prediction.won for prediction in decided]
    scored = replace(
        blank,
        accuracy=rate_interval(sum(won), len(won)),
        mean_probability=sum(stated) / len(stated),
        brier=brier(stated, won),
        log_loss=log_loss(stated, won),
        calibration_error=calibration_error(stated, won),
        calibration=calibration_bins(stated, won),
        clv=mean_interval([prediction.clv for prediction in decided if prediction.clv is not None]),
    )
    return _add_returns(scored, decided, sum(won) / len(won))


def _add_returns(
    scored: ModelPerformance, decided: Sequence[DecidedPrediction], rate: float
) -> ModelPerformance:
    """Add the result of one unit on each prediction with a price."""
    from grandstand.apps.bets.domain.scoring import bets_needed, sharpe

    prices = [prediction.price for prediction in decided if prediction.price is not None]
    returns = [prediction.profit for prediction in decided if prediction.profit is not None]
    if not prices:
        return scored
    even = sum(map(implied_probability, prices)) / len(prices)
    return replace(
        scored,
        break_even=even,
        roi=roi_interval([(1.0, profit) for profit in returns]),
        profit_units=sum(returns),
        bets_needed=bets_needed(rate, even),
        mean_price=sum(map(american_to_decimal, prices)) / len(prices),
        sharpe=sharpe(returns) if len(returns) > 1 else None,
    )


_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard:
    """Model performance from verified predictions, one per game and market."""

    db: Database
    settings: BetsSettings
    adjustments: ModelAdjustmentCalculator
    user_models: UserModelService

    async def performance(
        self,
        sport: str,
        model: str,
        *,
        days: int = 30,
        analysis_type: AnalysisType = "game",
        inverse: bool = False,
    ) -> ModelPerformance:
        """Return the performance of a built-in model.

        Raises NotFound if the sport or the model does not exist.
        """
        if model not in model_names():
            raise NotFound(f"Unknown model {model!r}. Models: {', '.join(model_names())}.")
        check_sport(self.settings, sport)
        rows = await self.rows(sport, model, days, analysis_type, inverse=inverse)
        return summarize_predictions(
            rows, model, sport, days=days, analysis_type=analysis_type, inverse=inverse
        )

    async def user_model_performance(
        self, caller: Caller, model_id: str, *, days: int = 90
    ) -> ModelPerformance:
        """Return the performance of one of the caller's models.

        Raises NotFound if the caller has no such model.
        """
        model = await self.user_models.get(caller, model_id)
        name = user_model_name(model.model_id)
        rows = await self.rows(model.sport, name, days, "game", inverse=False)
        return summarize_predictions(
            rows, name, model.sport, days=days, analysis_type="game", inverse=False
        )

    async def compare(
        self, caller: Caller, sport: str, *, days: int = 90, analysis_type: AnalysisType = "game"
    ) -> tuple[ModelComparison, ...]:
        """Return all models and the caller's own, highest return first."""
        check_sport(self.settings, sport)
        advised = {
            adjustment.model: adjustment
            for adjustment in await self.adjustments.list_adjustments(sport, analysis_type)
        }
        comparisons = [
            await self._compare_model(sport, (name, ""), days, analysis_type, advised.get(name))
            for name in model_names()
        ]
        async for model in self.db.each(UserModel.of_user(caller.user_id)):
            if model.sport == sport:
                name = user_model_name(model.model_id)
                names = (name, model.name)
                comparisons.append(
                    await self._compare_model(sport, names, days, analysis_type, None)
                )
        return tuple(sorted(comparisons, key=_by_return))

    async def _compare_model(
        self,
        sport: str,
        names: tuple[str, str],
        days: int,
        kind: AnalysisType,
        advice: Adjustment | None,
    ) -> ModelComparison:
        """Compare a model with its inverse. A user model has a display name."""
        name, display_name = names
        performances = [
            summarize_predictions(
                await self.rows(sport, name, days, kind, inverse=inverse),
                name,
                sport,
                days=days,
                analysis_type=kind,
                inverse=inverse,
            )
            for inverse in (False, True)
        ]
        return ModelComparison(
            name,
            bool(display_name),
            sport,
            performances[0],
            performances[1],
            "AVOID" if advice is None else advice.recommendation,
            "INSUFFICIENT_DATA" if advice is None else advice.evidence,
            display_name or name,
        )

    async def rows(
        self, sport: str, model: str, days: int, kind: AnalysisType, *, inverse: bool
    ) -> list[Analysis]:
        """Return a model's verified predictions, one per game, market and player."""
        since = self.db.now() - timedelta(days=days)
        verified = _VERIFIED[kind][inverse]
        rows = [
            row async for row in self.db.each(Analysis.performance(model, sport, since, verified))
        ]
        return deduplicate(rows, self.settings.bookmakers)


def deduplicate(rows: Sequence[Analysis], bookmakers: Sequence[str]) -> list[Analysis]:
    """Keep one row per prediction: that of the bookmaker that comes first in the settings."""
    order = {name: place for place, name in enumerate(bookmakers)}
    best: dict[tuple[str, str], Analysis] = {}
    for row in rows:
        place = (row.game_id, row.subject)
        current = best.get(place)
        if current is None or order.get(row.bookmaker, len(order)) < order.get(
            current.bookmaker, len(order)
        ):
            best[place] = row
    return sorted(best.values(), key=lambda row: (row.commence_time, row.game_id, row.subject))


def summarize_predictions(
    rows: Sequence[Analysis],
    model: str,
    sport: str,
    *,
    days: int,
    analysis_type: AnalysisType,
    inverse: bool,
) -> ModelPerformance:
    """Summarize verified predictions; pushes and voids count for nothing."""
    decided = [
        DecidedPrediction(
            float(row.confidence),
            row.analysis_correct,
            row.price,
            None if row.price is None else unit_profit(row),
            None if row.clv is None else float(row.clv),
        )
        for row in rows
        if row.analysis_correct is not None
    ]
    correct = sum(prediction.won for prediction in decided)
    blank = ModelPerformance(
        model, sport, analysis_type, inverse, days, len(rows), len(decided), correct
    )
    return summarize_decided(blank, decided)


def unit_profit(row: Analysis) -> float:
    """Return the profit of one unit at the published price."""
    outcome = float(row.outcome or 0)
    gain = american_to_decimal(row.price or 0) - 1.0
    # Halves are shares of a stake that came back: 0.75 won half of it, 0.25 lost half.
    if outcome >= _HALF:
        return (2 * outcome - 1) * gain
    return 2 * outcome - 1


def _by_return(comparison: ModelComparison) -> tuple[bool, float, str]:
    roi = comparison.original.roi
    return (roi is None, 0.0 if roi is None else -roi.value, comparison.model)


DAYS: Final = 90
_CACHE_SECONDS: Final = 300.0
_MAX_BETS: Final = 2000


@dataclass(slots=True, kw_only=True)
class CalibrationService:
    """Forecasts and their outcomes per forecaster. Shared series are cached for five minutes."""

    db: Database
    settings: BetsSettings
    scoreboard: Scoreboard
    _shared: tuple[CalibrationSeries, ...] = ()
    _fresh_until: float = float("-inf")

    async def series(self, caller: Caller) -> tuple[CalibrationSeries, ...]:
        """Return the caller's wagers and models, then Benny, then the built-in models by name."""
        if self.db.clock.monotonic() >= self._fresh_until:
            models = [await self._model(name) for name in sorted(model_names(), key=model_name)]
            series = [model for model in models if model is not None]
            self._shared = (await self._benny(), *series)
            self._fresh_until = self.db.clock.monotonic() + _CACHE_SECONDS
        return (await self._wagers(caller), *await self._own_models(caller), *self._shared)

    async def _wagers(self, caller: Caller) -> CalibrationSeries:
        """Return the caller's wagers; a price implies at least its break-even probability."""
        bets = await self.db.store.page(Wager.of_user(caller.user_id), _MAX_BETS)
        forecasts = tuple(
            ResolvedForecast(implied_probability(bet.odds), bet.profit_cents > 0)
            for bet in bets.items
            if bet.status == "settled" and bet.profit_cents
        )
        description = "Break-even probability of the prices you took"
        return CalibrationSeries("yours", "Your bets", description, "/bets/mine", forecasts)

    async def _own_models(self, caller: Caller) -> list[CalibrationSeries]:
        series = []
        async for model in self.db.each(UserModel.of_user(caller.user_id)):
            forecasts = await self._forecasts(model.sport, user_model_name(model.model_id))
            description = f"Your model, {sport_name(model.sport)}, {DAYS} days"
            href = f"/bets/models/{model.model_id}"
            series.append(CalibrationSeries("yours", model.name, description, href, forecasts))
        return series

    async def _benny(self) -> CalibrationSeries:
        start = self.db.now() - timedelta(days=DAYS)
        bets = [bet async for bet in self.db.each(BennyBet.since(start))]
        forecasts = tuple(
            ResolvedForecast(float(bet.confidence), bet.status == "won")
            for bet in islice(reversed(bets), _MAX_BETS)
            if bet.status in ("won", "lost")
        )
        return CalibrationSeries(
            "benny", "Benny", f"Benny's bets, {DAYS} days", "/bets/benny", forecasts
        )

    async def _model(self, name: str) -> CalibrationSeries | None:
        """Return a built-in model over all sports; None for Benny and prop models."""
        if name == BENNY_MODEL or name in PROP_MODELS:
            return None
        forecasts: tuple[ResolvedForecast, ...] = ()
        for sport in self.settings.sports:
            forecasts += await self._forecasts(sport, name)
        description = f"Picks in all sports, {DAYS} days"
        return CalibrationSeries(
            "model", model_name(name), description, "/bets/scoreboard", forecasts
        )

    async def _forecasts(self, sport: str, name: str) -> tuple[ResolvedForecast, ...]:
        rows = await self.scoreboard.rows(sport, name, DAYS, "game", inverse=False)
        return tuple(
            ResolvedForecast(float(row.confidence), row.analysis_correct)
            for row in rows
            if row.analysis_correct is not None
        )
