"""Evaluation of forecasts: settlement against results and closing lines, walk-forward, advice.

A model is followed, or its inverse is, only if its bets won more often than their prices required,
by more than chance explains, with all models compared counted against each other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from grandstand.apps.bets.domain.forecasts import (
    GAME_MARKETS,
    Forecast,
    OutcomeProbabilities,
    already_started,
    board_probabilities,
    invert_forecast,
    make_selection,
)
from grandstand.apps.bets.domain.history import AsOfView, History
from grandstand.apps.bets.domain.margins import (
    implied_mean,
    margin_chances,
    score_shape,
    total_chances,
    winner_market,
)
from grandstand.apps.bets.domain.odds import implied_probability
from grandstand.apps.bets.domain.records import (
    Evidence,
    Fixture,
    Interval,
    Recommendation,
    Score,
    VerifiedForecast,
    to_epoch_us,
)
from grandstand.apps.bets.domain.registry import ModelPanel
from grandstand.apps.bets.domain.scoring import p_value, q_values, wilson
from grandstand.apps.bets.domain.selections import Selection
from grandstand.apps.bets.domain.settlement import (
    PENDING,
    VOID,
    Abandoned,
    FinalResult,
    Result,
    Verdict,
    payout_ratio,
    settle_bet,
    settlement_rules_for,
)
from grandstand.core.errors import Conflict, InvalidInput

# The common verdicts, so that fractions are rarely compared.
_CORRECT_BY_VERDICT: dict[str, bool] = {
    "win": True,
    "half_win": True,
    "loss": False,
    "half_loss": False,
}
MIN_MULTIPLIER: Final = 0.3
MAX_MULTIPLIER: Final = 1.15
# Weight of a model's own confidence, in results.
_PRIOR_RESULTS: Final = 20.0


@dataclass(frozen=True, slots=True)
class ForecastOutcome:
    """A settled forecast; `profit` is for one unit staked at its price.

    `closing` is the fair closing probability of the same bet at the same line. `correct` is None
    for pushes and voids.
    """

    forecast: Forecast
    verdict: Verdict
    closing: float | None
    profit: float | None
    known_at: datetime
    correct: bool | None


@dataclass(slots=True)
class ForecastVerifier:
    """Settles forecasts against a history and caches the closing lines it computes."""

    history: History
    _closing: dict[tuple[str, str, str | None], OutcomeProbabilities | None] = field(
        default_factory=dict
    )
    _means: dict[tuple[str, str], float] = field(default_factory=dict)
    _line_probabilities: dict[tuple[str, Selection], float] = field(default_factory=dict)

    def settle(self, forecast: Forecast, verdict: Verdict, known_at: datetime) -> ForecastOutcome:
        profit = None
        if forecast.price is not None and verdict.name != "pending":
            profit = _profit(verdict, forecast.price)
        return ForecastOutcome(
            forecast,
            verdict,
            self.closing_probability(forecast),
            profit,
            known_at,
            _is_correct(verdict),
        )

    def closing_probability(self, forecast: Forecast) -> float | None:
        """Return the fair closing probability of a forecast's bet, None without closing prices."""
        selection = forecast.selection
        key = (forecast.game_id, forecast.market, selection.participant)
        if key not in self._closing:
            board = self.history.closing_board(*key)
            self._closing[key] = None if board is None else board_probabilities(board)
        close = self._closing[key]
        if close is None or selection.side is None:
            return None
        probability = close.of(selection.side)
        line = make_selection(
            close.market, selection.side, close.point, selection.participant
        ).point
        if line != selection.point:
            if selection.market not in {"spreads", "totals"}:
                return None
            probability = self._on_line(forecast, close)
        return 1.0 - probability if selection.lay else probability

    def _on_line(self, forecast: Forecast, close: OutcomeProbabilities) -> float:
        """Return the probability of the line taken, by the mean that the closing line implies."""
        selection = forecast.selection
        key = (forecast.game_id, selection)
        if key not in self._line_probabilities:
            shape, game = score_shape(forecast.sport), (forecast.game_id, forecast.market)
            if game not in self._means:
                first = make_selection(close.market, close.sides[0], close.point, None)
                self._means[game] = implied_mean(first, close.probabilities[0], shape)
            priced = total_chances if selection.market == "totals" else margin_chances
            self._line_probabilities[key] = priced(selection, self._means[game], shape).probability
        return self._line_probabilities[key]


