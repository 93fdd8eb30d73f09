"""Fair probabilities from prices with a margin."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from grandstand.apps.bets.domain.odds import (
    DEVIG_METHODS,
    DevigMethod,
    InvalidPrice,
    devig,
    devig_rows,
    overround,
    solve_devig,
)
from tests.apps.bets.domain.penaltyblog_values import FAIR, MARKETS

_SEED_GAME = (1.0 + 100.0 / 150.0, 2.3)


def _power(price: float, k: float, _booked: float) -> float:
    return float((1.0 / price) ** k)


def _shin(price: float, z: float, booked: float) -> float:
    part = 4.0 * (1.0 - z) * (1.0 / price) ** 2 / booked
    return float((math.sqrt(z * z + part) - z) / (2.0 * (1.0 - z)))


def _odds_ratio(price: float, c: float, _booked: float) -> float:
    return 1.0 / price / (c + 1.0 / price - c / price)


def _by_root(
    share: Callable[[float, float, float], float], prices: tuple[float, ...], top: float
) -> tuple[float, list[float]]:
    """The parameter and the probabilities, by another root finder on the formula as printed."""
    booked = sum(1.0 / price for price in prices)
    found = brentq(
        lambda at: sum(share(price, at, booked) for price in prices) - 1.0,
        0.0 if top == 1.0 else 1.0,
        0.999 if top == 1.0 else top,
        xtol=1e-15,
        rtol=1e-15,
    )
    return found, [share(price, found, booked) for price in prices]


@pytest.mark.parametrize(
    ("prices", "method", "digits"),
    [
        ((2.7, 2.3, 4.4), "multiplicative", (0.358738, 0.421127, 0.220135)),
        ((2.7, 2.3, 4.4), "power", (0.359171, 0.423731, 0.217098)),
        ((2.7, 2.3, 4.4), "shin", (0.359344, 0.423244, 0.217412)),
        ((2.7, 2.3, 4.4), "odds_ratio", (0.358810, 0.422561, 0.218628)),
        ((2.6, 2.4, 4.3), "shin", (0.372994, 0.404779, 0.222227)),
        ((1.5, 2.74), "shin", (0.650852, 0.349148)),
        ((1.5, 2.74), "power", (0.653152, 0.346848)),
        (_SEED_GAME, "multiplicative", (0.579832, 0.420168)),
        (_SEED_GAME, "power", (0.583983, 0.416017)),
        (_SEED_GAME, "shin", (0.582609, 0.417391)),
    ],
)
def test_known_markets_have_their_known_digits(
    prices: tuple[float, ...], method: DevigMethod, digits: tuple[float, ...]
) -> None:
    assert devig(prices, method) == pytest.approx(digits, abs=5.1e-7)
    assert devig_rows([prices], method)[0] == pytest.approx(digits, abs=5.1e-7)


@pytest.mark.parametrize(
    ("prices", "expected"), [((2.7, 2.3, 4.4), 0.032426), (_SEED_GAME, 0.034783)]
)
def test_the_margin_of_known_markets(prices: tuple[float, ...], expected: float) -> None:
    assert overround(prices) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("prices", "method", "parameter"),
    [
        ((2.7, 2.3, 4.4), "power", 1.030913),
        ((2.7, 2.3, 4.4), "shin", 0.016236),
        ((2.7, 2.3, 4.4), "odds_ratio", 1.051169),
        ((2.6, 2.4, 4.3), "shin", 0.016943),
        ((1.5, 2.74), "shin", 0.031727),
    ],
)
def test_known_markets_are_solved_by_known_parameters(
    prices: tuple[float, ...], method: DevigMethod, parameter: float
) -> None:
    assert solve_devig(prices, method).parameter == pytest.approx(parameter, abs=6e-7)


@pytest.mark.parametrize("prices", [*MARKETS, _SEED_GAME])
@pytest.mark.parametrize(
    ("method", "share", "top"),
    [("power", _power, 50.0), ("shin", _shin, 1.0), ("odds_ratio", _odds_ratio, 50.0)],
)
def test_the_printed_formula_solved_in_another_way_agrees_to_nine_digits(
    prices: tuple[float, ...],
    method: DevigMethod,
    share: Callable[[float, float, float], float],
    top: float,
) -> None:
    parameter, probabilities = _by_root(share, prices, top)

    found = solve_devig(prices, method)

    assert found.parameter == pytest.approx(parameter, abs=1e-9)
    assert found.probabilities == pytest.approx(probabilities, abs=1e-9)
    assert devig_rows([prices], method)[0] == pytest.approx(probabilities, abs=1e-9)


@pytest.mark.parametrize("method", DEVIG_METHODS)
@pytest.mark.parametrize("at", range(len(MARKETS)))
def test_every_method_agrees_with_penaltyblog_to_nine_digits(method: DevigMethod, at: int) -> None:
    assert devig(MARKETS[at], method) == pytest.approx(FAIR[method][at], abs=1e-9)
    assert devig_rows([MARKETS[at]], method)[0] == pytest.approx(FAIR[method][at], abs=1e-9)


@settings(max_examples=60)
@given(
    st.lists(st.floats(1.01, 200.0), min_size=2, max_size=8),
    st.sampled_from(DEVIG_METHODS),
)
def test_any_market_becomes_probabilities_alone_and_in_rows(
    prices: list[float], method: DevigMethod
) -> None:
    alone = devig(prices, method)

    together = devig_rows([prices, [2.0] * len(prices)], method)

    assert math.fsum(alone) == pytest.approx(1.0, abs=1e-12)
    assert min(alone) >= 0.0
    assert together[0] == pytest.approx(alone, abs=1e-10)


def test_two_way_shin_is_additive() -> None:
    assert devig((1.5, 2.74), "shin") == pytest.approx(devig((1.5, 2.74), "additive"), abs=1e-12)


def test_an_additive_correction_that_would_go_below_zero_scales_instead() -> None:
    prices = (1.05, 5.0, 101.0)

    found = solve_devig(prices, "additive")

    assert found.method == "multiplicative"
    assert min(found.probabilities) > 0.0
    assert devig_rows([prices], "additive")[0] == pytest.approx(found.probabilities, abs=1e-15)


@pytest.mark.parametrize("method", DEVIG_METHODS)
@pytest.mark.parametrize("prices", [(2.1, 2.1), (2.0, 2.0), (4.0, 3.5, 3.2)])
def test_prices_without_a_margin_are_scaled(method: DevigMethod, prices: tuple[float, ...]) -> None:
    expected = devig(prices, "multiplicative")

    rows = devig_rows([prices, [1.5] * len(prices)], method)

    assert devig(prices, method) == expected
    assert rows[0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("prices", [(2.0,), (), (1.0, 3.0), (2.0, math.nan), (2.0, -3.0)])
def test_prices_that_cannot_be_are_refused(prices: tuple[float, ...]) -> None:
    with pytest.raises(InvalidPrice):
        devig(prices, "power")
    with pytest.raises(InvalidPrice):
        devig_rows(np.array([prices], dtype=np.float64), "power")
