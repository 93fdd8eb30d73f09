"""Proper scoring rules, returns, confidence intervals and significance tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.records import CalibrationBin, Interval
from grandstand.core.errors import InvalidInput

# Two-sided 95 % quantile of the normal distribution
Z_95: Final = 1.959963984540054
_NORMAL: Final = NormalDist()
_EULER_GAMMA: Final = 0.5772156649015329
_MAX_EXACT_BETS: Final = 2_000
Reals: TypeAlias = npt.NDArray[np.float64]
_EPSILON: Final = 1e-12


def wilson(right: int, total: int, *, z: float = Z_95) -> Interval:
    """Return a rate with its Wilson interval, which is 0 to 1 without observations.

    Raises InvalidInput if `right` exceeds `total`.
    """
    if not 0 <= right <= total:
        raise InvalidInput(f"Invalid count: {right} of {total}.")
    if not total:
        return Interval(0.0, 0.0, 1.0)
    rate, square = right / total, z * z
    middle = (rate + square / (2 * total)) / (1 + square / total)
    half_width = z * math.sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    half_width /= 1 + square / total
    return Interval(rate, max(0.0, middle - half_width), min(1.0, middle + half_width))


def estimate_mean(values: Sequence[float]) -> Interval:
    """Return a mean with its normal interval.

    Raises InvalidInput for fewer than two values.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.size < 2:
        raise InvalidInput("At least two values are required for an interval.")
    mean = float(given.mean())
    half_width = Z_95 * float(given.std(ddof=1)) / math.sqrt(given.size)
    return Interval(mean, mean - half_width, mean + half_width)


def bets_needed(rate: float, break_even: float, *, z: float = Z_95) -> int | None:
    """Return how many bets show a win rate to differ from break-even, None if it never will.

    This is the sample size at 50 % power.
    """
    if not (0.0 < break_even < 1.0 and 0.0 <= rate <= 1.0):
        raise InvalidInput(f"Invalid rates {rate!r} and {break_even!r}.")
    if rate <= break_even:
        return None
    return math.ceil(z * z * break_even * (1.0 - break_even) / (rate - break_even) ** 2)


def p_value(right: int, break_evens: Sequence[float]) -> float:
    """Return the probability of at least this many wins if each bet only breaks even.

    Exact for up to 2,000 bets, a normal approximation beyond.
    """
    rates = np.asarray(break_evens, dtype=np.float64)
    if not 0 <= right <= rates.size or (rates.size and not (0 < rates.min() <= rates.max() < 1)):
        raise InvalidInput(f"Cannot test {right} wins of {rates.size} bets.")
    if not right:
        return 1.0
    if rates.size > _MAX_EXACT_BETS:
        deviation = math.sqrt(float(np.sum(rates * (1.0 - rates))))
        return 1.0 - _NORMAL.cdf((right - 0.5 - float(rates.sum())) / deviation)
    chances = np.ones(1)
    for rate, count in zip(*np.unique(rates, return_counts=True), strict=True):
        chances = np.convolve(chances, _binomial(int(count), float(rate)))
    return float(min(1.0, chances[right:].sum()))


def _binomial(count: int, rate: float) -> npt.NDArray[np.float64]:
    """Return the probability of every number of wins in `count` bets at one price."""
    wins = np.arange(1, count + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log(count - wins + 1) - np.log(wins))])
    won = np.arange(count + 1)
    logs = ways + won * math.log(rate) + (count - won) * math.log1p(-rate)
    chances: npt.NDArray[np.float64] = np.exp(logs)
    return chances


def q_values(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the smallest false discovery rate at which each test passes (Benjamini-Hochberg)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index], reverse=True)
    values, smallest = [1.0] * len(p_values), 1.0
    for rank, index in zip(range(len(p_values), 0, -1), order, strict=True):
        smallest = min(smallest, p_values[index] * len(p_values) / rank)
        values[index] = smallest
    return tuple(values)


def sharpe(returns: Sequence[float]) -> float:
    """Return mean over deviation of the returns, 0 without deviation.

    Raises InvalidInput for fewer than two returns.
    """
    given = np.asarray(returns, dtype=np.float64)
    if given.size < 2:
        raise InvalidInput("A Sharpe ratio requires at least two returns.")
    deviation = float(given.std(ddof=1))
    return float(given.mean()) / deviation if deviation else 0.0


