"""Defects 19 and 20 of the system before this one: advice without evidence, made-up confidence."""

import numpy as np
import pytest

from grandstand.apps.bets.domain.calibration import calibrate
from grandstand.apps.bets.domain.evaluation import DecidedPick, ModelRecord, recommend
from grandstand.apps.bets.domain.kelly import kelly_fraction
from grandstand.apps.bets.domain.scoring import calibration_error


def _record(model: str, right: int, total: int, american: int = -110) -> ModelRecord:
    picks = tuple(DecidedPick(at < right, 0.6, american, american) for at in range(total))
    return ModelRecord(model, "basketball_nba", "game", picks)


def test_defect_19_forty_five_results_do_not_make_an_inverse() -> None:
    (advice,) = recommend([_record("momentum", 19, 45)])

    assert advice.recommendation == "AVOID"
    assert advice.inverse.rate == pytest.approx(26 / 45)
    assert advice.inverse.interval.low < 0.5238 < advice.inverse.interval.high


def test_defect_19_any_sample_is_not_enough() -> None:
    (advice,) = recommend([_record("momentum", 0, 1)])

    assert advice.evidence == "INSUFFICIENT_DATA"


def test_defect_19_models_and_sports_are_counted_against_each_other() -> None:
    chance = np.random.default_rng(19)
    rights = chance.binomial(200, 0.5, 120).tolist()

    advised = recommend(
        [_record(f"model {at}", right, 200, american=100) for at, right in enumerate(rights)]
    )

    tempting = sum(min(each.original.p_value, each.inverse.p_value) < 0.05 for each in advised)
    assert tempting >= 3
    assert all(each.recommendation == "AVOID" for each in advised)


def test_defect_19_the_inverse_of_a_model_that_is_wrong_is_believed_above_half() -> None:
    chance = np.random.default_rng(5)
    stated = chance.uniform(0.55, 0.85, 3_000).tolist()
    happened = (chance.uniform(size=3_000) < 0.42).tolist()

    believed = calibrate(stated, happened).probability(0.72)

    assert 1.0 - believed == pytest.approx(0.58, abs=0.03)


def test_defect_20_confidence_is_a_probability_before_it_is_staked() -> None:
    chance = np.random.default_rng(6)
    stated = chance.choice([0.6, 0.65, 0.7, 0.75, 0.8], 4_000)
    happened = chance.uniform(size=4_000) < 0.5 + 0.2 * (stated - 0.5)

    found = calibrate(stated[:3_000].tolist(), happened[:3_000].tolist())
    believed = [found.probability(each, market=0.5) for each in stated[3_000:].tolist()]

    assert calibration_error(stated[3_000:].tolist(), happened[3_000:].tolist()) > 0.1
    assert calibration_error(believed, happened[3_000:].tolist()) < 0.04
    assert kelly_fraction(found.probability(0.8, market=0.5), 1.91) < 0.25 * kelly_fraction(
        0.8, 1.91
    )
