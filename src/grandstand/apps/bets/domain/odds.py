"""Odds conversions, and fair probabilities by five methods of removing a bookmaker's margin."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from grandstand.core.errors import InvalidInput

EVEN_MONEY: Final = 100
DevigMethod: TypeAlias = Literal["multiplicative", "additive", "power", "shin", "odds_ratio"]
Reals: TypeAlias = npt.NDArray[np.float64]
# Implied probabilities and parameter in; sum of the fair probabilities minus one, and its slope
_Gap: TypeAlias = Callable[[Reals, Reals], tuple[Reals, Reals]]
DEVIG_METHODS: Final[tuple[DevigMethod, ...]] = get_args(DevigMethod)
_MAX_ITERATIONS: Final = 200
_TOLERANCE: Final = 1e-14
# Sums of floats come no closer to 1 than this.
_ROUNDING: Final = 2e-15


class InvalidPrice(InvalidInput):
    """American prices are at least +100 or at most -100; decimal prices are above 1."""

    code = "invalid-price"


def parse_american(value: object) -> int:
    """Parse an American price from a whole number or its text, such as `-150` or `+130`.

    Raises InvalidPrice for anything else, including numbers between -100 and 100.
    """
    text = value.strip() if isinstance(value, str) else value
    try:
        number = float(text) if isinstance(text, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    is_whole = not isinstance(value, bool) and math.isfinite(number) and number == int(number)
    if not is_whole or abs(number) < EVEN_MONEY:
        raise InvalidPrice(f"Invalid American price {value!r}. Use +100 or more, or -100 or less.")
    return int(number)


def profit_ratio(american: int) -> Fraction:
    """Return the exact profit of one unit staked: 2/3 at -150, 13/10 at +130."""
    price = _check_american(american)
    return Fraction(price, EVEN_MONEY) if price > 0 else Fraction(EVEN_MONEY, -price)


def american_to_decimal(american: int) -> float:
    price = _check_american(american)
    return (EVEN_MONEY + price) / EVEN_MONEY if price > 0 else (price - EVEN_MONEY) / price


def implied_probability(american: int) -> float:
    """Return the break-even probability of a price."""
    price = _check_american(american)
    return EVEN_MONEY / (EVEN_MONEY + price) if price > 0 else price / (price - EVEN_MONEY)


def decimal_to_american(decimal: float) -> int:
    """Return the nearest American price.

    Raises InvalidPrice unless the decimal price is above 1.
    """
    if not (math.isfinite(decimal) and decimal > 1.0):
        raise InvalidPrice(f"Invalid decimal price {decimal!r}. It must be above 1.")
    profit = decimal - 1.0
    nearest = (
        math.floor(profit * EVEN_MONEY + 0.5)
        if profit >= 1.0
        else -math.floor(EVEN_MONEY / profit + 0.5)
    )
    return EVEN_MONEY if nearest == -EVEN_MONEY else nearest


def probability_to_american(probability: float) -> int:
    """Return the nearest American price that breaks even at a probability."""
    if not 0.0 < probability < 1.0:
        raise InvalidPrice(f"No price breaks even at probability {probability!r}.")
    return decimal_to_american(1.0 / probability)


def log_odds(probability: float) -> float:
    """Return the natural log of the odds.

    Raises InvalidPrice outside of (0, 1).
    """
    if not 0.0 < probability < 1.0:
        raise InvalidPrice(f"Probability {probability!r} has no odds. Use a value between 0 and 1.")
    return math.log(probability) - math.log1p(-probability)


def from_log_odds(value: float) -> float:
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    small = math.exp(value)
    return small / (1.0 + small)


def _check_american(american: int) -> int:
    """Return a valid price; the common case is checked first, seasons have millions of prices."""
    if type(american) is int and (american >= EVEN_MONEY or american <= -EVEN_MONEY):
        return american
    return parse_american(american)


@dataclass(frozen=True, slots=True)
class DevigResult:
    """Fair probabilities, the method used, and the parameter it solved for.

    The parameter is the exponent of `power`, the share of insiders of `shin`, the odds ratio of
    `odds_ratio`, and the margin of the other methods.
    """

    probabilities: tuple[float, ...]
    method: DevigMethod
    parameter: float


def overround(decimals: Sequence[float]) -> float:
    """Return how far the implied probabilities exceed 1."""
    return math.fsum(_implied_probabilities(decimals)) - 1.0


def devig(decimals: Sequence[float], method: DevigMethod = "power") -> tuple[float, ...]:
    """Return the fair probabilities of all outcomes of one market, which sum to 1.

    Prices without a margin are scaled whatever the method, and so are prices that an additive
    correction would push to zero or below.

    Raises InvalidPrice.
    """
    return solve_devig(decimals, method).probabilities


def solve_devig(decimals: Sequence[float], method: DevigMethod) -> DevigResult:
    """Return the result of `devig` with the parameter that was solved for."""
    implied = _implied_probabilities(decimals)
    total = math.fsum(implied)
    scaled = DevigResult(tuple(value / total for value in implied), "multiplicative", total - 1.0)
    if total <= 1.0 or method == "multiplicative":
        return scaled
    if method == "additive":
        shares = tuple(value - (total - 1.0) / len(implied) for value in implied)
        return DevigResult(shares, method, total - 1.0) if min(shares) > 0.0 else scaled
    if method == "power":
        return _power(implied)
    if method == "odds_ratio":
        return _odds_ratio(implied)
    return _shin(implied, total)


def _implied_probabilities(decimals: Sequence[float]) -> tuple[float, ...]:
    if len(decimals) < 2:
        raise InvalidPrice("At least two prices are required, one per outcome of the market.")
    if not all(math.isfinite(price) and price > 1.0 for price in decimals):
        raise InvalidPrice(f"Invalid decimal prices {list(decimals)}. Each must be above 1.")
    return tuple(1.0 / price for price in decimals)


def _power(implied: tuple[float, ...]) -> DevigResult:
    logs = [math.log(value) for value in implied]

    def gap(exponent: float) -> tuple[float, float]:
        powers = [math.exp(exponent * value) for value in logs]
        slope = math.fsum(value * log for value, log in zip(powers, logs, strict=True))
        return math.fsum(powers) - 1.0, slope

    exponent = _root(gap, 1.0, math.inf)
    return _normalized([math.exp(exponent * value) for value in logs], "power", exponent)


def _odds_ratio(implied: tuple[float, ...]) -> DevigResult:
    def gap(ratio: float) -> tuple[float, float]:
        denominators = [value + ratio * (1.0 - value) for value in implied]
        shares = [
            value / denominator for value, denominator in zip(implied, denominators, strict=True)
        ]
        slope = -math.fsum(s * (1.0 - s) for s in shares) / ratio
        return math.fsum(shares) - 1.0, slope

    ratio = _root(gap, 1.0, math.inf)
    shares = [value / (value + ratio * (1.0 - value)) for value in implied]
    return _normalized(shares, "odds_ratio", ratio)


def _shin(implied: tuple[float, ...], total: float) -> DevigResult:
    squares = [square * square / total for square in implied]

    def shares_at(insiders: float) -> list[float]:
        rest = 4.0 * (1.0 - insiders)
        return [
            2.0 * square / (insiders + math.sqrt(insiders * insiders + rest * square))
            for square in squares
        ]

    def gap(insiders: float) -> tuple[float, float]:
        shares = shares_at(insiders)
        slope = -math.fsum(s * (1.0 - s) / (2.0 * (1.0 - insiders) * s + insiders) for s in shares)
        return math.fsum(shares) - 1.0, slope

    insiders = _root(gap, 0.0, 1.0)
    return _normalized(shares_at(insiders), "shin", insiders)


def _normalized(shares: list[float], method: DevigMethod, parameter: float) -> DevigResult:
    total = math.fsum(shares)
    return DevigResult(tuple(share / total for share in shares), method, parameter)


def _root(gap: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Return where a falling function crosses zero: Newton steps, bracketed."""
    at = low
    for _ in range(_MAX_ITERATIONS):
        value, slope = gap(at)
        if abs(value) <= _ROUNDING:
            break
        if value > 0.0:
            low = at
        else:
            high = at
        step = at - value / slope
        if not low <= step <= high:
            step = (low + high) / 2.0
        if abs(step - at) <= _TOLERANCE * max(1.0, abs(at)):
            return step
        at = step
    return at


