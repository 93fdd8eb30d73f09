"""The report of a day adds up what is known of its hours."""

from grandstand.apps.gatherer.domain.coverage import HOUR_US, HourCoverage, summarize


def test_a_day_with_a_gap_is_not_whole_and_never_rounded_up() -> None:
    cells = [
        HourCoverage("A", 0, expected_us=HOUR_US, seen_us=HOUR_US - 1, gaps=1, closed=1, audited=2),
        HourCoverage("A", HOUR_US, expected_us=HOUR_US, seen_us=HOUR_US),
        HourCoverage("B", 0, expected_us=HOUR_US, seen_us=HOUR_US, audited=1),
    ]

    found = summarize(cells, 0, 2 * HOUR_US)

    assert (found.markets, found.complete, found.share) == (2, False, "99.999 %")
    assert found.text() == (
        "2 markets, 99.999 % recorded; 1 gaps, 1 closed; 3 books audited, 0 differed"
    )


def test_a_book_that_differed_keeps_a_day_from_being_whole() -> None:
    seen = HourCoverage("A", 0, expected_us=HOUR_US, seen_us=HOUR_US, audited=1)
    differed = HourCoverage(
        "A", HOUR_US, expected_us=HOUR_US, seen_us=HOUR_US, audited=1, differed=1
    )

    assert summarize([seen], 0, HOUR_US).complete
    assert not summarize([seen, differed], 0, HOUR_US).complete


def test_nothing_recorded_is_said_to_be_nothing() -> None:
    assert summarize([], 0, HOUR_US).share == "nothing"
