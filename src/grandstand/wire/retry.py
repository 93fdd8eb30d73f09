"""Kept here: whether a failed request is sent again, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.wire.errors import (
    AnswerGarbled,
    RateLimited,
    SourceFaulted,
    SourceTimeout,
    SourceUnreachable,
    WireError,
)
from grandstand.wire.rate import Sleep

# No source means more than a day by Retry-After; what says more is not believed further.
_LONGEST_SECONDS: Final = 86_400.0
_TRANSIENT: Final = (SourceTimeout, SourceUnreachable, SourceFaulted, RateLimited, AnswerGarbled)


@dataclass(frozen=True, slots=True)
class Retries:
    """How stubborn to be with one request: tries, waits that double, and time for all of it.

    Of all requests to a source at most a share of `budget` is sent again, after `spare` at first,
    so that a source in trouble does not get many times its usual load.
    """

    tries: int = 4
    first_seconds: float = 0.25
    most_seconds: float = 20.0
    within_seconds: float = 60.0
    budget: float = 0.2
    spare: int = 10


class RetryBudget:
    """What a source may still be bothered with: filled by requests, emptied by repeated ones."""

    def __init__(self, retries: Retries) -> None:
        self._share = retries.budget
        self._most = float(retries.spare)
        self._left = self._most

    def deposit(self) -> None:
        """Count a request that is not a repeated one."""
        self._left = min(self._most, self._left + self._share)

    def withdraw(self) -> bool:
        """Tell whether there is enough left to repeat a request, and use it if there is."""
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Patience:
    """How one request is persevered with."""

    def __init__(
        self,
        retries: Retries,
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
        """How much time is left for all further tries."""
        return self._until - self._clock.monotonic()

    def again(self, error: Exception) -> bool:
        """Decide whether to try again after an error, and set the wait before that."""
        if not isinstance(error, WireError) or not self._may_repeat(error):
            return False
        self._failed += 1
        wait = self._backoff(error)
        if self._failed >= self._retries.tries or wait >= self.left_seconds:
            return False
        if not self._budget.withdraw():
            return False
        self.wait_seconds = wait
        return True

    async def rest(self) -> None:
        """Wait as decided, once."""
        wait, self.wait_seconds = self.wait_seconds, 0.0
        if wait > 0:
            await self._sleep(wait)

    def _may_repeat(self, error: WireError) -> bool:
        if not isinstance(error, _TRANSIENT):
            return False
        untouched = isinstance(error, SourceUnreachable) and not error.sent
        return self._repeatable or untouched or isinstance(error, RateLimited)

    def _backoff(self, error: WireError) -> float:
        doubled = self._retries.first_seconds * 2.0 ** (self._failed - 1)
        wait = self._random.uniform(0.5, 1.0) * min(doubled, self._retries.most_seconds)
        return max(wait, error.retry_after_seconds or 0.0)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Answer the seconds that Retry-After asks for, as a number or a date; None without sense."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return min(float(said), _LONGEST_SECONDS)
    try:
        moment = parsedate_to_datetime(said)
    except (TypeError, ValueError, IndexError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (aware - now).total_seconds()), _LONGEST_SECONDS)
