"""User models: weighted data sources, their validation, forecasts and weight adjustment."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.domain.forecasts import (
    Forecast,
    OutcomeProbabilities,
    Reason,
    build_forecast,
    fair_probabilities,
    line_move,
    orient_reasons,
)
from grandstand.apps.bets.domain.history import AsOfView, PlayedGame
from grandstand.apps.bets.domain.margins import LOGIT_PER_SD, SportScale, sport_scale, winner_market
from grandstand.apps.bets.domain.models import (
    injury_signals,
    mean_stats,
    rest_signals,
    stat_signals,
)
from grandstand.apps.bets.domain.odds import from_log_odds
from grandstand.apps.bets.domain.records import CustomDataRow, Fixture, VerifiedForecast
from grandstand.apps.bets.domain.selections import market_sides
from grandstand.core.errors import InvalidInput

_LAST: Final = 5
_MEETINGS: Final = 10
_SQUAD_STAT: Final = "PTS"
BET_TYPES: Final = ("h2h", "spreads", "totals")
_NAME_LENGTH: Final = (3, 50)
_WEIGHT_TOLERANCE: Final = 0.01
_ROUNDING: Final = 1e-9
_USUAL_DRAW_RATE: Final = 0.27


@dataclass(frozen=True, slots=True)
class SourceEstimate:
    """What a source expects: home's margin and the total, each if it can tell."""

    text: str
    margin: float | None
    total: float | None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """The input of a source: the game, market, line and the model's datasets."""

    game: Fixture
    market: str
    line: float | None
    datasets: tuple[tuple[str, float], ...] = ()

    @property
    def scale(self) -> SportScale:
        return sport_scale(self.game.sport)


def source_signal(source: str, query: SourceQuery, view: AsOfView) -> Reason | None:
    """Return a source's log-odds toward the first side of the market, None without data."""
    if source == "odds_movement":
        return _movement(query, view)
    estimate = _ESTIMATES[source](query, view)
    if estimate is None:
        return None
    scale, line = query.scale, query.line
    if query.market == "totals":
        if estimate.total is None or line is None:
            return None
        odds = (estimate.total - line) / scale.total_sd
    else:
        if estimate.margin is None:
            return None
        lead = line if query.market == "spreads" and line is not None else 0.0
        odds = (estimate.margin + lead) / scale.margin_sd
    return Reason(source, estimate.text, LOGIT_PER_SD * odds, estimate.known_at)


def _movement(query: SourceQuery, view: AsOfView) -> Reason | None:
    game = query.game
    move = line_move(view, game.game_id, query.market, game.sport)
    if move is None:
        return None
    text = f"{move.books} bookmakers moved {move.size:+.3f} log-odds since opening"
    return Reason("odds_movement", text, move.size, move.last_at)