def devig_rows(decimals: npt.ArrayLike, method: DevigMethod = "power") -> Reals:
    """Return the result of `devig` for one market per row.

    All rows have the same number of outcomes. Raises InvalidPrice.
    """
    prices = np.asarray(decimals, dtype=np.float64)
    if prices.ndim != 2 or prices.shape[1] < 2:
        raise InvalidPrice("Each row must hold the prices of at least two outcomes.")
    if not (np.isfinite(prices) & (prices > 1.0)).all():
        raise InvalidPrice("Every decimal price must be above 1.")
    implied = 1.0 / np.ascontiguousarray(prices.T)
    total = implied.sum(axis=0)
    scaled: Reals = implied / total
    if method == "multiplicative":
        return scaled.T
    over = total > 1.0
    if over.all():
        return _devig_columns(implied, total, scaled, method).T
    scaled[:, over] = _devig_columns(implied[:, over], total[over], scaled[:, over], method)
    return scaled.T


def _devig_columns(implied: Reals, total: Reals, scaled: Reals, method: DevigMethod) -> Reals:
    """Return the fair probabilities of markets in columns, all of them with a margin."""
    two_way = implied.shape[0] == 2
    if method == "additive" or (method == "shin" and two_way):
        # With two outcomes Shin's correction is the additive one, and never negative.
        shares = implied - (total - 1.0) / implied.shape[0]
        return np.asarray(np.where(shares.min(axis=0) > 0.0, shares, scaled), dtype=np.float64)
    if method == "power":
        logs = np.log(implied)
        shares = np.exp(logs * _roots(_power_gap, logs, 1.0, np.inf))
    elif method == "odds_ratio":
        ratios = _roots(_ratio_gap, implied, 1.0, np.inf)
        shares = implied / (implied + ratios * (1.0 - implied))
    else:
        squares = implied * implied / total
        shares = _shin_shares(squares, _roots(_shin_gap, squares, 0.0, 1.0))
    summing: Reals = shares / shares.sum(axis=0)
    return summing


def _power_gap(logs: Reals, exponents: Reals) -> tuple[Reals, Reals]:
    powers = np.exp(logs * exponents)
    return powers.sum(axis=0) - 1.0, (powers * logs).sum(axis=0)


def _ratio_gap(implied: Reals, ratios: Reals) -> tuple[Reals, Reals]:
    shares = implied / (implied + ratios * (1.0 - implied))
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
    """Return the result of `_root` for every column at once."""
    count = known.shape[1]
    low, high = np.full(count, start), np.full(count, end)
    at = low.copy()
    for _ in range(_MAX_ITERATIONS):
        value, slope = gap(known, at)
        above = value > 0.0
        low = np.where(above, at, low)
        high = np.where(above, high, at)
        step = at - value / slope
        step = np.where((step >= low) & (step <= high), step, (low + high) / 2.0)
        moved = np.abs(step - at) > _TOLERANCE * np.maximum(1.0, np.abs(at))
        at = step
        if not (moved & (np.abs(value) > _ROUNDING)).any():
            break
    return at
