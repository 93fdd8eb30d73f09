"""Kept here: how good given chances were, reckoned alike for whoever gave them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

LEAST: Final = 10
_GROUPS: Final = 10
_SURE: Final = 1.959964
_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Said:
    """A chance from 0 to 1 that was given beforehand, and whether it happened."""

    chance: float
    happened: bool


@dataclass(frozen=True, slots=True)
class Bounded:
    """A figure with the bounds it lies within, 95 times of 100."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """Chances that lie close together: how many, their mean, and how often they came true."""

    count: int
    chance: float
    came_true: Bounded


@dataclass(frozen=True, slots=True)
class Figures:
    """What given chances come to: the Brier score and log loss are better the less they are."""

    count: int
    chance: float
    came_true: Bounded
    brier: Bounded
    log_loss: float
    groups: tuple[Group, ...]


def figures_of(said: Sequence[Said]) -> Figures | None:
    """Answer what given chances come to; None while there are fewer than ten."""
    if len(said) < LEAST:
        return None
    surprises = [-math.log(max(_came(one), _SMALLEST)) for one in said]
    return Figures(
        count=len(said),
        chance=fmean(one.chance for one in said),
        came_true=_share(said),
        brier=_mean([(one.chance - one.happened) ** 2 for one in said]),
        log_loss=fmean(surprises),
        groups=_groups(said),
    )


def _came(one: Said) -> float:
    """The chance that was given to what happened."""
    return one.chance if one.happened else 1.0 - one.chance


def _groups(said: Sequence[Said]) -> tuple[Group, ...]:
    """Ten of equal width, those that hold anything; certainty is in the last."""
    held: dict[int, list[Said]] = {}
    for one in said:
        held.setdefault(min(int(one.chance * _GROUPS), _GROUPS - 1), []).append(one)
    return tuple(
        Group(len(group), fmean(one.chance for one in group), _share(group))
        for _, group in sorted(held.items())
    )


def _share(said: Sequence[Said]) -> Bounded:
    """How many came true, with Wilson's bounds."""
    count, happened = len(said), sum(one.happened for one in said)
    rate, weight = happened / count, _SURE**2 / count
    centre = (rate + weight / 2) / (1 + weight)
    reach = _SURE * math.sqrt(rate * (1 - rate) / count + weight / (4 * count)) / (1 + weight)
    return Bounded(rate, max(0.0, centre - reach), min(1.0, centre + reach))


def _mean(values: Sequence[float]) -> Bounded:
    mean = fmean(values)
    reach = _SURE * stdev(values) / math.sqrt(len(values))
    return Bounded(mean, max(0.0, mean - reach), min(1.0, mean + reach))
