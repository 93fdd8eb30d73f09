"""Kept here: the merger: what any number of gatherers recorded, put together once each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from grandstand.apps.gatherer.service.asking.books import Books
from grandstand.apps.gatherer.service.asking.covering import uncovered
from grandstand.apps.gatherer.service.merging.gatherer import MergedGatherer
from grandstand.apps.gatherer.service.merging.placing import Placed
from grandstand.apps.gatherer.service.merging.values import Lag, Pace, Source, Tally
from grandstand.apps.gatherer.store import (
    AUDITS,
    DELTAS,
    FOLLOWED,
    GAPS,
    KEYFRAMES,
    SESSIONS,
    SNAPSHOTS,
    TICKERS,
    TRADES,
    Audit,
    Followed,
    Keyframe,
    SyncCursor,
)
from grandstand.apps.gatherer.store.keyframes import parse_levels
from grandstand.apps.gatherer.store.patterns import LATEST
from grandstand.base.clock import Clock
from grandstand.base.errors import NotFound, Unavailable
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import Store

MERGED: Final[tuple[Series[Any], ...]] = (
    TRADES,
    DELTAS,
    SNAPSHOTS,
    TICKERS,
    GAPS,
    SESSIONS,
    KEYFRAMES,
    AUDITS,
    FOLLOWED,
)


class Merger:
    """Puts the rows of gatherers into one store, each once, by what makes them the same row.

    Snapshots are kept under their place in exchange time, since receive stamps of two gatherers
    do not compare; one without a certain place is left out. Each is compared with the book that
    was merged so far: where they differ, the difference is kept as an audit and the book begins
    anew. A merger that was killed goes on where its cursors are.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        merged: SeriesEngine,
        tables: Store,
        *,
        clock: Clock,
        pace: Pace | None = None,
    ) -> None:
        self._merged = merged
        self._tables = tables
        self._clock = clock
        self._pace = pace or Pace()
        self._books = Books(merged, merged=True)
        self._gatherers = [MergedGatherer(source, merged, tables, self._pace) for source in sources]
        self._recounted_us: int | None = None

    def prepare(self) -> None:
        """Make the series of the merged store, if they are not there."""
        for series in MERGED:
            self._merged.prepare(series)

    def round(self, *, recount: bool | None = None) -> Tally:
        """Merge what is new of every gatherer, and answer what was done.

        A gatherer whose rows cannot be read or kept is passed over and named. Rows that came late
        are looked for when it is time, or as `recount` says. Raises Unavailable when the merged
        store or the tables do not answer.
        """
        now = self._now()
        since = self._recounted_us
        due = since is None or now - since >= self._pace.recount_us
        counting = due if recount is None else recount
        total = Tally()
        until = self._until(total)
        for gatherer in self._gatherers:
            if gatherer.name not in total.failed:
                try:
                    total.add(gatherer.read(now, until, recount=counting))
                except (NotFound, Unavailable) as fault:
                    total.failed[gatherer.name] = str(fault)
        if counting:
            self._recounted_us = now
        total.more = until < now
        self._place(min(now, until) - self._pace.overlap_us, total)
        total.waiting = sum(len(gatherer.waiting) for gatherer in self._gatherers)
        return total

    def _until(self, total: Tally) -> int:
        """Answer how far this round goes; note the gatherers that cannot be read."""
        following = []
        for gatherer in self._gatherers:
            try:
                following.append(gatherer.following_us())
            except (NotFound, Unavailable) as fault:
                total.failed[gatherer.name] = str(fault)
        times = [time for time in following if time is not None]
        return min(times) + self._pace.slice_us if times else LATEST

    def lags(self) -> tuple[Lag, ...]:
        """Answer how far each series of each gatherer is merged."""
        now = self._now()
        return tuple(
            Lag(each.gatherer, each.series, each.position_us, now - each.position_us, each.rows)
            for gatherer in self._gatherers
            for each in self._tables(SyncCursor.of_gatherer(gatherer.name))
        )

    def _place(self, until_us: int, total: Tally) -> None:
        found: list[Placed] = []
        heard: list[Followed] = []
        for gatherer in self._gatherers:
            if gatherer.name not in total.failed:
                placed, followed, unplaced = gatherer.placed(until_us)
                found += placed
                heard += followed
                total.unplaced += unplaced
        self._merged.append(FOLLOWED, heard)
        total.placed += len(found)
        found.sort(key=lambda each: (each.at_us, each.row.ticker))
        audits = [audit for each in found if (audit := self._audited(each)) is not None]
        self._merged.append(
            KEYFRAMES, [each.row for each in found if isinstance(each.row, Keyframe)]
        )
        self._merged.append(AUDITS, audits)
        different = sum(audit.outcome == "different" for audit in audits)
        total.audited += len(audits) - different
        total.holes += different
        for gatherer in self._gatherers:
            gatherer.confirm()

    def _audited(self, placed: Placed) -> Audit | None:
        """Compare a snapshot with the merged book, and keep it; None when it is the first."""
        row = placed.row
        if isinstance(row, Keyframe):
            return None
        before = self._books.plain(row.ticker, placed.at_us)
        self._merged.append(SNAPSHOTS, [row])
        if before.base_us is None:
            return None
        told = tuple(sorted(parse_levels(row.yes_bids).items()))
        told_no = tuple(sorted(parse_levels(row.no_bids).items()))
        equal = not before.bad and (before.yes, before.no) == (told, told_no)
        # What no gatherer heard explains a difference, and from when on.
        base = before.base_us
        missed = None if equal else uncovered(self._merged, row.ticker, base, placed.at_us)
        return Audit(
            audited_at=placed.at_us,
            ticker=row.ticker,
            gatherer=placed.gatherer,
            against="snapshot",
            outcome="equal" if equal else "different",
            since=base if missed is None else missed.start,
        )

    def _now(self) -> int:
        return int(self._clock.epoch() * 1_000_000)
