"""Kept here: how good forecasts were, by rules that only honesty wins, and what bets returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import ForecastImpossible, StakeImpossible
from grandstand.apps.bets.model.judging.significance import SURE, Interval, wilson

Reals: TypeAlias = npt.NDArray[np.float64]

_LEAST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class BrierSplit:
    """The Brier score and its parts: `reliability - resolution + uncertainty + within`.

    `within` is what differs between forecasts of one bin, and nothing when bins hold one forecast.
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts close to each other: how many, their mean, and how often they came true."""

    count: int
    forecast: float
    happened: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Right picks of those decided, with the interval of the rate."""

    right: int
    total: int
    rate: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Returned:
    """What bets won for what was staked, at the prices they were taken at."""

    bets: int
    staked_cents: int
    profit_cents: int
    roi: float
    interval: Interval


def brier(forecasts: Sequence[float], happened: Sequence[bool]) -> float:
    """The mean squared error of probabilities; raises ForecastImpossible."""
    given, came = _pairs(forecasts, happened)
    return float(np.mean((given - came) ** 2))


def log_loss(forecasts: Sequence[float], happened: Sequence[bool]) -> float:
    """The mean surprise in nats; a certainty that failed counts as one in a million million.

    Raises ForecastImpossible.
    """
    given, came = _pairs(forecasts, happened)
    return float(-np.mean(np.log(np.maximum(np.where(came > 0.0, given, 1.0 - given), _LEAST))))


def brier_split(
    forecasts: Sequence[float], happened: Sequence[bool], *, bins: int = 10
) -> BrierSplit:
    """The Brier score split after Murphy; raises ForecastImpossible.

    Forecasts of at most `bins` different values are their own bins; others share equal ones.
    """
    given, came = _pairs(forecasts, happened)
    base = float(came.mean())
    counts, means, rates = _binned(given, came, bins)
    shares = counts / given.size
    reliability = float(np.sum(shares * (means - rates) ** 2))
    resolution = float(np.sum(shares * (rates - base) ** 2))
    uncertainty = base * (1.0 - base)
    score = float(np.mean((given - came) ** 2))
    within = score - (reliability - resolution + uncertainty)
    return BrierSplit(score, reliability, resolution, uncertainty, within)


def calibration_error(
    forecasts: Sequence[float], happened: Sequence[bool], *, bins: int = 10
) -> float:
    """The mean gap of forecast and rate over bins of equal count; raises ForecastImpossible."""
    given, came = _pairs(forecasts, happened)
    counts, means, rates = _binned(given, came, bins)
    return float(np.sum(counts * np.abs(means - rates)) / given.size)


def reliability_bins(
    forecasts: Sequence[float], happened: Sequence[bool], *, bins: int = 10
) -> tuple[Bin, ...]:
    """The points of a reliability diagram, lowest forecasts first; raises ForecastImpossible."""
    given, came = _pairs(forecasts, happened)
    return tuple(
        Bin(int(n), float(mean), float(rate), wilson(round(float(rate * n)), int(n)))
        for n, mean, rate in zip(*_binned(given, came, bins), strict=True)
    )


def accuracy(correct: Sequence[bool | None]) -> Accuracy:
    """How many picks were right; those that nobody won or lost, None, do not count."""
    decided = [each for each in correct if each is not None]
    right, total = sum(decided), len(decided)
    return Accuracy(right, total, right / total if total else 0.0, wilson(right, total))


def returned(stakes_cents: Sequence[int], profits_cents: Sequence[int]) -> Returned:
    """The return on what was staked, with the interval of a ratio of two sums.

    Raises StakeImpossible when there are not as many profits as stakes, or a stake is not above 0.
    """
    stakes = np.asarray(stakes_cents, dtype=np.float64)
    profits = np.asarray(profits_cents, dtype=np.float64)
    if stakes.size != profits.size or (stakes <= 0.0).any():
        raise StakeImpossible("Each bet has a stake above 0 and what it won or lost.")
    count = stakes.size
    if not count:
        return Returned(0, 0, 0, 0.0, Interval(-1.0, 1.0))
    staked = float(stakes.sum())
    roi = float(profits.sum()) / staked
    spread = float(np.sum((profits - roi * stakes) ** 2)) * count / max(1, count - 1)
    error = spread**0.5 / staked if count > 1 else 1.0
    reach = SURE * error
    return Returned(
        count, sum(stakes_cents), sum(profits_cents), roi, Interval(roi - reach, roi + reach)
    )


def _pairs(forecasts: Sequence[float], happened: Sequence[bool]) -> tuple[Reals, Reals]:
    given = np.asarray(forecasts, dtype=np.float64)
    came = np.asarray(happened, dtype=np.float64)
    if not given.size or given.shape != came.shape:
        raise ForecastImpossible("Each forecast needs its result, and there must be some.")
    if not (np.isfinite(given).all() and given.min() >= 0.0 and given.max() <= 1.0):
        raise ForecastImpossible("A probability lies between 0 and 1.")
    return given, came


def _binned(given: Reals, came: Reals, bins: int) -> tuple[Reals, Reals, Reals]:
    """Counts, mean forecasts and rates of the bins."""
    values, places = np.unique(given, return_inverse=True)
    if values.size > bins:
        order = np.argsort(given, kind="stable")
        places = np.empty(given.size, dtype=np.int64)
        places[order] = np.arange(given.size) * bins // given.size
    counts = np.bincount(places).astype(np.float64)
    means = np.bincount(places, weights=given) / counts
    return counts, means, np.bincount(places, weights=came) / counts
