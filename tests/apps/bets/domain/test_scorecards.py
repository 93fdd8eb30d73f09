"""Scorecards: accuracy, intervals, returns and closing line value."""

from __future__ import annotations

import math

import pytest

from grandstand.apps.bets.domain.evaluation import Scorecard, WalkForwardResult, walk_forward
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.models import ConsensusModel
from grandstand.apps.bets.domain.odds import devig
from grandstand.apps.bets.domain.registry import ModelPanel
from tests.apps.bets.domain.games import HOUR, fixture, h2h, score


@pytest.fixture(scope="module")
def walked() -> WalkForwardResult:
    """Four favourites at -150, which close at -200; the third loses."""
    facts: list[Fact] = []
    for number, points in enumerate((101, 102, 90, 103)):
        game = fixture(number, "ants", "bears")
        start = game.commence_time
        facts += [
            game,
            h2h(game, "alpha", start - 5 * HOUR, -150, 130),
            h2h(game, "alpha", start - HOUR / 4, -200, 170),
            h2h(game, "alpha", start + HOUR, 900, -2000),
            score(game, points, 100),
        ]
    return walk_forward(History(facts), ModelPanel((ConsensusModel(),)))


def card(walked: WalkForwardResult, *, inverse: bool = False) -> Scorecard:
    return next(each for each in walked.scorecards if each.is_inverse is inverse)


def test_it_counts_what_was_right_with_an_interval(walked: WalkForwardResult) -> None:
    found = card(walked).accuracy

    assert (found.right, found.total, found.rate) == (3, 4, 0.75)
    assert found.interval.low < 0.75 < found.interval.high


def test_the_return_is_at_the_prices_taken(walked: WalkForwardResult) -> None:
    straight, turned = card(walked).priced, card(walked, inverse=True).priced

    assert straight.roi is not None
    assert turned.roi is not None
    assert math.isclose(straight.roi.mean, (3 * 2 / 3 - 1) / 4)
    assert math.isclose(turned.roi.mean, (1.3 - 3) / 4)
    assert math.isclose(straight.break_even, 0.6)


def test_the_close_is_the_last_price_before_the_start(walked: WalkForwardResult) -> None:
    found = card(walked).priced
    fair = walked.outcomes[0].closing

    assert fair is not None
    assert math.isclose(fair, devig((1.5, 2.7))[0], abs_tol=1e-9)
    assert found.closing is not None
    assert math.isclose(found.closing.mean, fair / 0.6 - 1.0)


def test_scores_are_those_of_the_stated_probabilities(walked: WalkForwardResult) -> None:
    chance = walked.outcomes[0].forecast.probability
    found = card(walked)

    assert found.brier is not None
    assert math.isclose(found.brier, (3 * (1 - chance) ** 2 + chance**2) / 4)
    assert sum(each.count for each in found.bins) == 4


def test_it_says_how_many_bets_would_show_it(walked: WalkForwardResult) -> None:
    assert card(walked).priced.bets_needed == 41
    assert card(walked, inverse=True).priced.bets_needed is None
