"""The map of markets and hours says in words and colour what the numbers say."""

from grandstand.apps.gatherer.model.coverage import HOUR, Covered
from grandstand.apps.gatherer.pages.coverage import SHOWN_HOURS, Line, heat_lines


def _line(*cells: Covered) -> Line:
    (line,) = heat_lines(cells, 0)
    return line


def test_the_market_that_misses_most_comes_first() -> None:
    whole = Covered("A", 0, expected_us=HOUR, seen_us=HOUR)
    half = Covered("B", 0, expected_us=HOUR, seen_us=HOUR // 2)
    most = Covered("C", 0, expected_us=HOUR, seen_us=HOUR - 1)

    assert [line.ticker for line in heat_lines([whole, half, most], 0)] == ["B", "C", "A"]


def test_the_newest_hour_is_the_first_and_hours_without_recording_are_empty() -> None:
    line = _line(Covered("A", (SHOWN_HOURS - 1) * HOUR, expected_us=HOUR, seen_us=HOUR))

    assert [square.level for square in line.squares] == ["whole", *["none"] * (SHOWN_HOURS - 1)]


def test_an_hour_with_a_gap_is_never_called_whole() -> None:
    cell = Covered("A", 0, expected_us=HOUR, seen_us=HOUR - 1, gaps=1, healed=1)

    square = _line(cell).squares[-1]

    assert (square.level, square.shown) == ("almost", "99")
    assert square.said == "99 % seen, 1 gap, 1 healed"


def test_a_book_that_differed_is_the_worst_there_is() -> None:
    cell = Covered("A", 0, expected_us=HOUR, seen_us=HOUR, audited=3, differed=1)

    square = _line(cell).squares[-1]

    assert (square.level, square.said) == ("poor", "whole, 3 audited, 1 differed")
