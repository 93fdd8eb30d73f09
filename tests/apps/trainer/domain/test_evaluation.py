"""The overall score is exact arithmetic over eight weighted dimensions."""

import pytest

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, DIMENSIONS, overall_score


@pytest.mark.parametrize(
    ("scores", "overall"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 0), 0),
        ((4, 4, 4, 4, 4, 4, 4, 4), 100),
        ((4, 4, 3, 3, 4, 2, 4, 3), 83),
        ((3, 4, 3, 2, 4, 3, 2, 3), 75),
    ],
)
def test_the_overall_score_is_the_weighted_mean(scores: tuple[int, ...], overall: int) -> None:
    assert overall_score(dict(zip(DIMENSION_NAMES, scores, strict=True))) == overall


def test_the_weights_add_up_to_nine_point_two() -> None:
    assert sum(dimension.weight_tenths for dimension in DIMENSIONS) == 92


def test_every_dimension_has_five_levels_that_differ_and_an_exercise() -> None:
    assert [len(set(dimension.levels)) for dimension in DIMENSIONS] == [5] * 8
    assert len({dimension.exercise for dimension in DIMENSIONS}) == 8
