"""Kept here: how unlike a race earlier runs were, and what a horse gains from circumstances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grandstand.apps.keiba.model.people import PastRun
from grandstand.apps.keiba.model.races import RaceCard
from grandstand.apps.keiba.model.words import Going

Circumstance: TypeAlias = Literal["distance", "surface", "going", "course"]

# From driest to wettest.
_GOINGS: Final[Mapping[Going, int]] = {"firm": 0, "good": 1, "yielding": 2, "soft": 3}

# What still counts as the same: distances within about an eighth, and the ground next to it.
_ALIKE: Final[Mapping[Circumstance, float]] = {
    "distance": 0.12,
    "surface": 0.0,
    "going": 1.0,
    "course": 0.0,
}

# How much contrast between a horse's runs, in squared units of unlikeness, it takes to believe by
# half that it does better one way: the variance of single runs over that of true leanings.
_DOUBT: Final[Mapping[Circumstance, float]] = {
    "distance": 1.3,
    "surface": 4.5,
    "going": 60.0,
    "course": 20.0,
}


@dataclass(frozen=True, slots=True)
class Mean:
    """A weighted mean and the weight behind it."""

    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Speed:
    """The figure of one run: points above the standard of its course, day and race."""

    run: PastRun
    points: float
    weight: float


def alike(circumstance: Circumstance, run: PastRun, card: RaceCard) -> bool:
    """Whether a run was as good as the same in a circumstance; what is unknown is not."""
    away = _UNLIKENESS[circumstance](run, card)
    return away is not None and abs(away) <= _ALIKE[circumstance]


def gain(circumstance: Circumstance, speeds: Sequence[Speed], card: RaceCard) -> Mean | None:
    """Points by which a horse should run above its own mean, going by what contrast there was.

    A straight line is laid through its figures over unlikeness and read where the race stands;
    with little contrast it lies flat. None where no run can be compared.
    """
    away = _UNLIKENESS[circumstance]
    seen = [
        (far, each.points, each.weight)
        for each in speeds
        if (far := away(each.run, card)) is not None
    ]
    total = sum(weight for _, _, weight in seen)
    if total <= 0:
        return None
    mean_far = sum(far * weight for far, _, weight in seen) / total
    mean_points = sum(points * weight for _, points, weight in seen) / total
    contrast = sum(weight * (far - mean_far) ** 2 for far, _, weight in seen)
    together = sum(
        weight * (far - mean_far) * (points - mean_points) for far, points, weight in seen
    )
    return Mean(-mean_far * together / (contrast + _DOUBT[circumstance]), total)


def _distance(run: PastRun, card: RaceCard) -> float | None:
    if not run.distance or not card.distance:
        return None
    return math.log(run.distance / card.distance)


def _surface(run: PastRun, card: RaceCard) -> float | None:
    if run.track_type is None or card.track_type is None:
        return None
    return float(run.track_type != card.track_type)


def _going(run: PastRun, card: RaceCard) -> float | None:
    if run.going is None or card.going is None:
        return None
    return float(_GOINGS[run.going] - _GOINGS[card.going])


def _course(run: PastRun, card: RaceCard) -> float | None:
    return None if card.track_name is None else float(run.track != card.track_name)


# Distances differ by the logarithm of their ratio, below nought for a shorter run, ground by the
# steps between, drier below nought; surfaces and courses are the same or differ by one.
_UNLIKENESS: Final[Mapping[Circumstance, Callable[[PastRun, RaceCard], float | None]]] = {
    "distance": _distance,
    "surface": _surface,
    "going": _going,
    "course": _course,
}
