"""The logit behind the weights of keiba's ranking."""

import random

import pytest

from benchmarks.keiba.choice import Sample, fit, solved
from grandstand.apps.keiba.domain.ranking import win_probabilities

_TRUE = (0.8, -0.3, 0.0)


def _race(chance: random.Random) -> Sample:
    """Ten runners, of whom the first three are drawn one after the other by true scores."""
    rows = [tuple(chance.gauss(0, 1) for _ in _TRUE) for _ in range(10)]
    left, order = list(range(10)), []
    for _ in range(3):
        scores = [sum(a * b for a, b in zip(_TRUE, rows[one], strict=True)) for one in left]
        taken = chance.choices(left, win_probabilities(scores))[0]
        left.remove(taken)
        order.append(taken)
    return rows, order


def test_the_values_behind_drawn_orders_are_found_within_their_errors() -> None:
    chance = random.Random(11)

    found = fit([_race(chance) for _ in range(300)])

    for value, error, true in zip(found.values, found.errors, _TRUE, strict=True):
        assert abs(value - true) < 3 * error
        assert 0.01 < error < 0.1


def test_the_unit_of_a_column_does_not_matter() -> None:
    chance = random.Random(12)
    races = [_race(chance) for _ in range(50)]
    in_thousandths = [
        ([(1000 * first, *rest) for first, *rest in rows], order) for rows, order in races
    ]

    plain, scaled = fit(races), fit(in_thousandths)

    assert scaled.values[0] == pytest.approx(plain.values[0] / 1000)
    assert scaled.values[1:] == pytest.approx(plain.values[1:])


def test_a_column_that_never_varies_is_given_no_value() -> None:
    chance = random.Random(13)
    flat = [([(first, 0.0) for first, *_ in rows], order) for rows, order in (_race(chance),) * 3]

    assert fit(flat).values[1] == 0.0


def test_equations_are_solved_whatever_their_order() -> None:
    assert solved([[0.0, 2.0], [4.0, 0.0]], [6.0, 8.0]) == pytest.approx([2.0, 3.0])
