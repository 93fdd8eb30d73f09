"""Stated sums are checked, with tolerance for rounding."""

import pytest

from grandstand.apps.trainer.domain.signals.arithmetic import find_sums, parse_figures


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("2,000 - 1,400 = 600", [True]),
        ("2,000 − 1,400 = 500", [False]),  # noqa: RUF001 - people write it
        ("1,300 × 2.90 = 3,770 dollars", [True]),
        ("128 / 1,600 = 8%", [True]),
        ("128/1600 is 8%, 32/800 is 5%", [True, False]),
        ("5% of 2,000 is 100", [True]),
        ("5% of 2,000 people is 200", [False]),
        ("42 of 120, or 35%", [True]),
        ("8 out of 109 is about 20%", [False]),
        ("6 times 380 makes 2,280", [True]),
        ("10 divided by 109 is 9%", [True]),
        ("1/3 × 50% + 2/3 × 17% = 28%", []),
        ("0.07 × 58 × 0.94 = 3.82", []),
        ("from 2019 to 2021, 3 of 5 fell", []),
        ("no figures at all", []),
        ("10 / 0 = 5", []),
    ],
)
def test_a_sum_is_found_and_tried(text: str, holds: list[bool]) -> None:
    assert [each.is_correct for each in find_sums(text)] == holds


def test_figures_are_read_with_their_scale() -> None:
    assert parse_figures("$2 million of 1,200 and 4.5%") == {2_000_000.0, 1200.0, 4.5}