def _recent_form(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    game = query.game
    home = view.results(game.sport, game.home, _LAST)
    away = view.results(game.sport, game.away, _LAST)
    if not home or not away:
        return None
    trust = min(len(home), len(away)) / (min(len(home), len(away)) + 3.0)
    ahead = (_mean_margin(home, game.home) - _mean_margin(away, game.away)) * 0.5 * trust
    total = (_mean_total(home) + _mean_total(away)) / 2.0
    known = max(home[-1].score.known_at, away[-1].score.known_at)
    text = f"last {_LAST} games: {game.home} ahead by {ahead:+.1f}"
    scale = query.scale
    shrunk = scale.mean_total + trust * (total - scale.mean_total)
    return SourceEstimate(text, ahead + scale.home_points, shrunk, known)


def _head_to_head(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    game = query.game
    meetings = view.meetings(game.sport, game.home, game.away, _MEETINGS)
    if not meetings:
        return None
    trust = len(meetings) / (len(meetings) + 5.0)
    margin = trust * _mean_margin(meetings, game.home)
    scale = query.scale
    total = scale.mean_total + trust * (_mean_total(meetings) - scale.mean_total)
    text = f"{len(meetings)} meetings: {game.home} by {_mean_margin(meetings, game.home):+.1f}"
    return SourceEstimate(text, margin, total, meetings[-1].score.known_at)


def _team_stats(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    game, scale = query.game, query.scale
    signals = stat_signals(game, view, 1.0)
    if not signals:
        return None
    gap = sum(signal.contribution for signal in signals)
    home = mean_stats(view.team_stats(game.sport, game.home, _MEETINGS))
    away = mean_stats(view.team_stats(game.sport, game.away, _MEETINGS))
    wanted = ("points", "points_allowed")
    total = None
    if all(name in side for side in (home, away) for name in wanted):
        total = sum(side[name] for side in (home, away) for name in wanted) / 2.0
    known = max((signal.known_at for signal in signals if signal.known_at), default=None)
    text = f"{len(signals)} stats: {game.home} better by {gap:+.1%}"
    return SourceEstimate(text, 2.0 * gap * scale.margin_sd + scale.home_points, total, known)


def _injuries(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    signals = injury_signals(query.game, view, 1.0)
    if not signals:
        return None
    gap = sum(signal.contribution for signal in signals)
    text = "; ".join(signal.text for signal in signals)
    known = max((signal.known_at for signal in signals if signal.known_at), default=None)
    return SourceEstimate(text, gap * query.scale.margin_sd, None, known)


def _rest(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    signals = rest_signals(query.game, view, 0.06, 0.12)
    if not signals:
        return None
    gap = sum(signal.contribution for signal in signals)
    text = "; ".join(signal.text for signal in signals)
    return SourceEstimate(text, gap * query.scale.margin_sd / LOGIT_PER_SD, None)


def _players(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    game = query.game
    strengths = []
    known_times: list[datetime] = []
    for team in (game.home, game.away):
        rows = view.squad_games(game.sport, team, 60)
        games = {row.game_id for row in rows}
        values = [row.stats[_SQUAD_STAT] for row in rows if _SQUAD_STAT in row.stats]
        if not values:
            return None
        strengths.append(sum(values) / len(games))
        known_times.append(rows[-1].known_at)
    margin = (strengths[0] - strengths[1]) / 2.0
    text = f"players scored {strengths[0]:.1f} vs. {strengths[1]:.1f} per game"
    return SourceEstimate(text, margin + query.scale.home_points, sum(strengths), max(known_times))


def _custom(query: SourceQuery, view: AsOfView) -> SourceEstimate | None:
    game = query.game
    gaps, known, weights = [], [], []
    for dataset, weight in query.datasets:
        home, away = view.custom_row(dataset, game.home), view.custom_row(dataset, game.away)
        if home is not None and away is not None:
            gaps.append(weight * _gap(home, away))
            weights.append(weight)
            known += [home.known_at, away.known_at]
    if not known or not sum(weights):
        return None
    gap = sum(gaps) / sum(weights)
    text = f"custom data: {game.home} better by {gap:+.1%}"
    return SourceEstimate(text, gap * query.scale.margin_sd, None, max(known))


def _gap(home: CustomDataRow, away: CustomDataRow) -> float:
    shared = [name for name in home.stats if name in away.stats]
    sizes = [abs(home.stats[name]) + abs(away.stats[name]) for name in shared]
    gaps = [
        (home.stats[name] - away.stats[name]) / size
        for name, size in zip(shared, sizes, strict=True)
        if size
    ]
    return sum(gaps) / len(gaps) if gaps else 0.0


def _mean_margin(played: Sequence[PlayedGame], team: str) -> float:
    return sum(own - other for own, other in (game.for_team(team) for game in played)) / len(played)


def _mean_total(played: Sequence[PlayedGame]) -> float:
    return sum(game.total for game in played) / len(played)


_ESTIMATES: Final[dict[str, Callable[[SourceQuery, AsOfView], SourceEstimate | None]]] = {
    "team_stats": _team_stats,
    "injuries": _injuries,
    "recent_form": _recent_form,
    "head_to_head": _head_to_head,
    "rest_schedule": _rest,
    "player_stats": _players,
    "custom_data": _custom,
}
DATA_SOURCES: Final = (*sorted((*_ESTIMATES, "odds_movement")),)


@dataclass(frozen=True, slots=True)
class UserModelSpec:
    """A user's model: what it bets on, its data sources and their weights.

    `min_confidence` applies to the model's own probability, before calibration.

    Raises InvalidInput with the first reason it cannot be run.
    """

    name: str
    sport: str
    bet_types: tuple[str, ...]
    weights: Mapping[str, float]
    min_confidence: float = 0.5
    datasets: tuple[tuple[str, float], ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        for invalid, message in _validation_errors(self):
            if invalid:
                raise InvalidInput(message)


def _validation_errors(model: UserModelSpec) -> list[tuple[bool, str]]:
    unknown = sorted(set(model.bet_types) - set(BET_TYPES))
    low, high = 0.50, 0.95
    length = len(model.description)
    shortest, longest = 10, 200
    return [
        (
            not _NAME_LENGTH[0] <= len(model.name) <= _NAME_LENGTH[1],
            f"Name has {len(model.name)} characters. Use {_NAME_LENGTH[0]} to {_NAME_LENGTH[1]}.",
        ),
        (
            bool(length) and not shortest <= length <= longest,
            f"Description has {length} characters. Use {shortest} to {longest}.",
        ),
        (not model.bet_types, f"At least one bet type is required: {', '.join(BET_TYPES)}."),
        (bool(unknown), f"Unknown bet type {', '.join(unknown)}. Use {', '.join(BET_TYPES)}."),
        *_weight_errors(model),
        (
            not low <= model.min_confidence <= high,
            f"Invalid minimum confidence {model.min_confidence}. Use {low} to {high}.",
        ),
    ]


def _weight_errors(model: UserModelSpec) -> list[tuple[bool, str]]:
    weights = model.weights
    unknown = sorted(set(weights) - set(DATA_SOURCES))
    total = math.fsum(weights.values())
    return [
        (
            bool(unknown),
            f"Unknown data source {', '.join(unknown)}. Use {', '.join(DATA_SOURCES)}.",
        ),
        (
            not any(weight > 0 for weight in weights.values()),
            "At least one data source needs a weight above 0.",
        ),
        (
            any(not 0.0 <= weight <= 1.0 for weight in weights.values()),
            "Weights must be between 0 and 1.",
        ),
        (
            not abs(total - 1.0) <= _WEIGHT_TOLERANCE + _ROUNDING,
            f"Weights add up to {total:.4g}. They must add up to 1, within {_WEIGHT_TOLERANCE}.",
        ),
        (
            weights.get("custom_data", 0.0) > 0 and not model.datasets,
            "custom_data has a weight but no dataset is selected.",
        ),
    ]


@dataclass(frozen=True, slots=True, eq=False)
class UserPredictor:
    """A user model as a predictor."""

    model: UserModelSpec
    name: str

    @property
    def markets(self) -> tuple[str, ...]:
        """Its markets; the winner market is three-way where draws are quoted."""
        three_way = ("h2h_3way",) if "h2h" in self.model.bet_types else ()
        return (*self.model.bet_types, *three_way)

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the side its sources favor, None below its minimum confidence or without data."""
        if game.sport != self.model.sport or market not in self.markets:
            return None
        fair = fair_probabilities(view, game.game_id, market)
        if fair is None and market != winner_market(game.sport):
            return None
        line = None if fair is None else fair.point
        signals = self._signals(SourceQuery(game, market, line, self.model.datasets), view)
        own = math.fsum(signal.contribution for signal in signals)
        if not own:
            return None
        probability = from_log_odds(abs(own)) * (1.0 - _draw_share(market, fair))
        if probability < self.model.min_confidence:
            return None
        sides = market_sides(market)
        side = sides[0] if own > 0 else sides[-1]
        belief = fair or OutcomeProbabilities(
            market, sides, (1.0 / len(sides),) * len(sides), None, 0
        )
        reasons = orient_reasons(signals, math.copysign(1.0, own))
        return build_forecast(self.name, game, view, belief, (side, probability), reasons=reasons)

    def _signals(self, query: SourceQuery, view: AsOfView) -> list[Reason]:
        signals = []
        for source, weight in self.model.weights.items():
            raw = source_signal(source, query, view) if weight > 0 else None
            if raw is not None:
                share = weight * raw.contribution
                signals.append(Reason(source, raw.text, share, raw.known_at))
        return signals


def _draw_share(market: str, fair: OutcomeProbabilities | None) -> float:
    if market != "h2h_3way":
        return 0.0
    return _USUAL_DRAW_RATE if fair is None else fair.of("draw")


def adjust_weights(
    weights: Mapping[str, float], record: Sequence[VerifiedForecast], now: datetime
) -> dict[str, float]:
    """Return weights shifted toward the sources that were right more often in the last 30 days.

    A source is right if it favored a pick that won or opposed one that lost. Below 10 forecasts
    nothing changes; a source used in fewer than 5 keeps its weight. No active source falls below
    0.05, and the sum of the weights is unchanged.
    """
    recent = [row for row in record if now - timedelta(days=30) <= row.known_at <= now]
    rates = {name: _accuracy(recent, name) for name, weight in weights.items() if weight > 0}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    if len(recent) < 10 or not known or not any(known.values()):
        return dict(weights)
    pool = math.fsum(weights[name] for name in known)
    return {**weights, **_distribute(known, pool)}


def _accuracy(record: Sequence[VerifiedForecast], source: str) -> float | None:
    leans = [
        (lean, row.outcome)
        for row in record
        for name, lean in row.sources
        if name == source and lean
    ]
    if len(leans) < 5:
        return None
    return sum((lean > 0) == (outcome > 0.5) for lean, outcome in leans) / len(leans)


def _distribute(rates: Mapping[str, float], pool: float) -> dict[str, float]:
    floor = min(0.05, pool / len(rates))
    floored: set[str] = set()
    while True:
        others = {name: rate for name, rate in rates.items() if name not in floored}
        remaining = pool - floor * len(floored)
        total = math.fsum(others.values())
        shares = {name: remaining * rate / total for name, rate in others.items()} if total else {}
        below = {name for name, share in shares.items() if share < floor}
        if not below:
            return {**dict.fromkeys(floored, floor), **shares}
        floored |= below
