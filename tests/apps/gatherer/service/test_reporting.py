"""The report of a day adds up what is known of its hours."""

from grandstand.apps.gatherer.model.coverage import HOUR, Covered
from grandstand.apps.gatherer.service.reporting import report


def test_a_day_with_a_gap_is_not_whole_and_never_rounded_up() -> None:
    cells = [
        Covered("A", 0, expected_us=HOUR, seen_us=HOUR - 1, gaps=1, healed=1, audited=2),
        Covered("A", HOUR, expected_us=HOUR, seen_us=HOUR),
        Covered("B", 0, expected_us=HOUR, seen_us=HOUR, audited=1),
    ]

    found = report(cells, 0, 2 * HOUR)

    assert (found.markets, found.whole, found.seen) == (2, False, "99.999 %")
    assert found.text() == (
        "2 markets, 99.999 % of their time seen; 1 gaps, 1 healed; 3 books audited, 0 differed"
    )


def test_a_book_that_differed_keeps_a_day_from_being_whole() -> None:
    seen = Covered("A", 0, expected_us=HOUR, seen_us=HOUR, audited=1)
    differed = Covered("A", HOUR, expected_us=HOUR, seen_us=HOUR, audited=1, differed=1)

    assert report([seen], 0, HOUR).whole
    assert not report([seen, differed], 0, HOUR).whole


def test_nothing_recorded_is_said_to_be_nothing() -> None:
    assert report([], 0, HOUR).seen == "nothing"
