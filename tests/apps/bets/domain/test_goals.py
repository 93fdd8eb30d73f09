"""The Dixon-Coles goal model and score grids."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import check_grad

from grandstand.apps.bets.domain.goals import (
    GoalGame,
    GoalModel,
    _columns,
    _cost,
    fit_dixon_coles,
    rho_bounds,
    score_grid,
    time_weight,
)
from grandstand.apps.bets.domain.margins import ScoreGrid
from grandstand.apps.bets.domain.selections import InvalidSelection, Selection, opposite_of
from grandstand.core.errors import InvalidInput
from tests.apps.bets.domain.penaltyblog_values import FORETOLD, FORETOLD_FADING, PAIRS
from tests.apps.bets.domain.season import TEAMS, season
from tests.apps.bets.domain.test_selections import SELECTIONS

_MEANS = st.floats(0.05, 6.0)


@pytest.fixture(scope="module")
def level() -> GoalModel:
    return fit_dixon_coles(season(fading=False))


@pytest.fixture(scope="module")
def fading() -> GoalModel:
    return fit_dixon_coles(season(fading=True))


def _prices(model: GoalModel, home: str, away: str) -> list[float]:
    grid = model.grid(home, away)
    assert grid is not None
    bets = (
        Selection("totals", "over", Decimal("2.5")),
        Selection("totals", "over", Decimal("2.75")),
        Selection("spreads", "home", Decimal("-0.75")),
        Selection("spreads", "away", Decimal(1)),
        Selection("btts", "yes"),
    )
    won = [grid.chances(each).won for each in bets]
    return [grid.home, grid.draw, grid.away, *won, grid.exact(1, 1)]


@pytest.mark.parametrize("at", range(len(PAIRS)))
def test_a_fit_prices_as_penaltyblogs_does(at: int, level: GoalModel, fading: GoalModel) -> None:
    assert _prices(level, *PAIRS[at]) == pytest.approx(FORETOLD[at], abs=1e-5)
    assert _prices(fading, *PAIRS[at]) == pytest.approx(FORETOLD_FADING[at], abs=1e-5)


def test_a_fit_stands_on_the_top_of_its_likelihood(level: GoalModel) -> None:
    values = np.array([*level.attack.values(), *level.defense.values(), level.home, level.rho])

    _, slope = _cost(_columns(season(fading=False)), values, 0.0)

    assert np.abs(slope).max() < 1e-6
    assert sum(level.attack.values()) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_the_slope_of_the_likelihood_is_right(ridge: float) -> None:
    played = _columns(season(fading=True))
    at = np.random.default_rng(1).normal(0.0, 0.1, 2 * len(TEAMS) + 2)

    off = check_grad(
        lambda values: _cost(played, values, ridge)[0],
        lambda values: _cost(played, values, ridge)[1],
        at,
    )

    assert off < 1e-6


def test_without_the_correction_goals_are_two_poisson_counts() -> None:
    grid = score_grid(1.4, 1.1, rho=0.0)

    expected = stats.poisson.pmf(2, 1.4) * stats.poisson.pmf(1, 1.1)
    assert grid.exact(2, 1) == pytest.approx(expected, abs=1e-7)


def test_neutral_venue_favors_no_side(level: GoalModel) -> None:
    one = level.grid("ashford", "calder", neutral=True)
    other = level.grid("calder", "ashford", neutral=True)

    assert one is not None
    assert other is not None
    assert one.home == pytest.approx(other.away, abs=1e-12)


def test_a_team_nobody_has_seen_has_no_grid(level: GoalModel) -> None:
    assert level.grid("ashford", "nowhere") is None


def test_a_ridge_draws_teams_together(level: GoalModel) -> None:
    drawn = fit_dixon_coles(season(fading=False), ridge=0.5)

    assert max(drawn.attack.values()) < max(level.attack.values()) / 2


def test_teams_that_never_scored_can_be_fitted() -> None:
    games = [GoalGame("a", "b", 2, 0), GoalGame("b", "a", 0, 1), GoalGame("a", "c", 3, 0)]

    grid = fit_dixon_coles(games).grid("a", "b")

    assert grid is not None
    assert grid.home > 0.7


@pytest.mark.parametrize(
    "games", [[], [GoalGame("a", "b", 1, 0, weight=0.0)], [GoalGame("a", "b", 1, 0, weight=-1.0)]]
)
def test_nothing_cannot_be_fitted(games: list[GoalGame]) -> None:
    with pytest.raises(InvalidInput):
        fit_dixon_coles(games)


@settings(max_examples=50)
@given(_MEANS, _MEANS, st.floats(-3.0, 3.0))
def test_no_score_is_ever_less_than_impossible(home: float, away: float, rho: float) -> None:
    grid = score_grid(home, away, rho=rho)

    assert grid.cells.min() >= 0.0
    assert grid.cells.sum() == pytest.approx(1.0, abs=1e-12)


@given(_MEANS, _MEANS)
def test_the_bounds_of_the_correction_are_where_a_score_becomes_impossible(
    home: float, away: float
) -> None:
    low, high = rho_bounds(home, away)

    taus = [(1 - home * away * rho, 1 + home * rho, 1 + away * rho, 1 - rho) for rho in (low, high)]

    assert min(taus[0]) == pytest.approx(0.0, abs=1e-9)
    assert min(taus[1]) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=40)
@given(SELECTIONS, _MEANS, _MEANS)
def test_one_grid_prices_every_bet_and_its_opposite(
    selection: Selection, home: float, away: float
) -> None:
    grid = score_grid(home, away, rho=-0.1)

    one, other = grid.chances(selection), grid.chances(opposite_of(selection))

    assert one.won + one.lost + one.push + (one.half_win + one.half_loss) / 2 == pytest.approx(1.0)
    assert one.won == pytest.approx(other.lost, abs=1e-12)
    assert one.value(2.0) + other.value(2.0) == pytest.approx(0.0, abs=1e-12)


def test_a_handicap_of_nothing_is_a_bet_without_the_draw() -> None:
    grid = score_grid(1.6, 1.1, rho=-0.08)

    level = grid.chances(Selection("spreads", "home", Decimal(0)))

    assert level.push == pytest.approx(grid.draw)
    assert level.probability == pytest.approx(grid.home / (grid.home + grid.away))


def test_handicaps_have_the_right_sign() -> None:
    grid = score_grid(2.2, 0.8)

    giving = grid.chances(Selection("spreads", "home", Decimal("-1.5")))
    getting = grid.chances(Selection("spreads", "home", Decimal("1.5")))

    assert giving.win < grid.home < getting.win


def test_a_bet_that_scores_do_not_decide_is_refused() -> None:
    with pytest.raises(InvalidSelection):
        score_grid(1.0, 1.0).chances(Selection("outright", participant="arkle"))


@pytest.mark.parametrize("means", [(0.0, 1.0), (1.0, -1.0), (float("nan"), 1.0), (1.0, 99.0)])
def test_goals_that_cannot_be_expected_are_refused(means: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput):
        score_grid(*means)


@pytest.mark.parametrize("cells", [[[0.5, 0.6], [0.0, 0.0]], [[1.1, -0.1], [0.0, 0.0]], [0.5, 0.5]])
def test_cells_that_are_no_chances_are_refused(cells: list[list[float]]) -> None:
    with pytest.raises(InvalidInput):
        ScoreGrid(np.array(cells))


def test_a_score_beyond_the_grid_has_no_chance() -> None:
    assert score_grid(1.0, 1.0).exact(40, 0) == 0.0


def test_a_game_counts_half_after_about_a_year() -> None:
    assert time_weight(0) == 1.0
    assert time_weight(385) == pytest.approx(0.5, abs=0.01)
