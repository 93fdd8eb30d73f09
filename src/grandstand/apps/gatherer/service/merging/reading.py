"""Kept here: one series of one gatherer, read on from where it was merged to, late rows too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import Any, Generic, TypeVar

from grandstand.apps.gatherer.service.merging.values import Pace, Source, Tally
from grandstand.apps.gatherer.store import SyncCursor
from grandstand.apps.gatherer.store.patterns import EARLIEST, LATEST
from grandstand.base.errors import NotFound
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window
from grandstand.storage.tables import Store

R = TypeVar("R", bound=tuple[Any, ...])


class Reader(Generic[R]):
    """Reads a series from its cursor on, and hands every row over at least once.

    A cursor is moved only after its rows were taken, and where it is `held` only when told to.
    Whatever is read twice, because of the overlap or after a stop in the middle, must be the same
    to whoever takes it. A series that is `spare` may not be there at all.
    """

    def __init__(
        self,
        source: Source,
        series: Series[R],
        tables: Store,
        pace: Pace,
        *,
        held: bool = False,
        spare: bool = False,
    ) -> None:
        self._held = held
        self._missing: tuple[type[NotFound], ...] = (NotFound,) if spare else ()
        self._source = source
        self._series = series
        self._tables = tables
        self._pace = pace
        self._time = series.fields.index(series.time)
        found = tables(SyncCursor.of_series(source.gatherer, series.name))
        self.cursor = found or SyncCursor(gatherer=source.gatherer, series=series.name)

    @property
    def start_us(self) -> int:
        """Where reading begins: the overlap before the last row."""
        return max(EARLIEST, self.cursor.position_us - self._pace.overlap_us)

    def read(
        self,
        take: Callable[[Sequence[R]], int],
        now_us: int,
        *,
        since_us: int = LATEST,
        until_us: int = LATEST,
        late: Callable[[Sequence[R]], int] | None = None,
    ) -> Tally:
        """Hand over what is new, and what is not older than `since_us`, oldest first.

        With `late` it is also handed chunks behind the cursor that have other counts than when
        they were last read: some of their rows came late.
        """
        counts = {} if late is None else self._counts()
        tally, start = Tally(), min(self.start_us, since_us)
        for rows in self._batches(Window(self._series, start, until_us)):
            added = take(rows)
            tally.read += len(rows)
            tally.added += added
            # A time that is still to come must not hide what comes before it.
            position = max(self.cursor.position_us, min(rows[-1][self._time], now_us))
            self._keep(position_us=position, merged_us=now_us, rows=self.cursor.rows + added)
        if late is not None:
            self._late(counts, start, late, tally)
        return tally

    def following_us(self) -> int | None:
        """Answer the time of the next row that is to be read; None when there is none."""
        window = Window(self._series, self.cursor.position_us + 1, LATEST, most=1)
        row = None
        with suppress(*self._missing):
            row = next(self._source.engine.read(window), None)
        return None if row is None else int(row[self._time])

    def _counts(self) -> dict[int, tuple[int, int]]:
        """Answer the end and the rows of each chunk, by its start."""
        try:
            chunks = self._source.engine.status(self._series).chunks
        except self._missing:
            return {}
        return {chunk.start: (chunk.end, chunk.rows + chunk.late) for chunk in chunks}

    def _late(
        self,
        counts: dict[int, tuple[int, int]],
        read_from: int,
        take: Callable[[Sequence[R]], int],
        tally: Tally,
    ) -> None:
        before: dict[str, int] = json.loads(self.cursor.counted)
        counted = {start: rows for start, rows in before.items() if int(start) in counts}
        for start, (end, rows) in counts.items():
            if end > self.start_us or counted.get(str(start)) == rows:
                continue
            late = 0
            if start < read_from:
                for batch in self._batches(Window(self._series, start, end)):
                    tally.read += len(batch)
                    late += take(batch)
            tally.late += late
            tally.added += late
            counted[str(start)] = rows
            self._keep(counted=json.dumps(counted), rows=self.cursor.rows + late)
        if counted != before:
            self._keep(counted=json.dumps(counted))

    def _keep(self, **changes: object) -> None:
        self.cursor = self.cursor.replace(**changes)
        if not self._held:
            self._tables(self.cursor.keep())

    def confirm(self, before_us: int | None = None) -> None:
        """Keep a held cursor, at most at a time that is still needed."""
        position = self.cursor.position_us
        if before_us is not None:
            position = min(position, before_us)
        self._tables(self.cursor.replace(position_us=position).keep())

    def _batches(self, window: Window[R]) -> Iterator[list[R]]:
        engine: SeriesEngine = self._source.engine
        found = engine.read(window)
        with closing(found), suppress(*self._missing):  # type: ignore[type-var]
            while batch := [*islice(found, self._pace.batch_rows)]:
                yield batch
