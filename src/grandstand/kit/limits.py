"""Kept here: how much one caller may ask for: the size of a body, the time, and how often."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.errors import LimitReached

_MOST_CALLERS: Final = 10_000


class AskedTooOften(LimitReached):
    """One caller asks more often than is allowed; `retry_after_seconds` says when to go on."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take."""

    body_bytes: int = 1_000_000
    request_seconds: float = 30.0
    requests_per_minute: int = 600


class Pace:
    """How often each caller may ask: a bucket each, that holds ten seconds' worth.

    It counts in this process only and forgets whoever has been silent longest.
    """

    def __init__(self, per_minute: int, clock: Clock, *, most_callers: int = _MOST_CALLERS) -> None:
        self._per_second = per_minute / 60
        self._burst = max(1.0, per_minute / 6)
        self._clock = clock
        self._most = most_callers
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Take one request out of a caller's bucket; raise AskedTooOften when it is empty."""
        now = self._clock.monotonic()
        left, at = self._left.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        if not allowed:
            wait = (1 - left) / self._per_second
            raise AskedTooOften(f"Too many requests: wait {wait:.1f} s, then go on", wait)
