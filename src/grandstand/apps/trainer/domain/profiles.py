"""Statistics over a person's attempts: averages, trends, weaknesses and forecasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from hashlib import sha256
from math import isqrt
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, PlainSerializer

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, DIMENSIONS_BY_NAME

Trend: TypeAlias = Literal["improving", "stable", "declining"]
# Exact when stored, a number in JSON.
ExactNumber: TypeAlias = Annotated[Decimal, PlainSerializer(float, return_type=float)]

WINDOW: Final = 10
_MAX_LISTED: Final = 3
_TREND_THRESHOLD: Final = Fraction(1, 5)
_BIN_WIDTH: Final = 10


@dataclass(frozen=True, slots=True)
class DimensionStatistics:
    """Recent results in one dimension; `recent_scores` are oldest first."""

    name: str
    moving_average: ExactNumber
    standard_deviation: ExactNumber
    trend: Trend
    recent_scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Weakness:
    """A dimension below the person's own mean; the gap is negative."""

    dimension: str
    score: ExactNumber
    gap: ExactNumber


@dataclass(frozen=True, slots=True)
class Improvement:
    """A dimension whose average rose; the specification names the averages `from` and `to`."""

    dimension: str
    improvement: ExactNumber
    before: Annotated[ExactNumber, Field(serialization_alias="from")] = field(
        metadata={"attribute": "from"}
    )
    now: Annotated[ExactNumber, Field(serialization_alias="to")] = field(
        metadata={"attribute": "to"}
    )


@dataclass(frozen=True, slots=True)
class EvaluatedAttempt:
    """The part of a completed attempt that profiles use; `scores` has all eight dimensions."""

    attempt_id: str
    scenario_id: str
    submitted_at: datetime
    evaluated_at: datetime
    overall_score: int
    scores: Mapping[str, int]

    @property
    def sort_key(self) -> tuple[datetime, str]:
        """The order in time; attempts of the same moment are ordered by id."""
        return self.submitted_at, self.attempt_id


@dataclass(frozen=True, slots=True)
class ProfileStatistics:
    """The part of a profile that follows from scores alone."""

    dimensions: tuple[DimensionStatistics, ...]
    weaknesses: tuple[Weakness, ...]
    improvements: tuple[Improvement, ...]
    digest: str
    source_attempt_id: str
    taken_at: datetime


def profile_statistics(
    attempts: Sequence[EvaluatedAttempt], window: int = WINDOW
) -> ProfileStatistics | None:
    """Compute a profile from a person's attempts; None if there are none.

    Only the last `window` attempts count, and the `window` before them for improvements. The order
    of `attempts` does not matter, and repeated ones count once.
    """
    unique = {attempt.attempt_id: attempt for attempt in attempts}
    ordered = sorted(unique.values(), key=lambda attempt: attempt.sort_key)
    if not ordered:
        return None
    recent = ordered[-window:]
    earlier = ordered[-2 * window : -window] if len(ordered) > window else []
    scores = {name: [attempt.scores[name] for attempt in recent] for name in DIMENSION_NAMES}
    return ProfileStatistics(
        dimensions=tuple(
            DimensionStatistics(
                name=name,
                moving_average=_rounded(_mean(scores[name]), 100),
                standard_deviation=_standard_deviation(scores[name]),
                trend=score_trend(scores[name]),
                recent_scores=tuple(scores[name]),
            )
            for name in DIMENSION_NAMES
        ),
        weaknesses=_weaknesses({name: _mean(scores[name]) for name in DIMENSION_NAMES}),
        improvements=_improvements(earlier, recent, window),
        digest=_digest(earlier, recent),
        source_attempt_id=recent[-1].attempt_id,
        taken_at=max(attempt.evaluated_at for attempt in recent),
    )


def overall_average(score_sum: int, attempt_count: int) -> Decimal:
    """Return the mean overall score of all completed attempts, to one tenth."""
    return _rounded(Fraction(score_sum, attempt_count), 10) if attempt_count else Decimal(0)


def recommendations(weaknesses: Sequence[Weakness], suggestion: str | None) -> tuple[str, ...]:
    """Return an exercise for each weakness, and the scenario to try next."""
    exercises = [DIMENSIONS_BY_NAME[weakness.dimension].exercise for weakness in weaknesses]
    return (*exercises, suggestion) if suggestion else tuple(exercises)


