"""Defects 7, 9 and 18 of the system before this one: stakes, averages and break-even."""

import pytest

from grandstand.apps.bets.domain.forecasts import fair_probabilities, line_move
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.kelly import (
    Caps,
    Offer,
    exclusive_contest,
    kelly_fraction,
    optimize_portfolio,
    stake_cents,
)
from grandstand.apps.bets.domain.odds import american_to_decimal, implied_probability, log_odds
from grandstand.apps.bets.domain.scoring import return_on_stake
from grandstand.apps.bets.domain.settlement import LOSS, WIN, pay_bet
from tests.apps.bets.domain.games import HOUR, fixture, h2h

GAME = fixture(1, "ants", "bears")
EARLY, LATE = GAME.commence_time - 9 * HOUR, GAME.commence_time - HOUR


def test_defect_07_kelly_is_not_too_small_by_the_price() -> None:
    share = 0.25 * kelly_fraction(0.6, american_to_decimal(-110))

    assert stake_cents(10_000, share) == 400


@pytest.mark.parametrize("probability", [0.50, 0.5238, 0.3])
def test_defect_07_a_floor_forces_no_bet_without_an_edge(probability: float) -> None:
    share = kelly_fraction(probability, american_to_decimal(-110))

    assert stake_cents(10_000, share, min_cents=500) == 0


def test_defect_07_simultaneous_bets_are_staked_together_under_caps() -> None:
    caps = Caps(bet=0.1, game=0.1, day=0.3, sport=0.2, total=0.5)
    contests = [
        exclusive_contest(f"game {at}", f"sport {at % 2}", "monday", [Offer(0.65, 2.0)])
        for at in range(6)
    ]

    shares = [each for (each,) in optimize_portfolio(contests, fraction=0.5, caps=caps)]

    assert max(shares) <= 0.1 + 1e-12
    assert sum(shares[::2]) <= 0.2 + 1e-12
    assert sum(shares) == pytest.approx(0.3, abs=1e-6)


def test_defect_09_prices_average_as_probabilities() -> None:
    facts: list[Fact] = [
        GAME,
        h2h(GAME, "alpha", EARLY, -105, 105),
        h2h(GAME, "beta", EARLY, 105, -105),
    ]

    fair = fair_probabilities(History(facts).as_of(LATE), GAME.game_id, "h2h")

    assert fair is not None
    assert fair.probabilities == pytest.approx((0.5, 0.5))


def test_defect_09_a_move_through_even_money_is_small() -> None:
    facts: list[Fact] = [
        GAME,
        h2h(GAME, "alpha", EARLY, 110, -110),
        h2h(GAME, "alpha", LATE, -110, 110),
    ]

    move = line_move(History(facts).as_of(LATE), GAME.game_id, "h2h", GAME.sport)

    assert move is not None
    assert move.size == pytest.approx(2 * log_odds(implied_probability(-110)))
    assert move.size < 0.2


def test_defect_18_what_a_hundred_and_ten_wins_breaks_even_at_fifty_two() -> None:
    stakes = [11_000] * 21
    won = [pay_bet(WIN, 11_000, -110).profit_cents] * 11
    lost = [pay_bet(LOSS, 11_000, -110).profit_cents] * 10

    found = return_on_stake(stakes, won + lost)

    assert implied_probability(-110) == pytest.approx(11 / 21)
    assert won[0] == 10_000
    assert found.value == pytest.approx(0.0, abs=1e-12)
