"""Kept here: the value model: a price that is better than what the other books think."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.predicting.forecasting import (
    GAME_MARKETS,
    Forecast,
    Reason,
    log_odds,
)
from grandstand.apps.bets.model.predicting.making import made, market_reason
from grandstand.apps.bets.model.prices.boards import Board
from grandstand.apps.bets.model.prices.fair import fair_of, on_main_line

_TWO = 2


@dataclass(frozen=True, slots=True)
class Value:
    """The side and book with the highest expectation by the other books' fair price."""

    name: str = "value"
    markets: tuple[str, ...] = GAME_MARKETS
    least_expectation: float = 0.0

    def predict(
        self, game: Fixture, view: AsOf, market: str = "h2h", participant: str | None = None
    ) -> Forecast | None:
        """The best price above the others' fair one; None when there is none, or one book only."""
        board = view.board(game.game_id, market, participant)
        found = None if board is None else best_value(board)
        if board is None or found is None or found[2] <= self.least_expectation:
            return None
        row, side, expectation, chance = found
        fair = fair_of(board)
        book, price = board.books[row], int(board.prices[row, side])
        named = fair.sides[side]
        reasons = [
            market_reason(fair, named, log_odds(chance)),
            Reason("price", f"{book} pays {price:+d}: {expectation:+.1%} by the other books", 0.0),
        ]
        forecast = made(
            self.name, game, view, fair, (named, chance), reasons=reasons, participant=participant
        )
        return replace(forecast, price=price, book=book)


def best_value(board: Board) -> tuple[int, int, float, float] | None:
    """Row, side, expectation and probability of the best price; None with fewer than two books."""
    rows = np.flatnonzero(on_main_line(board))
    if len(rows) < _TWO:
        return None
    fair = np.clip(board.fair_rows[rows], 1e-6, 1 - 1e-6)
    odds = np.log(fair / (1.0 - fair))
    others = (odds.sum(axis=0) - odds) / (len(rows) - 1)
    chances = 1.0 / (1.0 + np.exp(-others))
    chances = chances / chances.sum(axis=1, keepdims=True)
    expectations = chances * board.decimals[rows] - 1.0
    at = int(np.argmax(expectations))
    row, side = divmod(at, expectations.shape[1])
    expectation = float(expectations[row, side])
    if math.isnan(expectation):
        return None
    return int(rows[row]), side, expectation, float(chances[row, side])
