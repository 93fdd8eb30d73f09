"""Charts keep what can be seen, and say what they show to whoever cannot see it."""

import random

import pytest

from grandstand.core.errors import InvalidInput
from grandstand.kit.charts import Axis, Chart, Mark, Plot, Row, sparkline, thin


def _chart(*plots: Plot) -> Chart:
    return Chart("Price", Axis("Time", "time"), Axis("Price", unit="¢", digits=1), plots)


def test_thinning_keeps_the_ends_and_every_extreme() -> None:
    chance = random.Random(1)
    rows: list[Row] = [(at, chance.gauss(0, 1)) for at in range(100_000)]
    rows[40_123] = (40_123, 90.0)
    rows[77_777] = (77_777, -90.0)

    kept = thin(Plot("p", "line", tuple(rows)), 2_000)

    assert len(kept) <= 2_000
    assert kept == sorted(kept)
    assert {rows[0], rows[-1], (40_123, 90.0), (77_777, -90.0)} <= set(kept)


def test_thinned_candles_are_candles_of_longer_times() -> None:
    rows: tuple[Row, ...] = ((0, 5, 9, 4, 6), (1, 6, 7, 1, 3), (2, 3, 4, 2, 4), (3, 4, 8, 4, 8))

    kept = thin(Plot("p", "candles", rows), 3)

    assert kept == [(0, 5, 9.0, 1.0, 8)]


def test_a_gap_is_still_there_after_thinning() -> None:
    rows = tuple((at, None if 400 <= at < 600 else float(at)) for at in range(1000))

    kept = thin(Plot("p", "line", rows), 100)

    assert any(value is None for _, value in kept)


@pytest.mark.parametrize(
    ("mark", "row"), [("band", (1, 2)), ("candles", (1, 2, 3)), ("line", (None, 2))]
)
def test_a_row_that_does_not_suit_its_mark_is_refused(mark: Mark, row: Row) -> None:
    with pytest.raises(InvalidInput, match="A row of p"):
        _chart(Plot("p", mark, (row,)))


def test_a_summary_says_lowest_highest_and_last() -> None:
    chart = _chart(Plot("Last", "line", ((0, 5.0), (1, 9.0), (2, 7.0), (3, None))))

    assert chart.summary() == ("Price. Last: 4 points, lowest 5.0 ¢, highest 9.0 ¢, last 7.0 ¢.")
    assert _chart(Plot("Last", "line", ())).summary() == "Price. No data yet."


def test_a_sparkline_stays_in_its_box_and_its_label_is_escaped() -> None:
    drawn = sparkline([1, None, 5, 3], '"><script>', width=50, height=10)

    assert "<script>" not in drawn
    assert 'viewBox="0 0 50 10"' in drawn
    assert 'd="M1.5 8.5L' in drawn


def test_too_few_values_are_said_instead_of_drawn() -> None:
    assert "not enough data" in sparkline([1], "Form")
