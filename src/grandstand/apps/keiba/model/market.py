"""Kept here: what win odds say of chances, beside what we say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from grandstand.base.errors import InvalidInput

Method: TypeAlias = Literal["proportional", "power"]

WIN_RETURNED: Final = 0.8
"""The share of stakes on winners that JRA pays back; one fifth is kept."""

_HALVINGS: Final = 60
_STEEPEST: Final = 64.0


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

    @property
    def pays(self) -> bool | None:
        """Whether a stake would gain on average if we are right; None where odds are unknown."""
        return None if self.expected_return is None else self.expected_return > 1


def overround(odds: Sequence[Decimal | None]) -> float | None:
    """What the inverse odds sum to beyond one; None unless all are known.

    Raises InvalidInput for odds below one.
    """
    inverse = _inverse(odds)
    known = [value for value in inverse if value is not None]
    return math.fsum(known) - 1 if known and len(known) == len(inverse) else None


def implied(
    odds: Sequence[Decimal | None], *, method: Method = "proportional"
) -> tuple[float | None, ...]:
    """The chances behind win odds, without what the course keeps.

    `proportional` divides the inverse odds by their sum, which is how a totalisator makes odds;
    `power` raises them to one power, which takes more from outsiders, whom bettors like too well.
    Where some odds are missing the rest are held to the share that JRA pays back. Raises
    InvalidInput for odds below one.
    """
    inverse = _inverse(odds)
    known = [value for value in inverse if value is not None]
    if len(known) < len(inverse):
        return tuple(None if value is None else value * WIN_RETURNED for value in inverse)
    raised = known if method == "proportional" else _to_power(known)
    total = math.fsum(raised)
    return tuple(value / total for value in raised)


def expected_return(chance: float, odds: Decimal) -> float:
    """What a stake of one brings back on average; raises InvalidInput for odds below one."""
    [inverse] = _inverse((odds,))
    return chance / inverse if inverse else 0.0


def compare(
    ours: Sequence[float], odds: Sequence[Decimal | None], *, method: Method = "proportional"
) -> tuple[Comparison, ...]:
    """Our chances beside the market's, runner by runner.

    Raises InvalidInput for odds below one and for lists of different lengths.
    """
    if len(ours) != len(odds):
        raise InvalidInput(f"{len(ours)} chances cannot be compared with {len(odds)} odds")
    theirs = implied(odds, method=method)
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


def places_paid(starters: int) -> int:
    """How many places a place bet pays: three from eight runners, two from five, else none."""
    return 3 if starters >= 8 else 2 if starters >= 5 else 0  # noqa: PLR2004


def _inverse(odds: Sequence[Decimal | None]) -> tuple[float | None, ...]:
    if any(price is not None and not price >= 1 for price in odds):
        raise InvalidInput("win odds are never below 1.0")
    return tuple(None if price is None else 1 / float(price) for price in odds)


def _to_power(inverse: Sequence[float]) -> list[float]:
    """The inverse odds raised to the power at which they sum to one, found by halving.

    Where there is no such power, as when one of two runners stands at 1.0, they stay as they are.
    """

    def excess(power: float) -> float:
        return math.fsum(value**power for value in inverse) - 1

    low, high = 0.0, _STEEPEST
    if excess(low) <= 0 or excess(high) >= 0:
        return list(inverse)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return [value**high for value in inverse]
