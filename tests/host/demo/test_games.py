"""The simulated leagues play round the clock, and the sharpest book's price says who is fancied."""

from datetime import timedelta

from grandstand.host.demo.games import Leagues
from tests.host.demo.conftest import NOON


def test_games_begin_before_and_after_every_hour_of_the_day(leagues: Leagues) -> None:
    games = leagues.priced_games(NOON)

    hours = {game.commence_at.hour for game in games}
    assert len(hours) > 12
    assert min(game.commence_at for game in games) < NOON < max(g.commence_at for g in games)


def test_a_game_is_won_or_lost_once_it_is_over_and_not_before(leagues: Leagues) -> None:
    games = leagues.priced_games(NOON)

    assert all(game.won is None for game in games if game.ends_at > NOON)
    assert any(game.won is not None for game in games if game.ends_at < NOON)


def test_chances_are_honest(leagues: Leagues) -> None:
    days = [NOON + timedelta(days=3 * day) for day in range(-4, 5)]
    over = [game for day in days for game in leagues.priced_games(day) if game.won is not None]

    expected = sum(game.chance for game in over) / len(over)
    happened = sum(bool(game.won) for game in over) / len(over)

    assert len(over) > 60
    assert abs(expected - happened) < 0.2
