"""Kept here: the contrarian model: against a move that went far, else against the favourite."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.models.momentum import described
from grandstand.apps.bets.model.predicting.forecasting import GAME_MARKETS, Forecast, Part, log_odds
from grandstand.apps.bets.model.predicting.making import signalled
from grandstand.apps.bets.model.prices.fair import fair_at, move_at


@dataclass(frozen=True, slots=True)
class Contrarian:
    """The side that prices have left, or the underdog where they stood still."""

    name: str = "contrarian"
    markets: tuple[str, ...] = GAME_MARKETS
    weight: float = 0.25
    far: float = 0.05

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The other side of the move, or of the favourite; None when there is neither."""
        move = move_at(view, game.game_id, market, game.sport)
        if move is not None and abs(move.size) >= self.far:
            size = -self.weight * move.size
            part = Part("odds_movement", f"against: {described(move)}", size, move.last_at)
            return signalled(self.name, game, view, market, [part])
        fair = fair_at(view, game.game_id, market)
        if fair is None:
            return None
        ahead = log_odds(fair.probabilities[0]) - log_odds(fair.probabilities[-1])
        part = Part("favourite", "prices stand still: against the favourite", -0.02 * ahead)
        return signalled(self.name, game, view, market, [part])
