"""The built-in models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from statistics import NormalDist
from typing import Final

import numpy as np

from grandstand.apps.bets.domain import elo, goals
from grandstand.apps.bets.domain.calibration import TrainingWindows
from grandstand.apps.bets.domain.forecasts import (
    GAME_MARKETS,
    TEAM_MARKETS,
    Forecast,
    LineMove,
    OutcomeProbabilities,
    Reason,
    board_probabilities,
    build_forecast,
    clamped_log_odds,
    fair_probabilities,
    forecast_from_probabilities,
    forecast_from_signals,
    line_move,
    main_line_mask,
    make_selection,
    market_reason,
    prop_forecast_from_probabilities,
)
from grandstand.apps.bets.domain.history import AsOfView, PlayedGame, ResultFold
from grandstand.apps.bets.domain.margins import (
    LOGIT_PER_SD,
    ExpectedScore,
    ScoreGrid,
    expected_score,
    margin_chances,
    sport_scale,
    total_chances,
)
from grandstand.apps.bets.domain.odds import from_log_odds
from grandstand.apps.bets.domain.quotes import PriceBoard
from grandstand.apps.bets.domain.records import (
    Fixture,
    InjuryReport,
    PlayerGameStats,
    TeamGameStats,
)
from grandstand.apps.bets.domain.selections import market_sides, prop_stat_value

_FULL_REST_DAYS = 4.0
_BACK_TO_BACK_DAYS = 1.5
_STAT_GAMES: Final = 10
# Stats that favor a team if they are higher (1) or lower (-1), as feeds name them.
_STAT_SIGNS: Final = {
    "field_goal_pct": 1,
    "three_point_pct": 1,
    "rebounds": 1,
    "assists": 1,
    "turnovers": -1,
    "points": 1,
    "points_allowed": -1,
    "total_yards": 1,
    "third_down_pct": 1,
    "shots": 1,
    "shots_on_goal": 1,
    "shots_on_target": 1,
    "possession_pct": 1,
    "power_play_pct": 1,
    "batting_average": 1,
    "era": -1,
}
# How likely a player of each status is to be missing.
SEVERITY: Final = {"out": 1.0, "doubtful": 0.8, "questionable": 0.4, "day_to_day": 0.2}
_DRAW_RATE = 0.26
_CALENDAR_YEAR_SPORTS: Final = ("baseball", "soccer_usa_mls", "basketball_wnba")
_MIN_FIT_GAMES: Final = 300
_MAX_FIT_GAMES: Final = 1_500
_LOG_ODDS_PER_POINT: Final = 0.005756462732485114
_ELO_REFIT: Final = TrainingWindows(test=timedelta(days=182))
_MIN_GOAL_GAMES: Final = 60
_MAX_GOAL_GAMES: Final = 760
_RIDGE: Final = 2.0
_GOALS_REFIT: Final = TrainingWindows(test=timedelta(days=7))
_MIN_MINUTES: Final = 20.0
_OUT_SEVERITY: Final = 0.8


@dataclass(frozen=True, slots=True)
class ConsensusModel:
    """The likeliest side by the bookmakers' mean without margin, in log-odds."""

    name: str = "consensus"
    markets: tuple[str, ...] = GAME_MARKETS

    def predict(
        self, game: Fixture, view: AsOfView, market: str = "h2h", participant: str | None = None
    ) -> Forecast | None:
        """Return the market's favorite, None if the market is not quoted."""
        fair = fair_probabilities(view, game.game_id, market, participant)
        if fair is None:
            return None
        probability = max(fair.probabilities)
        side = fair.sides[fair.probabilities.index(probability)]
        reasons = [market_reason(fair, side, clamped_log_odds(probability))]
        return build_forecast(
            self.name,
            game,
            view,
            fair,
            (side, probability),
            reasons=reasons,
            participant=participant,
        )


