"""Kept here: recorded rows in the order they were heard, or, of a merged store, happened."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any, Final, TypeAlias, TypeVar

from grandstand.apps.gatherer.model.rows import OrderbookDelta, Row
from grandstand.apps.gatherer.service.replaying.columns import batches, batches_by
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window

R = TypeVar("R", bound=tuple[Any, ...])
Step: TypeAlias = tuple[int, Row]
Position: TypeAlias = Callable[[Any], int]

# Receive time is at most this much before exchange time, because clocks differ.
_AHEAD_US: Final = 2_000_000
_first: Final = itemgetter(0)


def heard(engine: SeriesEngine, window: Window[R]) -> Iterator[list[R]]:
    """Answer the rows of a window by their receive stamps, some thousands at a time.

    Stores keep them by exchange time; those of about the same time are held and sorted.
    """
    return filter(None, batches_by(engine, window, "received_at", _AHEAD_US))


def happened(
    engine: SeriesEngine, window: Window[OrderbookDelta]
) -> Iterator[list[OrderbookDelta]]:
    """Answer changes by exchange time; of one instant what is added comes first.

    Stamps of several gatherers do not tell what came first within an instant, and a level must
    not go below nothing on the way.
    """
    left: list[OrderbookDelta] = []
    for rows in batches(engine, window):
        left += rows
        cut = bisect_left(left, rows[-1].exchange_ts, key=_first)
        if cut:
            yield sorted(left[:cut], key=_additions_first)
            del left[:cut]
    if left:
        yield sorted(left, key=_additions_first)


def woven(
    deltas: Iterable[list[OrderbookDelta]],
    position: Position,
    others: Iterable[Iterable[Step]],
) -> Iterator[Step]:
    """Weave other rows between changes; a book comes after the changes of its own position."""
    waiting = heapq.merge(*others, key=_first)
    other = next(waiting, None)
    for rows in deltas:
        places = [*map(position, rows)]
        done, last = 0, places[-1]
        while other is not None and other[0] < last:
            upto = bisect_right(places, other[0], done)
            yield from zip(places[done:upto], rows[done:upto], strict=True)
            yield other
            done, other = upto, next(waiting, None)
        yield from zip(places[done:], rows[done:], strict=True)
    if other is not None:
        yield other
        yield from waiting


def _additions_first(delta: OrderbookDelta) -> tuple[int, bool]:
    return delta.exchange_ts, delta.size_delta < 0
