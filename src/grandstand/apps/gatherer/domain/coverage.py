"""Coverage: how complete a recording is, by market and hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from grandstand.apps.gatherer.domain.messages import Time

HOUR_US: Final = 3_600_000_000


class MarketPeriod(NamedTuple):
    """A period of a market; `until` is None if it has not ended."""

    ticker: str
    since: int
    until: int | None = None


class AuditResult(NamedTuple):
    """The book of a market was compared with REST."""

    ticker: str
    at: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Microseconds expected and recorded, gaps and audits.

    `complete` is computed: nothing is missing and no audit differed.
    """

    expected_us: int = 0
    seen_us: int = 0
    gaps: int = 0
    closed: int = 0
    audited: int = 0
    differed: int = 0
    complete: bool = False

    def __post_init__(self) -> None:
        complete = self.seen_us == self.expected_us and not self.differed
        object.__setattr__(self, "complete", complete)

    @property
    def share(self) -> str:
        """The recorded share in percent, never rounded up to 100 %."""
        if not self.expected_us:
            return "nothing"
        thousandths = self.seen_us * 100_000 // self.expected_us
        return f"{thousandths // 1000}.{thousandths % 1000:03} %"


@dataclass(frozen=True, slots=True)
class HourCoverage(Coverage):
    """One market in one hour.

    A gap counts in the hour it started, and reduces `seen_us` in every hour it lasts.
    """

    ticker: str
    hour: Time


@dataclass(frozen=True, slots=True)
class CoverageReport(Coverage):
    """All markets in a period."""

    start_us: Annotated[Time, Field(serialization_alias="start")]
    end_us: Annotated[Time, Field(serialization_alias="end")]
    markets: int

    def text(self) -> str:
        """Return the report as one line."""
        return (
            f"{self.markets} markets, {self.share} recorded; {self.gaps} gaps, {self.closed} "
            f"closed; {self.audited} books audited, {self.differed} differed"
        )


def summarize(cells: Iterable[HourCoverage], start_us: int, end_us: int) -> CoverageReport:
    """Add up the coverage of markets and hours."""
    cells = tuple(cells)
    names = ("expected_us", "seen_us", "gaps", "closed", "audited", "differed")
    sums = {name: sum(getattr(cell, name) for cell in cells) for name in names}
    return CoverageReport(start_us, end_us, len({cell.ticker for cell in cells}), **sums)


@dataclass(slots=True)
class _Cell:
    expected: list[tuple[int, int]] = field(default_factory=list)
    missed: list[tuple[int, int]] = field(default_factory=list)
    gaps: int = 0
    closed: int = 0
    audited: int = 0
    differed: int = 0


def compute_coverage(
    followed: Iterable[MarketPeriod],
    outages: Iterable[MarketPeriod],
    audits: Iterable[AuditResult],
    *,
    now: int,
) -> tuple[HourCoverage, ...]:
    """Return the coverage of each market and hour, sorted by market and time.

    A market was to be recorded while `followed`; its book was not valid during `outages`.
    """
    cells: dict[tuple[str, int], _Cell] = {}
    for period in followed:
        for hour, span in _hours(period.since, period.until, now):
            cells.setdefault((period.ticker, hour), _Cell()).expected.append(span)
    for outage in outages:
        first = cells.setdefault((outage.ticker, _hour(outage.since)), _Cell())
        first.gaps += 1
        first.closed += outage.until is not None
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
