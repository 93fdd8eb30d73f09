"""Kept here: the fair probabilities behind a book's prices, by five ways to take out its margin."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import PriceImpossible

Method: TypeAlias = Literal["multiplicative", "additive", "power", "shin", "odds_ratio"]
Reals: TypeAlias = npt.NDArray[np.float64]
# The inverse prices and the parameter in; the sum of the fair probabilities less one, and its slope
_Gap: TypeAlias = Callable[[Reals, Reals], tuple[Reals, Reals]]

METHODS: Final[tuple[Method, ...]] = get_args(Method)
_STEPS: Final = 200
_CLOSE: Final = 1e-14
# Sums of rounded numbers come no closer to 1 than this.
_NONE: Final = 2e-15
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Fair:
    """Fair probabilities, what the method was in the end, and what it solved for.

    The parameter is the exponent of power, Shin's share of insiders, the odds ratio, the margin of
    the others.
    """

    probabilities: tuple[float, ...]
    method: Method
    parameter: float


def margin(decimals: Sequence[float]) -> float:
    """By how much what the prices imply exceeds 1; raises PriceImpossible."""
    return math.fsum(_inverses(decimals)) - 1.0


def devig(decimals: Sequence[float], method: Method = "power") -> tuple[float, ...]:
    """The fair probabilities of all outcomes of one market, which sum to 1.

    Prices without a margin are scaled whatever the method, and so are those an additive correction
    would push to zero or below. Raises PriceImpossible.
    """
    return solve(decimals, method).probabilities


def solve(decimals: Sequence[float], method: Method) -> Fair:
    """As `devig`, with the parameter that was solved for; raises PriceImpossible."""
    inverses = _inverses(decimals)
    booked = math.fsum(inverses)
    scaled = Fair(tuple(each / booked for each in inverses), "multiplicative", booked - 1.0)
    if booked <= 1.0 or method == "multiplicative":
        return scaled
    if method == "additive":
        shares = _additive(inverses, booked)
        return Fair(shares, method, booked - 1.0) if min(shares) > 0.0 else scaled
    if method == "power":
        return _power(inverses)
    if method == "odds_ratio":
        return _odds_ratio(inverses)
    return _shin(inverses, booked)


def _inverses(decimals: Sequence[float]) -> tuple[float, ...]:
    if len(decimals) < _TWO:
        raise PriceImpossible("Fair probabilities need the prices of all outcomes, at least two.")
    if not all(math.isfinite(each) and each > 1.0 for each in decimals):
        raise PriceImpossible(f"Decimal prices are above 1, not {list(decimals)}.")
    return tuple(1.0 / each for each in decimals)


def _additive(inverses: tuple[float, ...], booked: float) -> tuple[float, ...]:
    taken = (booked - 1.0) / len(inverses)
    return tuple(each - taken for each in inverses)


def _power(inverses: tuple[float, ...]) -> Fair:
    logs = [math.log(each) for each in inverses]

    def gap(exponent: float) -> tuple[float, float]:
        powers = [math.exp(exponent * each) for each in logs]
        slope = math.fsum(each * log for each, log in zip(powers, logs, strict=True))
        return math.fsum(powers) - 1.0, slope

    exponent = _root(gap, 1.0, math.inf)
    return _summing_to_one([math.exp(exponent * each) for each in logs], "power", exponent)


def _odds_ratio(inverses: tuple[float, ...]) -> Fair:
    def gap(ratio: float) -> tuple[float, float]:
        unders = [each + ratio * (1.0 - each) for each in inverses]
        shares = [each / under for each, under in zip(inverses, unders, strict=True)]
        slope = -math.fsum(s * (1.0 - s) for s in shares) / ratio
        return math.fsum(shares) - 1.0, slope

    ratio = _root(gap, 1.0, math.inf)
    shares = [each / (each + ratio * (1.0 - each)) for each in inverses]
    return _summing_to_one(shares, "odds_ratio", ratio)


def _shin(inverses: tuple[float, ...], booked: float) -> Fair:
    squares = [each * each / booked for each in inverses]

    def shares_at(insiders: float) -> list[float]:
        rest = 4.0 * (1.0 - insiders)
        return [
            2.0 * each / (insiders + math.sqrt(insiders * insiders + rest * each))
            for each in squares
        ]

    def gap(insiders: float) -> tuple[float, float]:
        shares = shares_at(insiders)
        slope = -math.fsum(s * (1.0 - s) / (2.0 * (1.0 - insiders) * s + insiders) for s in shares)
        return math.fsum(shares) - 1.0, slope

    insiders = _root(gap, 0.0, 1.0)
    return _summing_to_one(shares_at(insiders), "shin", insiders)


def _summing_to_one(shares: list[float], method: Method, parameter: float) -> Fair:
    total = math.fsum(shares)
    return Fair(tuple(each / total for each in shares), method, parameter)


def _root(gap: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a falling function crosses zero: Newton's steps, kept between what is known."""
    at = low
    for _ in range(_STEPS):
        value, slope = gap(at)
        if abs(value) <= _NONE:
            break
        if value > 0.0:
            low = at
        else:
            high = at
        step = at - value / slope
        if not low <= step <= high:
            step = (low + high) / 2.0
        if abs(step - at) <= _CLOSE * max(1.0, abs(at)):
            return step
        at = step
    return at


