"""Kept here: what win odds say of chances, beside what we say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from grandstand.base.errors import InvalidInput

WIN_RETURNED: Final = 0.8
"""The share of stakes on winners that JRA pays back; one fifth is kept."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A runner's chance as we see it beside the market's.

    `edge` is the difference in chance; `expected_return` is what a stake of one brings back on
    average if we are right, so that above one it pays.
    """

    ours: float
    market: float | None
    odds: Decimal | None
    edge: float | None
    expected_return: float | None


def implied(odds: Sequence[Decimal | None]) -> tuple[float | None, ...]:
    """The chances behind win odds, without what the course keeps.

    The inverse odds are divided by their sum, which is how a totalisator makes odds. Where some
    are missing the rest are held to the share that JRA pays back. Raises InvalidInput for odds
    below one.
    """
    inverse = _inverse(odds)
    known = [value for value in inverse if value is not None]
    if len(known) < len(inverse):
        return tuple(None if value is None else value * WIN_RETURNED for value in inverse)
    total = math.fsum(known)
    return tuple(value / total for value in known)


def expected_return(chance: float, odds: Decimal) -> float:
    """What a stake of one brings back on average; raises InvalidInput for odds below one."""
    [inverse] = _inverse((odds,))
    return chance / inverse if inverse else 0.0


def compare(ours: Sequence[float], odds: Sequence[Decimal | None]) -> tuple[Comparison, ...]:
    """Our chances beside the market's, runner by runner.

    Raises InvalidInput for odds below one and for lists of different lengths.
    """
    if len(ours) != len(odds):
        raise InvalidInput(f"{len(ours)} chances cannot be compared with {len(odds)} odds")
    theirs = implied(odds)
    return tuple(
        Comparison(
            ours=chance,
            market=market,
            odds=price,
            edge=None if market is None else chance - market,
            expected_return=None if price is None else expected_return(chance, price),
        )
        for chance, market, price in zip(ours, theirs, odds, strict=True)
    )


def _inverse(odds: Sequence[Decimal | None]) -> tuple[float | None, ...]:
    if any(price is not None and not price >= 1 for price in odds):
        raise InvalidInput("win odds are never below 1.0")
    return tuple(None if price is None else 1 / float(price) for price in odds)
