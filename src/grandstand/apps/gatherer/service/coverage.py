"""Kept here: how complete a recording is, read from what was recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.coverage import Audit, Covered, Hole, Stretch, coverage
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window

_DAY_US: Final = 86_400_000_000
_OVER: Final = frozenset({"closed", "determined", "finalized", "gone"})


class Coverage:
    """Completeness as a question: of each market and hour, what was expected and what was seen."""

    def __init__(self, engine: SeriesEngine, gatherer: str) -> None:
        self._engine = engine
        self._gatherer = gatherer

    async def read(self, start: int, end: int, *, ticker: str | None = None) -> tuple[Covered, ...]:
        """Answer every market and hour from one moment up to another, in receive time.

        Raises Unavailable when the series do not answer.
        """
        return await asyncio.to_thread(self._read, start, end, ticker)

    async def gaps(self, start: int, end: int) -> tuple[store.Gap, ...]:
        """Answer the gaps found from one moment up to another, each once, with its end."""
        return await asyncio.to_thread(lambda: tuple(self._gaps(start, end)))

    def _read(self, start: int, end: int, ticker: str | None) -> tuple[Covered, ...]:
        for series in (store.SNAPSHOTS, store.GAPS, store.AUDITS, store.MARKET_EVENTS):
            self._engine.prepare(series)
        self._engine.prepare(store.SESSIONS)
        keys = () if ticker is None else (ticker,)
        # A market that was followed before is told by its last book of the day before.
        first = self._first_books(start - _DAY_US, end, keys)
        over = self._over(start - _DAY_US, end, keys)
        stretches = [
            Stretch(name, max(since, start), over.get(name)) for name, since in first.items()
        ]
        holes = [
            Hole(name, max(gap.detected_at, start), gap.resolved_at)
            for gap in self._gaps(start - _DAY_US, end)
            if (gap.resolved_at or end) >= start
            for name in _concerned(gap, first)
            if name in first and _is_hole(gap, over.get(name))
        ]
        holes += [Hole(name, since, None) for since in self._silence(end) for name in first]
        audits = [
            Audit(row.ticker, row.audited_at, row.outcome == "equal")
            for row in self._engine.read(Window(store.AUDITS, start, end, keys))
            if row.gatherer == self._gatherer and row.outcome != "unsettled"
        ]
        found = coverage(stretches, holes, audits, now=end)
        return tuple(each for each in found if each.expected_us or each.gaps or each.audited)

    def _first_books(self, start: int, end: int, keys: tuple[str, ...]) -> dict[str, int]:
        found: dict[str, int] = {}
        for row in self._engine.read(Window(store.SNAPSHOTS, start, end, keys)):
            if row.source == "ws" and row.gatherer == self._gatherer:
                found.setdefault(row.ticker, row.snapshot_ts)
        return found

    def _over(self, start: int, end: int, keys: tuple[str, ...]) -> dict[str, int]:
        found: dict[str, int] = {}
        for row in self._engine.read(Window(store.MARKET_EVENTS, start, end, keys)):
            if row.status in _OVER:
                found.setdefault(row.ticker, row.received_at)
            elif row.status is not None:
                found.pop(row.ticker, None)
        return found

    def _gaps(self, start: int, end: int) -> Iterator[store.Gap]:
        rows = [
            row
            for row in self._engine.read(Window(store.GAPS, start, end))
            if row.gatherer == self._gatherer
        ]
        closed = {row.place: row.resolved_at for row in rows if row.resolved}
        for row in rows:
            if not row.resolved:
                yield row._replace(resolved_at=closed.get(row.place))

    def _silence(self, end: int) -> Iterator[int]:
        """Answer since when nothing is recorded, if recording does not go on at the end."""
        window = Window(store.SESSIONS, 0, end, (self._gatherer,), order="newest", most=50)
        rows = [*self._engine.read(window)]
        relied = next((row.at for row in rows if row.what in ("whole", "stopped")), None)
        running = next((row.what for row in rows if row.what in ("started", "stopped")), "started")
        if relied is not None and (running == "stopped" or end - relied > _LATE_US):
            yield relied


_LATE_US: Final = 60_000_000


def _concerned(gap: store.Gap, known: Iterable[str]) -> Iterable[str]:
    """Answer the markets of a gap: all there are when it is not known which."""
    named = gap.named
    return known if named is None else named


def _is_hole(gap: store.Gap, over_at: int | None) -> bool:
    """Tell whether a market was to be followed in a gap: before it was, and after it is over, not.

    One that belongs to no connection tells that a market was followed for the first time.
    """
    return gap.reason != "left" or bool(gap.conn and (over_at is None or gap.resolved_at))