def _is_correct(verdict: Verdict) -> bool | None:
    if verdict.name in _CORRECT_BY_VERDICT:
        return _CORRECT_BY_VERDICT[verdict.name]
    return verdict.correct


def _profit(verdict: Verdict, price: int) -> float:
    if verdict.name == "win":
        return price / 100.0 if price > 0 else 100.0 / -price
    if verdict.name == "loss":
        return -1.0
    return float(payout_ratio(verdict, price)) - 1.0


def settle_forecast(forecast: Forecast, game: Fixture, score: Score) -> Verdict:
    """Return the verdict of a forecast by a score, for the game as scheduled then.

    A game played much later than scheduled is another game: bets on it are void.
    """
    rules = settlement_rules_for(forecast.sport)
    if score.status == "postponed":
        return PENDING
    late = score.completed_at - game.commence_time > timedelta(hours=rules.postponed_hours)
    if late or score.status == "void":
        return VOID
    result: Result = FinalResult(score.home_score, score.away_score)
    if score.status == "abandoned":
        result = Abandoned(score.home_score, score.away_score, Fraction(0))
    return settle_bet(forecast.selection, result, rules)


def to_verified(outcome: ForecastOutcome) -> VerifiedForecast | None:
    """Return what is learned from an outcome, None for inverses, pushes and voids."""
    forecast, correct = outcome.forecast, outcome.correct
    if correct is None or forecast.inverse_of is not None:
        return None
    return VerifiedForecast(
        model=forecast.model,
        sport=forecast.sport,
        market=forecast.market,
        game_id=forecast.game_id,
        raw=forecast.raw,
        probability=forecast.probability,
        fair=forecast.fair,
        outcome=float(correct),
        predicted_at=forecast.as_of,
        known_at=outcome.known_at,
        sources=tuple((reason.source, reason.contribution) for reason in forecast.reasons),
    )


@dataclass(frozen=True, slots=True)
class DecidedPick:
    """A decided pick: whether it was right, its confidence, and the prices of both sides.

    `inverse_american` is None if the other side was not offered.
    """

    correct: bool
    confidence: float
    american: int
    inverse_american: int | None = None


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """All decided picks of one model in one sport and bet type."""

    model: str
    sport: str
    bet_type: str
    picks: tuple[DecidedPick, ...]


@dataclass(frozen=True, slots=True)
class AccuracyTest:
    """One side of a record: its win rate, the break-even rate of its prices, and significance.

    `q_value` is the false discovery rate at which it passes.
    """

    right: int
    total: int
    rate: float
    interval: Interval
    break_even: float
    p_value: float
    q_value: float = 1.0


@dataclass(frozen=True, slots=True)
class ModelAdvice:
    """What to do with a model, with the test results; `evidence` is set if there is too little."""

    model: str
    sport: str
    bet_type: str
    recommendation: Recommendation
    evidence: Evidence | None
    multiplier: float
    original: AccuracyTest
    inverse: AccuracyTest
    explanation: str

    @property
    def inverse_accuracy(self) -> float:
        """How often the other side was right, priced or not; the complement of its own rate."""
        return 1.0 - self.original.rate if self.original.total else 0.0


def recommend(
    records: Sequence[ModelRecord],
    *,
    min_results: int = 30,
    false_discoveries: float = 0.1,
) -> tuple[ModelAdvice, ...]:
    """Return advice for each record, in their order; pass all records that are compared at once.

    Raises InvalidPrice and InvalidInput for invalid picks.
    """
    tests = [(_test_original(record), _test_inverse(record)) for record in records]
    enough_results = [len(record.picks) >= min_results for record in records]
    p_values = [
        side.p_value
        for pair, has_enough in zip(tests, enough_results, strict=True)
        if has_enough
        for side in pair
        if side.total >= min_results
    ]
    corrected = iter(q_values(p_values))
    advice = []
    for record, pair, has_enough in zip(records, tests, enough_results, strict=True):
        sides = [
            replace(side, q_value=next(corrected))
            if has_enough and side.total >= min_results
            else side
            for side in pair
        ]
        advice.append(_advice(record, sides[0], sides[1], min_results, false_discoveries))
    return tuple(advice)


