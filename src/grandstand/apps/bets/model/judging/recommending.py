"""Kept here: whether a model is to be followed, betted against, or left alone, and why.

A model is followed, or its inverse is, only when its bets won more often than the prices they were
taken at needed, by more than chance explains, with all models that were looked at counted against
each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from grandstand.apps.bets.model import Evidence, Recommendation
from grandstand.apps.bets.model.errors import ForecastImpossible
from grandstand.apps.bets.model.judging.significance import Interval, p_value, q_values, wilson
from grandstand.apps.bets.model.prices.odds import implied

LEAST_RESULTS: Final = 30
FALSE_DISCOVERIES: Final = 0.1
INVERSE_MULTIPLIER: Final = 0.3
NEUTRAL_MULTIPLIER: Final = 1.0
LEAST_MULTIPLIER: Final = 0.3
MOST_MULTIPLIER: Final = 1.15
# Results that a model's own confidence counts for before any came in.
_PRIOR: Final = 20.0


@dataclass(frozen=True, slots=True)
class Pick:
    """A decided pick: whether it was right, what was stated, and the prices of both sides.

    `inverse_american` is None where nobody offered the other side.
    """

    correct: bool
    confidence: float
    american: int
    inverse_american: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """All decided picks of one model in one sport and kind of bet."""

    model: str
    sport: str
    bet_type: str
    picks: tuple[Pick, ...]


@dataclass(frozen=True, slots=True)
class Tested:
    """One side of a record: its rate beside the rate its prices needed, and how sure that is.

    `q_value` is the share of false discoveries one accepts by believing it.
    """

    right: int
    total: int
    rate: float
    interval: Interval
    break_even: float
    p_value: float
    q_value: float = 1.0


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do with a model, with the evidence; `evidence` is set when there is too little."""

    model: str
    sport: str
    bet_type: str
    recommendation: Recommendation
    evidence: Evidence | None
    multiplier: float
    original: Tested
    inverse: Tested
    because: str

    @property
    def inverse_accuracy(self) -> float:
        """How often the other side was right, priced or not; with its own rate it makes 1."""
        return 1.0 - self.original.rate if self.original.total else 0.0


def recommend(
    records: Sequence[Record],
    *,
    least: int = LEAST_RESULTS,
    false_discoveries: float = FALSE_DISCOVERIES,
) -> tuple[Advice, ...]:
    """Advice on each record, in their order; give all that are compared, at once.

    Raises PriceImpossible and ForecastImpossible for picks that cannot be.
    """
    tested = [(_original(each), _inverse(each)) for each in records]
    enough = [len(each.picks) >= least for each in records]
    counted = [
        side.p_value
        for pair, one in zip(tested, enough, strict=True)
        if one
        for side in pair
        if side.total >= least
    ]
    corrected = iter(q_values(counted))
    advised = []
    for record, pair, one in zip(records, tested, enough, strict=True):
        sides = [
            replace(side, q_value=next(corrected)) if one and side.total >= least else side
            for side in pair
        ]
        advised.append(_advice(record, sides[0], sides[1], least, false_discoveries))
    return tuple(advised)


def multiplier(record: Record, recommendation: Recommendation, evidence: Evidence | None) -> float:
    """What stated confidence is multiplied by where it is shown; stakes are never made of it.

    0.3 for a model to bet against, 1 where too little is known; otherwise how often the model was
    right over how often it said it would be, drawn to 1 by few results, between 0.3 and 1.15.
    """
    if recommendation == "INVERSE":
        return INVERSE_MULTIPLIER
    if evidence is not None or not record.picks:
        return NEUTRAL_MULTIPLIER
    count = len(record.picks)
    stated = sum(pick.confidence for pick in record.picks) / count
    if not 0.0 < stated <= 1.0:
        raise ForecastImpossible(f"A mean confidence of {stated!r} cannot be.")
    right = sum(pick.correct for pick in record.picks)
    believed = (right + _PRIOR * stated) / (count + _PRIOR)
    return min(max(believed / stated, LEAST_MULTIPLIER), MOST_MULTIPLIER)


def _original(record: Record) -> Tested:
    picks = record.picks
    return _tested(sum(pick.correct for pick in picks), [implied(pick.american) for pick in picks])


def _inverse(record: Record) -> Tested:
    """The other side, over the picks whose other side had a price."""
    offered = [
        (pick.correct, implied(pick.inverse_american))
        for pick in record.picks
        if pick.inverse_american is not None
    ]
    return _tested(sum(not right for right, _ in offered), [rate for _, rate in offered])


def _tested(right: int, break_evens: list[float]) -> Tested:
    total = len(break_evens)
    return Tested(
        right,
        total,
        right / total if total else 0.0,
        wilson(right, total),
        sum(break_evens) / total if total else 1.0,
        p_value(right, break_evens),
    )


def _advice(
    record: Record, original: Tested, inverse: Tested, least: int, false_discoveries: float
) -> Advice:
    recommendation: Recommendation = "AVOID"
    evidence: Evidence | None = None
    if len(record.picks) < least:
        evidence = "INSUFFICIENT_DATA"
        because = f"{len(record.picks)} of the {least} results needed."
    elif original.q_value <= false_discoveries:
        recommendation = "ORIGINAL"
        because = _said(original)
    elif inverse.q_value <= false_discoveries:
        recommendation = "INVERSE"
        because = f"Betting against it: {_said(inverse)}"
    else:
        because = f"Chance explains it: {_said(original)}"
    return Advice(
        record.model,
        record.sport,
        record.bet_type,
        recommendation,
        evidence,
        multiplier(record, recommendation, evidence),
        original,
        inverse,
        because,
    )


def _said(side: Tested) -> str:
    return (
        f"{side.right} of {side.total} right, {side.rate:.1%} where {side.break_even:.1%} "
        f"breaks even; q {side.q_value:.3f}."
    )
