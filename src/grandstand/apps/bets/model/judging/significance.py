"""Kept here: how sure one can be: intervals, tests, and what trying many things costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import ForecastImpossible, TooFewResults

# The quantile of two-sided 95 %.
SURE: Final = 1.959963984540054
_NORMAL: Final = NormalDist()
_EULER: Final = 0.5772156649015329
_EXACT_UP_TO: Final = 2_000
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the truth lies in 95 of 100 cases, unless said otherwise."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MeanFound:
    """A mean of so many values, with its interval."""

    count: int
    mean: float
    interval: Interval


def wilson(right: int, total: int, *, z: float = SURE) -> Interval:
    """The interval of a rate after Wilson; all of 0 to 1 when nothing was seen.

    Raises ForecastImpossible for more right ones than there are.
    """
    if not 0 <= right <= total:
        raise ForecastImpossible(f"{right} of {total} cannot be.")
    if not total:
        return Interval(0.0, 1.0)
    rate, square = right / total, z * z
    middle = (rate + square / (2 * total)) / (1 + square / total)
    reach = z * math.sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    reach /= 1 + square / total
    return Interval(max(0.0, middle - reach), min(1.0, middle + reach))


def mean_found(values: Sequence[float]) -> MeanFound:
    """A mean with its normal interval; raises TooFewResults for fewer than two values."""
    given = np.asarray(values, dtype=np.float64)
    if given.size < _TWO:
        raise TooFewResults("A mean is known with an interval from two values on.")
    mean = float(given.mean())
    reach = SURE * float(given.std(ddof=1)) / math.sqrt(given.size)
    return MeanFound(given.size, mean, Interval(mean - reach, mean + reach))


def bets_needed(rate: float, break_even: float, *, z: float = SURE) -> int | None:
    """How many bets until a true rate stands out from break-even; None when it never will.

    One sample without a margin of power: half of those who wait that long see it.
    """
    if not (0.0 < break_even < 1.0 and 0.0 <= rate <= 1.0):
        raise ForecastImpossible(f"{rate!r} and {break_even!r} are not two rates.")
    if rate <= break_even:
        return None
    return math.ceil(z * z * break_even * (1.0 - break_even) / (rate - break_even) ** 2)


def p_value(right: int, break_evens: Sequence[float]) -> float:
    """How likely so many bets win, or more, if each only breaks even at its own price.

    Exact for up to 2,000 bets, by the normal curve beyond. Raises ForecastImpossible.
    """
    rates = np.asarray(break_evens, dtype=np.float64)
    if not 0 <= right <= rates.size or (rates.size and not (0 < rates.min() <= rates.max() < 1)):
        raise ForecastImpossible(f"{right} of {rates.size} bets cannot be tested.")
    if not right:
        return 1.0
    if rates.size > _EXACT_UP_TO:
        deviation = math.sqrt(float(np.sum(rates * (1.0 - rates))))
        return 1.0 - _NORMAL.cdf((right - 0.5 - float(rates.sum())) / deviation)
    chances = np.ones(1)
    for rate, count in zip(*np.unique(rates, return_counts=True), strict=True):
        chances = np.convolve(chances, _binomial(int(count), float(rate)))
    return float(min(1.0, chances[right:].sum()))


def _binomial(count: int, rate: float) -> npt.NDArray[np.float64]:
    """The chances of every number of wins in so many bets at one price."""
    wins = np.arange(1, count + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log(count - wins + 1) - np.log(wins))])
    won = np.arange(count + 1)
    logs = ways + won * math.log(rate) + (count - won) * math.log1p(-rate)
    chances: npt.NDArray[np.float64] = np.exp(logs)
    return chances


def q_values(p_values: Sequence[float]) -> tuple[float, ...]:
    """The least share of false discoveries at which each test would pass (Benjamini-Hochberg)."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at], reverse=True)
    found, least = [1.0] * len(p_values), 1.0
    for rank, at in zip(range(len(p_values), 0, -1), order, strict=True):
        least = min(least, p_values[at] * len(p_values) / rank)
        found[at] = least
    return tuple(found)


def sharpe(returns: Sequence[float]) -> float:
    """Mean over deviation of the returns; 0 without deviation. Raises TooFewResults."""
    given = np.asarray(returns, dtype=np.float64)
    if given.size < _TWO:
        raise TooFewResults("A Sharpe ratio needs at least two returns.")
    deviation = float(given.std(ddof=1))
    return float(given.mean()) / deviation if deviation else 0.0


def deflated_sharpe(
    returns: Sequence[float], trials: int, *, trial_deviation: float | None = None
) -> float:
    """How probable it is that a strategy is good at all, being the best of so many tried.

    After Bailey and López de Prado: its Sharpe ratio against the one the best of `trials` worthless
    ones would show, allowing for skew and fat tails. `trial_deviation` is that of the ratios of
    the trials; that of chance alone when not given. Raises TooFewResults.
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
    """The expected largest of so many standard normal values."""
    if trials == 1:
        return 0.0
    first = _NORMAL.inv_cdf(1.0 - 1.0 / trials)
    return (1.0 - _EULER) * first + _EULER * _NORMAL.inv_cdf(1.0 - 1.0 / (trials * math.e))
