"""Given chances are reckoned alike for whoever gave them."""

import math

import pytest

from grandstand.kit.calibration import ResolvedForecast, summarize


def test_fewer_than_ten_come_to_nothing_yet() -> None:
    assert summarize([ResolvedForecast(0.5, happened=True)] * 9) is None
    assert summarize([ResolvedForecast(0.5, happened=True)] * 10) is not None


def test_the_figures_are_those_reckoned_by_hand() -> None:
    said = [ResolvedForecast(0.8, happened=at < 6) for at in range(8)] + [
        ResolvedForecast(0.2, happened=False)
    ] * 2

    told = summarize(said)

    assert told is not None
    assert told.count == 10
    assert told.chance == pytest.approx(0.68)
    assert told.came_true.value == pytest.approx(0.6)
    assert told.brier.value == pytest.approx((6 * 0.04 + 2 * 0.64 + 2 * 0.04) / 10)
    surprise = (6 * math.log(0.8) + 2 * math.log(0.2) + 2 * math.log(0.8)) / -10
    assert told.log_loss == pytest.approx(surprise)
    assert [(one.count, round(one.chance, 6), one.came_true.value) for one in told.groups] == [
        (2, 0.2, 0.0),
        (8, 0.8, 0.75),
    ]


def test_bounds_are_wilsons_and_never_leave_what_can_be() -> None:
    told = summarize([ResolvedForecast(1.0, happened=True)] * 10)

    assert told is not None
    assert told.came_true.low == pytest.approx(0.722467, abs=1e-6)
    assert told.came_true.high == pytest.approx(1.0)
    assert (told.brier.low, told.brier.value, told.brier.high) == (0.0, 0.0, 0.0)


def test_a_certainty_that_failed_costs_much_and_not_without_end() -> None:
    told = summarize([ResolvedForecast(1.0, happened=False)] * 10)

    assert told is not None
    assert told.log_loss == pytest.approx(-math.log(1e-12))
