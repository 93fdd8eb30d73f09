"""Whether to follow a model, bet against it or avoid it."""

import numpy as np
import pytest

from grandstand.apps.bets.domain.evaluation import (
    DecidedPick,
    ModelRecord,
    confidence_multiplier,
    recommend,
)


def _record(
    right: int, total: int, *, model: str = "value", american: int = -110, confidence: float = 0.6
) -> ModelRecord:
    picks = [DecidedPick(at < right, confidence, american, american) for at in range(total)]
    return ModelRecord(model, "basketball_nba", "game", tuple(picks))


def test_a_model_that_beats_its_prices_for_long_is_followed() -> None:
    (advice,) = recommend([_record(360, 600)])

    assert advice.recommendation == "ORIGINAL"
    assert advice.evidence is None
    assert advice.original.q_value < 0.001
    assert "360 of 600 right, 60.0% where 52.4% breaks even" in advice.explanation


def test_a_model_that_fails_for_long_is_betted_against() -> None:
    (advice,) = recommend([_record(240, 600)])

    assert advice.recommendation == "INVERSE"
    assert advice.multiplier == 0.3
    assert advice.inverse.rate == pytest.approx(0.6)


def test_a_model_that_only_breaks_even_is_left_alone() -> None:
    (advice,) = recommend([_record(314, 600)])

    assert advice.recommendation == "AVOID"
    assert advice.evidence is None
    assert advice.explanation.startswith("Not significant")


@pytest.mark.parametrize(("right", "total"), [(0, 0), (29, 29), (0, 29)])
def test_too_few_results_are_no_evidence_whatever_they_say(right: int, total: int) -> None:
    (advice,) = recommend([_record(right, total)])

    assert advice.recommendation == "AVOID"
    assert advice.evidence == "INSUFFICIENT_DATA"
    assert advice.multiplier == 1.0


def test_the_bar_is_the_price_that_was_taken() -> None:
    cheap, dear = recommend([_record(330, 600, american=120), _record(330, 600, american=-140)])

    assert cheap.recommendation == "ORIGINAL"
    assert dear.recommendation != "ORIGINAL"
    assert dear.original.break_even == pytest.approx(140 / 240)


def test_an_inverse_nobody_offered_is_not_recommended() -> None:
    picks = tuple(DecidedPick(at < 100, 0.6, -110) for at in range(400))

    (advice,) = recommend([ModelRecord("value", "basketball_nba", "game", picks)])

    assert advice.recommendation == "AVOID"
    assert advice.inverse.total == 0
    assert advice.inverse_accuracy == pytest.approx(0.75)


def test_one_good_run_among_many_worthless_models_is_not_believed() -> None:
    good = _record(115, 200)
    worthless = [_record(100, 200, model=f"model {at}") for at in range(119)]

    (alone,) = recommend([good])
    among_many = recommend([good, *worthless])[0]

    assert alone.original.p_value < 0.1
    assert among_many.original.p_value == alone.original.p_value
    assert among_many.recommendation == "AVOID"


def test_hardly_any_of_many_coin_flips_is_recommended() -> None:
    chance = np.random.default_rng(3)
    rights = chance.binomial(300, 0.5, 120).tolist()

    advised = recommend([_record(right, 300) for right in rights])

    assert sum(each.recommendation != "AVOID" for each in advised) <= 1


@pytest.mark.parametrize(
    ("right", "total", "confidence", "expected"),
    [
        (30, 48, 0.5435, 1.106),
        (330, 600, 0.55, 1.0),
        (300, 600, 0.75, 0.677),
        (0, 600, 0.9, 0.3),
        (600, 600, 0.5, 1.15),
    ],
)
def test_multiplier_is_accuracy_over_stated_confidence(
    right: int, total: int, confidence: float, expected: float
) -> None:
    record = _record(right, total, confidence=confidence)

    assert confidence_multiplier(record, "ORIGINAL", None) == pytest.approx(expected, abs=0.001)


def test_multiplier_without_a_record_is_neutral() -> None:
    assert confidence_multiplier(_record(0, 0), "AVOID", "INSUFFICIENT_DATA") == 1.0
