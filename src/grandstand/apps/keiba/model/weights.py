"""Kept here: the factors of the ranking and how many points each is worth, as fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Factor: TypeAlias = Literal[
    "speed",
    "trend",
    "distance",
    "surface",
    "going",
    "course",
    "finishing",
    "class",
    "carried",
    "body",
    "rest",
    "jockey",
    "jockey_course",
    "sire",
]

FACTORS: Final[tuple[Factor, ...]] = get_args(Factor)

POINTS_PER_FOLD: Final = 10.0
"""Ten points more multiply a runner's weight in the draw by e, about 2.7."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a factor is worth.

    `points` are for each unit above the mean of the field; `doubt` is the evidence at which a
    reading is believed by half and otherwise held to that mean.
    """

    points: float
    doubt: float


# Fitted by benchmarks/keiba/fitting.py to the first three of 2,340 races of simulated seasons, with
# the form of a race's own runners for background. What those seasons do not bear out at twice its
# standard error stands at zero: it is shown to people, and counts for nothing until fitted anew.
WEIGHTS: Final[Mapping[Factor, Weight]] = {
    # A point of figure: one thousandth of the standard time.
    "speed": Weight(points=1.16, doubt=3.0),
    "trend": Weight(points=0.0, doubt=2.0),
    "distance": Weight(points=0.881, doubt=0.0),
    "surface": Weight(points=1.72, doubt=0.0),
    "going": Weight(points=0.0, doubt=0.0),
    "course": Weight(points=0.0, doubt=0.0),
    # From beating nobody to beating everybody.
    "finishing": Weight(points=29.1, doubt=2.0),
    # One step of class.
    "class": Weight(points=3.83, doubt=1.0),
    # One kilogram.
    "carried": Weight(points=0.0, doubt=0.5),
    "body": Weight(points=0.0, doubt=0.0),
    # A rest e times too long or too short.
    "rest": Weight(points=0.0, doubt=0.0),
    # From never to always among the first three.
    "jockey": Weight(points=72.3, doubt=100.0),
    "jockey_course": Weight(points=0.0, doubt=30.0),
    "sire": Weight(points=0.0, doubt=50.0),
}
