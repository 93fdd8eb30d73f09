"""Kept here: the momentum model: with the prices, as each book moved its own over time."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.predicting.forecasting import GAME_MARKETS, Forecast, Part
from grandstand.apps.bets.model.predicting.making import signalled
from grandstand.apps.bets.model.prices.fair import Move, move_at


@dataclass(frozen=True, slots=True)
class Momentum:
    """The side that books have been making likelier since they opened."""

    name: str = "momentum"
    markets: tuple[str, ...] = GAME_MARKETS
    weight: float = 0.25
    least: float = 0.01

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The side of the move; None when no book moved far enough."""
        move = move_at(view, game.game_id, market, game.sport)
        if move is None or abs(move.size) < self.least:
            return None
        part = Part("odds_movement", described(move), self.weight * move.size, move.last_at)
        return signalled(self.name, game, view, market, [part])


def described(move: Move) -> str:
    """A move in words."""
    side = "first" if move.size > 0 else "second"
    return (
        f"{move.books} books moved {abs(move.size):.3f} log-odds to the {side} side since opening"
    )
