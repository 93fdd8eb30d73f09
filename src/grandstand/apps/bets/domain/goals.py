"""Dixon-Coles goal model: two Poisson counts with a correction for low scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.margins import ScoreGrid
from grandstand.core.errors import InvalidInput

Reals: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

MAX_GOALS: Final = 15
_MIN_TAU: Final = 1e-9
_MAX_STRENGTH: Final = 4.0
_MAX_RHO: Final = 0.9
_MAX_MEAN: Final = 50.0


@dataclass(frozen=True, slots=True)
class GoalGame:
    """A result with its weight: 1 for a new game, less for older ones (see `time_weight`)."""

    home: str
    away: str
    home_goals: int
    away_goals: int
    weight: float = 1.0
    neutral: bool = False


@dataclass(frozen=True, slots=True)
class GoalModel:
    """Team strengths: home goals are exp(attack + opponent's defense + home).

    Attacks sum to zero; a high defense value concedes many. `rho` below zero makes 0:0 and 1:1 more
    common than two independent Poisson counts.
    """

    attack: Mapping[str, float]
    defense: Mapping[str, float]
    home: float
    rho: float

    def means(self, home: str, away: str, *, neutral: bool = False) -> tuple[float, float] | None:
        """Return the expected goals of both teams, None if a team is unknown."""
        if home not in self.attack or away not in self.attack:
            return None
        advantage = 0.0 if neutral else self.home
        return (
            math.exp(self.attack[home] + self.defense[away] + advantage),
            math.exp(self.attack[away] + self.defense[home]),
        )

    def grid(
        self, home: str, away: str, *, neutral: bool = False, max_goals: int = MAX_GOALS
    ) -> ScoreGrid | None:
        """Return the score grid below `max_goals` goals each, None if a team is unknown."""
        means = self.means(home, away, neutral=neutral)
        return None if means is None else score_grid(*means, rho=self.rho, max_goals=max_goals)


def time_weight(days_ago: float, *, per_day: float = 0.0018) -> float:
    """Return the weight of a game by its age; half after about a year."""
    return math.exp(-per_day * max(days_ago, 0.0))


def rho_bounds(home: float, away: float) -> tuple[float, float]:
    """Return the range of rho in which no score gets a negative probability."""
    return max(-1.0 / home, -1.0 / away), min(1.0 / (home * away), 1.0)


def score_grid(
    home: float, away: float, *, rho: float = 0.0, max_goals: int = MAX_GOALS
) -> ScoreGrid:
    """Return the probability of every score from the expected goals, summing to 1.

    A `rho` out of bounds is clamped.

    Raises InvalidInput if the expected goals are out of range.
    """
    if not (0.0 < home <= _MAX_MEAN and 0.0 < away <= _MAX_MEAN and max_goals > 1):
        raise InvalidInput(f"Invalid expected goals {home!r} and {away!r}.")
    goals = np.arange(max_goals)
    log_factorials = np.cumsum(np.log(np.maximum(goals, 1)))
    cells = np.outer(
        np.exp(goals * math.log(home) - home - log_factorials),
        np.exp(goals * math.log(away) - away - log_factorials),
    )
    low, high = rho_bounds(home, away)
    clamped = min(max(rho, low), high)
    cells[0, 0] *= 1.0 - home * away * clamped
    cells[0, 1] *= 1.0 + home * clamped
    cells[1, 0] *= 1.0 + away * clamped
    cells[1, 1] *= 1.0 - clamped
    cells = np.maximum(cells, 0.0)
    return ScoreGrid(cells / cells.sum())


@dataclass(frozen=True, slots=True)
class _ResultColumns:
    """Results in columns."""

    teams: tuple[str, ...]
    home: Places
    away: Places
    home_goals: Reals
    away_goals: Reals
    weights: Reals
    at_home: Reals


def _columns(games: Sequence[GoalGame]) -> _ResultColumns:
    teams = tuple(sorted({team for game in games for team in (game.home, game.away)}))
    at = {team: place for place, team in enumerate(teams)}
    weights = np.array([game.weight for game in games], dtype=np.float64)
    if len(teams) < 2 or not len(games) or weights.min() < 0.0 or weights.sum() <= 0.0:
        raise InvalidInput("At least one game of two teams with a weight above 0 is required.")
    return _ResultColumns(
        teams,
        np.array([at[game.home] for game in games]),
        np.array([at[game.away] for game in games]),
        np.array([game.home_goals for game in games], dtype=np.float64),
        np.array([game.away_goals for game in games], dtype=np.float64),
        weights,
        np.array([0.0 if game.neutral else 1.0 for game in games]),
    )


def fit_dixon_coles(games: Sequence[GoalGame], *, ridge: float = 0.0) -> GoalModel:
    """Fit strengths and correction by weighted maximum likelihood.

    `ridge` pulls strengths toward an average team, which short histories need.

    Raises InvalidInput for fewer than two teams.
    """
    from scipy.optimize import minimize

    played = _columns(games)
    count = len(played.teams)
    mean = float(np.average(played.home_goals + played.away_goals, weights=played.weights)) / 2.0
    start = np.zeros(2 * count + 2)
    start[count : 2 * count] = math.log(max(mean, 0.05))
    start[-2] = 0.2
    start[-1] = -0.05
    bounds = [(-_MAX_STRENGTH, _MAX_STRENGTH)] * (2 * count) + [(-2.0, 2.0), (-_MAX_RHO, _MAX_RHO)]
    solution = minimize(
        lambda values: _cost(played, values, ridge),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 2_000, "maxfun": 4_000, "ftol": 1e-14, "gtol": 1e-8, "maxcor": 20},
    )
    values = [float(value) for value in solution.x]
    mean_attack = math.fsum(values[:count]) / count
    return GoalModel(
        {team: values[at] - mean_attack for at, team in enumerate(played.teams)},
        {team: values[count + at] + mean_attack for at, team in enumerate(played.teams)},
        values[-2],
        values[-1],
    )


def _cost(played: _ResultColumns, values: Reals, ridge: float) -> tuple[float, Reals]:
    """Return the negative log likelihood per unit of weight, and its gradient.

    Attacks could all rise while defenses fall; a slight penalty on their sum fixes the level and
    costs no likelihood.
    """
    count = len(played.teams)
    attack, defense = values[:count], values[count : 2 * count]
    logs_home = attack[played.home] + defense[played.away] + played.at_home * values[-2]
    logs_away = attack[played.away] + defense[played.home]
    home, away = np.exp(logs_home), np.exp(logs_away)
    logs_tau, by_home, by_away, by_rho = _low_scores(played, home, away, float(values[-1]))
    likelihood = played.home_goals * logs_home - home + played.away_goals * logs_away - away
    scale = float(played.weights.sum())
    slopes_home = played.weights * (played.home_goals - home + by_home)
    slopes_away = played.weights * (played.away_goals - away + by_away)
    slope = np.zeros_like(values)
    slope[:count] = np.bincount(played.home, slopes_home, count)
    slope[:count] += np.bincount(played.away, slopes_away, count)
    slope[count : 2 * count] = np.bincount(played.away, slopes_home, count)
    slope[count : 2 * count] += np.bincount(played.home, slopes_away, count)
    slope[-2] = slopes_home @ played.at_home
    slope[-1] = played.weights @ by_rho
    cost = -float(played.weights @ (likelihood + logs_tau)) / scale
    slope = -slope / scale
    total = float(attack.sum())
    level = defense - defense.mean()
    cost += total * total + ridge * float(attack @ attack + level @ level)
    slope[:count] += 2.0 * total + 2.0 * ridge * attack
    slope[count : 2 * count] += 2.0 * ridge * level
    return cost, slope


def _low_scores(
    played: _ResultColumns, home: Reals, away: Reals, rho: float
) -> tuple[Reals, Reals, Reals, Reals]:
    """Return the log of the correction, and its slopes in both log means and in rho."""
    nil_home, nil_away = played.home_goals == 0.0, played.away_goals == 0.0
    one_home, one_away = played.home_goals == 1.0, played.away_goals == 1.0
    cells = (nil_home & nil_away, nil_home & one_away, one_home & nil_away, one_home & one_away)
    zero = np.zeros_like(home)
    # The factor of rho in each of the four corrected cells, 0 elsewhere
    times = np.select(cells, (-home * away, home, away, np.full_like(home, -1.0)), zero)
    tau = 1.0 + rho * times
    allowed = tau > _MIN_TAU
    tau = np.maximum(tau, _MIN_TAU)
    per_rho = np.where(allowed, times / tau, zero)
    per_log = rho * per_rho
    by_home = np.where(cells[0] | cells[1], per_log, zero)
    by_away = np.where(cells[0] | cells[2], per_log, zero)
    return np.log(tau), by_home, by_away, per_rho
