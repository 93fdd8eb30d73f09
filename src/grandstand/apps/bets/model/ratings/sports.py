"""Kept here: how far games of each sport spread: sizes that turn points into probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from grandstand.apps.bets.model.ratings.margins import shape_for

# Near even chances, one standard deviation is worth this many log-odds: 4 times 1/sqrt(2 pi).
LOGIT_PER_SD: Final = 1.596

# Home advantage and mean total in points, long-run figures of each sport's large leagues, rounded.
_POINTS: Final = {
    "basketball": (2.5, 224.0),
    "americanfootball": (1.8, 45.0),
    "baseball": (0.15, 8.8),
    "icehockey": (0.25, 6.1),
    "soccer": (0.35, 2.75),
}
_GOALS: Final = ("soccer", "icehockey")
_OTHER: Final = (2.0, 200.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """A sport's spread of margins and totals in points, its home advantage, and its mean total.

    `goals` says that scores are few enough to be counted as goals.
    """

    margin_sd: float
    total_sd: float
    home_points: float
    mean_total: float
    goals: bool


@lru_cache(maxsize=64)
def scale_of(sport: str) -> Scale:
    """The sizes of a sport by the first word of its key, such as basketball of basketball_nba."""
    kind = sport.split("_", maxsplit=1)[0]
    shape = shape_for(sport)
    home, total = _POINTS.get(kind, _OTHER)
    return Scale(shape.margin_deviation, shape.total_deviation, home, total, kind in _GOALS)


def winner_market(sport: str) -> str:
    """The market of who wins: three-way where a draw is a result, in soccer."""
    return "h2h_3way" if sport.startswith("soccer") else "h2h"
