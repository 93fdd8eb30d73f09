"""Kept here: how often each part of the feed may be asked in an hour."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from grandstand.base.clock import Clock

HOURLY: Final = 2000
_HOUR_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """Where a part stands after a call: refused when nothing was left for it."""

    limit: int
    remaining: int
    resets_at: float
    refused: bool

    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        """Answer what the feed tells of it along with an answer."""
        told = {
            "x-ratelimit-limit": self.limit,
            "x-ratelimit-remaining": self.remaining,
            "x-ratelimit-reset": math.ceil(self.resets_at),
        }
        if self.refused:
            told["retry-after"] = max(1, math.ceil(self.resets_at - now))
        return [(name.encode(), str(value).encode()) for name, value in told.items()]


@dataclass
class Budget:
    """A window for each part, which starts with the first call in it.

    `exhausted` counts by part how many windows were used up, `refused` how many calls came after.
    """

    clock: Clock
    hourly: int = HOURLY
    window_seconds: float = _HOUR_SECONDS
    exhausted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    _windows: dict[str, tuple[float, int]] = field(default_factory=dict)

    def spend(self, part: str) -> Allowance:
        """Count a call of a part."""
        now = self.clock.epoch()
        began, used = self._windows.get(part, (now, 0))
        if now >= began + self.window_seconds:
            began, used = now, 0
        refused = used >= self.hourly
        used += not refused
        self._windows[part] = began, used
        if refused:
            self.refused[part] += 1
        elif used == self.hourly:
            self.exhausted[part] += 1
        return Allowance(self.hourly, self.hourly - used, began + self.window_seconds, refused)

    @property
    def used(self) -> dict[str, int]:
        """How many calls each part has answered in its present window."""
        return {part: used for part, (_, used) in self._windows.items()}
