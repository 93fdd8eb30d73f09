"""What odds say of chances."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.keiba.domain.ranking import compare, expected_return, implied_probabilities
from grandstand.core.errors import InvalidInput

_PRICES = st.lists(
    st.integers(11, 9_999).map(lambda tenths: Decimal(tenths) / 10), min_size=2, max_size=18
)


def test_odds_made_from_chances_by_a_totalisator_give_them_back() -> None:
    odds = (Decimal("1.6"), Decimal("3.2"), Decimal("3.2"))

    chances = implied_probabilities(odds)

    assert chances == pytest.approx((0.5, 0.25, 0.25))


@settings(deadline=None)
@given(_PRICES)
def test_implied_chances_sum_to_one_and_follow_the_odds(odds: list[Decimal]) -> None:
    known = [chance for chance in implied_probabilities(odds) if chance is not None]

    assert math.fsum(known) == pytest.approx(1)
    assert known[odds.index(min(odds))] == max(known)


def test_where_some_odds_are_missing_the_others_stand_for_what_is_paid_back() -> None:
    known, unknown = implied_probabilities((Decimal("4.0"), None))

    assert known == pytest.approx(0.2)
    assert unknown is None


def test_no_odds_say_nothing() -> None:
    assert implied_probabilities(()) == ()


def test_an_even_chance_at_three_to_one_brings_back_one_and_a_half() -> None:
    assert expected_return(0.5, Decimal("3.0")) == pytest.approx(1.5)


def test_our_chances_stand_beside_the_markets() -> None:
    liked, unknown = compare((0.5, 0.5), (Decimal("2.4"), None))

    assert liked.market == pytest.approx(1 / 3)
    assert liked.edge == pytest.approx(1 / 6)
    assert liked.expected_return == pytest.approx(1.2)
    assert (unknown.market, unknown.edge, unknown.expected_return) == (None, None, None)


def test_odds_below_one_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        implied_probabilities((Decimal("0.9"), Decimal("3.0")))


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidInput, match="probabilities but"):
        compare((1.0,), ())
