"""Kept here: the goals model: Dixon and Coles' scores, fitted each week, price every market."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.windows import Windows
from grandstand.apps.bets.model.predicting.forecasting import (
    GAME_MARKETS,
    Belief,
    Forecast,
    Part,
    selected,
)
from grandstand.apps.bets.model.predicting.making import believed
from grandstand.apps.bets.model.prices.fair import fair_at
from grandstand.apps.bets.model.prices.paths import sides_of
from grandstand.apps.bets.model.ratings import goals
from grandstand.apps.bets.model.ratings.pricing import ScoreGrid
from grandstand.apps.bets.model.ratings.sports import scale_of

_LEAST_GAMES: Final = 60
_MOST_GAMES: Final = 760
_RIDGE: Final = 2.0
_WEEKLY: Final = Windows(test=timedelta(days=7))
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Goals:
    """Two dependent Poisson counts; one grid of scores for all markets of a game."""

    name: str = "goals"
    markets: tuple[str, ...] = GAME_MARKETS

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """Its likeliest side; None where goals are not few, or too few games are known."""
        if not scale_of(game.sport).goals:
            return None
        fair = fair_at(view, game.game_id, market)
        point = None if fair is None else fair.point
        if market in {"spreads", "totals"} and point is None:
            return None
        until = _WEEKLY.at(view.instant).until
        model = view.remembered(("goals", game.sport), until, partial(_fitted, game.sport))
        means = None if model is None else model.means(game.home, game.away, neutral=game.neutral)
        if model is None or means is None:
            return None
        belief = _belief(goals.score_grid(*means, rho=model.rho), market, point)
        text = f"{means[0]:.2f} against {means[1]:.2f} goals are expected"
        return believed(self.name, game, view, belief, [Part("goals", text, 0.0)])


def _belief(grid: ScoreGrid, market: str, point: float | None) -> Belief:
    sides = sides_of(market)
    if market == "h2h_3way":
        return Belief(market, sides, (grid.home, grid.draw, grid.away), None, 0)
    first = grid.chances(selected(market, sides[0], point, None)).probability
    return Belief(market, sides, (first, 1.0 - first), point, 0)


def _fitted(sport: str, view: AsOf) -> goals.GoalModel | None:
    played = view.played_in(sport)[-_MOST_GAMES:]
    if len(played) < _LEAST_GAMES:
        return None
    return goals.fit_dixon_coles(
        [
            goals.GoalGame(
                each.game.home,
                each.game.away,
                each.score.home_score,
                each.score.away_score,
                goals.faded((view.instant - each.game.commence_time) / _DAY),
                each.game.neutral,
            )
            for each in played
        ],
        ridge=_RIDGE,
    )
