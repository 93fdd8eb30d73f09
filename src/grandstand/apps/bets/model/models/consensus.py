"""Kept here: the consensus model: what all books think together, their margins taken out."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.predicting.forecasting import GAME_MARKETS, Forecast, log_odds
from grandstand.apps.bets.model.predicting.making import made, market_reason
from grandstand.apps.bets.model.prices.fair import fair_at


@dataclass(frozen=True, slots=True)
class Consensus:
    """The likeliest side by the books' mean without margin, taken in log-odds."""

    name: str = "consensus"
    markets: tuple[str, ...] = GAME_MARKETS

    def predict(
        self, game: Fixture, view: AsOf, market: str = "h2h", participant: str | None = None
    ) -> Forecast | None:
        """The market's favourite and its probability; None when nobody quotes the market."""
        fair = fair_at(view, game.game_id, market, participant)
        if fair is None:
            return None
        chance = max(fair.probabilities)
        side = fair.sides[fair.probabilities.index(chance)]
        reasons = [market_reason(fair, side, log_odds(chance))]
        return made(
            self.name, game, view, fair, (side, chance), reasons=reasons, participant=participant
        )
