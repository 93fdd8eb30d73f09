"""Walk-forward backtests of user models and built-in models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from pydantic import Field

from grandstand.apps.bets.domain.history import Fact
from grandstand.apps.bets.domain.odds import american_to_decimal
from grandstand.apps.bets.domain.records import Fixture, sport_name
from grandstand.apps.bets.domain.selections import encode_selection
from grandstand.apps.bets.services.database import Database, check_sport, round4
from grandstand.apps.bets.services.forecasts import (
    HistoryLoader,
    user_predictor,
)
from grandstand.apps.bets.services.scoreboard import (
    DecidedPrediction,
    ModelPerformance,
    summarize_decided,
)
from grandstand.apps.bets.services.user_models import (
    DatasetService,
    UserModelRequest,
    UserModelService,
)
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.user_models import Backtest, BacktestTrials, UserModel
from grandstand.core.errors import InvalidInput, NotFound
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Page

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.calibration import TrainingWindows
    from grandstand.apps.bets.domain.evaluation import ForecastOutcome
    from grandstand.apps.bets.domain.forecasts import Predictor
    from grandstand.apps.bets.domain.history import History


@dataclass(frozen=True, slots=True)
class BacktestRequest:
    """The period to test, and the training and test windows in days.

    With `anchored` every training window starts on the first day. `purge_days` separate training
    and test data.
    """

    start: date
    end: date
    train_days: int = 60
    test_days: int = 14
    purge_days: int = 1
    anchored: bool = False


@dataclass(frozen=True, slots=True)
class BacktestPrediction:
    game_id: str
    commence_time: datetime
    prediction: str
    market_key: str
    probability: Annotated[float, Field(serialization_alias="confidence")]
    price: Annotated[int | None, Field(serialization_alias="odds")]
    verdict: str
    profit_units: float | None
    clv: float | None


@dataclass(frozen=True, slots=True)
class BacktestWindow:
    """The result of one test window."""

    start: date
    end: date
    predictions: int
    roi: float | None
    brier: float | None


@dataclass(frozen=True, slots=True)
class BacktestReport:
    """The result of a backtest; `trials` counts the backtests of this user in the sport so far."""

    backtest_id: str
    model: str
    name: str
    sport: str
    request: BacktestRequest
    created_at: datetime
    games: int
    performance: ModelPerformance
    windows: tuple[BacktestWindow, ...]
    trials: int
    deflated_sharpe: float | None
    predictions: tuple[BacktestPrediction, ...]


def backtest_performance(
    forecasts: Sequence[ForecastOutcome], model: str, sport: str, days: int
) -> ModelPerformance:
    """Return the performance of the forecasts at the prices of the time."""
    decided = [
        DecidedPrediction(
            forecast.forecast.probability,
            forecast.correct,
            forecast.forecast.price,
            forecast.profit,
            closing_line_value(forecast),
        )
        for forecast in forecasts
        if forecast.correct is not None
    ]
    right = sum(prediction.won for prediction in decided)
    blank = ModelPerformance(model, sport, "game", False, days, len(forecasts), len(decided), right)
    return summarize_decided(blank, decided)


def closing_line_value(forecast: ForecastOutcome) -> float | None:
    """Return the value of the price against the closing line; None without one."""
    if forecast.closing is None or forecast.forecast.price is None:
        return None
    return american_to_decimal(forecast.forecast.price) * forecast.closing - 1.0


def backtest_prediction(forecast: ForecastOutcome) -> BacktestPrediction:
    prediction = forecast.forecast
    return BacktestPrediction(
        prediction.game_id,
        prediction.as_of,
        encode_selection(prediction.selection),
        prediction.market,
        prediction.probability,
        prediction.price,
        forecast.verdict.name,
        forecast.profit,
        closing_line_value(forecast),
    )


def _windows(
    forecasts: Sequence[ForecastOutcome], request: BacktestRequest
) -> list[BacktestWindow]:
    windows: list[BacktestWindow] = []
    begin: date = request.start
    while begin <= request.end:
        end = min(begin + timedelta(days=request.test_days - 1), request.end)
        part = [
            forecast for forecast in forecasts if begin <= forecast.forecast.as_of.date() <= end
        ]
        if part:
            performance = backtest_performance(part, "", "", 0)
            roi = None if performance.roi is None else performance.roi.value
            windows.append(BacktestWindow(begin, end, len(part), roi, performance.brier))
        begin = end + timedelta(days=1)
    return windows


_MAX_DAYS: Final = 3700


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestService:
    """Runs backtests with the engine that makes the live predictions, and stores the results."""

    db: Database
    settings: BetsSettings
    user_models: UserModelService
    datasets: DatasetService
    history: HistoryLoader

    async def run(
        self,
        caller: Caller,
        model_id: str,
        request: BacktestRequest,
        progress: Callable[[int, int], None] | None = None,
    ) -> BacktestReport:
        """Backtest one of the caller's models and store the result.

        `progress` is called with the number of games done and the total. Raises NotFound if the
        caller has no such model, InvalidInput if the period is invalid or has no games.
        """
        row = await self.user_models.row(caller, model_id)
        report = await self._run_user_model(caller, row, request, progress)
        await self._save(caller, report, model_id)
        return report

    async def run_draft(
        self, caller: Caller, draft: UserModelRequest, request: BacktestRequest
    ) -> BacktestReport:
        """Backtest a model without storing it or the result. It counts as a trial."""
        row = await self.user_models.validate(caller, draft, "draft")
        return await self._run_user_model(caller, row, request, None)

    async def run_builtin(
        self,
        caller: Caller,
        model: str,
        sport: str,
        request: BacktestRequest,
        progress: Callable[[int, int], None] | None = None,
    ) -> BacktestReport:
        """Backtest a built-in model and store the result.

        Raises NotFound if there is no such model.
        """
        from grandstand.apps.bets.domain.registry import MODEL_NAMES, build_standard_panel

        if model not in MODEL_NAMES:
            raise NotFound(f"Unknown model {model!r}. Models: {', '.join(MODEL_NAMES)}.")
        predictor = build_standard_panel(training_windows(request)).of(model)
        assert predictor is not None  # noqa: S101 - it is one of the panel's names
        history = await self._load_history(check_sport(self.settings, sport), request, ())
        report = await self._walk(
            caller, history, predictor, request, sport=sport, name=model, progress=progress
        )
        await self._save(caller, report, model)
        return report

    async def _run_user_model(
        self,
        caller: Caller,
        row: UserModel,
        request: BacktestRequest,
        progress: Callable[[int, int], None] | None = None,
    ) -> BacktestReport:
        datasets = tuple(row.datasets or {})
        history = await self._load_history(row.sport, request, datasets, caller.user_id)
        predictor = user_predictor(row, training_windows(request))
        return await self._walk(
            caller, history, predictor, request, sport=row.sport, name=row.name, progress=progress
        )

    async def _load_history(
        self, sport: str, request: BacktestRequest, datasets: Sequence[str], user_id: str = ""
    ) -> History:
        """Load the results, prices and statistics of the period.

        Raises InvalidInput if the period has no games or too many.
        """
        from grandstand.apps.bets.domain.history import History

        since, until = backtest_span(request)
        facts: list[Fact] = []
        games: list[str] = []
        teams: set[str] = set()
        async for fact in self.history.results(sport, since, until):
            facts.append(fact)
            if isinstance(fact, Fixture):
                games.append(fact.game_id)
                teams |= {fact.home, fact.away}
        max_games = self.settings.backtest_games
        if not games or len(games) > max_games:
            raise InvalidInput(
                f"{sport_name(sport)}: {len(games)} games from {request.start} to {request.end}. "
                f"A backtest needs 1 to {max_games} games."
            )
        for game_id in games:
            facts += [fact async for fact in self.history.prices(game_id)]
        for team in sorted(teams):
            facts += [
                fact
                async for fact in self.history.of_team(sport, team, since, until)
                if not isinstance(fact, Fixture)
            ]
        for dataset in datasets:
            facts += [fact async for fact in self.datasets.facts(user_id, dataset)]
        return await asyncio.to_thread(History, facts)

    async def _walk(
        self,
        caller: Caller,
        history: History,
        predictor: Predictor,
        request: BacktestRequest,
        *,
        sport: str,
        name: str,
        progress: Callable[[int, int], None] | None = None,
    ) -> BacktestReport:
        """Run a model over the requested days and count the trial."""
        from grandstand.apps.bets.domain.scoring import deflated_sharpe

        games, days = len(history.games()), (request.end - request.start).days
        outcomes = await asyncio.to_thread(run_walk_forward, history, predictor, request, progress)
        if progress is not None:
            progress(games, games)
        performance = backtest_performance(outcomes, predictor.name, sport, days)
        sharpe = performance.sharpe or 0.0
        trials = await self.db.store(BacktestTrials.count(caller.user_id, sport, round4(sharpe)))
        returns = [
            outcome.profit
            for outcome in outcomes
            if outcome.correct is not None and outcome.profit is not None
        ]
        deflated = None
        if len(returns) > 1 and sharpe:
            deviation = sharpe_deviation(trials)
            deflated = deflated_sharpe(returns, trials.tries, trial_deviation=deviation)
        return BacktestReport(
            backtest_id=self.db.new_id(),
            model=predictor.name,
            name=name,
            sport=sport,
            request=request,
            created_at=self.db.now(),
            games=games,
            performance=performance,
            windows=tuple(_windows(outcomes, request)),
            trials=trials.tries,
            deflated_sharpe=deflated,
            predictions=tuple(map(backtest_prediction, outcomes[:100])),
        )

    async def _save(self, caller: Caller, view: BacktestReport, model: str) -> None:
        await self.db.store(
            Backtest(
                user_id=caller.user_id,
                backtest_id=view.backtest_id,
                model=model,
                name=view.name,
                sport=view.sport,
                created_at=view.created_at,
                content=msgspec.json.encode(view).decode(),
            ).record()
        )

    async def list_backtests(
        self,
        caller: Caller,
        model_id: str | None = None,
        *,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[BacktestReport]:
        """Return the caller's backtests, newest first, without their predictions."""
        query = Backtest.of_user(caller.user_id)
        if model_id is not None:
            query = query.where(Backtest.model == model_id)
        page = await self.db.store.page(query, limit, after=after)
        return Page(
            tuple(replace(decode_backtest(row), predictions=()) for row in page.items), page.cursor
        )

    async def get(self, caller: Caller, backtest_id: str) -> BacktestReport:
        """Return one of the caller's backtests.

        Raises NotFound if there is no such backtest.
        """
        backtest = await self.db.store(Backtest.by_id(caller.user_id, backtest_id))
        if backtest is None:
            raise NotFound(f"Backtest {backtest_id!r} does not exist.")
        return decode_backtest(backtest)


