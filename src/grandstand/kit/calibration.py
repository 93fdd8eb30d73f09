"""Calibration of probability forecasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

MIN_FORECASTS: Final = 10
_Z95: Final = 1.959964


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


def summarize(forecasts: Sequence[ResolvedForecast]) -> CalibrationSummary | None:
    """Return the figures of resolved forecasts; None for fewer than ten."""
    if len(forecasts) < MIN_FORECASTS:
        return None
    # The probability given to what happened.
    given = [one.chance if one.happened else 1.0 - one.chance for one in forecasts]
    return CalibrationSummary(
        count=len(forecasts),
        chance=fmean(one.chance for one in forecasts),
        came_true=_share_happened(forecasts),
        brier=_mean([(one.chance - one.happened) ** 2 for one in forecasts]),
        log_loss=fmean(-math.log(max(chance, 1e-12)) for chance in given),
        groups=_bins(forecasts),
    )


def _bins(forecasts: Sequence[ResolvedForecast]) -> tuple[Bin, ...]:
    """Return the non-empty of ten bins of equal width; probability 1 is in the last."""
    bins: dict[int, list[ResolvedForecast]] = {}
    for one in forecasts:
        bins.setdefault(min(int(one.chance * 10), 9), []).append(one)
    return tuple(
        Bin(len(group), fmean(one.chance for one in group), _share_happened(group))
        for _, group in sorted(bins.items())
    )


def _share_happened(forecasts: Sequence[ResolvedForecast]) -> Interval:
    """Return the share of events that happened, with Wilson's interval."""
    count, happened = len(forecasts), sum(one.happened for one in forecasts)
    rate, weight = happened / count, _Z95**2 / count
    center = (rate + weight / 2) / (1 + weight)
    reach = _Z95 * math.sqrt(rate * (1 - rate) / count + weight / (4 * count)) / (1 + weight)
    return Interval(rate, max(0.0, center - reach), min(1.0, center + reach))


def _mean(values: Sequence[float]) -> Interval:
    mean = fmean(values)
    reach = _Z95 * stdev(values) / math.sqrt(len(values))
    return Interval(mean, max(0.0, mean - reach), min(1.0, mean + reach))
