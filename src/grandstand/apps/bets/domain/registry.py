"""The registry of built-in models, and the ensemble that combines them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from grandstand.apps.bets.domain.calibration import (
    DEFAULT_WINDOWS,
    CalibratedPredictor,
    TrainingWindows,
    apply_calibration,
    calibration_at,
)
from grandstand.apps.bets.domain.forecasts import (
    GAME_MARKETS,
    Forecast,
    OutcomeProbabilities,
    Predictor,
    Reason,
    already_started,
    build_forecast,
    clamped_log_odds,
    fair_probabilities,
    invert_forecast,
)
from grandstand.apps.bets.domain.history import AsOfView
from grandstand.apps.bets.domain.models import (
    ConsensusModel,
    ContrarianModel,
    EloModel,
    FundamentalsModel,
    GoalsModel,
    HotColdModel,
    InjuryAwareModel,
    MarginModel,
    MatchupModel,
    MomentumModel,
    PlayerStatsModel,
    RestScheduleModel,
    ValueModel,
)
from grandstand.apps.bets.domain.records import Fixture, VerifiedForecast
from grandstand.apps.bets.domain.selections import market_sides

MARKET: Final = "market"
_EPSILON: Final = 1e-6
BUILT_IN_MODELS: Final[dict[str, Callable[[], Predictor]]] = {
    "consensus": ConsensusModel,
    "value": ValueModel,
    "momentum": MomentumModel,
    "contrarian": ContrarianModel,
    "hot_cold": HotColdModel,
    "rest_schedule": RestScheduleModel,
    "matchup": MatchupModel,
    "injury_aware": InjuryAwareModel,
    "fundamentals": FundamentalsModel,
    "elo": EloModel,
    "goals": GoalsModel,
    "margin": MarginModel,
}
MODEL_NAMES: Final = (*BUILT_IN_MODELS, "ensemble")


@dataclass(frozen=True, slots=True)
class Ensemble:
    """A log-linear mixture of its members and the market.

    A member's weight falls with its log loss in excess of the market's on the same games, so the
    mixture never does much worse than the best member.
    """

    members: tuple[Predictor, ...]
    windows: TrainingWindows = DEFAULT_WINDOWS
    name: str = "ensemble"
    markets: tuple[str, ...] = GAME_MARKETS
    caution: float = 0.5

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the mixture's likeliest side, None if neither a member nor the market has one."""
        fair = fair_probabilities(view, game.game_id, market)
        forecasts = [
            forecast
            for member in self.members
            if market in member.markets
            and (forecast := member.predict(game, view, market)) is not None
        ]
        estimates = {
            forecast.model: expand_probabilities(forecast, fair)
            for forecast in forecasts
            if _same_line(forecast, fair)
        }
        if fair is not None:
            estimates[MARKET] = fair.probabilities
        if not estimates:
            return None
        weights = normalize_weights(self._weights(game.sport, view, market), tuple(estimates))
        mixture = pool_probabilities(estimates, weights)
        sides = market_sides(market)
        probability = max(mixture)
        side = sides[mixture.index(probability)]
        point = None if fair is None else fair.point
        belief = OutcomeProbabilities(
            market, sides, mixture, point, 0 if fair is None else fair.books
        )
        reasons = _reasons(estimates, weights, mixture.index(probability), probability)
        return build_forecast(self.name, game, view, belief, (side, probability), reasons=reasons)

    def _weights(self, sport: str, view: AsOfView, market: str) -> Mapping[str, float]:
        window = self.windows.at(view.instant)
        names = tuple(member.name for member in self.members)
        return view.cached_at(
            ("weights", sport, market, names, window, self.caution),
            window.until,
            lambda past: {
                name: member_weight(
                    past.verified_forecasts(sport, market, name, window.since), self.caution
                )
                for name in names
            },
        )


def member_weight(record: Sequence[VerifiedForecast], caution: float = 0.5) -> float:
    """Return a member's weight relative to the market's 1, by its excess log loss.

    Without a record a member gets the weight of one that lost slightly more than the market.
    """
    priced = [row for row in record if row.fair is not None]
    excess = math.fsum(
        single_log_loss(row.probability, row.outcome)
        - single_log_loss(row.fair or 0.0, row.outcome)
        for row in priced
    )
    prior_penalty = 1.0 / (1.0 + len(priced) / 100.0)
    return math.exp(max(-50.0, min(3.0, -caution * excess - prior_penalty)))


def single_log_loss(probability: float, outcome: float) -> float:
    """Return the log loss of one forecast, kept finite."""
    clamped = min(max(probability, _EPSILON), 1.0 - _EPSILON)
    return -(outcome * math.log(clamped) + (1.0 - outcome) * math.log1p(-clamped))