def run_walk_forward(
    history: History,
    predictor: Predictor,
    request: BacktestRequest,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ForecastOutcome, ...]:
    """Return the forecasts of a walk over the requested days, without inverses.

    `progress` is called from the thread this runs in.
    """
    from grandstand.apps.bets.domain.evaluation import WalkForwardPlan, walk_forward
    from grandstand.apps.bets.domain.registry import ModelPanel

    since, until = backtest_span(request)
    plan = WalkForwardPlan(since=since, until=until, inverses=False)
    first = datetime.combine(request.start, time(), UTC)
    outcomes = walk_forward(history, ModelPanel((predictor,)), plan, progress).outcomes
    return tuple(outcome for outcome in outcomes if outcome.forecast.as_of >= first)


def training_windows(request: BacktestRequest) -> TrainingWindows:
    """Raises InvalidInput if the request is invalid."""
    from grandstand.apps.bets.domain.calibration import TrainingWindows

    backtest_span(request)
    return TrainingWindows(
        "anchored" if request.anchored else "rolling",
        timedelta(days=request.train_days),
        timedelta(days=request.test_days),
        timedelta(days=request.purge_days),
    )


def backtest_span(request: BacktestRequest) -> tuple[datetime, datetime]:
    """Return the period to load, training days included.

    Raises InvalidInput if the period or a window is invalid.
    """
    if not request.start < request.end or (request.end - request.start).days > _MAX_DAYS:
        raise InvalidInput(f"The start must be before the end, at most {_MAX_DAYS} days apart.")
    if request.train_days < 1 or request.test_days < 1 or request.purge_days < 0:
        raise InvalidInput("Training and test windows need at least 1 day each; purging 0 or more.")
    since = datetime.combine(request.start, time(), UTC) - timedelta(days=request.train_days)
    return since, datetime.combine(request.end, time.max, UTC).replace(microsecond=0)


def sharpe_deviation(trials: BacktestTrials) -> float | None:
    """Return the standard deviation of the Sharpe ratios of all trials; None for a single one."""
    if trials.tries <= 1:
        return None
    mean = trials.sharpe_sum / trials.tries
    square = trials.sharpe_squares / trials.tries - mean * mean
    return float(max(square, Decimal(0)).sqrt()) or None


def decode_backtest(row: Backtest) -> BacktestReport:
    return msgspec.json.decode(row.content, type=BacktestReport)
