"""Kept here: telling apart what happens at one instant: twins of a delta, repeats of a summary."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from grandstand.apps.gatherer.model.messages import Delta

_REMEMBERED: Final = 16
_GENERATION: Final = 65_536
_MILLISECOND: Final = 1000
_What: TypeAlias = tuple[bool, int, int]


class Ordinals:
    """The deltas of one market at its latest instants, so that a twin gets the next number.

    Time goes forward on a stream, so only the present instant is kept whole; the few before it
    are remembered for a clock that steps back.
    """

    __slots__ = ("_past", "_recent", "_twins", "instant")

    def __init__(self) -> None:
        self.instant = -1
        self._recent: deque[Delta] = deque(maxlen=_REMEMBERED)
        self._twins: dict[_What, int] | None = None
        self._past: dict[int, dict[_What, int]] = {}

    def number(self, exchange_ts: int, delta: Delta) -> int:
        """Answer how many deltas like this one this instant has had before."""
        if exchange_ts > self.instant:
            if self._twins is not None:
                self._remember(self.instant, self._twins)
                self._twins = None
            self.instant = exchange_ts
            self._recent.append(delta)
            return 0
        counts = self._present() if exchange_ts == self.instant else self._former(exchange_ts)
        what = (delta.side, delta.price, delta.size_delta)
        before = counts.get(what, 0)
        counts[what] = before + 1
        return before

    def _present(self) -> dict[_What, int]:
        if self._twins is None:
            self._twins = self._seen(self.instant)
        return self._twins

    def _former(self, exchange_ts: int) -> dict[_What, int]:
        counts = self._past.get(exchange_ts)
        if counts is None:
            counts = self._seen(exchange_ts)
            self._remember(exchange_ts, counts)
        return counts

    def _seen(self, exchange_ts: int) -> dict[_What, int]:
        return {
            (delta.side, delta.price, delta.size_delta): 1
            for delta in self._recent
            if delta.exchange_ts == exchange_ts
        }

    def _remember(self, exchange_ts: int, counts: dict[_What, int]) -> None:
        self._past[exchange_ts] = counts
        if len(self._past) > _REMEMBERED:
            del self._past[next(iter(self._past))]


class Repeats:
    """Summaries of markets told within one millisecond: each is a microsecond after the last.

    Two generations of a fixed size are remembered, however many markets there are.
    """

    __slots__ = ("_new", "_old")

    def __init__(self) -> None:
        self._new: dict[tuple[str, int], int] = {}
        self._old: dict[tuple[str, int], int] = {}

    def place(self, ticker: str, exchange_ts: int) -> int:
        """Answer the microsecond a summary is kept at; its millisecond stays the true one."""
        start = exchange_ts - exchange_ts % _MILLISECOND
        key = (ticker, start)
        last = self._new.get(key, self._old.get(key))
        at = exchange_ts if last is None else max(exchange_ts, last + 1)
        at = min(at, start + _MILLISECOND - 1)
        if len(self._new) >= _GENERATION:
            self._old, self._new = self._new, {}
        self._new[key] = at
        return at
