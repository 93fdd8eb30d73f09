"""Retries with exponential backoff, a deadline and a retry budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Final, TypeVar

from grandstand.core.clock import Clock
from grandstand.net import errors
from grandstand.net.rate_limits import Sleep

T = TypeVar("T")

# A Retry-After of more than a day is not believed.
_MAX_RETRY_AFTER_SECONDS: Final = 86_400.0
_TRANSIENT: Final = (
    errors.SourceTimeout,
    errors.SourceUnreachable,
    errors.SourceServerError,
    errors.RateLimited,
    errors.InvalidResponse,
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
    """The deadline of one request, and the wait after each of its failures."""

    def __init__(
        self,
        retries: RetryPolicy,
        budget: RetryBudget,
        *,
        clock: Clock,
        random: Random,
        repeatable: bool,
    ) -> None:
        self._retries = retries
        self._budget = budget
        self._clock = clock
        self._random = random
        self._repeatable = repeatable
        self._until = clock.monotonic() + retries.within_seconds

    @property
    def left_seconds(self) -> float:
        """The seconds left until the deadline."""
        return self._until - self._clock.monotonic()

    def wait_seconds(self, error: Exception, failures: int) -> float | None:
        """Return the wait before the next attempt; None if there is none."""
        if not isinstance(error, _TRANSIENT):
            return None
        untouched = isinstance(error, errors.SourceUnreachable) and not error.sent
        if not (self._repeatable or untouched or isinstance(error, errors.RateLimited)):
            return None
        policy = self._retries
        wait = backoff_seconds(failures, policy.first_seconds, policy.most_seconds, self._random)
        wait = max(wait, error.retry_after_seconds or 0.0)
        is_last = failures >= policy.tries or wait >= self.left_seconds
        return None if is_last or not self._budget.withdraw() else wait


def backoff_seconds(
    failures: int, first_seconds: float, most_seconds: float, random: Random | None = None
) -> float:
    """Return the wait after the nth failure in a row: doubling, with up to half taken off."""
    wait = min(first_seconds * 2.0 ** min(failures - 1, 30), most_seconds)
    return wait if random is None else random.uniform(0.5, 1.0) * wait


async def retry(
    work: Callable[[], Awaitable[T]],
    wait_seconds: Callable[[Exception, int], float | None],
    sleep: Sleep = asyncio.sleep,
) -> T:
    """Call `work` until it succeeds.

    `wait_seconds` gets the error and the number of failures so far. It returns how long to wait
    before the next call, or None to raise the error.
    """
    failures = 0
    while True:
        try:
            return await work()
        except Exception as error:
            failures += 1
            wait = wait_seconds(error, failures)
            if wait is None:
                raise
        await sleep(wait)


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