@dataclass(frozen=True, slots=True)
class ValueModel:
    """The price with the highest expected value by the other bookmakers' fair price."""

    name: str = "value"
    markets: tuple[str, ...] = GAME_MARKETS
    min_expected_value: float = 0.0

    def predict(
        self, game: Fixture, view: AsOfView, market: str = "h2h", participant: str | None = None
    ) -> Forecast | None:
        """Return the best price above fair, None if there is none or only one bookmaker."""
        board = view.board(game.game_id, market, participant)
        best = None if board is None else best_value(board)
        if board is None or best is None or best[2] <= self.min_expected_value:
            return None
        row, side, expected_value, probability = best
        fair = board_probabilities(board)
        book, price = board.books[row], int(board.prices[row, side])
        name = fair.sides[side]
        reasons = [
            market_reason(fair, name, clamped_log_odds(probability)),
            Reason(
                "price",
                f"{book} pays {price:+d}: {expected_value:+.1%} by the other bookmakers",
                0.0,
            ),
        ]
        forecast = build_forecast(
            self.name,
            game,
            view,
            fair,
            (name, probability),
            reasons=reasons,
            participant=participant,
        )
        return replace(forecast, price=price, book=book)


def best_value(board: PriceBoard) -> tuple[int, int, float, float] | None:
    """Return (row, side, expected value, probability) of the best price, None without two books."""
    rows = np.flatnonzero(main_line_mask(board))
    if len(rows) < 2:
        return None
    fair = np.clip(board.fair_rows[rows], 1e-6, 1 - 1e-6)
    odds = np.log(fair / (1.0 - fair))
    others = (odds.sum(axis=0) - odds) / (len(rows) - 1)
    chances = 1.0 / (1.0 + np.exp(-others))
    chances = chances / chances.sum(axis=1, keepdims=True)
    values = chances * board.decimals[rows] - 1.0
    index = int(np.argmax(values))
    row, side = divmod(index, values.shape[1])
    value = float(values[row, side])
    if math.isnan(value):
        return None
    return int(rows[row]), side, value, float(chances[row, side])


@dataclass(frozen=True, slots=True)
class MomentumModel:
    """The side that bookmakers have been making likelier since opening."""

    name: str = "momentum"
    markets: tuple[str, ...] = GAME_MARKETS
    weight: float = 0.25
    min_move: float = 0.01

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the side of the move, None if no bookmaker moved far enough."""
        move = line_move(view, game.game_id, market, game.sport)
        if move is None or abs(move.size) < self.min_move:
            return None
        signal = Reason("odds_movement", describe_move(move), self.weight * move.size, move.last_at)
        return forecast_from_signals(self.name, game, view, market, [signal])


def describe_move(move: LineMove) -> str:
    side = "first" if move.size > 0 else "second"
    return f"{move.books} bookmakers moved {abs(move.size):.3f} log-odds to the {side} side"


@dataclass(frozen=True, slots=True)
class ContrarianModel:
    """The side that prices have left, or the underdog if they stood still."""

    name: str = "contrarian"
    markets: tuple[str, ...] = GAME_MARKETS
    weight: float = 0.25
    reversal_size: float = 0.05

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the other side of the move or of the favorite, None if there is neither."""
        move = line_move(view, game.game_id, market, game.sport)
        if move is not None and abs(move.size) >= self.reversal_size:
            size = -self.weight * move.size
            signal = Reason("odds_movement", f"against: {describe_move(move)}", size, move.last_at)
            return forecast_from_signals(self.name, game, view, market, [signal])
        fair = fair_probabilities(view, game.game_id, market)
        if fair is None:
            return None
        ahead = clamped_log_odds(fair.probabilities[0]) - clamped_log_odds(fair.probabilities[-1])
        signal = Reason("favorite", "prices unchanged: against the favorite", -0.02 * ahead)
        return forecast_from_signals(self.name, game, view, market, [signal])


@dataclass(frozen=True, slots=True)
class HotColdModel:
    """The team in better form over its last games; a draw counts half."""

    name: str = "hot_cold"
    markets: tuple[str, ...] = TEAM_MARKETS
    games: int = 10
    weight: float = 0.15

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the side in form, None before both have played or if they are level."""
        home = view.results(game.sport, game.home, self.games)
        away = view.results(game.sport, game.away, self.games)
        if not home or not away:
            return None
        signals = [
            form_signal(home, game.home, game.sport, self.weight),
            form_signal(away, game.away, game.sport, -self.weight),
        ]
        return forecast_from_signals(self.name, game, view, market, signals)


def form_signal(played: Sequence[PlayedGame], team: str, sport: str, weight: float) -> Reason:
    """Return a team's form: its smoothed win rate and mean margin in log-odds."""
    pairs = [game.for_team(team) for game in played]
    wins = sum(1.0 if own > other else 0.5 if own == other else 0.0 for own, other in pairs)
    share = (wins + 2.0) / (len(pairs) + 4.0)
    margin = sum(own - other for own, other in pairs) / len(pairs)
    strength = clamped_log_odds(share) + margin / sport_scale(sport).margin_sd
    text = f"{team} won {wins:g} of the last {len(pairs)}, by {margin:+.1f} per game"
    return Reason("recent_form", text, weight * strength, played[-1].score.known_at)


