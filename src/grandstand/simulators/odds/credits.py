"""Kept here: what the feed's questions cost, and what an account has left."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from grandstand.base.clock import Clock

CREDITS: Final = 20_000
PER_SECOND: Final = 30


@dataclass
class Account:
    """A month's credits; what costs nothing is always answered, and too many a second are not."""

    clock: Clock
    credits: int = CREDITS
    per_second: int = PER_SECOND
    used: int = 0
    last: int = 0
    _asked: deque[float] = field(default_factory=deque)

    @property
    def remaining(self) -> int:
        """What is left."""
        return max(0, self.credits - self.used)

    def too_often(self) -> bool:
        """Count a question; tell whether there were too many within a second."""
        now = self.clock.epoch()
        while self._asked and self._asked[0] <= now - 1:
            self._asked.popleft()
        self._asked.append(now)
        return len(self._asked) > self.per_second

    def spend(self, cost: int) -> None:
        """Take what an answer costs."""
        self.used += cost
        self.last = cost

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Answer what is told of it along with an answer."""
        told = {
            "x-requests-remaining": self.remaining,
            "x-requests-used": self.used,
            "x-requests-last": self.last,
        }
        return [(name.encode(), str(value).encode()) for name, value in told.items()]