def deflated_sharpe(
    returns: Sequence[float], trials: int, *, trial_deviation: float | None = None
) -> float:
    """Return the probability that the best of `trials` strategies has skill.

    After Bailey and López de Prado: its Sharpe ratio against the one that the best of `trials`
    worthless strategies would show, allowing for skew and fat tails. `trial_deviation` is the
    deviation of the trials' ratios; by default that of chance alone.

    Raises InvalidInput for fewer than two returns.
    """
    given = np.asarray(returns, dtype=np.float64)
    ratio = sharpe(returns)
    if ratio == 0.0 or trials < 1:
        return 0.5 if trials == 1 else 0.0
    spread = 1.0 / math.sqrt(given.size - 1) if trial_deviation is None else trial_deviation
    scaled = (given - given.mean()) / given.std()
    skew, kurtosis = float(np.mean(scaled**3)), float(np.mean(scaled**4))
    variance = max(1.0 - skew * ratio + (kurtosis - 1.0) / 4.0 * ratio * ratio, 1e-12)
    gap = (ratio - spread * _best_of(trials)) * math.sqrt(given.size - 1)
    return _NORMAL.cdf(gap / math.sqrt(variance))


def _best_of(trials: int) -> float:
    """Return the expected maximum of `trials` standard normal values."""
    if trials == 1:
        return 0.0
    first = _NORMAL.inv_cdf(1.0 - 1.0 / trials)
    return (1.0 - _EULER_GAMMA) * first + _EULER_GAMMA * _NORMAL.inv_cdf(
        1.0 - 1.0 / (trials * math.e)
    )


def brier(forecasts: Sequence[float], happened: Sequence[bool]) -> float:
    """Return the mean squared error of the probabilities."""
    given, outcomes = _pairs(forecasts, happened)
    return float(np.mean((given - outcomes) ** 2))


def log_loss(forecasts: Sequence[float], happened: Sequence[bool]) -> float:
    """Return the mean log loss in nats; probabilities are clipped at 1e-12."""
    given, outcomes = _pairs(forecasts, happened)
    return float(
        -np.mean(np.log(np.maximum(np.where(outcomes > 0.0, given, 1.0 - given), _EPSILON)))
    )


def calibration_error(
    forecasts: Sequence[float], happened: Sequence[bool], *, bins: int = 10
) -> float:
    """Return the mean gap of forecast and rate over bins of equal count."""
    given, outcomes = _pairs(forecasts, happened)
    counts, means, rates = _binned(given, outcomes, bins)
    return float(np.sum(counts * np.abs(means - rates)) / given.size)


def reliability_bins(
    forecasts: Sequence[float], happened: Sequence[bool], *, bins: int = 10
) -> tuple[CalibrationBin, ...]:
    """Return the points of a reliability diagram, lowest forecasts first."""
    given, outcomes = _pairs(forecasts, happened)
    bins_ = []
    for count, mean, rate in zip(*_binned(given, outcomes, bins), strict=True):
        bounds = wilson(round(float(rate * count)), int(count))
        bins_.append(CalibrationBin(bounds.low, bounds.high, int(count), float(mean), float(rate)))
    return tuple(bins_)


def return_on_stake(staked: Sequence[float], profit: Sequence[float]) -> Interval:
    """Return the return on investment with the interval of a ratio of two sums.

    Raises InvalidInput if counts differ or a stake is not positive.
    """
    stakes = np.asarray(staked, dtype=np.float64)
    profits = np.asarray(profit, dtype=np.float64)
    if stakes.size != profits.size or (stakes <= 0.0).any():
        raise InvalidInput("Each bet needs a stake above 0 and a profit.")
    count = stakes.size
    if not count:
        return Interval(0.0, -1.0, 1.0)
    total = float(stakes.sum())
    roi = float(profits.sum()) / total
    spread = float(np.sum((profits - roi * stakes) ** 2)) * count / max(1, count - 1)
    half_width = Z_95 * (spread**0.5 / total if count > 1 else 1.0)
    return Interval(roi, roi - half_width, roi + half_width)


def _pairs(forecasts: Sequence[float], happened: Sequence[bool]) -> tuple[Reals, Reals]:
    given = np.asarray(forecasts, dtype=np.float64)
    outcomes = np.asarray(happened, dtype=np.float64)
    if not given.size or given.shape != outcomes.shape:
        raise InvalidInput("Forecasts and results must be non-empty and equal in number.")
    if not (np.isfinite(given).all() and given.min() >= 0.0 and given.max() <= 1.0):
        raise InvalidInput("Probabilities must be between 0 and 1.")
    return given, outcomes


def _binned(given: Reals, outcomes: Reals, bins: int) -> tuple[Reals, Reals, Reals]:
    """Return counts, mean forecasts and rates of the bins."""
    values, bin_index = np.unique(given, return_inverse=True)
    if values.size > bins:
        order = np.argsort(given, kind="stable")
        bin_index = np.empty(given.size, dtype=np.int64)
        bin_index[order] = np.arange(given.size) * bins // given.size
    counts = np.bincount(bin_index).astype(np.float64)
    means = np.bincount(bin_index, weights=given) / counts
    return counts, means, np.bincount(bin_index, weights=outcomes) / counts
