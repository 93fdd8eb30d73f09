"""Coverage says what was expected and what was seen, hour by hour."""

from grandstand.apps.gatherer.model.coverage import (
    HOUR,
    Audit,
    Covered,
    Hole,
    Stretch,
    coverage,
)

A = "KXA-1"


def test_a_market_watched_without_a_hole_is_whole() -> None:
    watched = [Stretch(A, HOUR // 2, 2 * HOUR)]

    cells = coverage(watched, [], [], now=9 * HOUR)

    assert cells == (
        Covered(A, 0, expected_us=HOUR // 2, seen_us=HOUR // 2),
        Covered(A, HOUR, expected_us=HOUR, seen_us=HOUR),
    )
    assert all(cell.whole for cell in cells)


def test_a_hole_takes_from_every_hour_it_lasts_and_counts_where_it_began() -> None:
    watched = [Stretch(A, 0)]
    holes = [Hole(A, HOUR - 10, HOUR + 5)]

    first, second = coverage(watched, holes, [], now=2 * HOUR)

    assert (first.seen_us, first.gaps, first.healed) == (HOUR - 10, 1, 1)
    assert (second.seen_us, second.gaps, second.healed) == (HOUR - 5, 0, 0)
    assert not first.whole


def test_a_hole_that_is_not_healed_lasts_until_now() -> None:
    (cell,) = coverage([Stretch(A, 0)], [Hole(A, 40)], [], now=100)

    assert (cell.expected_us, cell.seen_us, cell.gaps, cell.healed) == (100, 40, 1, 0)


def test_holes_and_watches_that_overlap_count_once() -> None:
    watched = [Stretch(A, 0, 60), Stretch(A, 50, 100)]
    holes = [Hole(A, 10, 30), Hole(A, 20, 40)]

    (cell,) = coverage(watched, holes, [], now=HOUR)

    assert (cell.expected_us, cell.seen_us, cell.gaps) == (100, 70, 2)


def test_a_hole_outside_of_what_was_watched_costs_nothing() -> None:
    (cell,) = coverage([Stretch(A, 50, 60)], [Hole(A, 0, 40)], [], now=HOUR)

    assert (cell.expected_us, cell.seen_us) == (10, 10)


def test_an_audit_that_differed_spoils_its_hour() -> None:
    audits = [Audit(A, 10, exact=True), Audit(A, 20, exact=False)]

    (cell,) = coverage([Stretch(A, 0, 100)], [], audits, now=HOUR)

    assert (cell.audited, cell.differed, cell.whole) == (2, 1, False)
