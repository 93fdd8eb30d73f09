"""Distributions of margins and totals."""

from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.margins import (
    ScoreShape,
    implied_mean,
    margin_chances,
    margin_lattice,
    score_shape,
    total_chances,
    total_lattice,
)
from grandstand.apps.bets.domain.selections import InvalidSelection, Selection, opposite_of
from grandstand.core.errors import InvalidInput

_FOOTBALL = score_shape("americanfootball_nfl")
_PLAIN = ScoreShape(12.0, 18.0)


def _spread(point: str) -> Selection:
    return Selection("spreads", "home", Decimal(point))


@pytest.mark.parametrize("mean", [-14.0, -2.5, 0.0, 3.0, 21.5])
@pytest.mark.parametrize("shape", [_FOOTBALL, _PLAIN, score_shape("basketball_nba")])
def test_margins_sum_to_one_around_their_mean(mean: float, shape: ScoreShape) -> None:
    lattice = margin_lattice(mean, shape)

    assert lattice.masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert lattice.mean == pytest.approx(mean, abs=1e-6)
    assert lattice.masses.min() >= 0.0


def test_football_games_end_on_its_key_numbers() -> None:
    lattice = margin_lattice(2.5, _FOOTBALL)

    assert lattice.at(3) > 1.8 * lattice.at(2)
    assert lattice.at(7) > 1.4 * lattice.at(8)
    assert lattice.at(0) < 0.01


def test_basketball_knows_no_draw() -> None:
    assert margin_lattice(0.0, score_shape("basketball_nba")).at(0) == 0.0


def test_a_whole_line_keeps_what_is_pushed() -> None:
    lattice = margin_lattice(2.5, _FOOTBALL)

    chances = margin_chances(_spread("-3"), 2.5, _FOOTBALL)

    assert chances.push == pytest.approx(lattice.at(3))
    assert chances.probability == pytest.approx(chances.win / (1.0 - chances.push))
    assert chances.win + chances.push + chances.loss == pytest.approx(1.0)


def test_a_half_line_cannot_be_pushed_and_a_quarter_line_can_by_half() -> None:
    half = margin_chances(_spread("-3.5"), 2.5, _FOOTBALL)
    quarter = margin_chances(_spread("-3.25"), 2.5, _FOOTBALL)

    assert half.push == 0.0
    assert quarter.half_loss == pytest.approx(margin_lattice(2.5, _FOOTBALL).at(3))


@pytest.mark.parametrize("point", ["-7", "-3.5", "-3.25", "0", "2.75", "10"])
def test_both_sides_of_a_line_share_what_is_decided(point: str) -> None:
    one = margin_chances(_spread(point), 1.5, _FOOTBALL)

    other = margin_chances(opposite_of(_spread(point)), 1.5, _FOOTBALL)

    assert one.probability + other.probability == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("probability", [0.05, 0.48, 0.5, 0.524, 0.9])
@pytest.mark.parametrize(
    "selection",
    [
        _spread("-3"),
        Selection("spreads", "away", Decimal("6.5")),
        Selection("h2h", "home"),
        Selection("h2h", "away"),
        Selection("h2h_3way", "home", lay=True),
    ],
)
def test_the_mean_behind_a_price_gives_the_price_back(
    selection: Selection, probability: float
) -> None:
    mean = implied_mean(selection, probability, _FOOTBALL)

    assert margin_chances(selection, mean, _FOOTBALL).probability == pytest.approx(
        probability, abs=1e-9
    )


@pytest.mark.parametrize("side", ["over", "under"])
def test_the_mean_behind_a_total_gives_it_back(side: str) -> None:
    selection = Selection("totals", "over" if side == "over" else "under", Decimal(221))

    mean = implied_mean(selection, 0.53, _PLAIN)

    assert total_chances(selection, mean, _PLAIN).probability == pytest.approx(0.53, abs=1e-9)
    assert (mean > 221) == (side == "over")


def test_no_total_is_below_nothing() -> None:
    lattice = total_lattice(2.4, score_shape("soccer_epl"))

    assert lattice.first == 0
    assert lattice.masses.sum() == pytest.approx(1.0)


def test_other_markets_are_refused() -> None:
    with pytest.raises(InvalidSelection):
        margin_chances(Selection("totals", "over", Decimal(200)), 2.0, _PLAIN)
    with pytest.raises(InvalidSelection):
        total_chances(_spread("-3"), 2.0, _PLAIN)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_a_certainty_has_no_mean_behind_it(probability: float) -> None:
    with pytest.raises(InvalidInput):
        implied_mean(_spread("-3"), probability, _PLAIN)
