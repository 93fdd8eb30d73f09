"""Elo ratings."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.bets.domain.elo import (
    NO_RATINGS,
    EloRules,
    RatedGame,
    Ratings,
    advance,
    elo_rules_for,
    fit_rules,
    game_probabilities,
    mean_log_loss,
    sort_games,
    walk_ratings,
    win_probabilities,
)
from grandstand.core.errors import Conflict

_DAY = datetime(2026, 10, 1, tzinfo=UTC)
_PLAIN = EloRules(k_factor=20.0, home_advantage=0.0, by_margin=False)


def rate_games(games: Iterable[RatedGame], rules: EloRules) -> Ratings:
    """Return the ratings after all games, given in any order, duplicates included."""
    return reduce(lambda seen, game: advance(seen, game, rules), sort_games(games), NO_RATINGS)


def _game(day: int, home: str, away: str, score: tuple[int, int], **other: object) -> RatedGame:
    season = str(other.get("season", "2026"))
    neutral = bool(other.get("neutral"))
    game_id = f"{day:04}-{home}-{away}"
    return RatedGame(game_id, _DAY + timedelta(days=day), season, home, away, *score, neutral)


def _league(count: int, rules: EloRules) -> list[RatedGame]:
    """Games between teams of known strength, at home's ground."""
    chance = np.random.default_rng(12)
    strengths = {f"team {at}": float(value) for at, value in enumerate(chance.normal(0, 120, 12))}
    games = []
    for day in range(count):
        home, away = chance.choice(list(strengths), 2, replace=False).tolist()
        chances = win_probabilities(strengths[home] - strengths[away] + rules.home_advantage, rules)
        drawn = chance.uniform()
        ahead = 1 if drawn < chances.home else 0 if drawn < chances.home + chances.draw else -1
        games.append(_game(day, home, away, (2 + ahead, 2)))
    return games


@pytest.mark.parametrize(
    ("edge", "home"), [(0.0, 0.5), (400.0, 10 / 11), (-400.0, 1 / 11), (100.0, 0.640065)]
)
def test_without_draws_the_chances_are_elos(edge: float, home: float) -> None:
    found = win_probabilities(edge, EloRules(draw_rate=0.0))

    assert found.home == pytest.approx(home, abs=1e-6)
    assert found.draw == 0.0


@given(st.floats(-1e6, 1e6), st.floats(0.0, 3.0))
def test_chances_sum_to_one_at_any_distance(edge: float, draws: float) -> None:
    found = win_probabilities(edge, EloRules(draw_rate=draws))

    assert found.home + found.draw + found.away == pytest.approx(1.0)


def test_between_equals_a_draw_parameter_of_one_is_a_third() -> None:
    assert win_probabilities(0.0, EloRules(draw_rate=1.0)).draw == pytest.approx(1 / 3)


def test_a_win_moves_both_by_the_same() -> None:
    found = rate_games([_game(1, "a", "b", (2, 1))], _PLAIN)

    assert found.by_team["a"][0] == pytest.approx(1510.0)
    assert found.by_team["b"][0] == pytest.approx(1490.0)


def test_winning_at_home_is_worth_less_than_away_and_neutral_between() -> None:
    rules = EloRules(home_advantage=80.0, by_margin=False)

    at_home = rate_games([_game(1, "a", "b", (1, 0))], rules).by_team["a"][0]
    neutral = rate_games([_game(1, "a", "b", (1, 0), neutral=True)], rules).by_team["a"][0]
    away = rate_games([_game(1, "b", "a", (0, 1))], rules).by_team["a"][0]

    assert at_home < neutral < away


def test_a_wider_margin_moves_more_but_less_so_for_a_favorite() -> None:
    rules = EloRules(home_advantage=0.0)
    strong = Ratings({"a": (1800.0, "2026"), "b": (1200.0, "2026")})

    narrow = rate_games([_game(1, "a", "b", (101, 100))], rules).by_team["a"][0]
    wide = rate_games([_game(1, "a", "b", (130, 100))], rules).by_team["a"][0]
    expected = advance(strong, _game(1, "a", "b", (130, 100)), rules).by_team["a"][0]

    assert wide - 1500 == pytest.approx((narrow - 1500) * np.log(31) / np.log(2))
    assert expected - 1800 < 0.1 * (wide - 1500)


def test_a_draw_moves_the_weaker_up() -> None:
    uneven = Ratings({"a": (1700.0, "2026"), "b": (1400.0, "2026")})

    found = advance(uneven, _game(1, "a", "b", (1, 1)), EloRules(draw_rate=0.7))

    assert found.by_team["b"][0] > 1400.0
    assert found.by_team["a"][0] < 1700.0


def test_a_new_season_draws_teams_towards_the_middle() -> None:
    rules = EloRules(season_carryover=0.75)
    before = Ratings({"a": (1700.0, "2025")})

    assert before.of("a", "2025", rules) == 1700.0
    assert before.of("a", "2026", rules) == pytest.approx(1650.0)
    assert before.of("nobody", "2026", rules) == 1500.0


@settings(max_examples=25)
@given(st.permutations(range(8)), st.integers(0, 7))
def test_ratings_do_not_depend_on_how_games_are_given_nor_how_often(
    order: list[int], twice: int
) -> None:
    games = [_game(day, "abcd"[day % 4], "efgh"[day % 3], (day % 3, day % 2)) for day in range(8)]

    found = rate_games([*(games[at] for at in order), games[twice]], elo_rules_for("soccer_epl"))

    assert found == rate_games(games, elo_rules_for("soccer_epl"))


def test_a_game_cannot_be_counted_twice() -> None:
    game = _game(1, "a", "b", (2, 1))
    once = advance(NO_RATINGS, game, _PLAIN)

    with pytest.raises(Conflict):
        advance(once, game, _PLAIN)
    with pytest.raises(Conflict):
        advance(once, _game(0, "c", "d", (1, 0)), _PLAIN)


def test_two_results_of_one_game_are_refused() -> None:
    with pytest.raises(Conflict, match="two different results"):
        sort_games([_game(1, "a", "b", (2, 1)), _game(1, "a", "b", (1, 2))])


def test_games_at_one_moment_are_ordered_by_id() -> None:
    games = [_game(1, "c", "d", (1, 0)), _game(1, "a", "b", (1, 0))]

    assert [game.home for game in sort_games(games)] == ["a", "c"]


def test_a_forecast_knows_nothing_of_its_game_or_later_ones() -> None:
    games = _league(60, _PLAIN)

    walked = walk_ratings(games, _PLAIN)

    at_40 = rate_games(games[:40], _PLAIN)
    expected = game_probabilities(at_40, games[40].home, games[40].away, _PLAIN, season="2026")
    assert walked[40][1] == expected


def test_home_advantage_is_found_in_results() -> None:
    true = EloRules(k_factor=20.0, home_advantage=150.0, draw_rate=0.7, by_margin=False)
    games = _league(500, true)
    guess = EloRules(k_factor=20.0, home_advantage=40.0, draw_rate=0.3, by_margin=False)

    found = fit_rules(games, guess)

    assert found.home_advantage == pytest.approx(150.0, abs=60.0)
    assert found.draw_rate == pytest.approx(0.7, abs=0.25)
    assert mean_log_loss(games, found, skip=100) < mean_log_loss(games, guess, skip=100)