def expand_probabilities(
    forecast: Forecast, fair: OutcomeProbabilities | None
) -> tuple[float, ...]:
    """Return the probabilities of all sides; the rest is shared as the market shares it."""
    sides = market_sides(forecast.market)
    picked = sides.index(forecast.selection.side or "")
    others = [1.0 if fair is None else fair.probabilities[at] for at in range(len(sides))]
    others[picked] = 0.0
    rest = (1.0 - forecast.probability) / sum(others)
    shares = [share * rest for share in others]
    shares[picked] = forecast.probability
    return tuple(shares)


def normalize_weights(weights: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Return the weights of the models present, the market's being 1, scaled to sum to 1."""
    raw = {name: weights.get(name, 1.0 if name == MARKET else _EPSILON) for name in names}
    total = math.fsum(raw.values())
    return {name: weight / total for name, weight in raw.items()}


def pool_probabilities(
    estimates: Mapping[str, tuple[float, ...]], weights: Mapping[str, float]
) -> tuple[float, ...]:
    """Return the weighted geometric mean of probabilities, scaled to sum to 1."""
    sides = len(next(iter(estimates.values())))
    logs = [
        math.fsum(
            weights[name] * math.log(max(shares[at], _EPSILON))
            for name, shares in estimates.items()
        )
        for at in range(sides)
    ]
    powers = [math.exp(log) for log in logs]
    total = math.fsum(powers)
    return tuple(power / total for power in powers)


def _reasons(
    estimates: Mapping[str, tuple[float, ...]],
    weights: Mapping[str, float],
    picked: int,
    probability: float,
) -> list[Reason]:
    reasons = [
        Reason(
            name,
            f"{name} gives it {shares[picked]:.1%} with weight {weights[name]:.1%}",
            weights[name] * clamped_log_odds(shares[picked]),
        )
        for name, shares in estimates.items()
    ]
    rest = clamped_log_odds(probability) - math.fsum(reason.contribution for reason in reasons)
    if abs(rest) > _EPSILON:
        reasons.append(Reason("base", "effect of mixing more than two sides", rest))
    return reasons


def _same_line(forecast: Forecast, fair: OutcomeProbabilities | None) -> bool:
    if fair is None or fair.point is None or forecast.selection.point is None:
        return True
    return abs(float(forecast.selection.point)) == abs(fair.point)


@dataclass(frozen=True, slots=True)
class ModelPanel:
    """The models that forecast every game."""

    predictors: tuple[Predictor, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(predictor.name for predictor in self.predictors)

    def of(self, name: str) -> Predictor | None:
        """Return the model of a name, None if the panel has none."""
        return next((predictor for predictor in self.predictors if predictor.name == name), None)


def build_standard_panel(windows: TrainingWindows | None = None) -> ModelPanel:
    """Return every built-in model, calibrated by its own record, and their ensemble."""
    training_windows = windows or DEFAULT_WINDOWS
    members = tuple(
        CalibratedPredictor(make(), training_windows) for make in BUILT_IN_MODELS.values()
    )
    return ModelPanel(
        (*members, CalibratedPredictor(Ensemble(members, training_windows), training_windows))
    )


class PropPredictor(Protocol):
    """A model of player markets: at most one forecast per market and player."""

    @property
    def name(self) -> str: ...

    def predict(
        self, game: Fixture, view: AsOfView, market: str, participant: str
    ) -> Forecast | None:
        """Return the forecast as of the view's instant, None if the model has no opinion."""
        ...


PROP_PREDICTORS: Final[tuple[PropPredictor, ...]] = (
    ConsensusModel(),
    ValueModel(),
    PlayerStatsModel(),
)


def predict_props(
    game: Fixture,
    view: AsOfView,
    predictors: tuple[PropPredictor, ...] = PROP_PREDICTORS,
    windows: TrainingWindows = DEFAULT_WINDOWS,
) -> tuple[Forecast, ...]:
    """Return every model's forecast of every quoted prop of a game, with its inverse.

    Raises Conflict at or after the start.
    """
    if view.instant >= game.commence_time:
        raise already_started(game, view.instant)
    forecasts: list[Forecast] = []
    for market, player in view.quoted_props(game.game_id):
        for predictor in predictors:
            model_view = view.fork()
            forecast = predictor.predict(game, model_view, market, player)
            if forecast is not None:
                calibration = calibration_at(
                    model_view, windows, (game.sport, market, predictor.name)
                )
                calibrated = apply_calibration(forecast, calibration, model_view)
                forecasts += [calibrated, invert_forecast(calibrated, model_view)]
    return tuple(forecasts)
