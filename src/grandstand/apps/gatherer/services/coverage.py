"""Completeness of the recording: coverage by market and hour, gaps, and the daily report."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import Field

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain import coverage
from grandstand.apps.gatherer.domain.messages import Time
from grandstand.core.clock import Clock
from grandstand.kit.events import Events
from grandstand.kit.notify import Notification, Notifier
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window

DAY_US: Final = 86_400_000_000
_MICRO: Final = 1_000_000
_APP: Final = "gatherer"
_REPORT: Final = "report"
_HREF: Final = "/gatherer/coverage"
_FINISHED: Final = frozenset({"closed", "determined", "finalized", "gone"})
# A recorder writes a watermark about every second; after a minute without one it is not running.
_WATERMARK_TIMEOUT_US: Final = 60_000_000


@dataclass(frozen=True, slots=True)
class RecordingGap:
    """A gap and when it was closed; `markets` is None if all or unknown markets are affected."""

    detected_at: Time
    resolved_at: Time | None
    gatherer: str
    conn: int
    sid: int
    expected_seq: int
    got_seq: int | None
    channel: str | None
    reason: str | None
    markets: Annotated[tuple[str, ...] | None, Field(exclude=True)]


class CoverageService:
    """Computes coverage from the recorded series; times are receive times."""

    def __init__(
        self,
        engine: SeriesEngine,
        gatherer: str,
        *,
        clock: Clock,
        events: Events,
        notifier: Notifier,
    ) -> None:
        self._engine = engine
        self._gatherer = gatherer
        self._clock = clock
        self._events = events
        self._notifier = notifier

    async def hours(
        self, start: int, end: int, *, ticker: str | None = None
    ) -> tuple[coverage.HourCoverage, ...]:
        """Return the coverage of each market and hour in a period."""
        return await asyncio.to_thread(self._hours, start, end, ticker)

    async def gaps(self, start: int, end: int) -> tuple[RecordingGap, ...]:
        """Return the gaps found in a period, each once, with the time it was closed."""
        names = [field.name for field in fields(RecordingGap)]

        def read() -> tuple[RecordingGap, ...]:
            rows = self._gaps(start, end)
            return tuple(RecordingGap(*(getattr(row, name) for name in names)) for row in rows)

        return await asyncio.to_thread(read)

    async def report(self, start_us: int, end_us: int) -> coverage.CoverageReport:
        """Return the summary of a period."""
        return coverage.summarize(await self.hours(start_us, end_us), start_us, end_us)

    async def send_daily_report(self) -> coverage.CoverageReport | None:
        """Report on the last UTC day and notify; None if nothing was to be recorded."""
        end = int(self._clock.epoch() * _MICRO) // DAY_US * DAY_US
        report = await self.report(end - DAY_US, end)
        if not report.expected_us:
            return None
        day = datetime.fromtimestamp(report.start_us // _MICRO, UTC).date().isoformat()
        title = f"Recording of {day}: {'complete' if report.complete else 'incomplete'}"
        message = Notification(_APP, _REPORT, title, report.text(), _HREF)
        await self._events.record(_APP, _REPORT, f"{title}: {report.text()}", _HREF)
        await self._notifier.send(message, f"{_APP}:{self._gatherer}:{_REPORT}:{day}")
        return report

    def _hours(self, start: int, end: int, ticker: str | None) -> tuple[coverage.HourCoverage, ...]:
        for series in (store.SNAPSHOTS, store.GAPS, store.AUDITS, store.MARKET_EVENTS):
            self._engine.prepare(series)
        self._engine.prepare(store.SESSIONS)
        keys = () if ticker is None else (ticker,)
        # A market that was followed before has a book of the day before.
        first_books = self._first_books(start - DAY_US, end, keys)
        finished = self._finished(start - DAY_US, end, keys)
        periods = [
            coverage.MarketPeriod(name, max(since, start), finished.get(name))
            for name, since in first_books.items()
        ]
        outages = [
            coverage.MarketPeriod(name, max(gap.detected_at, start), gap.resolved_at)
            for gap in self._gaps(start - DAY_US, end)
            if (gap.resolved_at or end) >= start
            for name in (first_books if gap.markets is None else gap.markets)
            if name in first_books and _is_outage(gap, finished.get(name))
        ]
        outages += [
            coverage.MarketPeriod(name, since, None)
            for since in self._silence(end)
            for name in first_books
        ]
        audits = [
            coverage.AuditResult(row.ticker, row.audited_at, row.outcome == "equal")
            for row in self._engine.read(Window(store.AUDITS, start, end, keys))
            if row.gatherer == self._gatherer and row.outcome != "unsettled"
        ]
        cells = coverage.compute_coverage(periods, outages, audits, now=end)
        return tuple(cell for cell in cells if cell.expected_us or cell.gaps or cell.audited)

    def _first_books(self, start: int, end: int, keys: tuple[str, ...]) -> dict[str, int]:
        """Return when the first snapshot of each market was received."""
        first: dict[str, int] = {}
        for row in self._engine.read(Window(store.SNAPSHOTS, start, end, keys)):
            if row.source == "ws" and row.gatherer == self._gatherer:
                first.setdefault(row.ticker, row.snapshot_ts)
        return first

    def _finished(self, start: int, end: int, keys: tuple[str, ...]) -> dict[str, int]:
        """Return when each market finished, unless it was opened again."""
        finished: dict[str, int] = {}
        for row in self._engine.read(Window(store.MARKET_EVENTS, start, end, keys)):
            if row.status in _FINISHED:
                finished.setdefault(row.ticker, row.received_at)
            elif row.status is not None:
                finished.pop(row.ticker, None)
        return finished

    def _gaps(self, start: int, end: int) -> Iterator[store.GapRecord]:
        rows = [
            row
            for row in self._engine.read(Window(store.GAPS, start, end))
            if row.gatherer == self._gatherer
        ]
        closed = {row.gap_key: row.resolved_at for row in rows if row.resolved}
        for row in rows:
            if not row.resolved:
                yield row._replace(resolved_at=closed.get(row.gap_key))

    def _silence(self, end: int) -> Iterator[int]:
        """Yield since when nothing is recorded, if recording does not continue at the end."""
        window = Window(store.SESSIONS, 0, end, (self._gatherer,), order="newest", limit=50)
        rows = [*self._engine.read(window)]
        watermark = next((row.at for row in rows if row.what in ("whole", "stopped")), None)
        running = next((row.what for row in rows if row.what in ("started", "stopped")), "started")
        if watermark is not None and (
            running == "stopped" or end - watermark > _WATERMARK_TIMEOUT_US
        ):
            yield watermark


def _is_outage(gap: store.GapRecord, finished_at: int | None) -> bool:
    """Return whether a gap lies within the time a market was to be followed.

    A gap "left" without a connection means that a market was followed for the first time.
    """
    return gap.reason != "left" or bool(gap.conn and (finished_at is None or gap.resolved_at))
