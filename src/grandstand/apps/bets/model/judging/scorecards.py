"""Kept here: how each model did: rates with intervals, proper scores, returns and the close."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grandstand.apps.bets.model.judging import significance
from grandstand.apps.bets.model.judging.scoring import (
    Accuracy,
    Bin,
    BrierSplit,
    accuracy,
    brier,
    brier_split,
    calibration_error,
    log_loss,
    reliability_bins,
)
from grandstand.apps.bets.model.judging.significance import MeanFound
from grandstand.apps.bets.model.judging.verifying import Judged
from grandstand.apps.bets.model.prices.odds import implied

_TWO = 2


@dataclass(frozen=True, slots=True)
class Priced:
    """What one unit on each priced pick returned, and what rate would have broken even.

    `closing` is the mean of price times fair closing probability, less one. `luck` is how likely so
    many wins are at break-even; `deflated` how probable it is that the best of all trials is good.
    """

    bets: int
    roi: MeanFound | None
    break_even: float
    bets_needed: int | None
    closing: MeanFound | None
    sharpe: float | None
    deflated: float | None
    luck: float


@dataclass(frozen=True, slots=True)
class Scorecard:
    """One model in one market, or its inverse: everything the scoreboard shows."""

    model: str
    sport: str
    market: str
    is_inverse: bool
    forecasts: int
    accuracy: Accuracy
    brier: float | None
    split: BrierSplit | None
    log_loss: float | None
    calibration_error: float | None
    bins: tuple[Bin, ...]
    priced: Priced


def scorecards(judged: Sequence[Judged], trials: int) -> tuple[Scorecard, ...]:
    """A card for each model, market and direction, by name."""
    groups: dict[tuple[str, str, str, bool], list[Judged]] = defaultdict(list)
    for each in judged:
        made = each.forecast
        groups[made.model, made.sport, made.market, made.inverse_of is not None].append(each)
    return tuple(scorecard(groups[key], trials) for key in sorted(groups))


def scorecard(judged: Sequence[Judged], trials: int) -> Scorecard:
    """How forecasts of one model in one market came out; there must be at least one."""
    first = judged[0].forecast
    decided = [each for each in judged if each.correct is not None]
    given = [each.forecast.probability for each in decided]
    came = [bool(each.correct) for each in decided]
    return Scorecard(
        model=first.model,
        sport=first.sport,
        market=first.market,
        is_inverse=first.inverse_of is not None,
        forecasts=len(judged),
        accuracy=accuracy([each.correct for each in judged]),
        brier=brier(given, came) if given else None,
        split=brier_split(given, came) if given else None,
        log_loss=log_loss(given, came) if given else None,
        calibration_error=calibration_error(given, came) if given else None,
        bins=reliability_bins(given, came) if given else (),
        priced=_priced(judged, trials),
    )


def _priced(judged: Sequence[Judged], trials: int) -> Priced:
    taken = [
        (each, each.forecast.price, each.profit)
        for each in judged
        if each.forecast.price is not None and each.profit is not None and each.correct is not None
    ]
    profits = [profit for _, _, profit in taken]
    evens = [implied(price) for _, price, _ in taken]
    wins = sum(bool(each.correct) for each, _, _ in taken)
    even = float(np.mean(evens)) if evens else 0.5
    closes = [
        (even_at, each.closing)
        for (each, _, _), even_at in zip(taken, evens, strict=True)
        if each.closing is not None
    ]
    rate = wins / len(taken) if taken else 0.0
    enough = len(profits) >= _TWO
    return Priced(
        bets=len(taken),
        roi=_mean(profits),
        break_even=even,
        bets_needed=significance.bets_needed(rate, even),
        closing=_mean([close / even_at - 1.0 for even_at, close in closes]),
        sharpe=significance.sharpe(profits) if enough else None,
        deflated=significance.deflated_sharpe(profits, trials) if enough and trials else None,
        luck=significance.p_value(wins, evens) if taken else 1.0,
    )


def _mean(values: Sequence[float]) -> MeanFound | None:
    return significance.mean_found(values) if len(values) >= _TWO else None
