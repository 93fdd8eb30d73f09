"""Chances of winning from scores, and of placings from chances of winning."""

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.keiba.domain.ranking import (
    HARVILLE,
    HENERY,
    Discount,
    placings,
    win_probabilities,
)
from grandstand.core.errors import InvalidInput

_SCORES = st.lists(st.floats(-60, 60), min_size=3, max_size=18)
_FIVE = (0.4, 0.3, 0.15, 0.1, 0.05)


def _by_hand(win: tuple[float, ...], finish: tuple[int, ...], discount: Discount) -> float:
    """One order of finish, place after place among those left."""
    chance, left = 1.0, list(range(len(win)))
    for runner, power in zip(finish, (1.0, discount.second, discount.third), strict=False):
        chance *= win[runner] ** power / sum(win[other] ** power for other in left)
        left.remove(runner)
    return chance


def test_ten_points_more_on_a_spread_of_ten_are_e_times_the_chance() -> None:
    strong, weak = win_probabilities((10.0, 0.0), spread=10.0)

    assert strong / weak == pytest.approx(math.e)


@settings(deadline=None)
@given(_SCORES)
def test_chances_of_winning_are_positive_and_sum_to_one(scores: list[float]) -> None:
    chances = win_probabilities(scores)

    assert min(chances) > 0
    assert math.fsum(chances) == pytest.approx(1)


def test_scores_beyond_the_range_of_exponentials_still_give_every_runner_a_chance() -> None:
    chances = win_probabilities((50_000.0, 0.0, -50_000.0))

    assert chances[0] == pytest.approx(1)
    assert min(chances) > 0


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        win_probabilities((0.0, score))


def test_a_spread_of_zero_is_refused() -> None:
    with pytest.raises(InvalidInput, match="spread"):
        win_probabilities((0.0, 1.0), spread=0.0)


@pytest.mark.parametrize("discount", [HARVILLE, HENERY])
def test_placings_are_the_sums_over_all_orders_of_finish(discount: Discount) -> None:
    orders = {finish: _by_hand(_FIVE, finish, discount) for finish in permutations(range(5), 3)}

    found = placings(_FIVE, discount)

    for runner, placing in enumerate(found):
        second = sum(chance for finish, chance in orders.items() if finish[1] == runner)
        third = sum(chance for finish, chance in orders.items() if finish[2] == runner)
        assert (placing.win, placing.second, placing.third) == pytest.approx(
            (_FIVE[runner], second, third)
        )


@settings(deadline=None)
@given(_SCORES, st.sampled_from([HARVILLE, HENERY]))
def test_every_place_is_taken_by_someone(scores: list[float], discount: Discount) -> None:
    found = placings(win_probabilities(scores), discount)

    assert math.fsum(placing.win for placing in found) == pytest.approx(1)
    assert math.fsum(placing.second for placing in found) == pytest.approx(1)
    assert math.fsum(placing.third for placing in found) == pytest.approx(1)
    assert all(placing.top2 <= placing.top3 <= 1 + 1e-9 for placing in found)


def test_eighteen_equal_runners_have_equal_chances_of_every_place() -> None:
    found = placings((1 / 18,) * 18, HENERY)

    assert [placing.top3 for placing in found] == pytest.approx([3 / 18] * 18)


def test_the_discount_takes_places_from_the_favourite_and_gives_them_to_outsiders() -> None:
    plain, discounted = placings(_FIVE, HARVILLE), placings(_FIVE, HENERY)

    assert discounted[0].top3 < plain[0].top3
    assert discounted[4].top3 > plain[4].top3


def test_two_runners_leave_the_third_place_empty() -> None:
    first, second = placings((0.7, 0.3))

    assert (first.second, second.second) == pytest.approx((0.3, 0.7))
    assert (first.third, second.third) == (0.0, 0.0)


def test_a_lone_runner_wins() -> None:
    [placing] = placings((1.0,))

    assert (placing.win, placing.top3) == (1.0, 1.0)


def test_beside_an_all_but_certain_winner_the_others_keep_their_proportions() -> None:
    tiny = 1e-15

    found = placings((1 - 3 * tiny, 2 * tiny, tiny))

    assert found[1].second / found[2].second == pytest.approx(2)


@pytest.mark.parametrize("win", [(), (0.5, 0.6), (1.0, 0.0), (1.2, -0.2)])
def test_chances_that_are_no_distribution_are_refused(win: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput):
        placings(win)