@dataclass(frozen=True, slots=True)
class RestScheduleModel:
    """The team with more rest since its last game."""

    name: str = "rest_schedule"
    markets: tuple[str, ...] = TEAM_MARKETS
    weight: float = 0.06
    back_to_back: float = 0.12

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the rested side, None if both rested alike or a schedule is unknown."""
        signals = rest_signals(game, view, self.weight, self.back_to_back)
        return forecast_from_signals(self.name, game, view, market, signals) if signals else None


def rest_signals(game: Fixture, view: AsOfView, weight: float, back_to_back: float) -> list[Reason]:
    """Return the effect of rest on each side, empty if a schedule is unknown."""
    home = view.rest_days(game.sport, game.home, game.commence_time)
    away = view.rest_days(game.sport, game.away, game.commence_time)
    if home is None or away is None:
        return []
    return [
        Reason(
            "rest_schedule", _describe_rest(game.home, home), _freshness(home, weight, back_to_back)
        ),
        Reason(
            "rest_schedule",
            _describe_rest(game.away, away),
            -_freshness(away, weight, back_to_back),
        ),
    ]


def _freshness(days: float, weight: float, back_to_back: float) -> float:
    tired = back_to_back if days < _BACK_TO_BACK_DAYS else 0.0
    return weight * min(round(days), _FULL_REST_DAYS) - tired


def _describe_rest(team: str, days: float) -> str:
    return f"{team} last played {days:.1f} days before"


@dataclass(frozen=True, slots=True)
class MatchupModel:
    """Previous meetings of the two teams, and how their stats compare."""

    name: str = "matchup"
    markets: tuple[str, ...] = TEAM_MARKETS
    meetings: int = 10
    meeting_weight: float = 0.1
    style_weight: float = 0.5

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the favored side, None without meetings and stats."""
        signals = [
            *head_to_head_signals(game, view, self.meetings, self.meeting_weight),
            *stat_signals(game, view, self.style_weight),
        ]
        return forecast_from_signals(self.name, game, view, market, signals)


def head_to_head_signals(game: Fixture, view: AsOfView, limit: int, weight: float) -> list[Reason]:
    """Return previous meetings as log-odds toward home, by the smoothed win rate."""
    meetings = view.meetings(game.sport, game.home, game.away, limit)
    if not meetings:
        return []
    pairs = [meeting.for_team(game.home) for meeting in meetings]
    wins = sum(1.0 if own > other else 0.5 if own == other else 0.0 for own, other in pairs)
    share = (wins + 2.0) / (len(pairs) + 4.0)
    text = f"{game.home} won {wins:g} of {len(pairs)} meetings"
    return [
        Reason("head_to_head", text, weight * clamped_log_odds(share), meetings[-1].score.known_at)
    ]


def stat_signals(game: Fixture, view: AsOfView, weight: float) -> list[Reason]:
    """Return the relative gap of each stat both teams have, toward home."""
    home = view.team_stats(game.sport, game.home, _STAT_GAMES)
    away = view.team_stats(game.sport, game.away, _STAT_GAMES)
    ours, theirs = mean_stats(home), mean_stats(away)
    shared = [name for name in ours if name in theirs and name in _STAT_SIGNS]
    signals = []
    for name in shared:
        size = abs(ours[name]) + abs(theirs[name])
        gap = 0.0 if not size else 2.0 * (ours[name] - theirs[name]) / size
        text = f"{name.replace('_', ' ')}: {ours[name]:.1f} vs. {theirs[name]:.1f}"
        known = max(home[-1].known_at, away[-1].known_at)
        signals.append(
            Reason("team_stats", text, weight * _STAT_SIGNS[name] * gap / len(shared), known)
        )
    return signals


def mean_stats(rows: Sequence[TeamGameStats]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.stats.items():
            sums.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in sums.items()}


