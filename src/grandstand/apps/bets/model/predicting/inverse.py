"""Kept here: the inverse of a forecast: the bet that wins whenever the forecast's loses."""

from __future__ import annotations

from dataclasses import replace

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.predicting.forecasting import Forecast, Reason
from grandstand.apps.bets.model.prices.boards import Board
from grandstand.apps.bets.model.prices.odds import american_of
from grandstand.apps.bets.model.selections import opposite

_TWO = 2


def inverse(forecast: Forecast, view: AsOf) -> Forecast:
    """The other side, or in three-way markets the lay of the pick, at what it costs on the board.

    The probabilities are what the forecast leaves; each reason speaks for the other side by as much
    as it spoke for the pick.
    """
    board = view.board(forecast.game_id, forecast.market, forecast.selection.participant)
    offer = None if board is None else _offer(forecast, board)
    return replace(
        forecast,
        selection=opposite(forecast.selection),
        raw=1.0 - forecast.raw,
        probability=1.0 - forecast.probability,
        fair=None if forecast.fair is None else 1.0 - forecast.fair,
        price=None if offer is None else offer[1],
        book=None if offer is None else offer[0],
        reasons=tuple(
            Reason(each.source, each.text, -each.contribution, each.known_at)
            for each in forecast.reasons
        ),
        inverse_of=forecast.model,
    )


def _offer(forecast: Forecast, board: Board) -> tuple[str, int] | None:
    column = board.sides.index(forecast.selection.side or "")
    if len(board.sides) > _TWO:
        # Whoever backs every other side, each to return the same, has laid this one.
        others = [at for at in range(len(board.sides)) if at != column]
        share = float(sum(1.0 / board.decimals[:, at].max() for at in others))
        return ("several", american_of(1.0 / share)) if share < 1.0 else None
    return board.best(1 - column, first_line(forecast))


def first_line(forecast: Forecast) -> float | None:
    """The line as the first side of the market has it; None where there is no line."""
    selection = forecast.selection
    if selection.point is None:
        return None
    away = selection.market == "spreads" and selection.side == "away"
    return float(-selection.point if away else selection.point)
