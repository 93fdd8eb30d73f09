"""The map of markets and hours says in words and colour what the numbers say."""

from grandstand.apps.gatherer.domain.coverage import HOUR_US, HourCoverage
from grandstand.apps.gatherer.pages.coverage import HOURS_SHOWN, HeatRow, heat_rows


def _line(*cells: HourCoverage) -> HeatRow:
    (line,) = heat_rows(cells, 0)
    return line


def test_the_market_that_misses_most_comes_first() -> None:
    whole = HourCoverage("A", 0, expected_us=HOUR_US, seen_us=HOUR_US)
    half = HourCoverage("B", 0, expected_us=HOUR_US, seen_us=HOUR_US // 2)
    most = HourCoverage("C", 0, expected_us=HOUR_US, seen_us=HOUR_US - 1)

    assert [line.ticker for line in heat_rows([whole, half, most], 0)] == ["B", "C", "A"]


def test_the_newest_hour_is_the_first_and_hours_without_recording_are_empty() -> None:
    line = _line(
        HourCoverage("A", (HOURS_SHOWN - 1) * HOUR_US, expected_us=HOUR_US, seen_us=HOUR_US)
    )

    assert [square.level for square in line.cells] == ["complete", *["none"] * (HOURS_SHOWN - 1)]


def test_an_hour_with_a_gap_is_never_called_whole() -> None:
    cell = HourCoverage("A", 0, expected_us=HOUR_US, seen_us=HOUR_US - 1, gaps=1, closed=1)

    square = _line(cell).cells[-1]

    assert (square.level, square.label) == ("almost", "99")
    assert square.description == "99 % recorded, 1 gap, 1 closed"


def test_a_book_that_differed_is_the_worst_there_is() -> None:
    cell = HourCoverage("A", 0, expected_us=HOUR_US, seen_us=HOUR_US, audited=3, differed=1)

    square = _line(cell).cells[-1]

    assert (square.level, square.description) == ("poor", "complete, 3 audited, 1 differed")