@dataclass(frozen=True, slots=True)
class InjuryAwareModel:
    """The team that misses less of its strength."""

    name: str = "injury_aware"
    markets: tuple[str, ...] = TEAM_MARKETS
    weight: float = 0.4

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the fitter side, None if both miss the same."""
        signals = injury_signals(game, view, self.weight)
        return forecast_from_signals(self.name, game, view, market, signals)


def injury_signals(game: Fixture, view: AsOfView, weight: float) -> list[Reason]:
    """Return what is missing on each side, as log-odds toward home."""
    signals = []
    for team, sign in ((game.home, -1.0), (game.away, 1.0)):
        reports = view.injuries(game.sport, team)
        missing = min(1.0, sum(_severity(report) * report.impact for report in reports))
        if missing:
            names = ", ".join(
                f"{report.player} {report.status}" for report in reports if _severity(report)
            )
            known_at = max(report.known_at for report in reports)
            text = f"{team} is missing {missing:.0%}: {names}"
            signals.append(Reason("injuries", text, sign * weight * missing, known_at))
    return signals


def _severity(report: InjuryReport) -> float:
    return SEVERITY.get(report.status.lower().replace("-", "_").replace(" ", "_"), 0.0)


@dataclass(frozen=True, slots=True)
class FundamentalsModel:
    """Strengths, stats, rest and injuries in one expected margin, without market prices."""

    name: str = "fundamentals"
    markets: tuple[str, ...] = TEAM_MARKETS
    figure_weight: float = 0.3
    rest_weight: float = 0.04
    injury_weight: float = 0.8
    min_games: int = 3

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the stronger side, None before both teams have played enough."""
        expected = expected_score(game, view)
        fair = fair_probabilities(view, game.game_id, market)
        point = None if fair is None else fair.point
        if expected is None or expected.min_games < self.min_games:
            return None
        if market == "spreads" and point is None:
            return None
        line = point or 0.0
        odds = LOGIT_PER_SD * (expected.margin + line) / expected.shape.margin_deviation
        signals = [
            Reason("strengths", f"expected home margin {expected.margin:+.1f}", odds),
            *stat_signals(game, view, self.figure_weight),
            *rest_signals(game, view, self.rest_weight, self.rest_weight),
            *injury_signals(game, view, self.injury_weight),
        ]
        return forecast_from_probabilities(
            self.name, game, view, _fundamentals_probabilities(signals, market, point), signals
        )


def _fundamentals_probabilities(
    signals: list[Reason], market: str, point: float | None
) -> OutcomeProbabilities:
    first = from_log_odds(math.fsum(signal.contribution for signal in signals))
    sides = market_sides(market)
    if market != "h2h_3way":
        return OutcomeProbabilities(market, sides, (first, 1.0 - first), point, 0)
    decided = 1.0 - _DRAW_RATE
    return OutcomeProbabilities(
        market, sides, (decided * first, _DRAW_RATE, decided * (1.0 - first)), point, 0
    )


@dataclass(slots=True)
class EloState:
    """The ratings and games per team while a fold advances."""

    ratings: elo.Ratings = elo.NO_RATINGS
    games: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EloModel:
    """Elo ratings over every known result; parameters are refitted twice a year."""

    name: str = "elo"
    markets: tuple[str, ...] = ("h2h", "h2h_3way")
    min_games: int = 3

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the likeliest result, None before both teams have played enough."""
        refit_at = _ELO_REFIT.at(view.instant).until
        fit = partial(_fit_elo_rules, game.sport)
        rules = view.cached_at(("elo rules", game.sport), refit_at, fit)
        state = view.fold(elo_fold(game.sport, rules))
        games_played = min(state.games.get(team, 0) for team in (game.home, game.away))
        if games_played < self.min_games:
            return None
        season = season_label(game)
        home = state.ratings.of(game.home, season, rules)
        away = state.ratings.of(game.away, season, rules)
        home_advantage = 0.0 if game.neutral else rules.home_advantage
        chances = elo.game_probabilities(
            state.ratings, game.home, game.away, rules, season=season, neutral=game.neutral
        )
        signals = [
            Reason(
                "rating",
                f"{game.home} is rated {home:.0f}",
                _LOG_ODDS_PER_POINT * (home - elo.START_RATING),
            ),
            Reason(
                "rating",
                f"{game.away} is rated {away:.0f}",
                _LOG_ODDS_PER_POINT * (elo.START_RATING - away),
            ),
            Reason(
                "home", f"home advantage {home_advantage:.0f}", _LOG_ODDS_PER_POINT * home_advantage
            ),
        ]
        return forecast_from_probabilities(
            self.name, game, view, _elo_probabilities(chances, market), signals
        )


def elo_fold(sport: str, rules: elo.EloRules) -> ResultFold[EloState]:
    """Return the fold that rates a sport's results."""
    return ResultFold(("elo", rules), sport, EloState, partial(_count_result, rules))


