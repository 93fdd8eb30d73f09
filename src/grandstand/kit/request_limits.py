"""Limits on incoming requests: size, time and rate per caller."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from grandstand.core.clock import Clock
from grandstand.core.errors import LimitReached


class TooManyRequests(LimitReached):
    """The caller exceeds the rate limit; `retry_after_seconds` says when to continue."""

    code = "too-many-requests"

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits on one request."""

    body_bytes: int = 1_000_000
    request_seconds: float = 30.0
    requests_per_minute: int = 600


class CallerRateLimiter:
    """A token bucket per caller, ten seconds deep.

    It counts within this process and forgets the caller that has been idle longest.
    """

    def __init__(self, per_minute: int, clock: Clock, *, most_callers: int = 10_000) -> None:
        self._per_second = per_minute / 60
        self._burst = max(1.0, per_minute / 6)
        self._clock = clock
        self._most = most_callers
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Take a request from the caller's bucket. Raises TooManyRequests."""
        now = self._clock.monotonic()
        left, at = self._left.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        if not allowed:
            wait = (1 - left) / self._per_second
            raise TooManyRequests(f"Too many requests. Wait {wait:.1f} s.", wait)
