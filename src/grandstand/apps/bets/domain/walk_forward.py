"""Walk-forward evaluation: forecast, wait for results, learn, continue."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from grandstand.apps.bets.domain.evaluation import (
    ForecastOutcome,
    ForecastVerifier,
    Scorecard,
    build_scorecards,
    settle_forecast,
    to_verified,
)
from grandstand.apps.bets.domain.forecasts import (
    GAME_MARKETS,
    Forecast,
    already_started,
    invert_forecast,
)
from grandstand.apps.bets.domain.history import AsOfView, History
from grandstand.apps.bets.domain.margins import winner_market
from grandstand.apps.bets.domain.records import Fixture, to_epoch_us
from grandstand.apps.bets.domain.registry import ModelPanel
from grandstand.core.errors import Conflict, InvalidInput


@dataclass(frozen=True, slots=True)
class WalkForwardPlan:
    """Which games to forecast, how long before their start, and how many trials came before.

    Raises InvalidInput.
    """

    lead: timedelta = timedelta(hours=1)
    since: datetime | None = None
    until: datetime | None = None
    markets: tuple[str, ...] = GAME_MARKETS
    trials_before: int = 0
    inverses: bool = True

    def __post_init__(self) -> None:
        if self.lead <= timedelta(0):
            raise InvalidInput(
                "The lead must be longer than zero: forecasts are made before the start."
            )
        if self.since and self.until and self.since >= self.until:
            raise InvalidInput("`since` must be before `until`.")


@dataclass(frozen=True, slots=True)
class WalkForwardResult:
    """Settled forecasts and scorecards; `trials` counts every model and market tried.

    `history` is the one that was walked, including verified forecasts, for the leakage audit.
    """

    outcomes: tuple[ForecastOutcome, ...]
    scorecards: tuple[Scorecard, ...]
    trials: int
    history: History

    @property
    def forecasts(self) -> tuple[Forecast, ...]:
        """Every settled forecast, inverses included."""
        return tuple(outcome.forecast for outcome in self.outcomes)


def predict_game(
    game: Fixture,
    view: AsOfView,
    panel: ModelPanel,
    markets: Sequence[str] = GAME_MARKETS,
    *,
    inverses: bool = True,
) -> tuple[Forecast, ...]:
    """Return every model's forecast of a game's markets, each with its inverse if requested.

    Only markets quoted by then count, or the winner market if nothing is quoted yet.

    Raises Conflict at or after the start, or if a model used what was not known yet.
    """
    if view.instant >= game.commence_time:
        raise already_started(game, view.instant)
    forecasts: list[Forecast] = []
    for market in _quoted_markets(game, view, markets):
        for predictor in panel.predictors:
            if market in predictor.markets:
                model_view = view.fork()
                forecast = predictor.predict(game, model_view, market)
                if forecast is not None:
                    _check_used_rows(forecast)
                    forecasts.append(forecast)
                    forecasts += [invert_forecast(forecast, model_view)] if inverses else []
    return tuple(forecasts)


def _quoted_markets(game: Fixture, view: AsOfView, wanted: Sequence[str]) -> list[str]:
    quoted = view.quoted_markets(game.game_id)
    return [market for market in wanted if market in (quoted or [winner_market(game.sport)])]


def _check_used_rows(forecast: Forecast) -> None:
    for row in forecast.used:
        if row.known_at > forecast.as_of:
            raise Conflict(
                f"{row.kind} {row.row} was known at {row.known_at.isoformat()},"
                f" after {forecast.as_of.isoformat()}."
            )


def walk_forward(
    history: History,
    panel: ModelPanel,
    plan: WalkForwardPlan | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> WalkForwardResult:
    """Forecast each game when its time comes, learning only from results known by then.

    The given history is not changed. Cost grows linearly with the number of games. `on_progress` is
    called with the number of games done and the total.
    """
    used_plan = plan or WalkForwardPlan()
    working = history.without_verified()
    verifier = ForecastVerifier(working)
    pending: list[tuple[datetime, int, Fixture, tuple[Forecast, ...]]] = []
    outcomes: list[ForecastOutcome] = []
    schedule = [*_forecast_times(working, used_plan)]
    for number, (as_of, game) in enumerate(schedule):
        if on_progress is not None:
            on_progress(number, len(schedule))
        _settle_known(working, verifier, pending, outcomes, until=as_of)
        view = working.as_of(as_of)
        wanted = used_plan.markets
        forecasts = predict_game(game, view, panel, wanted, inverses=used_plan.inverses)
        score = working.first_final_score(game.game_id)
        if forecasts and score is not None:
            heapq.heappush(pending, (score.known_at, number, game, forecasts))
    _settle_known(working, verifier, pending, outcomes, until=None)
    settled = _apply_corrections(working, verifier, outcomes)
    combinations = {(outcome.forecast.model, outcome.forecast.market) for outcome in settled}
    trials = used_plan.trials_before + len(combinations)
    return WalkForwardResult(settled, build_scorecards(settled, trials), trials, working)


def _forecast_times(history: History, plan: WalkForwardPlan) -> Iterator[tuple[datetime, Fixture]]:
    """Return when each game is forecast: a lead before its start as scheduled at that time."""
    times = []
    for game in history.fixtures():
        as_of = game.commence_time - plan.lead
        scheduled = history.as_of(as_of).fixture(game.game_id)
        wanted = (plan.since is None or as_of >= plan.since) and (
            plan.until is None or as_of < plan.until
        )
        if scheduled is game and wanted:
            times.append((as_of, game))
    yield from sorted(times, key=lambda entry: (entry[0], entry[1].game_id))


def _settle_known(
    history: History,
    verifier: ForecastVerifier,
    pending: list[tuple[datetime, int, Fixture, tuple[Forecast, ...]]],
    outcomes: list[ForecastOutcome],
    *,
    until: datetime | None,
) -> None:
    """Settle the results that became known until a time, and add what is learned."""
    while pending and (until is None or pending[0][0] <= until):
        known_at, _, game, forecasts = heapq.heappop(pending)
        score = history.first_final_score(game.game_id)
        if score is None:
            continue
        for forecast in forecasts:
            verdict = settle_forecast(forecast, game, score)
            outcome = verifier.settle_with_verdict(forecast, verdict, known_at)
            outcomes.append(outcome)
            lesson = to_verified(outcome)
            if lesson is not None:
                history.add(lesson)


def _apply_corrections(
    history: History, verifier: ForecastVerifier, outcomes: Sequence[ForecastOutcome]
) -> tuple[ForecastOutcome, ...]:
    """Settle again by the latest score of each game."""
    settled = []
    for outcome in outcomes:
        score = history.latest_score(outcome.forecast.game_id)
        game = history.fixture(outcome.forecast.game_id, to_epoch_us(outcome.forecast.as_of))
        if score is not None and score.corrected and game is not None:
            verdict = settle_forecast(outcome.forecast, game, score)
            settled.append(
                verifier.settle_with_verdict(outcome.forecast, verdict, outcome.known_at)
            )
        else:
            settled.append(outcome)
    return tuple(settled)