def season_label(game: Fixture) -> str:
    """Return the year a game's season began in; most run from autumn to spring."""
    start = game.commence_time
    whole_year = game.sport.startswith(_CALENDAR_YEAR_SPORTS)
    return str(start.year if whole_year or start.month >= 7 else start.year - 1)


def _count_result(rules: elo.EloRules, standing: EloState, played: PlayedGame) -> None:
    # Results of one evening come in any order; the fold counts no game twice.
    unordered = elo.Ratings(standing.ratings.by_team)
    standing.ratings = elo.advance(unordered, _rated_game(played), rules)
    for team in (played.game.home, played.game.away):
        standing.games[team] = standing.games.get(team, 0) + 1


def _fit_elo_rules(sport: str, view: AsOfView) -> elo.EloRules:
    rules = elo.elo_rules_for(sport)
    played = view.sport_results(sport)[-_MAX_FIT_GAMES:]
    if len(played) < _MIN_FIT_GAMES:
        return rules
    return elo.fit_rules([_rated_game(game) for game in played], rules, rounds=2)


def _rated_game(played: PlayedGame) -> elo.RatedGame:
    game, score = played.game, played.score
    return elo.RatedGame(
        game.game_id,
        game.commence_time,
        season_label(game),
        game.home,
        game.away,
        score.home_score,
        score.away_score,
        game.neutral,
    )


def _elo_probabilities(chances: elo.ResultProbabilities, market: str) -> OutcomeProbabilities:
    if market == "h2h_3way":
        shares: tuple[float, ...] = (chances.home, chances.draw, chances.away)
    else:
        decided = chances.home + chances.away
        shares = (chances.home / decided, chances.away / decided)
    return OutcomeProbabilities(market, market_sides(market), shares, None, 0)


@dataclass(frozen=True, slots=True)
class GoalsModel:
    """Dixon-Coles scores, refitted weekly; one score grid prices all markets of a game."""

    name: str = "goals"
    markets: tuple[str, ...] = GAME_MARKETS

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the likeliest side, None in high-scoring sports or with too few games."""
        if not sport_scale(game.sport).goals:
            return None
        fair = fair_probabilities(view, game.game_id, market)
        point = None if fair is None else fair.point
        if market in {"spreads", "totals"} and point is None:
            return None
        until = _GOALS_REFIT.at(view.instant).until
        model = view.cached_at(("goals", game.sport), until, partial(_fit_goal_model, game.sport))
        means = None if model is None else model.means(game.home, game.away, neutral=game.neutral)
        if model is None or means is None:
            return None
        probabilities = _score_probabilities(goals.score_grid(*means, rho=model.rho), market, point)
        text = f"expected goals {means[0]:.2f} vs. {means[1]:.2f}"
        return forecast_from_probabilities(
            self.name, game, view, probabilities, [Reason("goals", text, 0.0)]
        )


def _score_probabilities(grid: ScoreGrid, market: str, point: float | None) -> OutcomeProbabilities:
    sides = market_sides(market)
    if market == "h2h_3way":
        return OutcomeProbabilities(market, sides, (grid.home, grid.draw, grid.away), None, 0)
    first = grid.chances(make_selection(market, sides[0], point, None)).probability
    return OutcomeProbabilities(market, sides, (first, 1.0 - first), point, 0)


def _fit_goal_model(sport: str, view: AsOfView) -> goals.GoalModel | None:
    played = view.sport_results(sport)[-_MAX_GOAL_GAMES:]
    if len(played) < _MIN_GOAL_GAMES:
        return None
    return goals.fit_dixon_coles(
        [
            goals.GoalGame(
                game.game.home,
                game.game.away,
                game.score.home_score,
                game.score.away_score,
                goals.time_weight((view.instant - game.game.commence_time) / timedelta(days=1)),
                game.game.neutral,
            )
            for game in played
        ],
        ridge=_RIDGE,
    )


@dataclass(frozen=True, slots=True)
class MarginModel:
    """Normally distributed margins and totals around the expected score."""

    name: str = "margin"
    markets: tuple[str, ...] = GAME_MARKETS
    min_games: int = 3

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the likelier side at the market's line, None before teams have played enough."""
        expected = expected_score(game, view)
        fair = fair_probabilities(view, game.game_id, market)
        point = None if fair is None else fair.point
        if expected is None or expected.min_games < self.min_games:
            return None
        if market in {"spreads", "totals"} and point is None:
            return None
        probabilities = margin_probabilities(expected, market, point)
        return forecast_from_probabilities(
            self.name, game, view, probabilities, _margin_signals(expected, market, point)
        )