def confidence_multiplier(
    record: ModelRecord, recommendation: Recommendation, evidence: Evidence | None
) -> float:
    """Return the factor for displayed confidence; stakes never use it.

    0.3 for a model to bet against, 1 with too little evidence; otherwise the win rate over the mean
    stated confidence, shrunk to 1 by few results, between 0.3 and 1.15.
    """
    if recommendation == "INVERSE":
        return 0.3
    if evidence is not None or not record.picks:
        return 1.0
    count = len(record.picks)
    stated = sum(pick.confidence for pick in record.picks) / count
    if not 0.0 < stated <= 1.0:
        raise InvalidInput(f"Invalid mean confidence {stated!r}.")
    correct_count = sum(pick.correct for pick in record.picks)
    shrunk = (correct_count + _PRIOR_RESULTS * stated) / (count + _PRIOR_RESULTS)
    return min(max(shrunk / stated, MIN_MULTIPLIER), MAX_MULTIPLIER)


def _test_original(record: ModelRecord) -> AccuracyTest:
    picks = record.picks
    return _test_accuracy(
        sum(pick.correct for pick in picks), [implied_probability(pick.american) for pick in picks]
    )


def _test_inverse(record: ModelRecord) -> AccuracyTest:
    """Test the other side, over the picks whose other side had a price."""
    priced = [
        (pick.correct, implied_probability(pick.inverse_american))
        for pick in record.picks
        if pick.inverse_american is not None
    ]
    return _test_accuracy(sum(not correct for correct, _ in priced), [rate for _, rate in priced])


def _test_accuracy(right: int, break_evens: list[float]) -> AccuracyTest:
    total = len(break_evens)
    return AccuracyTest(
        right,
        total,
        right / total if total else 0.0,
        wilson(right, total),
        sum(break_evens) / total if total else 1.0,
        p_value(right, break_evens),
    )


def _advice(
    record: ModelRecord,
    original: AccuracyTest,
    inverse: AccuracyTest,
    min_results: int,
    false_discoveries: float,
) -> ModelAdvice:
    recommendation: Recommendation = "AVOID"
    evidence: Evidence | None = None
    if len(record.picks) < min_results:
        evidence = "INSUFFICIENT_DATA"
        explanation = f"{len(record.picks)} of {min_results} required results."
    elif original.q_value <= false_discoveries:
        recommendation = "ORIGINAL"
        explanation = _describe_test(original)
    elif inverse.q_value <= false_discoveries:
        recommendation = "INVERSE"
        explanation = f"Betting against it: {_describe_test(inverse)}"
    else:
        explanation = f"Not significant: {_describe_test(original)}"
    return ModelAdvice(
        record.model,
        record.sport,
        record.bet_type,
        recommendation,
        evidence,
        confidence_multiplier(record, recommendation, evidence),
        original,
        inverse,
        explanation,
    )


def _describe_test(side: AccuracyTest) -> str:
    return (
        f"{side.right} of {side.total} right, {side.rate:.1%} where {side.break_even:.1%} "
        f"breaks even; q {side.q_value:.3f}."
    )


@dataclass(frozen=True, slots=True)
class WalkForwardPlan:
    """Which games to forecast, and how long before their start.

    Raises InvalidInput.
    """

    lead: timedelta = timedelta(hours=1)
    since: datetime | None = None
    until: datetime | None = None
    markets: tuple[str, ...] = GAME_MARKETS
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
    """Settled forecasts.

    `history` is the one that was walked, including verified forecasts, for the leakage audit.
    """

    outcomes: tuple[ForecastOutcome, ...]
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
    quoted = view.quoted_markets(game.game_id) or [winner_market(game.sport)]
    for market in [market for market in markets if market in quoted]:
        for predictor in panel.predictors:
            if market in predictor.markets:
                model_view = view.fork()
                forecast = predictor.predict(game, model_view, market)
                if forecast is not None:
                    _check_used_rows(forecast)
                    forecasts.append(forecast)
                    forecasts += [invert_forecast(forecast, model_view)] if inverses else []
    return tuple(forecasts)


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
    return WalkForwardResult(_apply_corrections(working, verifier, outcomes), working)


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
            outcome = verifier.settle(forecast, verdict, known_at)
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
            settled.append(verifier.settle(outcome.forecast, verdict, outcome.known_at))
        else:
            settled.append(outcome)
    return tuple(settled)
