"""Agreement between two judges is measured as the textbooks do."""

import pytest

from benchmarks.trainer.agreement import kappa, mean_error


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([(0, 0), (2, 2), (4, 4)], 1.0),
        ([(0, 4), (4, 0)], -1.0),
        ([(0, 2), (4, 2)], 0.0),
        ([(0, 0), (1, 2), (2, 1), (3, 3)], 0.8),
        ([(3, 3), (3, 3)], 1.0),
    ],
)
def test_kappa_weighs_errors_by_their_square(
    levels: list[tuple[int, int]], expected: float
) -> None:
    assert kappa(levels) == pytest.approx(expected)


def test_the_mean_error_counts_levels() -> None:
    assert mean_error([(0, 1), (4, 2), (3, 3)]) == 1.0
