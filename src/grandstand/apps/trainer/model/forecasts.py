"""Kept here: how good probabilities were: the Brier score and the calibration curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

_PERCENT: Final = 100
_BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Resolved:
    """A probability that was stated, and what came of it."""

    probability_percent: int
    happened: bool


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Forecasts of about the same probability: how often they came true."""

    low_percent: int
    high_percent: int
    count: int
    mean_percent: Fraction
    happened_percent: Fraction


def brier_score(forecasts: Iterable[Resolved]) -> Fraction | None:
    """Answer the mean squared error, from 0 (perfect) to 1; None when there is no forecast."""
    errors = [
        Fraction(each.probability_percent - _PERCENT * each.happened, _PERCENT) ** 2
        for each in forecasts
    ]
    return Fraction(sum(errors), len(errors)) if errors else None


def calibration(forecasts: Iterable[Resolved]) -> tuple[CalibrationBin, ...]:
    """Answer the bins of ten percent that hold forecasts; 100 percent is in the last."""
    binned: dict[int, list[Resolved]] = {}
    for each in forecasts:
        binned.setdefault(min(each.probability_percent // _BINS, _BINS - 1), []).append(each)
    return tuple(_bin(at, binned[at]) for at in sorted(binned))


def _bin(at: int, held: list[Resolved]) -> CalibrationBin:
    count = len(held)
    return CalibrationBin(
        low_percent=at * _BINS,
        high_percent=(at + 1) * _BINS,
        count=count,
        mean_percent=Fraction(sum(each.probability_percent for each in held), count),
        happened_percent=Fraction(_PERCENT * sum(each.happened for each in held), count),
    )
