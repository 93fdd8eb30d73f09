"""Defects 7, 9 and 18 of the system before this one: stakes, averages and break-even."""

import pytest

from grandstand.apps.bets.model.kelly import Caps, Offer, exclusive, kelly, portfolio, stake_cents
from grandstand.apps.bets.model.odds import (
    average_american,
    average_implied,
    decimal_of,
    implied,
    movement,
)
from grandstand.apps.bets.model.scoring import returned
from grandstand.apps.bets.model.settlement import LOSS, WIN, pay


def test_defect_07_kelly_is_not_too_small_by_the_price() -> None:
    share = 0.25 * kelly(0.6, decimal_of(-110))

    assert stake_cents(10_000, share) == 400


@pytest.mark.parametrize("probability", [0.50, 0.5238, 0.3])
def test_defect_07_a_floor_forces_no_bet_without_an_edge(probability: float) -> None:
    share = kelly(probability, decimal_of(-110))

    assert stake_cents(10_000, share, least_cents=500) == 0


def test_defect_07_simultaneous_bets_are_staked_together_under_caps() -> None:
    caps = Caps(bet=0.1, game=0.1, day=0.3, sport=0.2, total=0.5)
    contests = [
        exclusive(f"game {at}", f"sport {at % 2}", "monday", [Offer(0.65, 2.0)]) for at in range(6)
    ]

    shares = [each for (each,) in portfolio(contests, fraction=0.5, caps=caps)]

    assert max(shares) <= 0.1 + 1e-12
    assert sum(shares[::2]) <= 0.2 + 1e-12
    assert sum(shares) == pytest.approx(0.3, abs=1e-6)


def test_defect_09_prices_average_as_probabilities() -> None:
    assert average_implied([-105, 105]) == pytest.approx(0.5, abs=1e-4)
    assert average_american([-105, 105]) == 100


def test_defect_09_a_move_through_even_money_is_small() -> None:
    assert movement(110, -110) == pytest.approx(0.0476, abs=1e-4)


def test_defect_18_what_a_hundred_and_ten_wins_breaks_even_at_fifty_two() -> None:
    stakes = [11_000] * 21
    won = [pay(WIN, 11_000, -110).profit_cents] * 11
    lost = [pay(LOSS, 11_000, -110).profit_cents] * 10

    found = returned(stakes, won + lost)

    assert implied(-110) == pytest.approx(11 / 21)
    assert won[0] == 10_000
    assert found.roi == pytest.approx(0.0, abs=1e-12)
