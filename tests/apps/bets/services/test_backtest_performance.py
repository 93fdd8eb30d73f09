"""Performance of a backtest: accuracy, intervals, returns and closing line value."""

from __future__ import annotations

import math

import pytest

from grandstand.apps.bets.domain.evaluation import WalkForwardResult, walk_forward
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.models import ConsensusModel
from grandstand.apps.bets.domain.odds import devig
from grandstand.apps.bets.domain.registry import ModelPanel
from grandstand.apps.bets.services.backtests import backtest_performance
from grandstand.apps.bets.services.scoreboard import ModelPerformance
from tests.apps.bets.domain.games import HOUR, SPORT, fixture, h2h, score


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


def performance(walked: WalkForwardResult, *, inverse: bool = False) -> ModelPerformance:
    outcomes = [
        outcome
        for outcome in walked.outcomes
        if (outcome.forecast.inverse_of is not None) is inverse
    ]
    return backtest_performance(outcomes, "consensus", SPORT, 30)


def test_it_counts_what_was_right_with_an_interval(walked: WalkForwardResult) -> None:
    result = performance(walked)

    assert result.accuracy is not None
    assert (result.correct, result.decided, result.accuracy.value) == (3, 4, 0.75)
    assert result.accuracy.low < 0.75 < result.accuracy.high


def test_the_return_is_at_the_prices_taken(walked: WalkForwardResult) -> None:
    original, inverse = performance(walked), performance(walked, inverse=True)

    assert original.roi is not None
    assert inverse.roi is not None
    assert math.isclose(original.roi.value, (3 * 2 / 3 - 1) / 4)
    assert math.isclose(inverse.roi.value, (1.3 - 3) / 4)
    assert original.break_even is not None
    assert math.isclose(original.break_even, 0.6)


def test_the_close_is_the_last_price_before_the_start(walked: WalkForwardResult) -> None:
    result = performance(walked)
    fair = walked.outcomes[0].closing

    assert fair is not None
    assert math.isclose(fair, devig((1.5, 2.7))[0], abs_tol=1e-9)
    assert result.clv is not None
    assert math.isclose(result.clv.value, fair / 0.6 - 1.0)


def test_scores_are_those_of_the_stated_probabilities(walked: WalkForwardResult) -> None:
    chance = walked.outcomes[0].forecast.probability
    result = performance(walked)

    assert result.brier is not None
    assert math.isclose(result.brier, (3 * (1 - chance) ** 2 + chance**2) / 4)
    assert sum(bin_.count for bin_ in result.calibration) == 4


def test_it_says_how_many_bets_would_show_it(walked: WalkForwardResult) -> None:
    assert performance(walked).bets_needed == 41
    assert performance(walked, inverse=True).bets_needed is None
