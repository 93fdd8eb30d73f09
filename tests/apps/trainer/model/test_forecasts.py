"""Probabilities are scored against what happened."""

from fractions import Fraction

from grandstand.apps.trainer.model.forecasts import Resolved, brier_score, calibration


def test_a_perfect_forecaster_scores_zero_and_a_perfectly_wrong_one_one() -> None:
    assert brier_score([Resolved(100, happened=True), Resolved(0, happened=False)]) == 0
    assert brier_score([Resolved(0, happened=True)]) == 1


def test_always_saying_half_scores_a_quarter() -> None:
    forecasts = [Resolved(50, happened=True), Resolved(50, happened=False)]

    assert brier_score(forecasts) == Fraction(1, 4)


def test_without_forecasts_there_is_no_score() -> None:
    assert brier_score([]) is None
    assert calibration([]) == ()


def test_the_curve_tells_how_often_what_was_said_came_true() -> None:
    forecasts = [
        Resolved(72, happened=True),
        Resolved(78, happened=False),
        Resolved(100, happened=True),
    ]

    seventies, certain = calibration(forecasts)

    assert (seventies.count, seventies.mean_percent, seventies.happened_percent) == (
        2,
        Fraction(75),
        Fraction(50),
    )
    assert (certain.low_percent, certain.high_percent, certain.happened_percent) == (
        90,
        100,
        Fraction(100),
    )
