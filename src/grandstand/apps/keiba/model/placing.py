"""Kept here: chances of winning from scores, and of every placing from chances of winning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from grandstand.base.errors import InvalidInput

_PLACES: Final = 3
_LEAST: Final = 1e-300
_ROUNDING: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Discount:
    """The powers to which chances are raised when second and third places are contested."""

    second: float
    third: float


HARVILLE: Final = Discount(second=1.0, third=1.0)
"""Who is beaten for first contests second with undiminished chances: too kind to favourites."""

HENERY: Final = Discount(second=0.76, third=0.62)
"""The powers Lo and Bacon-Shone found closest to Henery's model of normal running times."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A runner's chances of coming first, second and third."""

    win: float
    second: float
    third: float

    @property
    def top2(self) -> float:
        """The chance of being among the first two."""
        return self.win + self.second

    @property
    def top3(self) -> float:
        """The chance of being among the first three."""
        return self.win + self.second + self.third


def win_probabilities(scores: Sequence[float], *, spread: float = 1.0) -> tuple[float, ...]:
    """Chances of winning, in proportion to the exponentials of the scores over the spread.

    Every chance is positive and they sum to one; no scores give no chances. Raises InvalidInput
    for a score that is not a finite number and for a spread that is not above zero.
    """
    if not all(math.isfinite(score) for score in scores):
        raise InvalidInput("a score must be a finite number")
    if not spread > 0:
        raise InvalidInput(f"the spread of scores must be above zero, not {spread}")
    best = max(scores, default=0.0)
    weights = [max(math.exp((score - best) / spread), _LEAST) for score in scores]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def placings(win: Sequence[float], discount: Discount = HARVILLE) -> tuple[Placing, ...]:
    """Every runner's chances of the first three places, summed over all orders of finish.

    Each place that can be filled sums to one over the runners. Raises InvalidInput unless the
    chances of winning are positive and sum to one.
    """
    _checked(win)
    second_weights, third_weights = _weights(win, discount)
    others = [_sum_without(second_weights, runner) for runner in range(len(win))]
    second = [0.0] * len(win)
    third = [0.0] * len(win)
    for one, other in combinations(range(len(win)), 2):
        ahead = win[one] * second_weights[other] / others[one]
        behind = win[other] * second_weights[one] / others[other]
        second[other] += ahead
        second[one] += behind
        if len(win) >= _PLACES:
            share = (ahead + behind) / _sum_without(third_weights, one, other)
            for runner, weight in enumerate(third_weights):
                if runner not in (one, other):
                    third[runner] += share * weight
    return tuple(Placing(*chances) for chances in zip(win, second, third, strict=True))


def _checked(win: Sequence[float]) -> None:
    if not win or not all(chance > 0 for chance in win):
        raise InvalidInput("every runner's chance of winning must be above zero")
    if abs(math.fsum(win) - 1) > _ROUNDING:
        raise InvalidInput("chances of winning must sum to one")


def _weights(
    win: Sequence[float], discount: Discount
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    second = tuple(chance**discount.second for chance in win)
    third = tuple(chance**discount.third for chance in win)
    return second, third


def _sum_without(weights: Sequence[float], *gone: int) -> float:
    """Sum of the other weights; taken from the total, it would lose its digits beside 0.999."""
    return sum(weight for runner, weight in enumerate(weights) if runner not in gone)
