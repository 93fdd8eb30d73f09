"""Kept here: closing-line value: how much better a price was than the last one before the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grandstand.apps.bets.model.errors import SelectionImpossible
from grandstand.apps.bets.model.margins import (
    Shape,
    chances_of_margin,
    chances_of_total,
    mean_behind,
)
from grandstand.apps.bets.model.odds import decimal_of, implied, log_odds
from grandstand.apps.bets.model.pricing import Chances
from grandstand.apps.bets.model.selections import Selection
from grandstand.apps.bets.model.significance import Interval, MeanFound, mean_found, wilson


@dataclass(frozen=True, slots=True)
class ClosingValue:
    """By how much a bet beat the close, in three units; above zero it did.

    `percent` of the stake, as a share of 1; `points` of probability; `log_odds`.
    """

    percent: float
    points: float
    log_odds: float


@dataclass(frozen=True, slots=True)
class ClosingSummary:
    """How a number of bets stood to the close, with how many were ahead of it."""

    percent: MeanFound
    points: MeanFound
    log_odds: MeanFound
    ahead: float
    ahead_interval: Interval


def closing_value(american: int, fair_close: float) -> ClosingValue:
    """The value of a price taken, by the fair probability of the same bet at the close.

    Raises PriceImpossible.
    """
    taken = implied(american)
    return ClosingValue(
        percent=decimal_of(american) * fair_close - 1.0,
        points=fair_close - taken,
        log_odds=log_odds(fair_close) - log_odds(taken),
    )


def closing_value_of_line(
    taken: Selection, american: int, closed: Selection, fair_close: float, shape: Shape
) -> ClosingValue:
    """The same where the line itself may have moved between.

    The close says where the margin, or the total, was expected to lie; that prices the line that
    was taken, of what is not pushed. Raises SelectionImpossible when the two differ in more than
    the line, and PriceImpossible.
    """
    if taken.point == closed.point and taken == closed:
        return closing_value(american, fair_close)
    return closing_value(american, moved(taken, closed, fair_close, shape).probability)


def moved(taken: Selection, closed: Selection, fair_close: float, shape: Shape) -> Chances:
    """The chances of one line by the fair probability of another; raises SelectionImpossible."""
    if (taken.market, taken.side, taken.lay) != (closed.market, closed.side, closed.lay):
        raise SelectionImpossible("A line can only be compared with another of the same side.")
    mean = mean_behind(closed, fair_close, shape)
    if taken.market == "totals":
        return chances_of_total(taken, mean, shape)
    return chances_of_margin(taken, mean, shape)


def closing_summary(values: Sequence[ClosingValue]) -> ClosingSummary:
    """The means with their intervals and t statistics; raises TooFewResults below two bets."""
    ahead = sum(each.percent > 0.0 for each in values)
    return ClosingSummary(
        mean_found([each.percent for each in values]),
        mean_found([each.points for each in values]),
        mean_found([each.log_odds for each in values]),
        ahead / len(values),
        wilson(ahead, len(values)),
    )
