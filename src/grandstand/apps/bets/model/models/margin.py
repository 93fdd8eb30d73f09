"""Kept here: the margin model: expected margins and totals, and how results scatter around them."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
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
from grandstand.apps.bets.model.ratings.margins import chances_of_margin, chances_of_total
from grandstand.apps.bets.model.ratings.sports import LOGIT_PER_SD
from grandstand.apps.bets.model.ratings.strengths import Expected, expected


@dataclass(frozen=True, slots=True)
class Margin:
    """Normal margins around what attack and defence so far let one expect."""

    name: str = "margin"
    markets: tuple[str, ...] = GAME_MARKETS
    least_games: int = 3

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """Its likelier side at the market's line; None before teams have shown what they can."""
        found = expected(game, view)
        fair = fair_at(view, game.game_id, market)
        point = None if fair is None else fair.point
        if found is None or found.least_games < self.least_games:
            return None
        if market in {"spreads", "totals"} and point is None:
            return None
        belief = belief_of(found, market, point)
        return believed(self.name, game, view, belief, _parts(found, market, point))


def belief_of(found: Expected, market: str, point: float | None) -> Belief:
    """The probabilities of a market's sides, by what is expected of the game."""
    sides = sides_of(market)
    selections = [selected(market, side, point, None) for side in sides]
    if market == "totals":
        over = chances_of_total(selections[0], found.total, found.shape).probability
        return Belief(market, sides, (over, 1.0 - over), point, 0)
    if market != "h2h_3way":
        home = chances_of_margin(selections[0], found.margin, found.shape).probability
        return Belief(market, sides, (home, 1.0 - home), point, 0)
    shares = [chances_of_margin(each, found.margin, found.shape).probability for each in selections]
    total = sum(shares)
    return Belief(market, sides, tuple(share / total for share in shares), point, 0)


def _parts(found: Expected, market: str, point: float | None) -> list[Part]:
    line = point or 0.0
    if market == "totals":
        odds = LOGIT_PER_SD * (found.total - line) / found.shape.total_deviation
        return [Part("strengths", f"a total of {found.total:.1f} is expected", odds)]
    lead = line if market == "spreads" else 0.0
    odds = LOGIT_PER_SD * (found.margin + lead) / found.shape.margin_deviation
    return [Part("strengths", f"home is expected to win by {found.margin:+.1f}", odds)]