def devig_rows(decimals: npt.ArrayLike, method: Method = "power") -> Reals:
    """As `devig`, for one market a row; all rows have the same number of outcomes.

    Raises PriceImpossible.
    """
    prices = np.asarray(decimals, dtype=np.float64)
    if prices.ndim != _TWO or prices.shape[1] < _TWO:
        raise PriceImpossible("Give one market a row, with the prices of at least two outcomes.")
    if not (np.isfinite(prices) & (prices > 1.0)).all():
        raise PriceImpossible("Decimal prices are above 1 in every row.")
    inverses = 1.0 / np.ascontiguousarray(prices.T)
    booked = inverses.sum(axis=0)
    scaled: Reals = inverses / booked
    if method == "multiplicative":
        return scaled.T
    over = booked > 1.0
    if over.all():
        return _rows(inverses, booked, scaled, method).T
    scaled[:, over] = _rows(inverses[:, over], booked[over], scaled[:, over], method)
    return scaled.T


def _rows(inverses: Reals, booked: Reals, scaled: Reals, method: Method) -> Reals:
    """The corrected probabilities of markets in columns, all of them with a margin."""
    two_way = inverses.shape[0] == _TWO
    if method == "additive" or (method == "shin" and two_way):
        # With two outcomes Shin's correction is the additive one, and never negative.
        shares = inverses - (booked - 1.0) / inverses.shape[0]
        return np.asarray(np.where(shares.min(axis=0) > 0.0, shares, scaled), dtype=np.float64)
    if method == "power":
        logs = np.log(inverses)
        shares = np.exp(logs * _roots(_power_gap, logs, 1.0, np.inf))
    elif method == "odds_ratio":
        ratios = _roots(_ratio_gap, inverses, 1.0, np.inf)
        shares = inverses / (inverses + ratios * (1.0 - inverses))
    else:
        squares = inverses * inverses / booked
        shares = _shin_shares(squares, _roots(_shin_gap, squares, 0.0, 1.0))
    summing: Reals = shares / shares.sum(axis=0)
    return summing


def _power_gap(logs: Reals, exponents: Reals) -> tuple[Reals, Reals]:
    powers = np.exp(logs * exponents)
    return powers.sum(axis=0) - 1.0, (powers * logs).sum(axis=0)


def _ratio_gap(inverses: Reals, ratios: Reals) -> tuple[Reals, Reals]:
    shares = inverses / (inverses + ratios * (1.0 - inverses))
    return shares.sum(axis=0) - 1.0, -(shares * (1.0 - shares)).sum(axis=0) / ratios


def _shin_shares(squares: Reals, insiders: Reals) -> Reals:
    root = np.sqrt(insiders * insiders + 4.0 * (1.0 - insiders) * squares)
    shares: Reals = 2.0 * squares / (insiders + root)
    return shares


def _shin_gap(squares: Reals, insiders: Reals) -> tuple[Reals, Reals]:
    shares = _shin_shares(squares, insiders)
    slopes = shares * (1.0 - shares) / (2.0 * (1.0 - insiders) * shares + insiders)
    return shares.sum(axis=0) - 1.0, -slopes.sum(axis=0)


def _roots(gap: _Gap, known: Reals, start: float, end: float) -> Reals:
    """As `_root`, for every column at once."""
    count = known.shape[1]
    low, high = np.full(count, start), np.full(count, end)
    at = low.copy()
    for _ in range(_STEPS):
        value, slope = gap(known, at)
        above = value > 0.0
        low = np.where(above, at, low)
        high = np.where(above, high, at)
        step = at - value / slope
        step = np.where((step >= low) & (step <= high), step, (low + high) / 2.0)
        moved = np.abs(step - at) > _CLOSE * np.maximum(1.0, np.abs(at))
        at = step
        if not (moved & (np.abs(value) > _NONE)).any():
            break
    return at
