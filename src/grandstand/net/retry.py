"""Retries with exponential backoff, a deadline and a retry budget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Final

from grandstand.core.clock import Clock
from grandstand.net.errors import (
    InvalidResponse,
    NetworkError,
    RateLimited,
    SourceServerError,
    SourceTimeout,
    SourceUnreachable,
)
from grandstand.net.rate_limits import Sleep

# A Retry-After of more than a day is not believed.
_MAX_RETRY_AFTER_SECONDS: Final = 86_400.0
_TRANSIENT: Final = (
    SourceTimeout,
    SourceUnreachable,
    SourceServerError,
    RateLimited,
    InvalidResponse,
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Attempts, doubling waits, and a deadline for all attempts of one request.

    At most a share of `budget` of all requests is retried, plus `spare` retries at the start, so
    that a failing source does not get a multiple of its usual load.
    """

    tries: int = 4
    first_seconds: float = 0.25
    most_seconds: float = 20.0
    within_seconds: float = 60.0
    budget: float = 0.2
    spare: int = 10


class RetryBudget:
    """The retries a source may still get: requests add to it, retries take from it."""

    def __init__(self, retries: RetryPolicy) -> None:
        self._share = retries.budget
        self._most = float(retries.spare)
        self._left = self._most

    def deposit(self) -> None:
        """Count a first attempt."""
        self._left = min(self._most, self._left + self._share)

    def withdraw(self) -> bool:
        """Take one retry from the budget, if there is one."""
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class RetryState:
    """The attempts of one request so far."""

    def __init__(
        self,
        retries: RetryPolicy,
        budget: RetryBudget,
        *,
        clock: Clock,
        random: Random,
        sleep: Sleep = asyncio.sleep,
        repeatable: bool,
    ) -> None:
        self._retries = retries
        self._budget = budget
        self._clock = clock
        self._random = random
        self._sleep = sleep
        self._repeatable = repeatable
        self._until = clock.monotonic() + retries.within_seconds
        self._failed = 0
        self.wait_seconds = 0.0

    @property
    def left_seconds(self) -> float:
        """The seconds left until the deadline."""
        return self._until - self._clock.monotonic()

    def should_retry(self, error: Exception) -> bool:
        """Return whether to retry after an error, and set the wait before it."""
        if not isinstance(error, NetworkError) or not self._may_repeat(error):
            return False
        self._failed += 1
        wait = self._backoff(error)
        if self._failed >= self._retries.tries or wait >= self.left_seconds:
            return False
        if not self._budget.withdraw():
            return False
        self.wait_seconds = wait
        return True

    async def wait(self) -> None:
        """Wait before the next attempt."""
        wait, self.wait_seconds = self.wait_seconds, 0.0
        if wait > 0:
            await self._sleep(wait)

    def _may_repeat(self, error: NetworkError) -> bool:
        if not isinstance(error, _TRANSIENT):
            return False
        untouched = isinstance(error, SourceUnreachable) and not error.sent
        return self._repeatable or untouched or isinstance(error, RateLimited)

    def _backoff(self, error: NetworkError) -> float:
        doubled = self._retries.first_seconds * 2.0 ** (self._failed - 1)
        wait = self._random.uniform(0.5, 1.0) * min(doubled, self._retries.most_seconds)
        return max(wait, error.retry_after_seconds or 0.0)


def parse_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the delay of a Retry-After header in seconds; None if missing or invalid."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), _MAX_RETRY_AFTER_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (aware - now).total_seconds()), _MAX_RETRY_AFTER_SECONDS)
