"""Kept here: how complete a recording is, market by market and hour by hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

HOUR: Final = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """A market was to be recorded from `since` on; `until` None is still."""

    ticker: str
    since: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Hole:
    """A market's book was not true from `since` on; `until` None is not healed yet."""

    ticker: str
    since: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """A market's book was compared with what the exchange says over REST."""

    ticker: str
    at: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Covered:
    """One market in one hour: microseconds expected and seen, its gaps and its audits.

    A gap counts in the hour it began; it takes from what was seen in every hour it lasts.
    """

    ticker: str
    hour: int
    expected_us: int = 0
    seen_us: int = 0
    gaps: int = 0
    healed: int = 0
    audited: int = 0
    differed: int = 0

    @property
    def whole(self) -> bool:
        """Whether nothing that was expected was missed, and no audit differed."""
        return self.seen_us == self.expected_us and not self.differed


@dataclass(slots=True)
class _Cell:
    expected: list[tuple[int, int]] = field(default_factory=list)
    missed: list[tuple[int, int]] = field(default_factory=list)
    gaps: int = 0
    healed: int = 0
    audited: int = 0
    differed: int = 0


def coverage(
    stretches: Iterable[Stretch], holes: Iterable[Hole], audits: Iterable[Audit], *, now: int
) -> tuple[Covered, ...]:
    """Answer every market and hour there is something to say of, by market, then by time."""
    cells: dict[tuple[str, int], _Cell] = {}
    for each in stretches:
        for hour, span in _hours(each.since, each.until, now):
            cells.setdefault((each.ticker, hour), _Cell()).expected.append(span)
    for hole in holes:
        began = cells.setdefault((hole.ticker, _hour(hole.since)), _Cell())
        began.gaps += 1
        began.healed += hole.until is not None
        for hour, span in _hours(hole.since, hole.until, now):
            cells.setdefault((hole.ticker, hour), _Cell()).missed.append(span)
    for audit in audits:
        audited = cells.setdefault((audit.ticker, _hour(audit.at)), _Cell())
        audited.audited += 1
        audited.differed += not audit.exact
    return tuple(_covered(*key, cells[key]) for key in sorted(cells))


def _covered(ticker: str, hour: int, cell: _Cell) -> Covered:
    expected = _joined(cell.expected)
    lost = sum(
        max(0, min(until, over) - max(since, start))
        for since, until in _joined(cell.missed)
        for start, over in expected
    )
    length = sum(until - since for since, until in expected)
    return Covered(
        ticker=ticker,
        hour=hour,
        expected_us=length,
        seen_us=length - lost,
        gaps=cell.gaps,
        healed=cell.healed,
        audited=cell.audited,
        differed=cell.differed,
    )


def _hour(at: int) -> int:
    return at - at % HOUR


def _hours(since: int, until: int | None, now: int) -> Iterator[tuple[int, tuple[int, int]]]:
    end = now if until is None else min(until, now)
    for hour in range(_hour(since), end, HOUR):
        yield hour, (max(since, hour), min(end, hour + HOUR))


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for since, until in sorted(spans):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(until, joined[-1][1]))
        else:
            joined.append((since, until))
    return joined
