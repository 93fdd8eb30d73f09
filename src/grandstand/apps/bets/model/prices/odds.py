"""Kept here: prices in their three forms, and how to go from one to another."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from grandstand.apps.bets.model.errors import PriceImpossible

EVEN: Final = 100


def parse_american(value: object) -> int:
    """Read an American price from a whole number or its text, such as `-150` or `+130`.

    Raises PriceImpossible for anything else, and for prices between -100 and 100, which do not
    exist.
    """
    text = value.strip() if isinstance(value, str) else value
    try:
        number = float(text) if isinstance(text, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    whole = not isinstance(value, bool) and math.isfinite(number) and number == int(number)
    if not whole or abs(number) < EVEN:
        raise PriceImpossible(
            f"{value!r} is no American price: give a whole number of at least 100, or at most -100."
        )
    return int(number)


def gain(american: int) -> Fraction:
    """What one unit staked wins, exactly: -150 wins 2/3 of the stake, +130 wins 13/10 of it.

    Raises PriceImpossible.
    """
    price = _sound(american)
    return Fraction(price, EVEN) if price > 0 else Fraction(EVEN, -price)


def decimal_of(american: int) -> float:
    """The decimal price: what comes back for one unit staked; raises PriceImpossible."""
    price = _sound(american)
    return (EVEN + price) / EVEN if price > 0 else (price - EVEN) / price


def implied(american: int) -> float:
    """The probability at which a bet at this price breaks even; raises PriceImpossible."""
    price = _sound(american)
    return EVEN / (EVEN + price) if price > 0 else price / (price - EVEN)


def american_of(decimal: float) -> int:
    """The nearest American price of a decimal one; raises PriceImpossible unless it is above 1."""
    won = _priced(decimal) - 1.0
    nearest = math.floor(won * EVEN + 0.5) if won >= 1.0 else -math.floor(EVEN / won + 0.5)
    return EVEN if nearest == -EVEN else nearest


def american_at(probability: float) -> int:
    """The nearest American price that breaks even at a probability; raises PriceImpossible."""
    if not 0.0 < probability < 1.0:
        raise PriceImpossible(f"No price breaks even at a probability of {probability!r}.")
    return american_of(1.0 / probability)


def log_odds(probability: float) -> float:
    """The natural logarithm of the odds; raises PriceImpossible outside of 0 to 1."""
    if not 0.0 < probability < 1.0:
        raise PriceImpossible(f"A probability of {probability!r} has no odds.")
    return math.log(probability) - math.log1p(-probability)


def from_log_odds(value: float) -> float:
    """The probability with these log odds."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    small = math.exp(value)
    return small / (1.0 + small)


def _sound(american: int) -> int:
    """The price itself, checked at the least cost; seasons have millions of them."""
    if type(american) is int and (american >= EVEN or american <= -EVEN):
        return american
    return parse_american(american)


def _priced(decimal: float) -> float:
    if not (math.isfinite(decimal) and decimal > 1.0):
        raise PriceImpossible(f"{decimal!r} is no decimal price: it must be above 1.")
    return decimal
