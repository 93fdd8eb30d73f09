"""Probabilities of a line derived from another line."""

from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.margins import score_shape, shift_line
from grandstand.apps.bets.domain.selections import InvalidSelection, Selection

_FOOTBALL = score_shape("americanfootball_nfl")


def _home(point: str) -> Selection:
    return Selection("spreads", "home", Decimal(point))


def test_a_line_that_moved_across_a_key_number_was_worth_more() -> None:
    across = shift_line(_home("-2.5"), _home("-3.5"), 0.5, _FOOTBALL)
    beside = shift_line(_home("-4.5"), _home("-5.5"), 0.5, _FOOTBALL)

    assert across.probability > 0.54
    assert across.probability > beside.probability + 0.015


def test_the_other_side_of_a_moved_line_lost_what_this_one_won() -> None:
    one = shift_line(_home("-2.5"), _home("-3"), 0.5, _FOOTBALL)

    other = shift_line(
        Selection("spreads", "away", Decimal("2.5")),
        Selection("spreads", "away", Decimal(3)),
        0.5,
        _FOOTBALL,
    )

    assert one.probability > 0.5
    assert one.probability + other.probability == pytest.approx(1.0, abs=1e-8)


def test_totals_move_too() -> None:
    basketball = score_shape("basketball_nba")
    taken = Selection("totals", "over", Decimal(215))

    found = shift_line(taken, Selection("totals", "over", Decimal(219)), 0.5, basketball)

    assert found.probability == pytest.approx(0.5 + 4 / 18 * 0.3989, abs=0.005)


def test_two_sides_are_not_one_bet() -> None:
    with pytest.raises(InvalidSelection, match="same market and side"):
        shift_line(_home("-3"), Selection("spreads", "away", Decimal(3)), 0.5, _FOOTBALL)
