"""Ordinals and timestamps that tell apart messages of the same instant."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from grandstand.apps.gatherer.domain.messages import DeltaMessage

_MAX_INSTANTS: Final = 16
_MAX_TIMESTAMPS: Final = 65_536
_MILLISECOND: Final = 1000
_Change: TypeAlias = tuple[bool, int, int]


class DeltaOrdinals:
    """Numbers identical deltas of one market at the same instant.

    Time moves forward on a stream, so only the current instant is kept in full; a few earlier ones
    are kept in case the clock steps back.
    """

    __slots__ = ("_counts", "_past", "_recent", "instant")

    def __init__(self) -> None:
        self.instant = -1
        self._recent: deque[DeltaMessage] = deque(maxlen=_MAX_INSTANTS)
        self._counts: dict[_Change, int] | None = None
        self._past: dict[int, dict[_Change, int]] = {}

    def number(self, exchange_ts: int, delta: DeltaMessage) -> int:
        """Return the number of identical deltas seen before at this instant."""
        if exchange_ts > self.instant:
            if self._counts is not None:
                self._remember(self.instant, self._counts)
                self._counts = None
            self.instant = exchange_ts
            self._recent.append(delta)
            return 0
        counts = (
            self._current_counts()
            if exchange_ts == self.instant
            else self._past_counts(exchange_ts)
        )
        change = (delta.side, delta.price, delta.size_delta)
        before = counts.get(change, 0)
        counts[change] = before + 1
        return before

    def _current_counts(self) -> dict[_Change, int]:
        if self._counts is None:
            self._counts = self._count_recent(self.instant)
        return self._counts

    def _past_counts(self, exchange_ts: int) -> dict[_Change, int]:
        counts = self._past.get(exchange_ts)
        if counts is None:
            counts = self._count_recent(exchange_ts)
            self._remember(exchange_ts, counts)
        return counts

    def _count_recent(self, exchange_ts: int) -> dict[_Change, int]:
        return {
            (delta.side, delta.price, delta.size_delta): 1
            for delta in self._recent
            if delta.exchange_ts == exchange_ts
        }

    def _remember(self, exchange_ts: int, counts: dict[_Change, int]) -> None:
        self._past[exchange_ts] = counts
        if len(self._past) > _MAX_INSTANTS:
            del self._past[next(iter(self._past))]


class TickerTimestamps:
    """Gives tickers of the same market and millisecond distinct timestamps.

    Two generations of a fixed size are kept, however many markets there are.
    """

    __slots__ = ("_new", "_old")

    def __init__(self) -> None:
        self._new: dict[tuple[str, int], int] = {}
        self._old: dict[tuple[str, int], int] = {}

    def assign(self, ticker: str, exchange_ts: int) -> int:
        """Return the timestamp to store, within the same millisecond."""
        start = exchange_ts - exchange_ts % _MILLISECOND
        key = (ticker, start)
        last = self._new.get(key, self._old.get(key))
        at = exchange_ts if last is None else max(exchange_ts, last + 1)
        at = min(at, start + _MILLISECOND - 1)
        if len(self._new) >= _MAX_TIMESTAMPS:
            self._old, self._new = self._new, {}
        self._new[key] = at
        return at


class MonotonicClock:
    """Strictly growing receive stamps, whatever the system clock does; one per process."""

    __slots__ = ("last",)

    def __init__(self, last: int = 0) -> None:
        self.last = last

    def next(self, now_us: int) -> int:
        """Return the current time, or one microsecond after the last stamp if that is later."""
        last = self.last + 1
        self.last = stamp = now_us if now_us > last else last  # noqa: FURB136 - for every frame
        return stamp
