"""Closing-line value."""

import math
from decimal import Decimal

import numpy as np
import pytest

from grandstand.apps.bets.model.closing import (
    closing_summary,
    closing_value,
    closing_value_of_line,
    moved,
)
from grandstand.apps.bets.model.errors import SelectionImpossible, TooFewResults
from grandstand.apps.bets.model.margins import shape_for
from grandstand.apps.bets.model.selections import Selection

_FOOTBALL = shape_for("americanfootball_nfl")


def _home(point: str) -> Selection:
    return Selection("spreads", "home", Decimal(point))


def test_value_is_told_in_percent_points_and_log_odds() -> None:
    found = closing_value(110, 0.5)

    assert found.percent == pytest.approx(2.1 * 0.5 - 1.0)
    assert found.points == pytest.approx(0.5 - 1 / 2.1)
    assert found.log_odds == pytest.approx(math.log(1.1))


def test_a_price_at_the_fair_close_has_no_value() -> None:
    found = closing_value(-150, 0.6)

    assert (found.percent, found.points, found.log_odds) == pytest.approx((0, 0, 0), abs=1e-12)


def test_a_line_that_stood_still_is_valued_by_its_price() -> None:
    found = closing_value_of_line(_home("-3"), -110, _home("-3.0"), 0.53, _FOOTBALL)

    assert found == closing_value(-110, 0.53)


def test_a_line_that_moved_across_a_key_number_was_worth_more() -> None:
    across = closing_value_of_line(_home("-2.5"), -110, _home("-3.5"), 0.5, _FOOTBALL)
    beside = closing_value_of_line(_home("-4.5"), -110, _home("-5.5"), 0.5, _FOOTBALL)

    assert across.percent > 0.03
    assert across.percent > beside.percent + 0.03


def test_the_other_side_of_a_moved_line_lost_what_this_one_won() -> None:
    one = moved(_home("-2.5"), _home("-3"), 0.5, _FOOTBALL)

    other = moved(
        Selection("spreads", "away", Decimal("2.5")),
        Selection("spreads", "away", Decimal(3)),
        0.5,
        _FOOTBALL,
    )

    assert one.probability > 0.5
    assert one.probability + other.probability == pytest.approx(1.0, abs=1e-8)


def test_totals_move_too() -> None:
    basketball = shape_for("basketball_nba")
    taken = Selection("totals", "over", Decimal(215))

    found = moved(taken, Selection("totals", "over", Decimal(219)), 0.5, basketball)

    assert found.probability == pytest.approx(0.5 + 4 / 18 * 0.3989, abs=0.005)


def test_two_sides_are_not_one_bet() -> None:
    with pytest.raises(SelectionImpossible, match="same side"):
        moved(_home("-3"), Selection("spreads", "away", Decimal(3)), 0.5, _FOOTBALL)


def test_a_summary_has_means_intervals_and_how_many_were_ahead() -> None:
    chance = np.random.default_rng(1)
    fair = (0.5238 + chance.normal(0.01, 0.02, 400)).tolist()

    found = closing_summary([closing_value(-110, each) for each in fair])

    assert found.points.mean == pytest.approx(0.01, abs=0.003)
    assert found.percent.t_statistic > 5.0
    assert found.ahead_interval.low < found.ahead < found.ahead_interval.high


def test_one_bet_is_no_summary() -> None:
    with pytest.raises(TooFewResults):
        closing_summary([closing_value(-110, 0.5)])
