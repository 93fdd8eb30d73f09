"""Kept here: what a person's evaluated attempts say of their strengths, weaknesses and trend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from hashlib import sha256
from math import isqrt
from typing import Final

from grandstand.apps.trainer.model.rubric import BY_NAME, NAMES
from grandstand.apps.trainer.model.values import (
    DimensionStatistics,
    Improvement,
    Trend,
    Weakness,
)

WINDOW: Final = 10
_MOST_NAMED: Final = 3
_LEAST_FOR_TREND: Final = 4
_STEP: Final = Fraction(1, 5)
_HUNDREDTHS: Final = 100
_TENTHS: Final = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A completed attempt, as far as profiles look at it; `scores` has all eight dimensions."""

    attempt_id: str
    scenario_id: str
    submitted_at: datetime
    evaluated_at: datetime
    overall_score: int
    scores: Mapping[str, int]

    @property
    def place(self) -> tuple[datetime, str]:
        """Where it stands in time; attempts of one moment stand by their ids."""
        return self.submitted_at, self.attempt_id


@dataclass(frozen=True, slots=True)
class Standing:
    """All that a profile says which follows from scores alone."""

    dimensions: tuple[DimensionStatistics, ...]
    weaknesses: tuple[Weakness, ...]
    improvements: tuple[Improvement, ...]
    digest: str
    source_attempt_id: str
    taken_at: datetime


def standing(judged: Sequence[Judged], window: int = WINDOW) -> Standing | None:
    """Work out where a person stands from their last attempts; None when there are none.

    Only the last `window` attempts count, and the `window` before them for improvements; order
    and repetition of `judged` do not matter.
    """
    ordered = sorted({each.attempt_id: each for each in judged}.values(), key=lambda j: j.place)
    if not ordered:
        return None
    earlier, recent = _split(ordered, window)
    averages = {name: _mean([each.scores[name] for each in recent]) for name in NAMES}
    return Standing(
        dimensions=tuple(
            _statistics(name, [each.scores[name] for each in recent]) for name in NAMES
        ),
        weaknesses=_weaknesses(averages),
        improvements=_improvements(earlier, recent, window),
        digest=_digest(earlier, recent),
        source_attempt_id=recent[-1].attempt_id,
        taken_at=max(each.evaluated_at for each in recent),
    )


def overall_average(score_sum: int, attempt_count: int) -> Decimal:
    """Answer the mean overall score of all completed attempts, to one tenth."""
    return _rounded(Fraction(score_sum, attempt_count), _TENTHS) if attempt_count else Decimal(0)


def recommendations(weaknesses: Sequence[Weakness], suggestion: str | None) -> tuple[str, ...]:
    """Answer an exercise for each weakness, and the scenario to try next."""
    exercises = [BY_NAME[each.dimension].exercise for each in weaknesses]
    return (*exercises, suggestion) if suggestion else tuple(exercises)


def trend_of(scores: Sequence[int]) -> Trend:
    """Compare the mean of the later half with that of the earlier; of less than four, stable.

    The middle one of an odd number counts as later.
    """
    if len(scores) < _LEAST_FOR_TREND:
        return "stable"
    half = len(scores) // 2
    change = _mean(scores[half:]) - _mean(scores[:half])
    if change >= _STEP:
        return "improving"
    return "declining" if change <= -_STEP else "stable"


def _split(ordered: list[Judged], window: int) -> tuple[list[Judged], list[Judged]]:
    recent = ordered[-window:]
    return ordered[-2 * window : -window] if len(ordered) > window else [], recent


def _statistics(name: str, scores: Sequence[int]) -> DimensionStatistics:
    return DimensionStatistics(
        name=name,
        moving_average=_rounded(_mean(scores), _HUNDREDTHS),
        standard_deviation=_deviation(scores),
        trend=trend_of(scores),
        recent_scores=tuple(scores),
    )


def _weaknesses(averages: Mapping[str, Fraction]) -> tuple[Weakness, ...]:
    own = Fraction(sum(averages.values()), len(averages))
    below = [name for name in NAMES if averages[name] < own]
    lowest = sorted(below, key=lambda name: averages[name])[:_MOST_NAMED]
    return tuple(
        Weakness(
            dimension=name,
            score=_rounded(averages[name], _HUNDREDTHS),
            gap=_rounded(averages[name] - own, _HUNDREDTHS),
        )
        for name in lowest
    )


def _improvements(
    earlier: Sequence[Judged], recent: Sequence[Judged], window: int
) -> tuple[Improvement, ...]:
    """Compare with the window before; where that is not full, with the first half of this one."""
    if len(earlier) < window:
        earlier = recent[: len(recent) // 2]
    if not earlier:
        return ()
    rises = []
    for name in NAMES:
        before, now = (_mean([each.scores[name] for each in part]) for part in (earlier, recent))
        if now > before:
            rises.append((now - before, name, before, now))
    rises.sort(key=lambda rise: (-rise[0], NAMES.index(rise[1])))
    return tuple(
        Improvement(
            dimension=name,
            improvement=_rounded(by, _HUNDREDTHS),
            before=_rounded(before, _HUNDREDTHS),
            now=_rounded(now, _HUNDREDTHS),
        )
        for by, name, before, now in rises[:_MOST_NAMED]
    )


def _digest(earlier: Sequence[Judged], recent: Sequence[Judged]) -> str:
    parts = [
        f"{each.attempt_id}:{each.overall_score}:{','.join(str(each.scores[n]) for n in NAMES)}"
        for each in (*earlier, *recent)
    ]
    return sha256("|".join(parts).encode()).hexdigest()


def _mean(scores: Sequence[int]) -> Fraction:
    return Fraction(sum(scores), len(scores))


def _deviation(scores: Sequence[int]) -> Decimal:
    """The population's standard deviation to a hundredth, worked out in whole numbers."""
    count, total = len(scores), sum(scores)
    scaled = count * sum(score * score for score in scores) - total * total
    # sqrt(scaled) / count to a hundredth, rounded: floor of twice the value, plus one, halved.
    doubled = isqrt(4 * scaled * _HUNDREDTHS * _HUNDREDTHS // (count * count))
    return Decimal((doubled + 1) // 2) / _HUNDREDTHS


def _rounded(value: Fraction, parts: int) -> Decimal:
    exact = Decimal(value.numerator * parts) / Decimal(value.denominator)
    return exact.quantize(Decimal(1), ROUND_HALF_UP) / parts
