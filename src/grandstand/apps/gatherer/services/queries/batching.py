"""Reads the rows around several instants of one market once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar

from grandstand.apps.gatherer.store import DELTAS
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.query import Window

R = TypeVar("R", bound=tuple[Any, ...])

# Instants further apart share too few rows.
_MAX_SPAN_US: Final = 600_000_000
# Deltas are held only close by; of other series, which are small, everything that may be needed.
_DELTA_MARGINS_US: Final = (610_000_000, 70_000_000)
_OTHER_MARGINS_US: Final = (2 * 3600 * 1_000_000, 25 * 3600 * 1_000_000)


class RowReader(Protocol):
    """Something windows can be read from, such as a series engine."""

    def read(self, window: Window[R]) -> Iterator[R]:
        """Return the rows of a window in its order."""
        ...


class CachedWindows:
    """The rows of an engine around a period, each part read on first use.

    Windows are answered as by the engine; rows far from the period are read again.
    """

    def __init__(self, engine: RowReader, first_us: int, last_us: int) -> None:
        self._engine = engine
        self._first = first_us
        self._last = last_us
        self._rows: dict[tuple[str, tuple[str, ...]], list[Any]] = {}
        self._before: dict[Window[Any], list[Any]] = {}

    def read(self, window: Window[R]) -> Iterator[R]:
        """Return the rows of a window, in its order."""
        series, newest = window.series, window.order == "newest"
        if series is DELTAS and not window.keys:
            return self._engine.read(window)
        before, after = _DELTA_MARGINS_US if series is DELTAS else _OTHER_MARGINS_US
        start, end = max(0, self._first - before), self._last + after
        inner = self._inner(window, start, end)
        parts: list[Iterable[R]] = [inner[::-1] if newest else inner]
        if window.start < start:
            earlier = replace(window, end=min(start, window.end))
            parts.insert(len(parts) if newest else 0, self._outer(earlier))
        if window.end > end:
            later = replace(window, start=max(end, window.start))
            parts.insert(0 if newest else len(parts), self._outer(later))
        return islice(chain.from_iterable(parts), window.limit)

    def _inner(self, window: Window[R], start: int, end: int) -> Sequence[R]:
        series = window.series
        rows = self._rows.get((series.name, window.keys))
        if rows is None:
            rows = [*self._engine.read(Window(series, start, end, window.keys))]
            self._rows[series.name, window.keys] = rows
        time = _time(series)
        low = bisect_left(rows, window.start, key=time)
        return rows[low : bisect_left(rows, window.end, lo=low, key=time)]

    def _outer(self, window: Window[R]) -> Iterator[R]:
        """Yield rows outside the period; small windows are cached."""
        if window.limit is None:
            yield from self._engine.read(window)
            return
        if window not in self._before:
            self._before[window] = [*self._engine.read(window)]
        yield from self._before[window]


def batch_instants(
    engine: RowReader, instants: Iterable[int]
) -> Iterator[tuple[RowReader, list[int]]]:
    """Group instants that are close to each other, each group with a reader."""
    batch: list[int] = []
    for at in sorted({*instants}):
        if batch and at - batch[0] > _MAX_SPAN_US:
            yield CachedWindows(engine, batch[0], batch[-1]), batch
            batch = []
        batch.append(at)
    if batch:
        yield CachedWindows(engine, batch[0], batch[-1]), batch


def _time(series: Series[R]) -> Callable[[R], int]:
    return attrgetter(series.time)