def margin_probabilities(
    expected: ExpectedScore, market: str, point: float | None
) -> OutcomeProbabilities:
    """Return the probabilities of a market's sides by the expected score."""
    sides = market_sides(market)
    selections = [make_selection(market, side, point, None) for side in sides]
    if market == "totals":
        over = total_chances(selections[0], expected.total, expected.shape).probability
        return OutcomeProbabilities(market, sides, (over, 1.0 - over), point, 0)
    if market != "h2h_3way":
        home = margin_chances(selections[0], expected.margin, expected.shape).probability
        return OutcomeProbabilities(market, sides, (home, 1.0 - home), point, 0)
    shares = [
        margin_chances(selection, expected.margin, expected.shape).probability
        for selection in selections
    ]
    total = sum(shares)
    return OutcomeProbabilities(market, sides, tuple(share / total for share in shares), point, 0)


def _margin_signals(expected: ExpectedScore, market: str, point: float | None) -> list[Reason]:
    line = point or 0.0
    if market == "totals":
        odds = LOGIT_PER_SD * (expected.total - line) / expected.shape.total_deviation
        return [Reason("strengths", f"expected total {expected.total:.1f}", odds)]
    handicap = line if market == "spreads" else 0.0
    odds = LOGIT_PER_SD * (expected.margin + handicap) / expected.shape.margin_deviation
    return [Reason("strengths", f"expected home margin {expected.margin:+.1f}", odds)]


@dataclass(frozen=True, slots=True)
class PlayerStatsModel:
    """Over or under, by a player's last games weighted to the newest, and by the opponent."""

    name: str = "player_stats"

    def predict(
        self, game: Fixture, view: AsOfView, market: str, participant: str
    ) -> Forecast | None:
        """Return the likelier side, None with under five full games or if the player is out."""
        fair = fair_probabilities(view, game.game_id, market, participant)
        if fair is None or fair.point is None or _is_out(game, view, participant):
            return None
        rows = view.player_games(game.sport, participant, 20)
        games = [row for row in rows if row.stats.get("MIN", _MIN_MINUTES) >= _MIN_MINUTES]
        values = [
            value for row in games if (value := prop_stat_value(market, row.stats)) is not None
        ]
        if len(values) < 5:
            return None
        mean = _mean(games, values, game, market)
        spread = max(_deviation(values), math.sqrt(max(mean, 1.0)))
        probability = min(max(1.0 - NormalDist().cdf((fair.point - mean) / spread), 0.02), 0.98)
        probabilities = OutcomeProbabilities(
            market, fair.sides, (probability, 1.0 - probability), fair.point, 0
        )
        text = f"{mean:.1f} expected after {len(values)} games, line {fair.point:g}"
        signal = Reason(
            "player_stats", text, math.log(probability / (1.0 - probability)), games[-1].known_at
        )
        return prop_forecast_from_probabilities(
            (self.name, participant), game, view, probabilities, [signal]
        )


def _mean(games: list[PlayerGameStats], values: list[float], game: Fixture, market: str) -> float:
    """Return the expected value: half the last five games, half all, a fifth this opponent."""
    overall = sum(values) / len(values)
    newest = values[-5:]
    mean = 0.5 * sum(newest) / len(newest) + 0.5 * overall
    opponents = {game.home, game.away}
    against = [
        value
        for row in games
        if row.team != row.opponent
        and row.opponent in opponents
        and (value := prop_stat_value(market, row.stats)) is not None
    ]
    return mean if len(against) < 2 else 0.8 * mean + 0.2 * sum(against) / len(against)


def _deviation(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _is_out(game: Fixture, view: AsOfView, player: str) -> bool:
    reports = (*view.injuries(game.sport, game.home), *view.injuries(game.sport, game.away))
    return any(
        report.player == player and SEVERITY.get(report.status, 0.0) >= _OUT_SEVERITY
        for report in reports
    )
