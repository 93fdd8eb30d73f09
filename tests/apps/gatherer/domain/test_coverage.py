"""Coverage says what was expected and what was seen, hour by hour."""

from grandstand.apps.gatherer.domain.coverage import (
    HOUR_US,
    AuditResult,
    HourCoverage,
    MarketPeriod,
    compute_coverage,
)

A = "KXA-1"


def test_a_market_followed_without_a_hole_is_whole() -> None:
    followed = [MarketPeriod(A, HOUR_US // 2, 2 * HOUR_US)]

    cells = compute_coverage(followed, [], [], now=9 * HOUR_US)

    assert cells == (
        HourCoverage(A, 0, expected_us=HOUR_US // 2, seen_us=HOUR_US // 2),
        HourCoverage(A, HOUR_US, expected_us=HOUR_US, seen_us=HOUR_US),
    )
    assert all(cell.complete for cell in cells)


def test_a_hole_takes_from_every_hour_it_lasts_and_counts_where_it_began() -> None:
    followed = [MarketPeriod(A, 0)]
    outages = [MarketPeriod(A, HOUR_US - 10, HOUR_US + 5)]

    first, second = compute_coverage(followed, outages, [], now=2 * HOUR_US)

    assert (first.seen_us, first.gaps, first.closed) == (HOUR_US - 10, 1, 1)
    assert (second.seen_us, second.gaps, second.closed) == (HOUR_US - 5, 0, 0)
    assert not first.complete


def test_a_hole_that_is_not_healed_lasts_until_now() -> None:
    (cell,) = compute_coverage([MarketPeriod(A, 0)], [MarketPeriod(A, 40)], [], now=100)

    assert (cell.expected_us, cell.seen_us, cell.gaps, cell.closed) == (100, 40, 1, 0)


def test_outages_and_watches_that_overlap_count_once() -> None:
    followed = [MarketPeriod(A, 0, 60), MarketPeriod(A, 50, 100)]
    outages = [MarketPeriod(A, 10, 30), MarketPeriod(A, 20, 40)]

    (cell,) = compute_coverage(followed, outages, [], now=HOUR_US)

    assert (cell.expected_us, cell.seen_us, cell.gaps) == (100, 70, 2)


def test_a_hole_outside_of_what_was_followed_costs_nothing() -> None:
    (cell,) = compute_coverage([MarketPeriod(A, 50, 60)], [MarketPeriod(A, 0, 40)], [], now=HOUR_US)

    assert (cell.expected_us, cell.seen_us) == (10, 10)


def test_an_audit_that_differed_spoils_its_hour() -> None:
    audits = [AuditResult(A, 10, exact=True), AuditResult(A, 20, exact=False)]

    (cell,) = compute_coverage([MarketPeriod(A, 0, 100)], [], audits, now=HOUR_US)

    assert (cell.audited, cell.differed, cell.complete) == (2, 1, False)
