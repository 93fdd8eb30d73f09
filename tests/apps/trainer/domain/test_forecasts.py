"""Probabilities are scored against what happened."""

from grandstand.apps.trainer.domain.profiles import ForecastOutcome, brier_score, calibration_bins


def test_a_perfect_forecaster_scores_zero_and_a_perfectly_wrong_one_one() -> None:
    assert (
        brier_score([ForecastOutcome(100, happened=True), ForecastOutcome(0, happened=False)]) == 0
    )
    assert brier_score([ForecastOutcome(0, happened=True)]) == 1


def test_always_saying_half_scores_a_quarter() -> None:
    forecasts = [ForecastOutcome(50, happened=True), ForecastOutcome(50, happened=False)]

    assert brier_score(forecasts) == 1 / 4


def test_without_forecasts_there_is_no_score() -> None:
    assert brier_score([]) is None
    assert calibration_bins([]) == ()


def test_the_curve_tells_how_often_what_was_said_came_true() -> None:
    forecasts = [
        ForecastOutcome(72, happened=True),
        ForecastOutcome(78, happened=False),
        ForecastOutcome(100, happened=True),
    ]

    seventies, certain = calibration_bins(forecasts)

    assert (seventies.count, seventies.mean_percent, seventies.happened_percent) == (
        2,
        75,
        50,
    )
    assert (certain.low_percent, certain.high_percent, certain.happened_percent) == (
        90,
        100,
        100,
    )
