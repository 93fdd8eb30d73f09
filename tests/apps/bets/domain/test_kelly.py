"""Kelly stakes and portfolios."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from grandstand.apps.bets.domain.kelly import (
    Caps,
    Contest,
    Offer,
    Scenario,
    exclusive_contest,
    expected_value,
    kelly_fraction,
    log_growth,
    optimize_portfolio,
    scenario_arrays,
    stake_cents,
)
from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.core.errors import InvalidInput

_FREE = Caps(bet=1.0, game=1.0, day=1.0, sport=1.0, total=1.0)


def _single(game: str, probability: float, decimal: float, sport: str = "nba") -> Contest:
    return exclusive_contest(game, sport, "2026-11-16", [Offer(probability, decimal)])


def _enumerated(contests: list[Contest], shares: list[float]) -> float:
    """The expected log growth by going through every combination of results."""
    ends = list(itertools.accumulate(each.bets for each in contests))
    mine = [shares[end - each.bets : end] for each, end in zip(contests, ends, strict=True)]
    return math.fsum(
        math.prod(each.probability for each in combination)
        * math.log(
            1.0
            + math.fsum(
                share * won
                for stakes, each in zip(mine, combination, strict=True)
                for share, won in zip(stakes, each.returns, strict=True)
            )
        )
        for combination in itertools.product(*(each.scenarios for each in contests))
    )


def _best_by_search(contests: list[Contest]) -> list[float]:
    count = sum(each.bets for each in contests)
    found = minimize(
        lambda shares: -_enumerated(contests, list(shares)),
        [0.01] * count,
        method="Nelder-Mead",
        bounds=[(0.0, 0.4)] * count,
        options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 2_000},
    )
    return [float(each) for each in found.x]


@pytest.mark.parametrize(
    ("probability", "decimal", "fraction", "share"),
    [
        (0.72, 1 + 100 / 150, 1.0, 0.30),
        (0.72, 1 + 100 / 150, 0.25, 0.075),
        (0.55, 2.1, 0.5, 0.0704545),
        (0.6, 1 + 100 / 110, 0.25, 0.04),
        (0.5, 2.0, 1.0, 0.0),
        (0.4, 2.0, 1.0, 0.0),
        (1.0, 2.0, 1.0, 1.0),
    ],
)
def test_a_single_bet_deserves_its_known_share(
    probability: float, decimal: float, fraction: float, share: float
) -> None:
    assert fraction * kelly_fraction(probability, decimal) == pytest.approx(share, abs=1e-7)


def test_a_push_is_left_out_of_what_is_decided() -> None:
    with_push = kelly_fraction(0.55 * 0.9, 1.95, push=0.1)

    assert with_push == pytest.approx(kelly_fraction(0.55, 1.95))
    assert expected_value(0.55 * 0.9, 1.95, push=0.1) == pytest.approx(
        0.9 * expected_value(0.55, 1.95)
    )


@pytest.mark.parametrize(
    ("probability", "decimal", "push"),
    [(1.1, 2.0, 0.0), (-0.1, 2.0, 0.0), (0.6, 2.0, 0.5), (math.nan, 2.0, 0.0)],
)
def test_chances_that_cannot_be_are_refused(
    probability: float, decimal: float, push: float
) -> None:
    with pytest.raises(InvalidInput):
        kelly_fraction(probability, decimal, push=push)


def test_a_price_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidPrice):
        kelly_fraction(0.5, 1.0)


@pytest.mark.parametrize(
    ("bankroll", "share", "cap", "least", "cents"),
    [
        (10_000, 0.04, 1.0, 1, 400),
        (10_000, 0.3, 0.2, 1, 2_000),
        (10_000, 0.03, 1.0, 500, 0),
        (10_000, 0.0, 1.0, 500, 0),
        (9_999, 0.1, 1.0, 1, 999),
        (0, 0.1, 1.0, 1, 0),
    ],
)
def test_a_stake_is_whole_cents_rounded_down_and_never_raised_to_a_floor(
    bankroll: int, share: float, cap: float, least: int, cents: int
) -> None:
    assert stake_cents(bankroll, share, cap=cap, min_cents=least) == cents


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput):
        stake_cents(10_000, share)


def test_a_portfolio_of_one_is_the_single_bet() -> None:
    ((share,),) = optimize_portfolio([_single("a", 0.55, 2.1)], caps=_FREE)

    assert share == pytest.approx(kelly_fraction(0.55, 2.1), abs=1e-7)


def test_the_growth_of_simultaneous_bets_is_that_of_every_combination_of_results() -> None:
    contests = [
        _single("a", 0.55, 2.1),
        exclusive_contest("b", "nba", "2026-11-16", [Offer(0.5, 2.2), Offer(0.3, 3.6)]),
        _single("c", 0.3, 4.0),
    ]
    shares = [0.1, 0.12, 0.05, 0.08]

    growth, _ = log_growth([scenario_arrays(item) for item in contests], np.array(shares))

    assert growth == pytest.approx(_enumerated(contests, shares), abs=1e-10)


@pytest.mark.parametrize(
    "contests",
    [
        [_single("a", 0.55, 2.1), _single("b", 0.6, 2.0)],
        [exclusive_contest("a", "epl", "2026-11-16", [Offer(0.5, 2.2), Offer(0.3, 3.6)])],
    ],
)
def test_shares_beside_each_other_are_those_a_search_finds(contests: list[Contest]) -> None:
    best = _best_by_search(contests)

    shares = optimize_portfolio(contests, caps=_FREE)

    assert [each for game in shares for each in game] == pytest.approx(best, abs=1e-5)


def test_simultaneous_bets_get_less_each_than_they_would_alone() -> None:
    shares = optimize_portfolio([_single("a", 0.6, 2.0), _single("b", 0.6, 2.0)], caps=_FREE)

    assert shares[0][0] == pytest.approx(shares[1][0], abs=1e-6)
    assert shares[0][0] < kelly_fraction(0.6, 2.0) - 0.005


def test_two_bets_on_one_game_that_win_together_are_weighed_as_one() -> None:
    together = Contest(
        "a", "nba", "2026-11-16", (Scenario(0.6, (1.0, 1.0)), Scenario(0.4, (-1.0, -1.0)))
    )

    (shares,) = optimize_portfolio([together], caps=_FREE)

    assert sum(shares) == pytest.approx(kelly_fraction(0.6, 2.0), abs=1e-6)


def test_no_cap_is_exceeded() -> None:
    caps = Caps(bet=0.03, game=0.05, day=0.2, sport=0.06, total=0.15)
    contests = [
        exclusive_contest("a", "nba", "monday", [Offer(0.45, 2.9), Offer(0.45, 2.9)]),
        _single("b", 0.7, 2.0),
        _single("c", 0.7, 2.0, sport="nfl"),
        _single("d", 0.7, 2.0, sport="nhl"),
        _single("e", 0.7, 2.0, sport="mlb"),
    ]

    a, b, c, d, e = optimize_portfolio(contests, fraction=0.5, caps=caps)

    assert max(*a, *b, *c, *d, *e) <= caps.bet + 1e-12
    assert sum(a) <= caps.game + 1e-12
    assert sum(a) + sum(b) <= caps.sport + 1e-12
    assert sum(map(sum, (a, b, c, d, e))) == pytest.approx(caps.total, abs=1e-6)


def test_a_fraction_of_kelly_is_a_fraction_of_the_best_shares() -> None:
    contests = [_single("a", 0.55, 2.1), _single("b", 0.6, 2.0)]

    whole = optimize_portfolio(contests, caps=_FREE)
    quarter = optimize_portfolio(contests, fraction=0.25, caps=_FREE)

    assert [each[0] for each in quarter] == pytest.approx([each[0] / 4 for each in whole], abs=1e-6)


def test_nothing_is_put_on_bets_without_an_edge() -> None:
    assert optimize_portfolio([_single("a", 0.5, 1.95), _single("b", 0.4, 2.4)]) == ((0.0,), (0.0,))
    assert optimize_portfolio([]) == ()


def test_hundred_games_at_once_stay_within_the_bankroll() -> None:
    contests = [_single(f"game {at}", 0.6, 2.0) for at in range(100)]

    shares = optimize_portfolio(contests, caps=_FREE)

    assert sum(each[0] for each in shares) <= 0.95 + 1e-9


def test_endings_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(InvalidInput, match="sum to"):
        Contest("a", "nba", "monday", (Scenario(0.5, (1.0,)), Scenario(0.4, (-1.0,))))
    with pytest.raises(InvalidInput, match="exceed 1"):
        exclusive_contest("a", "nba", "monday", [Offer(0.7, 2.0), Offer(0.4, 2.0)])


def test_caps_and_fractions_are_shares() -> None:
    with pytest.raises(InvalidInput):
        Caps(bet=0.0)
    with pytest.raises(InvalidInput):
        optimize_portfolio([], fraction=1.5)
