"""Odds conversions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.bets.domain.odds import (
    InvalidPrice,
    american_to_decimal,
    decimal_to_american,
    from_log_odds,
    implied_probability,
    log_odds,
    parse_american,
    probability_to_american,
    profit_ratio,
)

_AMERICAN = st.one_of(st.integers(100, 100_000), st.integers(-100_000, -101))


@pytest.mark.parametrize(
    ("american", "decimal", "probability"),
    [
        (-110, 1.909090909090909, 0.5238095238095238),
        (-150, 1.6666666666666667, 0.6),
        (130, 2.3, 0.43478260869565216),
        (100, 2.0, 0.5),
        (-100, 2.0, 0.5),
    ],
)
def test_a_price_has_one_meaning_in_three_forms(
    american: int, decimal: float, probability: float
) -> None:
    assert american_to_decimal(american) == pytest.approx(decimal, abs=1e-15)
    assert implied_probability(american) == pytest.approx(probability, abs=1e-15)


@given(_AMERICAN)
def test_an_american_price_comes_back_from_its_decimal_one(american: int) -> None:
    assert decimal_to_american(american_to_decimal(american)) == american


@pytest.mark.parametrize(
    ("written", "read"),
    [("-150", -150), (" +130 ", 130), (-110, -110), (250.0, 250), ("1e3", 1000)],
)
def test_an_american_price_is_read_from_text_and_number(written: object, read: int) -> None:
    assert parse_american(written) == read


@pytest.mark.parametrize(
    "value", [99, -99, 0, 1, "50", "", "evens", None, True, 110.5, "nan", math.inf, [110]]
)
def test_what_is_no_american_price_is_refused(value: object) -> None:
    with pytest.raises(InvalidPrice, match="American price"):
        parse_american(value)


@pytest.mark.parametrize("decimal", [1.0, 0.5, -2.0, math.nan, math.inf])
def test_a_decimal_price_is_above_one(decimal: float) -> None:
    with pytest.raises(InvalidPrice, match="above 1"):
        decimal_to_american(decimal)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_a_certainty_has_no_price_and_no_odds(probability: float) -> None:
    with pytest.raises(InvalidPrice):
        probability_to_american(probability)
    with pytest.raises(InvalidPrice):
        log_odds(probability)


def test_what_a_stake_wins_is_exact() -> None:
    assert profit_ratio(-150) == Fraction(2, 3)
    assert profit_ratio(130) == Fraction(13, 10)


@given(st.floats(-15.0, 15.0))
def test_log_odds_lead_back_to_their_probability(value: float) -> None:
    assert log_odds(from_log_odds(value)) == pytest.approx(value, abs=1e-8)
