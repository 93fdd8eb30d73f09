"""Scoring rules and returns."""

import math

import numpy as np
import pytest

from grandstand.apps.bets.domain.scoring import (
    brier,
    calibration_error,
    log_loss,
    reliability_bins,
    return_on_stake,
)
from grandstand.core.errors import InvalidInput


def test_brier_and_log_loss_are_their_formulas() -> None:
    forecasts, happened = [0.7, 0.2], [True, False]

    assert brier(forecasts, happened) == pytest.approx((0.09 + 0.04) / 2)
    assert log_loss(forecasts, happened) == pytest.approx(-(math.log(0.7) + math.log(0.8)) / 2)


def test_a_certainty_that_failed_costs_much_but_not_everything() -> None:
    assert log_loss([1.0], [False]) == pytest.approx(-math.log(1e-12))


def test_forecasts_that_come_true_as_stated_have_no_calibration_error() -> None:
    forecasts = [0.25] * 4 + [0.75] * 4
    happened = [True, False, False, False, True, True, True, False]

    assert calibration_error(forecasts, happened) == pytest.approx(0.0, abs=1e-15)
    assert calibration_error([0.9] * 4, [True, False, False, False]) == pytest.approx(0.65)


def test_a_reliability_diagram_has_bins_of_equal_count() -> None:
    forecasts = [at / 100 for at in range(100)]
    happened = [at % 2 == 0 for at in range(100)]

    bins = reliability_bins(forecasts, happened, bins=4)

    assert [each.count for each in bins] == [25, 25, 25, 25]
    assert bins[0].mean_probability == pytest.approx(0.12)
    assert bins[0].share_won == pytest.approx(13 / 25)
    assert bins[0].low < 13 / 25 < bins[0].high


@pytest.mark.parametrize(
    ("forecasts", "happened"),
    [([], []), ([0.5], [True, False]), ([1.2], [True]), ([math.nan], [True])],
)
def test_forecasts_that_cannot_be_are_refused(forecasts: list[float], happened: list[bool]) -> None:
    with pytest.raises(InvalidInput):
        brier(forecasts, happened)


def test_a_return_is_over_what_was_staked_at_the_prices_taken() -> None:
    found = return_on_stake([1000, 1000, 2000], [909, -1000, 1538])

    assert found.value == pytest.approx(1447 / 4000)
    assert found.low < 0.0 < found.value < found.high


def test_the_interval_of_a_return_covers_the_truth_as_often_as_it_says() -> None:
    chance = np.random.default_rng(8)
    wins = chance.uniform(size=(400, 300)) < 0.55

    seen = [return_on_stake([100] * 300, np.where(each, 91, -100).tolist()) for each in wins]

    truth = 0.55 * 0.91 - 0.45
    assert 0.92 <= np.mean([each.low <= truth <= each.high for each in seen]) <= 0.98


def test_no_bets_return_nothing() -> None:
    assert return_on_stake([], []).value == 0.0


@pytest.mark.parametrize(("stakes", "profits"), [([100], []), ([0], [5]), ([-100], [5])])
def test_stakes_that_cannot_be_are_refused(stakes: list[int], profits: list[int]) -> None:
    with pytest.raises(InvalidInput):
        return_on_stake(stakes, profits)
