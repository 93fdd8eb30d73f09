"""A profile follows exactly from scores, whatever order and however often they arrive."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as some

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, DIMENSIONS_BY_NAME
from grandstand.apps.trainer.domain.profiles import (
    EvaluatedAttempt,
    ProfileStatistics,
    overall_average,
    profile_statistics,
    recommendations,
    score_trend,
)

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def judged(number: int, scores: Sequence[int]) -> EvaluatedAttempt:
    at = BEGIN + timedelta(days=number)
    named = dict(zip(DIMENSION_NAMES, scores, strict=True))
    return EvaluatedAttempt(f"a{number:03}", "s", at, at + timedelta(minutes=1), 50, named)


def known(judgements: Sequence[EvaluatedAttempt]) -> ProfileStatistics:
    found = profile_statistics(judgements)
    assert found is not None
    return found


def flat(count: int, score: int = 3) -> list[EvaluatedAttempt]:
    return [judged(number, [score] * 8) for number in range(count)]


many_scores = some.lists(
    some.lists(some.integers(0, 4), min_size=8, max_size=8), min_size=1, max_size=25
)


@pytest.mark.parametrize(
    ("scores", "trend"),
    [
        ([3, 3, 4, 3, 3, 3, 3, 3, 4, 3], "stable"),
        ([3, 3, 3, 3, 4, 3, 4, 4, 4, 3], "improving"),
        ([2, 2, 1, 2, 2, 1, 2, 2, 1, 2], "declining"),
        ([0, 4, 4], "stable"),
        ([0, 0, 4, 4], "improving"),
        ([], "stable"),
    ],
)
def test_a_trend_compares_the_two_halves(scores: list[int], trend: str) -> None:
    assert score_trend(scores) == trend


def test_a_change_of_exactly_a_fifth_is_a_trend() -> None:
    falling = [2, 2, 1, 2, 2, 1, 2, 2, 1, 2]

    change = Fraction(sum(falling[5:]) - sum(falling[:5]), 5)

    assert (change, score_trend(falling)) == (Fraction(-1, 5), "declining")


def test_nobody_stands_anywhere_without_attempts() -> None:
    assert profile_statistics([]) is None


@pytest.mark.parametrize("count", [1, 3, 4, 9, 10, 11, 20])
def test_only_the_last_ten_count(count: int) -> None:
    attempts = [judged(number, [number % 5] * 8) for number in range(count)]

    scores = known(attempts).dimensions[0].recent_scores

    assert scores == tuple(number % 5 for number in range(count))[-10:]


def test_equal_scores_leave_no_weakness_and_no_improvement() -> None:
    found = known(flat(12))

    assert (found.weaknesses, found.improvements) == ((), ())


def test_weaknesses_are_the_three_lowest_below_the_own_mean_in_rubric_order() -> None:
    found = known([judged(0, [1, 4, 1, 4, 1, 1, 4, 4])])

    assert [(weak.dimension, weak.gap) for weak in found.weaknesses] == [
        ("clarity", Decimal("-1.5")),
        ("logic", Decimal("-1.5")),
        ("assumptions", Decimal("-1.5")),
    ]


def test_an_improvement_is_measured_against_the_window_before() -> None:
    attempts = flat(10, 2) + [judged(10 + number, [4, *[2] * 7]) for number in range(10)]

    (rise,) = known(attempts).improvements

    assert (rise.dimension, rise.before, rise.now, rise.improvement) == (
        "clarity",
        Decimal(2),
        Decimal(4),
        Decimal(2),
    )


def test_without_a_full_window_before_the_first_half_is_compared() -> None:
    attempts = flat(2, 1) + [judged(2 + number, [3, *[1] * 7]) for number in range(2)]

    (rise,) = known(attempts).improvements

    assert (rise.before, rise.now) == (Decimal(1), Decimal(2))


@given(many_scores, some.randoms(use_true_random=False))
def test_order_and_repetition_of_attempts_change_nothing(
    scores: list[list[int]], chance: random.Random
) -> None:
    attempts = [judged(number, each) for number, each in enumerate(scores)]
    shuffled = [*attempts, *attempts[: len(attempts) // 2]]
    chance.shuffle(shuffled)

    assert profile_statistics(shuffled) == profile_statistics(attempts)


@given(many_scores)
def test_mean_and_deviation_are_those_of_the_textbook(scores: list[list[int]]) -> None:
    attempts = [judged(number, each) for number, each in enumerate(scores)]
    recent = [each[0] for each in scores[-10:]]

    found = known(attempts).dimensions[0]

    mean = sum(recent) / len(recent)
    deviation = sqrt(sum((score - mean) ** 2 for score in recent) / len(recent))
    assert float(found.moving_average) == pytest.approx(mean, abs=0.00501)
    assert float(found.standard_deviation) == pytest.approx(deviation, abs=0.00501)


def test_attempts_of_one_moment_stand_by_their_ids() -> None:
    low, high = judged(0, [0] * 8), judged(0, [4] * 8)
    later = EvaluatedAttempt("b", "s", high.submitted_at, high.evaluated_at, 50, high.scores)

    assert known([later, low]).dimensions[0].recent_scores == (0, 4)


@pytest.mark.parametrize(
    ("total", "count", "average"), [(0, 0, "0"), (153, 2, "76.5"), (200, 3, "66.7"), (1, 20, "0.1")]
)
def test_the_overall_average_is_exact_to_a_tenth(total: int, count: int, average: str) -> None:
    assert overall_average(total, count) == Decimal(average)


def test_each_weakness_brings_its_exercise_and_the_suggestion_comes_last() -> None:
    weak = known([judged(0, [1, *[4] * 7])]).weaknesses

    advice = recommendations(weak, "Try the bridge.")

    assert advice == (DIMENSIONS_BY_NAME["clarity"].exercise, "Try the bridge.")
