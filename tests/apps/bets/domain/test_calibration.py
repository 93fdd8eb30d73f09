"""Calibration of stated confidence."""

import math
from itertools import pairwise

import numpy as np
import pytest

from grandstand.apps.bets.domain.calibration import (
    CURVE_KINDS,
    IDENTITY,
    Calibration,
    CalibrationCurve,
    CurveKind,
    calibrate,
    fit_curve,
    out_of_sample_losses,
    shrink_to_market,
)
from grandstand.apps.bets.domain.scoring import brier, calibration_error, log_loss
from grandstand.core.errors import InvalidInput


def _world(count: int, slope: float, moved: float, seed: int = 1) -> tuple[list[float], list[bool]]:
    """Confidence whose truth is a straight line in log odds."""
    chance = np.random.default_rng(seed)
    stated = chance.uniform(0.05, 0.95, count)
    true = 1.0 / (1.0 + np.exp(-(slope * np.log(stated / (1.0 - stated)) + moved)))
    return stated.tolist(), (chance.uniform(size=count) < true).tolist()


def _truth(stated: float, slope: float, moved: float) -> float:
    return 1.0 / (1.0 + math.exp(-(slope * math.log(stated / (1.0 - stated)) + moved)))


@pytest.fixture(scope="module")
def overconfident() -> Calibration:
    return calibrate(*_world(8_000, 0.5, -0.2))


def test_platt_recovers_a_straight_line_in_log_odds() -> None:
    curve = fit_curve("platt", *_world(20_000, 0.5, -0.2))

    assert curve.numbers == pytest.approx((0.5, -0.2), abs=0.06)


def test_beta_holds_platt_within_it() -> None:
    curve = fit_curve("beta", *_world(20_000, 0.5, -0.2))

    assert curve.probability(0.8) == pytest.approx(_truth(0.8, 0.5, -0.2), abs=0.02)


def test_isotonic_never_falls() -> None:
    curve = fit_curve("isotonic", *_world(2_000, 1.0, 0.0))

    believed = [curve.probability(at / 100) for at in range(1, 100)]

    assert all(one <= other for one, other in pairwise(believed))
    assert curve.probability(0.5) == pytest.approx(0.5, abs=0.12)


def test_a_step_is_best_followed_by_isotonic() -> None:
    chance = np.random.default_rng(4)
    stated = chance.uniform(0.05, 0.95, 6_000)
    happened = chance.uniform(size=6_000) < np.where(stated > 0.7, 0.9, 0.3)

    chosen = calibrate(stated.tolist(), happened.tolist())

    assert chosen.curve.kind == "isotonic"
    assert chosen.curve.probability(0.9) == pytest.approx(0.9, abs=0.05)


def test_confidence_becomes_probability(overconfident: Calibration) -> None:
    stated, happened = _world(20_000, 0.5, -0.2, seed=2)

    believed = overconfident.curve.probabilities(stated)

    assert calibration_error(stated, happened) > 0.08
    assert calibration_error(believed, happened) < 0.02
    oracle = [_truth(each, 0.5, -0.2) for each in stated]
    assert brier(believed, happened) == pytest.approx(brier(oracle, happened), abs=0.001)


def test_the_curve_is_chosen_by_results_it_has_not_seen() -> None:
    stated, happened = _world(120, 1.0, 0.0, seed=7)

    seen = {
        kind: log_loss(fit_curve(kind, stated, happened).probabilities(stated), happened)
        for kind in CURVE_KINDS
    }
    unseen = dict(out_of_sample_losses(stated, happened))

    assert min(seen, key=lambda kind: seen[kind]) == "isotonic"
    assert min(unseen, key=lambda kind: unseen[kind]) == "identity"
    assert calibrate(stated, happened).curve == IDENTITY


def test_confidence_that_is_right_already_is_hardly_changed() -> None:
    chosen = calibrate(*_world(8_000, 1.0, 0.0))

    assert chosen.curve.probability(0.7) == pytest.approx(0.7, abs=0.02)


def test_few_results_leave_confidence_as_it_is_and_near_the_market() -> None:
    chosen = calibrate([0.9] * 10, [True] * 10)

    assert chosen.curve == IDENTITY
    assert chosen.probability(0.9, market=0.55) == pytest.approx(0.55, abs=0.03)


def test_the_more_results_the_further_from_the_market() -> None:
    believed = [shrink_to_market(0.7, 0.5, results) for results in (0, 50, 200, 2_000, 200_000)]

    assert believed[0] == pytest.approx(0.5)
    assert believed == sorted(believed)
    assert believed[-1] == pytest.approx(0.7, abs=0.001)


def test_half_of_the_way_is_gone_in_log_odds_at_the_stated_number() -> None:
    assert shrink_to_market(0.8, 0.5, 200) == pytest.approx(2 / 3)


def test_without_a_market_an_even_chance_stands_in() -> None:
    assert Calibration(IDENTITY, 0).probability(0.9) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", CURVE_KINDS)
def test_many_are_believed_as_each_would_be(kind: CurveKind) -> None:
    stated, happened = _world(300, 0.7, 0.1)
    curve = fit_curve(kind, stated, happened)
    given = [0.0, 0.01, 0.3, 0.5, 0.77, 0.999, 1.0]

    assert curve.probabilities(given) == pytest.approx(
        [curve.probability(each) for each in given], abs=1e-12
    )


def test_a_curve_with_numbers_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput):
        CalibrationCurve("isotonic", (1.0, 2.0))


def test_all_of_one_result_can_be_fitted_and_is_not_believed_for_certain() -> None:
    stated = [0.6, 0.7] * 30

    for_platt = fit_curve("platt", stated, [True] * 60).probability(0.65)
    for_isotonic = fit_curve("isotonic", stated, [True] * 60).probability(0.65)

    assert 0.8 < for_platt < 1.0
    assert 0.8 < for_isotonic < 1.0


def test_each_confidence_needs_its_result() -> None:
    with pytest.raises(InvalidInput):
        calibrate([0.5], [])