def score_trend(scores: Sequence[int]) -> Trend:
    """Compare the mean of the later half with that of the earlier half.

    The middle score of an odd number belongs to the later half. Fewer than four scores are stable.
    """
    if len(scores) < 4:
        return "stable"
    half = len(scores) // 2
    change = _mean(scores[half:]) - _mean(scores[:half])
    if change >= _TREND_THRESHOLD:
        return "improving"
    return "declining" if change <= -_TREND_THRESHOLD else "stable"


def _weaknesses(averages: Mapping[str, Fraction]) -> tuple[Weakness, ...]:
    own_mean = Fraction(sum(averages.values()), len(averages))
    below = [name for name in DIMENSION_NAMES if averages[name] < own_mean]
    lowest = sorted(below, key=lambda name: averages[name])[:_MAX_LISTED]
    return tuple(
        Weakness(name, _rounded(averages[name], 100), _rounded(averages[name] - own_mean, 100))
        for name in lowest
    )


def _improvements(
    earlier: Sequence[EvaluatedAttempt], recent: Sequence[EvaluatedAttempt], window: int
) -> tuple[Improvement, ...]:
    """Compare with the previous window, or if that is not full, with the first half of this one."""
    if len(earlier) < window:
        earlier = recent[: len(recent) // 2]
    if not earlier:
        return ()
    rises = []
    for name in DIMENSION_NAMES:
        before, now = (
            _mean([attempt.scores[name] for attempt in attempts]) for attempts in (earlier, recent)
        )
        if now > before:
            rises.append((now - before, name, before, now))
    rises.sort(key=lambda rise: (-rise[0], DIMENSION_NAMES.index(rise[1])))
    return tuple(
        Improvement(name, _rounded(rise, 100), _rounded(before, 100), _rounded(now, 100))
        for rise, name, before, now in rises[:_MAX_LISTED]
    )


def _digest(earlier: Sequence[EvaluatedAttempt], recent: Sequence[EvaluatedAttempt]) -> str:
    parts = []
    for attempt in (*earlier, *recent):
        scores = ",".join(str(attempt.scores[name]) for name in DIMENSION_NAMES)
        parts.append(f"{attempt.attempt_id}:{attempt.overall_score}:{scores}")
    return sha256("|".join(parts).encode()).hexdigest()


def _mean(scores: Sequence[int]) -> Fraction:
    return Fraction(sum(scores), len(scores))


def _standard_deviation(scores: Sequence[int]) -> Decimal:
    """Return the population standard deviation to a hundredth, computed in integers."""
    count, total = len(scores), sum(scores)
    scaled = count * sum(score * score for score in scores) - total * total
    # sqrt(scaled) / count to a hundredth, rounded: floor of twice the value, plus one, halved.
    doubled = isqrt(4 * scaled * 100 * 100 // (count * count))
    return Decimal((doubled + 1) // 2) / 100


def _rounded(value: Fraction, parts: int) -> Decimal:
    exact = Decimal(value.numerator * parts) / Decimal(value.denominator)
    return exact.quantize(Decimal(1), ROUND_HALF_UP) / parts


@dataclass(frozen=True, slots=True)
class ForecastOutcome:
    """A stated probability, and whether the event happened."""

    probability_percent: int
    happened: bool


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Forecasts of about the same probability, and how often the event happened."""

    low_percent: int
    high_percent: int
    count: int
    mean_percent: float
    happened_percent: float


def brier_score(forecasts: Iterable[ForecastOutcome]) -> float | None:
    """Return the mean squared error, from 0 (perfect) to 1; None without forecasts."""
    errors = [
        Fraction(forecast.probability_percent - 100 * forecast.happened, 100) ** 2
        for forecast in forecasts
    ]
    return float(sum(errors) / len(errors)) if errors else None


def calibration_bins(forecasts: Iterable[ForecastOutcome]) -> tuple[CalibrationBin, ...]:
    """Group forecasts into bins of ten percent, without empty bins; 100 percent is in the last."""
    bins: dict[int, list[ForecastOutcome]] = {}
    for forecast in forecasts:
        low = min(forecast.probability_percent, 99) // _BIN_WIDTH * _BIN_WIDTH
        bins.setdefault(low, []).append(forecast)
    return tuple(
        CalibrationBin(
            low_percent=low,
            high_percent=low + _BIN_WIDTH,
            count=len(members),
            mean_percent=sum(each.probability_percent for each in members) / len(members),
            happened_percent=100 * sum(each.happened for each in members) / len(members),
        )
        for low, members in sorted(bins.items())
    )
