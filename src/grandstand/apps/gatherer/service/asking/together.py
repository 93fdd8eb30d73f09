"""Kept here: the rows around several instants of one market, read once for all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar

from grandstand.apps.gatherer.store import DELTAS
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.window import Window

R = TypeVar("R", bound=tuple[Any, ...])

# Instants further apart than this have too little in common.
_APART_US: Final = 600_000_000
# Of changes only those close by are held; of the rest, which is little, all that may be asked for.
_CHANGES_US: Final = (610_000_000, 70_000_000)
_OTHERS_US: Final = (2 * 3600 * 1_000_000, 25 * 3600 * 1_000_000)


class Readable(Protocol):
    """Something windows are read from, as from an engine."""

    def read(self, window: Window[R]) -> Iterator[R]:
        """Answer the rows of a window, in its order."""
        ...


class Together:
    """What an engine has around a stretch of time, each part read when it is first asked for.

    Any window is answered as the engine would; what is not close to the stretch is read anew.
    """

    def __init__(self, engine: Readable, first_us: int, last_us: int) -> None:
        self._engine = engine
        self._first = first_us
        self._last = last_us
        self._held: dict[tuple[str, tuple[str, ...]], list[Any]] = {}
        self._before: dict[Window[Any], list[Any]] = {}

    def read(self, window: Window[R]) -> Iterator[R]:
        """Answer the rows of a window, in its order."""
        series, newest = window.series, window.order == "newest"
        if series is DELTAS and not window.keys:
            return self._engine.read(window)
        before, after = _CHANGES_US if series is DELTAS else _OTHERS_US
        start, end = max(0, self._first - before), self._last + after
        inner = self._inner(window, start, end)
        parts: list[Iterable[R]] = [inner[::-1] if newest else inner]
        if window.start < start:
            earlier = replace(window, end=min(start, window.end))
            parts.insert(len(parts) if newest else 0, self._outer(earlier))
        if window.end > end:
            later = replace(window, start=max(end, window.start))
            parts.insert(0 if newest else len(parts), self._outer(later))
        return islice(chain.from_iterable(parts), window.most)

    def _inner(self, window: Window[R], start: int, end: int) -> Sequence[R]:
        series = window.series
        rows = self._held.get((series.name, window.keys))
        if rows is None:
            rows = [*self._engine.read(Window(series, start, end, window.keys))]
            self._held[series.name, window.keys] = rows
        time = _time(series)
        low = bisect_left(rows, window.start, key=time)
        return rows[low : bisect_left(rows, window.end, lo=low, key=time)]

    def _outer(self, window: Window[R]) -> Iterator[R]:
        """Answer what lies outside, read when it is needed; what is little is read once."""
        if window.most is None:
            yield from self._engine.read(window)
            return
        if window not in self._before:
            self._before[window] = [*self._engine.read(window)]
        yield from self._before[window]


def together(engine: Readable, instants: Iterable[int]) -> Iterator[tuple[Readable, list[int]]]:
    """Answer instants in their order, those that are close to each other with what to ask."""
    some: list[int] = []
    for at in sorted({*instants}):
        if some and at - some[0] > _APART_US:
            yield Together(engine, some[0], some[-1]), some
            some = []
        some.append(at)
    if some:
        yield Together(engine, some[0], some[-1]), some


def _time(series: Series[R]) -> Callable[[R], int]:
    return attrgetter(series.time)
