"""Kept here: how many pushes this instance has handed over, and how many a second lately."""

from __future__ import annotations

from collections import deque
from typing import Final

from grandstand.base.clock import Clock

_WINDOW_SECONDS: Final = 10.0


class Pushed:
    """Counts pushes as they are handed over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lately: deque[tuple[float, int]] = deque()
        self.delivered = 0
        self.rejected = 0

    def add(self, delivered: int, rejected: int) -> None:
        """Count pushes that were taken and that were rejected for good."""
        self.delivered += delivered
        self.rejected += rejected
        self._lately.append((self._clock.monotonic(), delivered + rejected))
        self._forget()

    @property
    def per_second(self) -> float:
        """The rate of the last ten seconds."""
        self._forget()
        return sum(count for _, count in self._lately) / _WINDOW_SECONDS

    def _forget(self) -> None:
        limit = self._clock.monotonic() - _WINDOW_SECONDS
        while self._lately and self._lately[0][0] < limit:
            self._lately.popleft()
