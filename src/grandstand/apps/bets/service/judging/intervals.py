"""Kept here: figures with the bounds they lie within, or nothing where there is too little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from grandstand.apps.bets.service.values import Bin, Interval

_LEAST: Final = 2


def rate_interval(right: int, total: int) -> Interval | None:
    """Answer a rate and its bounds; None of nothing."""
    from grandstand.apps.bets.model.judging.significance import wilson

    if not total:
        return None
    bounds = wilson(right, total)
    return Interval(right / total, bounds.low, bounds.high)


def roi_interval(bets: Sequence[tuple[int, int]]) -> Interval | None:
    """Answer the return on stakes, given with profits in cents, and its bounds."""
    from grandstand.apps.bets.model.judging.scoring import returned

    if not bets:
        return None
    found = returned([each[0] for each in bets], [each[1] for each in bets])
    return Interval(found.roi, found.interval.low, found.interval.high)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Answer a mean and its bounds; None of fewer than two."""
    from grandstand.apps.bets.model.judging.significance import mean_found

    if len(values) < _LEAST:
        return None
    found = mean_found(values)
    return Interval(found.mean, found.interval.low, found.interval.high)


def bins_of(probabilities: Sequence[float], won: Sequence[bool]) -> tuple[Bin, ...]:
    """Answer the points of a reliability diagram, lowest first; none of nothing."""
    from grandstand.apps.bets.model.judging.scoring import reliability_bins

    if not probabilities:
        return ()
    return tuple(
        Bin(each.interval.low, each.interval.high, each.count, each.forecast, each.happened)
        for each in reliability_bins(probabilities, won)
    )
