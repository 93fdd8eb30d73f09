"""Intervals and significance tests."""

import numpy as np
import pytest
from scipy import stats

from grandstand.apps.bets.domain.scoring import (
    bets_needed,
    deflated_sharpe,
    estimate_mean,
    p_value,
    q_values,
    sharpe,
    wilson,
)
from grandstand.core.errors import InvalidInput


@pytest.mark.parametrize(("right", "total"), [(0, 10), (5, 10), (10, 10), (26, 45)])
def test_the_interval_of_a_rate_is_wilsons(right: int, total: int) -> None:
    expected = stats.binomtest(right, total).proportion_ci(method="wilson")

    found = wilson(right, total)

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_more_right_than_there_are_is_refused() -> None:
    with pytest.raises(InvalidInput):
        wilson(3, 2)


@pytest.mark.parametrize(
    ("rate", "needed"), [(0.53, 24_900), (0.54, 3_650), (0.55, 1_400), (0.56, 730), (0.58, 300)]
)
def test_the_bets_needed_to_know_are_the_published_ones(rate: float, needed: int) -> None:
    assert bets_needed(rate, 110 / 210) == pytest.approx(needed, rel=0.015)


def test_a_rate_that_does_not_break_even_never_stands_out() -> None:
    assert bets_needed(0.52, 110 / 210) is None


@pytest.mark.parametrize(
    ("right", "total", "rate"), [(26, 45, 0.5238), (60, 100, 0.5), (0, 5, 0.4)]
)
def test_at_one_price_the_test_is_the_binomial_one(right: int, total: int, rate: float) -> None:
    expected = stats.binom.sf(right - 1, total, rate)

    assert p_value(right, [rate] * total) == pytest.approx(expected, abs=1e-12)


def test_at_many_prices_each_bet_is_held_to_its_own() -> None:
    assert p_value(2, [0.9, 0.1]) == pytest.approx(0.09)
    assert p_value(1, [0.9, 0.1]) == pytest.approx(1 - 0.1 * 0.9)


def test_beyond_two_thousand_bets_the_normal_curve_is_as_good() -> None:
    expected = stats.binom.sf(1_300 - 1, 2_400, 0.5238)

    assert p_value(1_300, [0.5238] * 2_400) == pytest.approx(expected, rel=0.02)


def test_a_test_of_more_wins_than_bets_is_refused() -> None:
    with pytest.raises(InvalidInput):
        p_value(3, [0.5, 0.5])


def test_false_discoveries_are_controlled_by_rank() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005, 0.5]

    found = q_values(p_values)

    assert found == pytest.approx(stats.false_discovery_control(p_values).tolist())


def test_of_many_worthless_models_few_are_discovered() -> None:
    chance = np.random.default_rng(2)
    p_values = chance.uniform(size=200).tolist()

    assert sum(each < 0.05 for each in p_values) >= 5
    assert min(q_values(p_values)) > 0.1


def test_wilson_of_two_of_three_and_of_nothing() -> None:
    assert wilson(2, 3).value == pytest.approx(2 / 3)
    assert wilson(2, 3).low == pytest.approx(0.2077, abs=1e-4)
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_a_mean_has_its_normal_interval() -> None:
    values = [0.02, -0.01, 0.03, 0.01, 0.04]

    found = estimate_mean(values)

    low, high = stats.norm.interval(0.95, found.value, stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize("values", [[], [1.0]])
def test_one_value_says_nothing_about_scatter(values: list[float]) -> None:
    with pytest.raises(InvalidInput):
        estimate_mean(values)
    with pytest.raises(InvalidInput):
        sharpe(values)


def test_the_more_was_tried_the_less_the_best_of_it_means() -> None:
    returns = np.random.default_rng(4).normal(0.12, 1.0, 500).tolist()

    alone, best_of_many = deflated_sharpe(returns, 1), deflated_sharpe(returns, 1_000)

    assert alone > 0.99
    assert best_of_many < 0.7


def test_the_best_of_worthless_strategies_is_seen_through() -> None:
    chance = np.random.default_rng(6)
    tried = chance.normal(0.0, 1.0, (200, 250))
    best = max(tried.tolist(), key=sharpe)

    assert deflated_sharpe(best, 1) > 0.98
    assert deflated_sharpe(best, 200) < 0.9
