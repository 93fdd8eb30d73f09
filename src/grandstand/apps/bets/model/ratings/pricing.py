"""Kept here: what a bet is worth when the chances of every score are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import ForecastImpossible, SelectionImpossible
from grandstand.apps.bets.model.money.settling import quarters_over
from grandstand.apps.bets.model.selections import Form, Selection

Reals: TypeAlias = npt.NDArray[np.float64]

_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely each verdict is; they sum to 1."""

    win: float
    half_win: float
    push: float
    half_loss: float
    loss: float

    @property
    def won(self) -> float:
        """The share of a stake expected to win."""
        return self.win + self.half_win / 2.0

    @property
    def lost(self) -> float:
        """The share of a stake expected to be lost."""
        return self.loss + self.half_loss / 2.0

    @property
    def probability(self) -> float:
        """Winning, of what is decided: what a price without a margin implies."""
        decided = self.won + self.lost
        return self.won / decided if decided else 0.5

    def value(self, decimal: float) -> float:
        """What one unit at this price is expected to win."""
        return self.won * (decimal - 1.0) - self.lost


def chances_of(quarters: npt.NDArray[np.int64], masses: Reals) -> Chances:
    """The chances of a bet that wins by these quarters, each with its probability."""
    places = np.clip(quarters, -2, 2).ravel() + 2
    loss, half_loss, push, half_win, win = np.bincount(
        places, weights=masses.ravel(), minlength=5
    ).tolist()
    return Chances(win, half_win, push, half_loss, loss)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreGrid:
    """The probability of every score: home goals down, away goals across.

    Raises ForecastImpossible unless no cell is negative and all sum to 1.
    """

    cells: Reals

    def __post_init__(self) -> None:
        total = float(self.cells.sum())
        if self.cells.ndim != len("hw") or not np.isfinite(total) or self.cells.min() < 0.0:
            raise ForecastImpossible("A score grid has rows and columns and no negative cell.")
        if abs(total - 1.0) > _SLACK:
            raise ForecastImpossible(f"The scores of a grid sum to {total}, not 1.")

    @property
    def home(self) -> float:
        """That home wins."""
        return float(np.tril(self.cells, -1).sum())

    @property
    def draw(self) -> float:
        """That nobody wins."""
        return float(np.trace(self.cells))

    @property
    def away(self) -> float:
        """That away wins."""
        return float(np.triu(self.cells, 1).sum())

    def exact(self, home: int, away: int) -> float:
        """That the game ends like this; nothing for scores beyond the grid."""
        rows, columns = self.cells.shape
        inside = 0 <= home < rows and 0 <= away < columns
        return float(self.cells[home, away]) if inside else 0.0

    def chances(self, selection: Selection) -> Chances:
        """The chances of a bet on the score; raises SelectionImpossible for any other."""
        form = selection.form
        if form is None or selection.market == "prop":
            raise SelectionImpossible(f"Scores do not price a bet on {selection.market}.")
        home, away = np.indices(self.cells.shape, dtype=np.int64)[:]
        return chances_of(quarters_over(form, home, away), self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The probability of every whole number from `first` on: of a margin, or of a total."""

    first: int
    masses: Reals

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """The numbers."""
        return np.arange(self.first, self.first + self.masses.size, dtype=np.int64)

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.values @ self.masses)

    def at(self, value: int) -> float:
        """The probability of one number."""
        place = value - self.first
        return float(self.masses[place]) if 0 <= place < self.masses.size else 0.0

    def chances(self, form: Form) -> Chances:
        """The chances of a bet whose form counts this number in place of the home score."""
        values = self.values
        return chances_of(quarters_over(form, values, np.zeros_like(values)), self.masses)
