"""Ratios say how much better we are, and aims are judged by them."""

import pytest

from benchmarks.harness.rows import Limit, Row, Times


def test_a_ratio_above_one_means_we_are_better_where_higher_is_better() -> None:
    row = Row("put", "items/s", ours=500.0, peers={"bare": 1000.0, "slow": 100.0})

    assert row.ratios == {"bare": 0.5, "slow": 5.0}


def test_a_ratio_above_one_means_we_are_better_where_lower_is_better() -> None:
    row = Row("open", "ms", ours=20.0, peers={"slow": 100.0}, higher_is_better=False)

    assert row.ratios == {"slow": 5.0}


@pytest.mark.parametrize(("factor", "met"), [(5.0, True), (5.1, False)])
def test_a_multiple_of_a_peer_is_met_from_its_factor_on(factor: float, met: bool) -> None:  # noqa: FBT001
    row = Row("put", "items/s", 500.0, {"slow": 100.0}, Times(factor, "slow"))

    assert row.met is met


@pytest.mark.parametrize(
    ("higher_is_better", "value", "met"),
    [(True, 30.0, True), (True, 31.0, False), (False, 30.0, True), (False, 29.0, False)],
)
def test_a_limit_is_met_on_its_right_side(
    higher_is_better: bool,  # noqa: FBT001
    value: float,
    met: bool,  # noqa: FBT001
) -> None:
    row = Row("open", "ms", 30.0, {}, Limit(value), higher_is_better)

    assert row.met is met


def test_a_row_without_an_aim_is_met() -> None:
    row = Row("size", "MB", 12.0)

    assert row.met
    assert row.aim_shown is None


def test_an_aim_at_a_peer_nobody_measured_is_an_error() -> None:
    row = Row("put", "items/s", 500.0, {}, Times(2.0, "absent"))

    with pytest.raises(KeyError, match="absent"):
        _ = row.met
