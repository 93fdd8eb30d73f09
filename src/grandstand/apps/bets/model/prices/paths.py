"""Kept here: many prices of one market at one bookmaker, in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.refusals import CrookedColumns

SIDES: Final[dict[str, tuple[str, ...]]] = {
    "h2h": ("home", "away"),
    "h2h_3way": ("home", "draw", "away"),
    "spreads": ("home", "away"),
    "totals": ("over", "under"),
    "draw_no_bet": ("home", "away"),
}
PROP_SIDES: Final = ("over", "under")


def sides_of(market: str) -> tuple[str, ...]:
    """The sides of a market in the order of the price columns; props have over and under."""
    return SIDES.get(market, PROP_SIDES)


@dataclass(frozen=True, slots=True, eq=False)
class QuotePath:
    """A bookmaker's prices of one market through time: a fact for each row.

    `prices` has a column for each side in the order of `sides_of(market)`, American. `points` is
    the line of the first side: of home in spreads (away has its negative), the total in totals and
    props, NaN in markets without a line. Stamps are microseconds since 1970, UTC, not decreasing.
    """

    game_id: str
    book: str
    market: str
    captured_at: npt.NDArray[np.int64]
    known_at: npt.NDArray[np.int64]
    prices: npt.NDArray[np.int32]
    points: npt.NDArray[np.float64]
    participant: str | None = None

    def part(self, rows: slice) -> QuotePath:
        """Some of its rows."""
        return QuotePath(
            self.game_id,
            self.book,
            self.market,
            self.captured_at[rows],
            self.known_at[rows],
            self.prices[rows],
            self.points[rows],
            self.participant,
        )

    def check(self) -> None:
        """Raise CrookedColumns when the columns do not fit each other or hold what is no price."""
        rows = len(self.known_at)
        shape = (rows, len(sides_of(self.market)))
        if self.prices.shape != shape or len(self.captured_at) != rows or len(self.points) != rows:
            raise CrookedColumns(self.game_id, self.book, self.market, "columns differ in length")
        if rows and bool((np.abs(self.prices) < 100).any()):  # noqa: PLR2004 American odds begin at 100
            raise CrookedColumns(self.game_id, self.book, self.market, "a price lies within ±100")
        if rows and bool((np.diff(self.known_at) < 0).any()):
            raise CrookedColumns(self.game_id, self.book, self.market, "rows are not in order")
