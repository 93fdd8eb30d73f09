"""Calibration of probability forecasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

MIN_FORECASTS: Final = 10
_GROUPS: Final = 10
_SURE: Final = 1.959964
_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class ResolvedForecast:
    """A forecast probability and whether the event happened."""

    chance: float
    happened: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts of similar probability: how many, their mean, and how often the event happened."""

    count: int
    chance: float
    came_true: Interval


@dataclass(frozen=True, slots=True)
class CalibrationSummary:
    """Calibration figures; lower Brier score and log loss are better."""

    count: int
    chance: float
    came_true: Interval
    brier: Interval
    log_loss: float
    groups: tuple[Bin, ...]


def summarize(said: Sequence[ResolvedForecast]) -> CalibrationSummary | None:
    """Return the figures of resolved forecasts; None for fewer than ten."""
    if len(said) < MIN_FORECASTS:
        return None
    surprises = [-math.log(max(_came(one), _SMALLEST)) for one in said]
    return CalibrationSummary(
        count=len(said),
        chance=fmean(one.chance for one in said),
        came_true=_share(said),
        brier=_mean([(one.chance - one.happened) ** 2 for one in said]),
        log_loss=fmean(surprises),
        groups=_groups(said),
    )


def _came(one: ResolvedForecast) -> float:
    """Return the probability given to what happened."""
    return one.chance if one.happened else 1.0 - one.chance


def _groups(said: Sequence[ResolvedForecast]) -> tuple[Bin, ...]:
    """Return the non-empty of ten bins of equal width; probability 1 is in the last."""
    held: dict[int, list[ResolvedForecast]] = {}
    for one in said:
        held.setdefault(min(int(one.chance * _GROUPS), _GROUPS - 1), []).append(one)
    return tuple(
        Bin(len(group), fmean(one.chance for one in group), _share(group))
        for _, group in sorted(held.items())
    )


def _share(said: Sequence[ResolvedForecast]) -> Interval:
    """Return the share of events that happened, with Wilson's interval."""
    count, happened = len(said), sum(one.happened for one in said)
    rate, weight = happened / count, _SURE**2 / count
    centre = (rate + weight / 2) / (1 + weight)
    reach = _SURE * math.sqrt(rate * (1 - rate) / count + weight / (4 * count)) / (1 + weight)
    return Interval(rate, max(0.0, centre - reach), min(1.0, centre + reach))


def _mean(values: Sequence[float]) -> Interval:
    mean = fmean(values)
    reach = _SURE * stdev(values) / math.sqrt(len(values))
    return Interval(mean, max(0.0, mean - reach), min(1.0, mean + reach))
