"""Facts of a simulated season are known in a possible order."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.quotes import QuoteTable
from grandstand.apps.bets.domain.records import Fixture, Score, TeamGameStats
from grandstand.simulators.odds.season import SimulatedSeason, simulate_season
from tests.apps.bets.facts_of import facts_of


@pytest.fixture(scope="module")
def made() -> SimulatedSeason:
    return simulate_season(1, games=60, changes=4)


@pytest.fixture(scope="module")
def facts(made: SimulatedSeason) -> tuple[Fact, ...]:
    return tuple(facts_of(made))


def test_every_price_is_in_some_path(made: SimulatedSeason, facts: tuple[Fact, ...]) -> None:
    paths = [fact for fact in facts if isinstance(fact, QuoteTable)]

    for path in paths:
        path.check()

    assert sum(len(path.known_at) for path in paths) == len(made.quotes) + len(made.props)
    assert Counter(type(fact).__name__ for fact in facts)["Fixture"] == 60


def test_nothing_is_known_before_it_happens(facts: tuple[Fact, ...]) -> None:
    starts = {fact.game_id: fact.commence_time for fact in facts if isinstance(fact, Fixture)}
    scores = [fact for fact in facts if isinstance(fact, Score)]
    figures = [fact for fact in facts if isinstance(fact, TeamGameStats)]

    assert all(starts[each.game_id] < each.completed_at <= each.known_at for each in scores)
    assert all(each.played_at <= each.known_at for each in figures)


def test_a_history_of_them_closes_at_the_start(
    made: SimulatedSeason, facts: tuple[Fact, ...]
) -> None:
    history = History(facts)
    game = made.games.ids[20]
    fixture = next(fact for fact in facts if isinstance(fact, Fixture) and fact.game_id == game)

    before = history.as_of(fixture.commence_time - timedelta(minutes=1))
    result = history.latest_score(game)

    assert before.board(game, "h2h") is not None
    assert history.closing_board(game, "h2h") is not None
    assert result is not None
    assert result.home_score == made.games.home_score[20]
