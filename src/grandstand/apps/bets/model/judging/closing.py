"""Kept here: what the fair price of a closing line says of another line."""

from __future__ import annotations

from grandstand.apps.bets.model.errors import SelectionImpossible
from grandstand.apps.bets.model.ratings.margins import (
    Shape,
    chances_of_margin,
    chances_of_total,
    mean_behind,
)
from grandstand.apps.bets.model.ratings.pricing import Chances
from grandstand.apps.bets.model.selections import Selection


def moved(taken: Selection, closed: Selection, fair_close: float, shape: Shape) -> Chances:
    """The chances of one line by the fair probability of another; raises SelectionImpossible."""
    if (taken.market, taken.side, taken.lay) != (closed.market, closed.side, closed.lay):
        raise SelectionImpossible("A line can only be compared with another of the same side.")
    mean = mean_behind(closed, fair_close, shape)
    if taken.market == "totals":
        return chances_of_total(taken, mean, shape)
    return chances_of_margin(taken, mean, shape)
