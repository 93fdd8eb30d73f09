"""Kept here: one gatherer as it is merged: a reader for each series, and its books that wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from grandstand.apps.gatherer.service.merging.placing import (
    QUIET_US,
    Placed,
    Waiting,
    bounded,
    first_after,
    followed,
    place,
)
from grandstand.apps.gatherer.service.merging.reading import Reader
from grandstand.apps.gatherer.service.merging.values import Pace, Source, Tally
from grandstand.apps.gatherer.store import (
    DELTAS,
    GAPS,
    KEYFRAMES,
    SESSIONS,
    SNAPSHOTS,
    TICKERS,
    TRADES,
    Followed,
    Gap,
    Keyframe,
    OrderbookDelta,
    OrderbookSnapshot,
    Session,
)
from grandstand.apps.gatherer.store.patterns import LATEST
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import Store

R = TypeVar("R", bound=tuple[Any, ...])


class MergedGatherer:
    """Reads one gatherer on from where it was merged to."""

    def __init__(self, source: Source, merged: SeriesEngine, tables: Store, pace: Pace) -> None:
        def reader(series: Series[R], *, held: bool = False, spare: bool = False) -> Reader[R]:
            return Reader(source, series, tables, pace, held=held, spare=spare)

        self.name = source.gatherer
        self.waiting = Waiting(source.gatherer)
        self._own = source.engine
        self._merged = merged
        self._overlap_us = pace.overlap_us
        self._trades = reader(TRADES)
        self._tickers = reader(TICKERS)
        self._gaps = reader(GAPS)
        self._deltas = reader(DELTAS)
        self._sessions = reader(SESSIONS, held=True)
        self._snapshots = reader(SNAPSHOTS, held=True)
        # Without keyframes nothing is lost but time: an older gatherer has none.
        self._keyframes = reader(KEYFRAMES, held=True, spare=True)
        self._readers: tuple[Reader[Any], ...] = (
            self._trades,
            self._tickers,
            self._gaps,
            self._deltas,
            self._sessions,
            self._snapshots,
            self._keyframes,
        )
        self._heard_from = self._books_from() - 2 * QUIET_US

    def following_us(self) -> int | None:
        """Answer the time of the next row that is to be merged; None when there is none."""
        found = (reader.following_us() for reader in self._readers)
        return min((time for time in found if time is not None), default=None)

    def read(self, now_us: int, until_us: int, *, recount: bool) -> Tally:
        """Merge what is new before a moment; raise Unavailable when a store does not answer."""
        total, sessions = Tally(), list[Session]()

        def hold(rows: Sequence[Session]) -> int:
            sessions.extend(rows)
            return 0

        def read(
            reader: Reader[R], take: Callable[[Sequence[R]], int], since_us: int = LATEST
        ) -> None:
            late = take if recount and reader is not self._keyframes else None
            if recount and reader is self._snapshots:
                late = self._take_polled  # type: ignore[assignment]
            # The bounds of a gap are looked up, so what follows it must be kept by now.
            end = min(until_us, now_us - self._overlap_us) if reader is self._gaps else until_us
            total.add(reader.read(take, now_us, since_us=since_us, until_us=end, late=late))

        # What says that all was kept is read first and kept last: it must not be in the merged
        # store before the rows it vouches for.
        before = self._sessions.cursor
        read(self._sessions, hold)
        after, self._sessions.cursor = self._sessions.cursor, before
        read(self._gaps, self._take_gaps)
        self._heard_from = heard_from = min(self._heard_from, self._deltas.start_us)
        read(self._snapshots, self._take_snapshots)
        read(self._keyframes, self._take_keyframes)
        read(self._deltas, self._take_deltas, heard_from)
        self._heard_from = self._deltas.start_us
        read(self._trades, self._take_trades)
        read(self._tickers, self._take_tickers)
        total.added += self._merged.append(SESSIONS, sessions)
        self._sessions.cursor = after
        self._sessions.confirm()
        return total

    def placed(self, until_us: int) -> tuple[list[Placed], list[Followed], int]:
        """Answer the books that have a place now, what they tell of, and how many have none."""
        found: list[Placed] = []
        heard: list[Followed] = []
        settled = self.waiting.settled(until_us)
        for told in settled:
            if told.late:
                told.next = first_after(told, self._own)
            placed = place(told, self.waiting, self._own, self._merged)
            if placed is not None:
                found.append(placed)
            since = followed(told, placed, self.name)
            if since is not None:
                heard.append(since)
        return found, heard, len(settled) - len(found)

    def confirm(self) -> None:
        """Say that all books but those that wait are merged, or left out for good."""
        oldest = self.waiting.oldest
        self._snapshots.confirm(oldest)
        self._keyframes.confirm(oldest)
        self.waiting.forget(self._books_from())

    def _books_from(self) -> int:
        return min(self._snapshots.start_us, self._keyframes.start_us)

    def _take_deltas(self, rows: Sequence[OrderbookDelta]) -> int:
        self.waiting.heard(rows)
        return self._merged.append(DELTAS, rows)

    def _take_trades(self, rows: Sequence[Any]) -> int:
        return self._merged.append(TRADES, rows)

    def _take_tickers(self, rows: Sequence[Any]) -> int:
        return self._merged.append(TICKERS, rows)

    def _take_gaps(self, rows: Sequence[Gap]) -> int:
        self.waiting.missed(rows)
        return self._merged.append(GAPS, [bounded(row, self._own) for row in rows])

    def _take_snapshots(self, rows: Sequence[OrderbookSnapshot]) -> int:
        self.waiting.tell((row for row in rows if row.source == "ws"), self._heard_from)
        return self._take_polled(rows)

    def _take_polled(self, rows: Sequence[OrderbookSnapshot]) -> int:
        return self._merged.append(SNAPSHOTS, [row for row in rows if row.source != "ws"])

    def _take_keyframes(self, rows: Sequence[Keyframe]) -> int:
        self.waiting.tell(rows, self._heard_from)
        return 0
