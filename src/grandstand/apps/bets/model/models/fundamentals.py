"""Kept here: the fundamentals model: strengths, rest and injuries in one expected margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.models.injury_aware import injury_parts
from grandstand.apps.bets.model.models.matchup import figure_parts
from grandstand.apps.bets.model.models.rest_schedule import rest_parts
from grandstand.apps.bets.model.predicting.forecasting import TEAM_MARKETS, Belief, Forecast, Part
from grandstand.apps.bets.model.predicting.making import believed
from grandstand.apps.bets.model.prices.fair import fair_at
from grandstand.apps.bets.model.prices.odds import from_log_odds
from grandstand.apps.bets.model.prices.paths import sides_of
from grandstand.apps.bets.model.ratings.sports import LOGIT_PER_SD
from grandstand.apps.bets.model.ratings.strengths import expected

_DRAWS = 0.26


@dataclass(frozen=True, slots=True)
class Fundamentals:
    """What is known of both teams, without looking at how they are priced."""

    name: str = "fundamentals"
    markets: tuple[str, ...] = TEAM_MARKETS
    figure_weight: float = 0.3
    rest_weight: float = 0.04
    injury_weight: float = 0.8
    least_games: int = 3

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The stronger side as of now; None before both teams have shown what they can."""
        found = expected(game, view)
        fair = fair_at(view, game.game_id, market)
        point = None if fair is None else fair.point
        if found is None or found.least_games < self.least_games:
            return None
        if market == "spreads" and point is None:
            return None
        lead = point or 0.0
        odds = LOGIT_PER_SD * (found.margin + lead) / found.shape.margin_deviation
        parts = [
            Part("strengths", f"home is expected to win by {found.margin:+.1f}", odds),
            *figure_parts(game, view, self.figure_weight),
            *rest_parts(game, view, self.rest_weight, self.rest_weight),
            *injury_parts(game, view, self.injury_weight),
        ]
        return believed(self.name, game, view, _belief(parts, market, point), parts)


def _belief(parts: list[Part], market: str, point: float | None) -> Belief:
    first = from_log_odds(math.fsum(part.towards_first for part in parts))
    sides = sides_of(market)
    if market != "h2h_3way":
        return Belief(market, sides, (first, 1.0 - first), point, 0)
    decided = 1.0 - _DRAWS
    return Belief(market, sides, (decided * first, _DRAWS, decided * (1.0 - first)), point, 0)
