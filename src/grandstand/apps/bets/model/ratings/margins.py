"""Kept here: how far apart two teams end, and how much they score together, as whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from grandstand.apps.bets.model.errors import (
    ForecastImpossible,
    SelectionImpossible,
)
from grandstand.apps.bets.model.ratings.pricing import Chances, Lattice
from grandstand.apps.bets.model.selections import Selection

_REACH: Final = 6.0
_TILTS: Final = 12
_SOLVES: Final = 60
_CLOSE: Final = 1e-10
_MARGIN_MARKETS: Final = frozenset({"h2h", "h2h_3way", "spreads", "draw_no_bet"})


@dataclass(frozen=True, slots=True)
class Shape:
    """How margins and totals of a sport scatter around their means.

    `keys` says how much more often than a normal curve has it a game is decided by exactly so many
    points; a key of 0 less than 1 means draws are rare, 0 that there are none.
    """

    margin_deviation: float
    total_deviation: float
    keys: tuple[tuple[int, float], ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether a game may end level."""
        return dict(self.keys).get(0, 1.0) > 0.0


# A seventh of all football games are decided by 3 points and a tenth by 7: field goals, touchdowns.
_FOOTBALL_KEYS: Final = ((0, 0.05), (3, 2.5), (4, 1.1), (6, 1.2), (7, 1.7), (10, 1.25), (14, 1.3))
_SHAPES: Final[dict[str, Shape]] = {
    "basketball": Shape(12.0, 18.0, ((0, 0.0),)),
    "americanfootball": Shape(13.5, 13.5, _FOOTBALL_KEYS),
    "baseball": Shape(4.3, 4.4, ((0, 0.0), (1, 1.5))),
    "icehockey": Shape(2.4, 2.3, ((0, 0.0), (1, 1.5))),
    "soccer": Shape(1.75, 1.65),
}


def shape_for(sport: str) -> Shape:
    """The shape of a sport by its key, such as `basketball_nba`; that of basketball if unknown."""
    return _SHAPES.get(sport.split("_", 1)[0], _SHAPES["basketball"])


def margin_lattice(mean: float, shape: Shape) -> Lattice:
    """The chances of every margin of home, with this mean; raises ForecastImpossible."""
    reach = math.ceil(abs(mean) + _REACH * shape.margin_deviation)
    plain = _normal(mean, shape.margin_deviation, -reach, reach)
    if not shape.keys:
        return plain
    masses = plain.masses.copy()
    for key, times in shape.keys:
        for place in {reach + key, reach - key}:
            if 0 <= place < masses.size:
                masses[place] *= times
    return _tilted(Lattice(-reach, masses / masses.sum()), mean)


def total_lattice(mean: float, shape: Shape) -> Lattice:
    """The chances of every total, none below 0; raises ForecastImpossible."""
    reach = _REACH * shape.total_deviation
    low = max(0, math.floor(mean - reach))
    return _normal(mean, shape.total_deviation, low, math.ceil(mean + reach))


def chances_of_margin(selection: Selection, mean: float, shape: Shape) -> Chances:
    """The chances of a bet on who wins and by how much, where home is expected to win by `mean`.

    Raises SelectionImpossible for other markets.
    """
    form = selection.form
    if form is None or selection.market not in _MARGIN_MARKETS:
        raise SelectionImpossible(f"Margins do not price a bet on {selection.market}.")
    return margin_lattice(mean, shape).chances(form)


def chances_of_total(selection: Selection, mean: float, shape: Shape) -> Chances:
    """The chances of a bet on the total; raises SelectionImpossible for other markets."""
    form = selection.form
    if form is None or selection.market != "totals":
        raise SelectionImpossible(f"Totals do not price a bet on {selection.market}.")
    return total_lattice(mean, shape).chances(form)


def mean_behind(selection: Selection, probability: float, shape: Shape) -> float:
    """The mean margin, or total, at which a bet has this probability of what is decided.

    Raises ForecastImpossible and SelectionImpossible.
    """
    if not 0.0 < probability < 1.0:
        raise ForecastImpossible(f"No mean gives a probability of {probability!r}.")
    point = float(selection.point or 0)
    off = NormalDist().inv_cdf(probability)
    if selection.market == "totals":
        sign = 1.0 if (selection.side == "over") != selection.lay else -1.0
        begin = max(point + sign * off * shape.total_deviation, 0.5)
        return _solved(
            lambda mean: chances_of_total(selection, mean, shape).probability - probability,
            begin,
            sign * shape.total_deviation,
        )
    sign = 1.0 if (selection.side == "home") != selection.lay else -1.0
    side = 1.0 if selection.side == "home" else -1.0
    return _solved(
        lambda mean: chances_of_margin(selection, mean, shape).probability - probability,
        -side * point + sign * off * shape.margin_deviation,
        sign * shape.margin_deviation,
    )


def _solved(gap: Callable[[float], float], begin: float, scale: float) -> float:
    """Where a function that rises in the direction of `scale` is zero, sought from `begin`."""
    low, high = begin - scale / 4.0, begin + scale / 4.0
    below, above = gap(low), gap(high)
    while below > 0.0 or above < 0.0:
        low, high = low - scale, high + scale
        below, above = gap(low), gap(high)
    side = 0
    for _ in range(_SOLVES):
        # Secants that keep zero between them, halving an end that stands still (Illinois).
        middle = high - above * (high - low) / (above - below) if above != below else low
        value = gap(middle)
        if abs(value) <= _CLOSE:
            return middle
        if value > 0.0:
            high, above = middle, value
            below = below / 2.0 if side > 0 else below
            side = 1
        else:
            low, below = middle, value
            above = above / 2.0 if side < 0 else above
            side = -1
    return (low + high) / 2.0


def _normal(mean: float, deviation: float, low: int, high: int) -> Lattice:
    if not (math.isfinite(mean) and deviation > 0.0):
        raise ForecastImpossible(f"{mean!r} with a deviation of {deviation!r} has no chances.")
    scale = deviation * math.sqrt(2.0)
    edges = np.array(
        [math.erf((edge - 0.5 - mean) / scale) for edge in range(low, high + 2)], dtype=np.float64
    )
    masses = np.diff(edges) / 2.0
    return Lattice(low, masses / masses.sum())


def _tilted(lattice: Lattice, mean: float) -> Lattice:
    """The lattice leaned so that its mean is this, each key keeping its place beside the others."""
    values = lattice.values.astype(np.float64)
    masses = lattice.masses
    for _ in range(_TILTS):
        now = float(values @ masses)
        spread = float((values - now) ** 2 @ masses)
        if abs(now - mean) <= _CLOSE:
            break
        masses = masses * np.exp((mean - now) / spread * (values - now))
        masses = masses / masses.sum()
    return Lattice(lattice.first, masses)
