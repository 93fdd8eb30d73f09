"""Coverage: how complete a recording is, by market and hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

HOUR_US: Final = 3_600_000_000


@dataclass(frozen=True, slots=True)
class FollowedPeriod:
    """A market was to be recorded from `since` until `until`; None if it still is."""

    ticker: str
    since: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Outage:
    """The book of a market was not valid from `since` until `until`; None if it is still not."""

    ticker: str
    since: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The book of a market was compared with REST."""

    ticker: str
    at: int
    exact: bool


@dataclass(frozen=True, slots=True)
class HourCoverage:
    """One market in one hour: microseconds expected and recorded, gaps and audits.

    A gap counts in the hour it started, and reduces `seen_us` in every hour it lasts.
    """

    ticker: str
    hour: int
    expected_us: int = 0
    seen_us: int = 0
    gaps: int = 0
    closed: int = 0
    audited: int = 0
    differed: int = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is missing and no audit differed."""
        return self.seen_us == self.expected_us and not self.differed


@dataclass(slots=True)
class _Cell:
    expected: list[tuple[int, int]] = field(default_factory=list)
    missed: list[tuple[int, int]] = field(default_factory=list)
    gaps: int = 0
    closed: int = 0
    audited: int = 0
    differed: int = 0


def compute_coverage(
    periods: Iterable[FollowedPeriod],
    outages: Iterable[Outage],
    audits: Iterable[AuditResult],
    *,
    now: int,
) -> tuple[HourCoverage, ...]:
    """Return the coverage of each market and hour, sorted by market and time."""
    cells: dict[tuple[str, int], _Cell] = {}
    for period in periods:
        for hour, span in _hours(period.since, period.until, now):
            cells.setdefault((period.ticker, hour), _Cell()).expected.append(span)
    for outage in outages:
        began = cells.setdefault((outage.ticker, _hour(outage.since)), _Cell())
        began.gaps += 1
        began.closed += outage.until is not None
        for hour, span in _hours(outage.since, outage.until, now):
            cells.setdefault((outage.ticker, hour), _Cell()).missed.append(span)
    for audit in audits:
        audited = cells.setdefault((audit.ticker, _hour(audit.at)), _Cell())
        audited.audited += 1
        audited.differed += not audit.exact
    return tuple(_cell_coverage(*key, cells[key]) for key in sorted(cells))


def _cell_coverage(ticker: str, hour: int, cell: _Cell) -> HourCoverage:
    expected = _merge_spans(cell.expected)
    lost = sum(
        max(0, min(until, end) - max(since, start))
        for since, until in _merge_spans(cell.missed)
        for start, end in expected
    )
    length = sum(until - since for since, until in expected)
    return HourCoverage(
        ticker=ticker,
        hour=hour,
        expected_us=length,
        seen_us=length - lost,
        gaps=cell.gaps,
        closed=cell.closed,
        audited=cell.audited,
        differed=cell.differed,
    )


def _hour(at: int) -> int:
    return at - at % HOUR_US


def _hours(since: int, until: int | None, now: int) -> Iterator[tuple[int, tuple[int, int]]]:
    end = now if until is None else min(until, now)
    for hour in range(_hour(since), end, HOUR_US):
        yield hour, (max(since, hour), min(end, hour + HOUR_US))


def _merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for since, until in sorted(spans):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(until, joined[-1][1]))
        else:
            joined.append((since, until))
    return joined
