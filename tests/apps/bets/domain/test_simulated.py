"""Calibrated probabilities against the known truth of simulated leagues."""

from __future__ import annotations

import pytest

from grandstand.apps.bets.domain.evaluation import WalkForwardResult
from grandstand.apps.bets.domain.scoring import calibration_error
from grandstand.simulators.odds.season import SimulatedSeason
from tests.apps.bets.domain.simulated import judged, long_walk, whole_walk

Walked = tuple[SimulatedSeason, WalkForwardResult]


@pytest.fixture(scope="module")
def ten_thousand() -> Walked:
    return long_walk(seed=7, games=10_300)


def test_the_best_model_is_within_three_thousandths_of_the_oracle(ten_thousand: Walked) -> None:
    found = judged(*ten_thousand, "consensus")

    assert found.bets >= 10_000
    assert abs(found.ours - found.oracle) < 0.003


def test_calibration_takes_back_what_a_model_exaggerates(ten_thousand: Walked) -> None:
    found = judged(*ten_thousand, "loudmouth")

    assert found.stated - found.oracle > 0.01
    assert abs(found.ours - found.oracle) < 0.003


def test_a_calibrated_model_wins_as_often_as_it_says(ten_thousand: Walked) -> None:
    for model in ("consensus", "loudmouth"):
        decided = [
            (outcome.forecast.probability, outcome.correct)
            for outcome in ten_thousand[1].outcomes
            if outcome.forecast.model == model and outcome.correct is not None
        ]
        stated, correct = zip(*decided, strict=True)

        assert calibration_error(stated, correct) == pytest.approx(0.0, abs=0.02)


def test_the_ensemble_keeps_up_with_the_oracle_though_most_of_its_members_do_not() -> None:
    walked = whole_walk(seed=7, games=1_000)

    together, rated = judged(*walked, "ensemble"), judged(*walked, "elo")

    assert together.bets > 900
    assert abs(together.ours - together.oracle) < 0.003
    assert rated.ours - rated.oracle > 0.003
