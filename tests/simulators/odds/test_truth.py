"""Results, box scores and prices follow the true probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from grandstand.simulators.odds.leagues import FOOTBALL, SOCCER, League
from grandstand.simulators.odds.prices import goals_pmf, quarter_line_shares, score_distribution
from grandstand.simulators.odds.season import (
    SimulatedSeason,
    sample_scores,
    simulate_season,
    true_probabilities,
)
from tests.simulators.odds.requests import implied


def brier(chances: npt.NDArray[np.float64], happened: npt.NDArray[np.bool_]) -> float:
    """The mean squared miss."""
    return float(((chances - happened) ** 2).mean())


def test_home_wins_as_often_as_is_true_at_every_level(many: SimulatedSeason) -> None:
    won = many.games.home_score > many.games.away_score
    tenth = np.clip((many.truth.home * 10).astype(int), 0, 9)

    misses = [
        (won[tenth == each].mean() - many.truth.home[tenth == each].mean())
        / np.sqrt(0.25 / (tenth == each).sum())
        for each in range(10)
    ]

    assert np.abs(misses).max() < 4


@pytest.mark.parametrize("sport", ["basketball_nba", "americanfootball_nfl", "soccer_epl"])
def test_chances_margins_and_totals_of_a_game_agree(sport: str) -> None:
    truth = simulate_season(7, sport, 5, changes=2, in_play=False).truth

    chances = truth.chances(3)
    values, likely = truth.margins(3)
    _, split = truth.totals(3)

    assert likely.sum() == pytest.approx(1)
    assert split.sum() == pytest.approx(1, abs=1e-6)
    assert likely[values > 0].sum() == pytest.approx(chances.home, abs=1e-9)
    assert likely[values == 0].sum() == pytest.approx(chances.draw, abs=1e-9)


@pytest.mark.parametrize("league", [FOOTBALL, SOCCER], ids=lambda league: league.key)
def test_games_are_drawn_from_their_true_margins_and_totals(league: League) -> None:
    made = simulate_season(1, league.key, 4, changes=2, in_play=False)
    random = np.random.default_rng(5)
    x, y = (np.full(40_000, each[0]) for each in (made.truth.x, made.truth.y))

    home, away = sample_scores(made.league, x, y, random)
    values, likely = made.truth.margins(0)
    totals, split = made.truth.totals(0)

    seen = np.array([(home - away == value).mean() for value in values.tolist()])
    summed = np.bincount(home + away, minlength=len(totals))[: len(totals)] / len(home)
    assert home.min() >= 0
    assert away.min() >= 0
    assert np.abs(seen - likely).max() < 0.01
    assert np.abs(summed - split).max() < 0.01


def test_football_ends_by_three_more_often_than_by_four() -> None:
    values, likely = simulate_season(1, "americanfootball_nfl", 4, changes=2).truth.margins(0)

    by = {margin: likely[np.abs(values) == margin].sum() for margin in (2, 3, 4)}

    assert by[3] > 2 * by[4] > 2 * by[2]


def test_the_market_closes_nearer_to_the_truth_than_it_opens() -> None:
    made = simulate_season(9, games=4000, changes=6, in_play=False)
    quotes, games = made.quotes, made.games
    sharp = (quotes.market == 0) & (quotes.book == 0)
    chances = implied(np.stack((quotes.first, quotes.second), 1)[sharp])
    fair = chances[:, 0] / chances.sum(axis=1)
    order = np.lexsort((quotes.captured_us[sharp], quotes.game[sharp]))
    by_game = fair[order].reshape(len(games), 6)

    miss = np.abs(by_game - made.truth.home[:, None]).mean(axis=0)

    assert miss[0] > 2 * miss[-1]
    assert np.all(np.diff(miss) < 0)


def test_the_closing_belief_is_nearly_as_good_as_the_truth(many: SimulatedSeason) -> None:
    won = many.games.home_score > many.games.away_score

    oracle, market = brier(many.truth.home, won), brier(many.truth.closings(), won)

    assert market - oracle < 0.002
    assert oracle < 0.24
    assert many.truth.closing(5).home == pytest.approx(many.truth.closings()[5])


def test_a_slow_book_is_further_from_the_closing_belief_than_a_quick_one() -> None:
    made = simulate_season(9, games=1500, changes=6, in_play=False)
    quotes = made.quotes
    spread = quotes.market == 1

    miss = [
        np.abs(-quotes.point - made.truth.closing_x[quotes.game])[
            spread & (quotes.book == book)
        ].mean()
        for book in (0, 9)
    ]

    assert miss[1] > 1.1 * miss[0]


def test_a_missing_star_costs_what_he_is_worth(many: SimulatedSeason) -> None:
    stars = np.array([player.impact for player in many.players])[many.absences.player] > 3.3
    team = np.array([player.team for player in many.players])[many.absences.player]
    at_home = many.games.home[many.absences.game] == team
    without = np.unique(many.absences.game[stars & at_home])
    margin = many.games.home_score - many.games.away_score

    cost = margin.mean() - margin[without].mean()

    assert len(without) > 300
    assert 1.2 < cost < 6


def test_rest_helps(many: SimulatedSeason) -> None:
    games = many.games
    edge = np.clip(games.rest_home, 0, 3) - np.clip(games.rest_away, 0, 3)

    tired, fresh = many.truth.x[edge < 0].mean(), many.truth.x[edge > 0].mean()

    assert fresh - tired > 1


def test_box_scores_tell_of_strength(many: SimulatedSeason) -> None:
    counted = many.team_stats
    mean = np.array([counted.stats["rebounds"][counted.team == each].mean() for each in range(30)])
    points = counted.stats["points"] - counted.stats["points_allowed"]
    worth = np.array([points[counted.team == each].mean() for each in range(30)])

    assert np.corrcoef(mean, worth)[0, 1] > 0.6


def test_props_end_over_as_often_as_is_true(many: SimulatedSeason) -> None:
    props, counted = many.props, many.player_stats
    value = {
        (game, player): points
        for game, player, points in zip(
            counted.game.tolist(),
            counted.player.tolist(),
            counted.stats["PTS"].tolist(),
            strict=True,
        )
    }
    rows = np.flatnonzero((props.market == 0) & (props.book == 1))[::7]
    rows = rows[~many.games.postponed[props.game[rows]]]

    over = [
        value[game, player] > point
        for game, player, point in zip(
            props.game[rows].tolist(),
            props.player[rows].tolist(),
            props.point[rows].tolist(),
            strict=True,
        )
    ]

    assert len(rows) > 2000
    assert np.mean(over) == pytest.approx(props.true_over[rows].mean(), abs=0.03)


def test_a_quarter_line_is_two_halves() -> None:
    law, x, y = score_distribution(SOCCER), np.array([0.3]), np.array([0.5])

    won, lost = quarter_line_shares(law, x, y, np.array([-0.25]))
    level, half = law.cover(x, y, np.array([0.0])), law.cover(x, y, np.array([-0.5]))

    assert won[0] == pytest.approx((level[0][0] + half[0][0]) / 2)
    assert lost[0] == pytest.approx((level[1][0] + half[1][0]) / 2)


def test_the_table_of_goals_is_near_the_exact_chances() -> None:
    x, y = np.array([0.31, -0.52]), np.array([0.47, 0.81])

    exact = true_probabilities(SOCCER, x, y)
    win, lose = score_distribution(SOCCER).cover(x, y, np.zeros(2))

    assert np.abs(win - exact[0]).max() < 1e-3
    assert np.abs(lose - exact[2]).max() < 1e-3
    assert goals_pmf(x, y, -0.06).sum() == pytest.approx(2)
