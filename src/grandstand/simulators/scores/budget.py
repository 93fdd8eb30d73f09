"""Kept here: how often each part of the feed may be asked in an hour."""

from __future__ import annotations

import math
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
    """A window for each part, which starts with the first call in it."""

    clock: Clock
    hourly: int = HOURLY
    _windows: dict[str, tuple[float, int]] = field(default_factory=dict)

    def spend(self, part: str) -> Allowance:
        """Count a call of a part."""
        now = self.clock.epoch()
        began, used = self._windows.get(part, (now, 0))
        if now >= began + _HOUR_SECONDS:
            began, used = now, 0
        refused = used >= self.hourly
        used += not refused
        self._windows[part] = began, used
        return Allowance(self.hourly, self.hourly - used, began + _HOUR_SECONDS, refused)

    @property
    def used(self) -> dict[str, int]:
        """How many calls each part has answered in its present window."""
        return {part: used for part, (_, used) in self._windows.items()}
