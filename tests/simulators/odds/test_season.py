"""Simulated seasons: reproducible, fast, with the events of real ones."""

from __future__ import annotations

import numpy as np
import pytest

from grandstand.simulators.odds.leagues import SeasonTooShort, UnknownLeague
from grandstand.simulators.odds.prices import H2H, SPREADS, clear_tables
from grandstand.simulators.odds.season import SimulatedSeason, simulate_season
from tests.simulators.odds.requests import implied


def test_the_same_seed_makes_the_same_season() -> None:
    one, same, other = (simulate_season(seed, games=20, changes=3) for seed in (5, 5, 6))

    assert one.games.ids == same.games.ids
    assert np.array_equal(one.quotes.first, same.quotes.first)
    assert np.array_equal(one.games.home_score, same.games.home_score)
    assert one.games.ids != other.games.ids


def test_a_whole_basketball_season_has_seven_hundred_thousand_prices() -> None:
    made = simulate_season(3)

    plays = np.bincount(np.concatenate((made.games.home, made.games.away)))
    assert len(made.games) == 1230
    assert set(plays.tolist()) == {82}
    assert len(made.quotes) >= 700_000


def test_soccer_teams_meet_twice_once_at_each_ground() -> None:
    made = simulate_season(3, "soccer_epl", changes=2, in_play=False)

    pairs = set(zip(made.games.home.tolist(), made.games.away.tolist(), strict=True))
    assert len(pairs) == len(made.games) == 380


def test_every_book_changes_every_market_twenty_times_before_the_start(
    basketball: SimulatedSeason,
) -> None:
    quotes = basketball.quotes
    before = quotes.captured_us < basketball.games.commence_us[quotes.game]
    key = (quotes.game.astype(np.int64) * 10 + quotes.book) * 3 + quotes.market
    order = np.lexsort((quotes.captured_us, key))[before[np.lexsort((quotes.captured_us, key))]]

    data = np.stack((quotes.point, quotes.first, quotes.second), 1)[order]
    same_key = key[order][1:] == key[order][:-1]
    moved = (np.nan_to_num(data[1:]) != np.nan_to_num(data[:-1])).any(axis=1)
    changes = np.bincount(key[order][1:][same_key & moved], minlength=120 * 30)

    assert moved[same_key].all()
    assert changes.min() >= 20


@pytest.mark.parametrize("sport", ["basketball_nba", "americanfootball_nfl", "soccer_epl"])
def test_prices_are_american_and_each_book_takes_its_margin(sport: str) -> None:
    made = simulate_season(4, sport, 60, changes=4)
    quotes = made.quotes
    sides = np.stack((quotes.first, quotes.second, quotes.draw), 1)
    clear = (np.abs(sides) < 2000).all(axis=1)

    kept = implied(sides).sum(axis=1)[clear] - 1

    assert np.abs(sides[sides != 0]).min() >= 100
    assert kept.min() > 0
    assert 0.02 < kept.mean() < 0.07


def test_only_games_with_draws_price_them(
    basketball: SimulatedSeason, soccer: SimulatedSeason
) -> None:
    assert not basketball.quotes.draw.any()
    assert soccer.quotes.draw[soccer.quotes.market == H2H].all()
    assert not soccer.quotes.draw[soccer.quotes.market == SPREADS].any()


def test_prices_go_on_after_the_start_but_not_of_postponed_games() -> None:
    made = simulate_season(2, games=600, changes=2)
    later = made.quotes.captured_us >= made.games.commence_us[made.quotes.game]

    assert made.games.postponed.any()
    assert later.any()
    assert not made.games.postponed[made.quotes.game[later]].any()


def test_some_scores_are_wrong_at_first_and_corrected_later() -> None:
    games = simulate_season(2, games=600, changes=2, in_play=False).games
    wrong = games.corrected

    differs = (games.first_home_score != games.home_score) | (
        games.first_away_score != games.away_score
    )
    assert wrong.any()
    assert np.array_equal(differs, wrong)
    assert (games.corrected_us[wrong] > games.known_us[wrong]).all()
    assert (games.known_us > games.completed_us).all()


def test_injuries_are_known_before_the_games_they_keep_a_player_from(many: SimulatedSeason) -> None:
    missed = many.absences

    assert len(missed.game) > 1000
    assert (missed.known_us < many.games.commence_us[missed.game]).all()


def test_box_scores_are_known_only_after_the_game(many: SimulatedSeason) -> None:
    counted = many.team_stats

    assert (counted.known_us >= many.games.completed_us[counted.game]).all()
    assert not many.games.postponed[counted.game].any()


@pytest.mark.parametrize(("games", "changes"), [(0, 22), (5, 1)])
def test_a_season_without_games_or_prices_is_refused(games: int, changes: int) -> None:
    with pytest.raises(SeasonTooShort):
        simulate_season(1, games=games, changes=changes)


def test_unknown_league_is_rejected() -> None:
    with pytest.raises(UnknownLeague, match="Use basketball_nba"):
        simulate_season(1, "quidditch")


def test_a_season_may_be_played_at_all_hours_of_all_days() -> None:
    evenings = simulate_season(3, "soccer_epl", 60, changes=2)
    around = simulate_season(3, "soccer_epl", 60, changes=2, all_day=True)

    hours = [
        set((made.games.commence_us // 3_600_000_000 % 24).tolist()) for made in (evenings, around)
    ]
    days = [
        set((made.games.commence_us // 86_400_000_000 % 7).tolist()) for made in (evenings, around)
    ]
    assert len(hours[0]) <= 5
    assert len(hours[1]) > 18
    assert len(days[0]) < len(days[1]) == 7


def test_tables_that_were_let_go_of_are_made_again() -> None:
    before = simulate_season(4, "soccer_epl", 20, changes=2)
    clear_tables()

    again = simulate_season(4, "soccer_epl", 20, changes=2)

    assert np.array_equal(before.quotes.first, again.quotes.first)
