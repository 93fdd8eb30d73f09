"""Kept here: goals as two Poisson counts, with the correction of Dixon and Coles for low scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import ForecastImpossible, TooFewResults
from grandstand.apps.bets.model.ratings.pricing import ScoreGrid

Reals: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

MOST_GOALS: Final = 15
_LEAST_TAU: Final = 1e-9
_STRENGTH: Final = 4.0
_RHO: Final = 0.9
_MOST_MEAN: Final = 50.0
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class GoalGame:
    """A result with its weight: 1 now, less the longer ago (see `faded`)."""

    home: str
    away: str
    home_goals: int
    away_goals: int
    weight: float = 1.0
    neutral: bool = False


@dataclass(frozen=True, slots=True)
class GoalModel:
    """Strengths of teams: goals of home are exp(attack + defence of the other + home).

    Attacks sum to zero; a high defence concedes many. `rho` below zero makes 0:0 and 1:1 more
    common than two Poisson counts have them.
    """

    attack: Mapping[str, float]
    defence: Mapping[str, float]
    home: float
    rho: float

    def means(self, home: str, away: str, *, neutral: bool = False) -> tuple[float, float] | None:
        """The goals expected of both; None when a team is unknown."""
        if home not in self.attack or away not in self.attack:
            return None
        ground = 0.0 if neutral else self.home
        return (
            math.exp(self.attack[home] + self.defence[away] + ground),
            math.exp(self.attack[away] + self.defence[home]),
        )

    def grid(
        self, home: str, away: str, *, neutral: bool = False, most: int = MOST_GOALS
    ) -> ScoreGrid | None:
        """The chances of all scores below `most` goals each; None when a team is unknown."""
        means = self.means(home, away, neutral=neutral)
        return None if means is None else score_grid(*means, rho=self.rho, most=most)


def faded(days_ago: float, *, per_day: float = 0.0018) -> float:
    """The weight of a game so long ago; half after about a year."""
    return math.exp(-per_day * max(days_ago, 0.0))


def rho_bounds(home: float, away: float) -> tuple[float, float]:
    """Between which values the correction leaves every score a chance of at least zero."""
    return max(-1.0 / home, -1.0 / away), min(1.0 / (home * away), 1.0)


def score_grid(home: float, away: float, *, rho: float = 0.0, most: int = MOST_GOALS) -> ScoreGrid:
    """The chances of every score from the goals expected of both sides, summing to 1.

    A `rho` that would make a score impossible is taken to the nearest that does not. Raises
    ForecastImpossible for goals that cannot be expected.
    """
    if not (0.0 < home <= _MOST_MEAN and 0.0 < away <= _MOST_MEAN and most > 1):
        raise ForecastImpossible(f"{home!r} and {away!r} goals cannot be expected.")
    goals = np.arange(most)
    logs = np.cumsum(np.log(np.maximum(goals, 1)))
    cells = np.outer(
        np.exp(goals * math.log(home) - home - logs), np.exp(goals * math.log(away) - away - logs)
    )
    low, high = rho_bounds(home, away)
    used = min(max(rho, low), high)
    cells[0, 0] *= 1.0 - home * away * used
    cells[0, 1] *= 1.0 + home * used
    cells[1, 0] *= 1.0 + away * used
    cells[1, 1] *= 1.0 - used
    cells = np.maximum(cells, 0.0)
    return ScoreGrid(cells / cells.sum())


def fit_poisson(games: Sequence[GoalGame], *, ridge: float = 0.0) -> GoalModel:
    """Strengths by weighted maximum likelihood, without the correction; raises TooFewResults."""
    return _fit(games, ridge, rho=False)


def fit_dixon_coles(games: Sequence[GoalGame], *, ridge: float = 0.0) -> GoalModel:
    """Strengths and correction by weighted maximum likelihood; raises TooFewResults.

    `ridge` draws strengths towards those of an average team, which few games need.
    """
    return _fit(games, ridge, rho=True)


@dataclass(frozen=True, slots=True)
class _Played:
    """Results in columns."""

    teams: tuple[str, ...]
    home: Places
    away: Places
    home_goals: Reals
    away_goals: Reals
    weights: Reals
    grounds: Reals


def _columns(games: Sequence[GoalGame]) -> _Played:
    teams = tuple(sorted({team for game in games for team in (game.home, game.away)}))
    at = {team: place for place, team in enumerate(teams)}
    weights = np.array([game.weight for game in games], dtype=np.float64)
    if len(teams) < _TWO or not len(games) or weights.min() < 0.0 or weights.sum() <= 0.0:
        raise TooFewResults("Strengths need games of at least two teams, with weights above 0.")
    return _Played(
        teams,
        np.array([at[game.home] for game in games]),
        np.array([at[game.away] for game in games]),
        np.array([game.home_goals for game in games], dtype=np.float64),
        np.array([game.away_goals for game in games], dtype=np.float64),
        weights,
        np.array([0.0 if game.neutral else 1.0 for game in games]),
    )


def _fit(games: Sequence[GoalGame], ridge: float, *, rho: bool) -> GoalModel:
    from scipy.optimize import minimize

    played = _columns(games)
    count = len(played.teams)
    mean = float(np.average(played.home_goals + played.away_goals, weights=played.weights)) / 2.0
    start = np.zeros(2 * count + 2)
    start[count : 2 * count] = math.log(max(mean, 0.05))
    start[-2] = 0.2
    start[-1] = -0.05 if rho else 0.0
    bounds = [(-_STRENGTH, _STRENGTH)] * (2 * count) + [(-2.0, 2.0)]
    bounds.append((-_RHO, _RHO) if rho else (0.0, 0.0))
    found = minimize(
        lambda values: _cost(played, values, ridge),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 2_000, "maxfun": 4_000, "ftol": 1e-14, "gtol": 1e-8, "maxcor": 20},
    )
    values = [float(each) for each in found.x]
    middle = math.fsum(values[:count]) / count
    return GoalModel(
        {team: values[at] - middle for at, team in enumerate(played.teams)},
        {team: values[count + at] + middle for at, team in enumerate(played.teams)},
        values[-2],
        values[-1],
    )


def _cost(played: _Played, values: Reals, ridge: float) -> tuple[float, Reals]:
    """The negative log likelihood, per unit of weight, and its slope.

    Attacks could all rise while defences fall; a slight pull on their sum settles it and costs no
    likelihood.
    """
    count = len(played.teams)
    attack, defence = values[:count], values[count : 2 * count]
    logs_home = attack[played.home] + defence[played.away] + played.grounds * values[-2]
    logs_away = attack[played.away] + defence[played.home]
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
    slope[-2] = slopes_home @ played.grounds
    slope[-1] = played.weights @ by_rho
    cost = -float(played.weights @ (likelihood + logs_tau)) / scale
    slope = -slope / scale
    total = float(attack.sum())
    level = defence - defence.mean()
    cost += total * total + ridge * float(attack @ attack + level @ level)
    slope[:count] += 2.0 * total + 2.0 * ridge * attack
    slope[count : 2 * count] += 2.0 * ridge * level
    return cost, slope


def _low_scores(
    played: _Played, home: Reals, away: Reals, rho: float
) -> tuple[Reals, Reals, Reals, Reals]:
    """The log of the correction, and its slopes in both log means and in rho."""
    nil_home, nil_away = played.home_goals == 0.0, played.away_goals == 0.0
    one_home, one_away = played.home_goals == 1.0, played.away_goals == 1.0
    cells = (nil_home & nil_away, nil_home & one_away, one_home & nil_away, one_home & one_away)
    zero = np.zeros_like(home)
    # What rho is multiplied by in each of the four cells, and nothing elsewhere
    times = np.select(cells, (-home * away, home, away, np.full_like(home, -1.0)), zero)
    tau = 1.0 + rho * times
    allowed = tau > _LEAST_TAU
    tau = np.maximum(tau, _LEAST_TAU)
    per_rho = np.where(allowed, times / tau, zero)
    per_log = rho * per_rho
    by_home = np.where(cells[0] | cells[1], per_log, zero)
    by_away = np.where(cells[0] | cells[2], per_log, zero)
    return np.log(tau), by_home, by_away, per_rho
