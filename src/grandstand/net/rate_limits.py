"""Limits on outgoing requests: rates per host and quotas per source."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, Literal, Protocol, TypeAlias

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput
from grandstand.net.errors import QuotaExceeded, RateLimitTimeout

Sleep: TypeAlias = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests per second to one host, with a burst after a pause.

    `concurrent` bounds the requests in flight. Up to `jitter_seconds` are added to each gap.
    """

    per_second: float
    burst: int = 1
    concurrent: int | None = None
    jitter_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.per_second <= 0 or self.burst < 1 or self.jitter_seconds < 0:
            raise InvalidInput(
                f"Invalid {self}: rate and burst must be positive, jitter must not be negative"
            )
        if self.concurrent is not None and self.concurrent < 1:
            raise InvalidInput("concurrent must be at least 1")

    def gap_seconds(self, random: Random) -> float:
        """Return the gap between two requests."""
        return 1.0 / self.per_second + random.uniform(0.0, self.jitter_seconds)


@dataclass(frozen=True, slots=True)
class Slot:
    """A request's place in the queue of a host; `paced_to` is where the queue ends after it."""

    wait_seconds: float
    paced_to: float


def next_slot(paced_to: float, now: float, rate: RateLimit, gap_seconds: float) -> Slot:
    """Return when the next request may be sent; all times are seconds of one clock.

    `paced_to` is the theoretical arrival time of GCRA.
    """
    credit = (rate.burst - 1) / rate.per_second
    end = max(paced_to, now)
    return Slot(max(0.0, end - credit - now), end + gap_seconds)


class RateLimiter(Protocol):
    """Decides when a request to a host may be sent."""

    def acquire(
        self, host: str, rate: RateLimit, *, within_seconds: float, hold_seconds: float
    ) -> AbstractAsyncContextManager[None]:
        """Wait for a slot and hold it until the block ends, at most `hold_seconds`.

        Raises RateLimitTimeout, without taking a slot, if the wait would exceed `within_seconds`.
        """

    async def pause(self, host: str, seconds: float) -> None:
        """Send nothing to a host for that long."""

    async def next_at(self, host: str, rate: RateLimit) -> datetime | None:
        """Return when the next request may be sent; None for now."""


class MemoryRateLimiter:
    """Rate limits within one process."""

    def __init__(self, clock: Clock, random: Random, sleep: Sleep = asyncio.sleep) -> None:
        self._clock = clock
        self._random = random
        self._sleep = sleep
        self._paced: dict[str, float] = defaultdict(float)
        self._paused_until: dict[str, float] = defaultdict(float)
        self._semaphores: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def acquire(
        self, host: str, rate: RateLimit, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block ends."""
        del hold_seconds
        start = self._clock.monotonic()
        async with limit_concurrency(self._semaphores, host, rate, within_seconds):
            left = within_seconds - (self._clock.monotonic() - start)
            await self._sleep(self._reserve(host, rate, left))
            while (rest := self._paused_until[host] - self._clock.epoch()) > 0:
                left = within_seconds - (self._clock.monotonic() - start)
                await self._sleep(check_wait(host, rest, left))
            yield

    async def pause(self, host: str, seconds: float) -> None:
        """Send nothing to a host for that long."""
        self._paused_until[host] = max(self._paused_until[host], self._clock.epoch() + seconds)

    async def next_at(self, host: str, rate: RateLimit) -> datetime | None:
        """Return when the next request may be sent; None for now."""
        now = self._clock.epoch()
        return future_moment(
            next_start(self._paced[host], self._paused_until[host], now, rate), now
        )

    def _reserve(self, host: str, rate: RateLimit, within_seconds: float) -> float:
        now = self._clock.epoch()
        begin = max(now, self._paused_until[host])
        slot = next_slot(self._paced[host], begin, rate, rate.gap_seconds(self._random))
        wait = check_wait(host, begin - now + slot.wait_seconds, within_seconds)
        self._paced[host] = slot.paced_to
        return wait


def check_wait(host: str, wait_seconds: float, within_seconds: float) -> float:
    """Return the wait; raise RateLimitTimeout if it exceeds the time left."""
    if wait_seconds > max(0.0, within_seconds):
        message = (
            f"The next request to {host} may be sent in {wait_seconds:.1f} s, but this one can "
            f"wait only {max(0.0, within_seconds):.1f} s. Try again later."
        )
        raise RateLimitTimeout(message, retry_after_seconds=wait_seconds)
    return wait_seconds


def next_start(paced_to: float, paused_to: float, now: float, rate: RateLimit) -> float:
    """Return when the next request may be sent, in seconds of the same clock."""
    begin = max(now, paused_to)
    return begin + next_slot(paced_to, begin, rate, 0.0).wait_seconds


def future_moment(start: float, now: float) -> datetime | None:
    """Return a time in the future; None if it has passed."""
    return datetime.fromtimestamp(start, UTC) if start > now else None


@asynccontextmanager
async def limit_concurrency(
    semaphores: dict[str, asyncio.Semaphore], host: str, rate: RateLimit, within_seconds: float
) -> AsyncIterator[None]:
    """Run at most `rate.concurrent` blocks at a time. Raises RateLimitTimeout."""
    if rate.concurrent is None:
        yield
        return
    semaphore = semaphores.setdefault(host, asyncio.Semaphore(rate.concurrent))
    try:
        async with asyncio.timeout(max(0.0, within_seconds)):
            await semaphore.acquire()
    except TimeoutError:
        raise RateLimitTimeout(
            f"The most requests allowed to {host}, {rate.concurrent}, are in flight and none ended "
            "in time. Try again later."
        ) from None
    try:
        yield
    finally:
        semaphore.release()


Period: TypeAlias = Literal["hour", "day", "month"]

_FORMS: Final[dict[Period, str]] = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d", "month": "%Y-%m"}


@dataclass(frozen=True, slots=True)
class Quota:
    """A number of requests per period in UTC; `most` is None if only the source counts."""

    most: int | None = None
    per: Period = "day"

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise InvalidInput(f"Invalid quota {self.most}. Use 1 or more, or None.")

    def period_of(self, moment: datetime) -> str:
        """Return the key of the period that contains a time."""
        return moment.strftime(_FORMS[self.per])

    def ends_after(self, moment: datetime) -> datetime:
        """Return the end of the period that contains a time."""
        if self.per == "hour":
            return moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if self.per == "day":
            return midnight + timedelta(days=1)
        return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)


@dataclass(frozen=True, slots=True)
class QuotaReading:
    """The quota as reported by the source."""

    left: int
    used: int | None = None
    resets_at: datetime | None = None


ReadQuota: TypeAlias = Callable[[Mapping[str, str], datetime], QuotaReading | None]


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """Requests used and left in a period; `left` is None without a limit."""

    period: str
    used: int = 0
    left: int | None = None
    resets_at: datetime | None = None


class QuotaLedger(Protocol):
    """Counts the requests of all users of one account."""

    async def spend(self, source: str, quota: Quota, cost: int) -> QuotaUsage:
        """Count a request; raise QuotaExceeded, without counting it, if too little is left."""

    async def record_reading(self, source: str, quota: Quota, reading: QuotaReading) -> QuotaUsage:
        """Adopt the quota reported by the source."""

    async def spent(self, source: str, quota: Quota) -> QuotaUsage:
        """Return the usage of the current period."""


class MemoryQuotas:
    """Quota usage of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._usage: dict[str, QuotaUsage] = {}

    async def spend(self, source: str, quota: Quota, cost: int) -> QuotaUsage:
        """Count a request; raise QuotaExceeded, without counting it, if too little is left."""

        def charge(usage: QuotaUsage, now: datetime) -> QuotaUsage:
            return with_spending(usage, source, quota, cost, now=now)

        return await self._change(source, quota, charge)

    async def record_reading(self, source: str, quota: Quota, reading: QuotaReading) -> QuotaUsage:
        """Adopt the quota reported by the source."""
        return await self._change(source, quota, lambda usage, _: with_reading(usage, reading))

    async def spent(self, source: str, quota: Quota) -> QuotaUsage:
        """Return the usage of the current period."""
        return current_usage(self._usage.get(source), quota, self._clock.now())

    async def _change(
        self, source: str, quota: Quota, change: Callable[[QuotaUsage, datetime], QuotaUsage]
    ) -> QuotaUsage:
        now = self._clock.now()
        usage = current_usage(self._usage.get(source), quota, now)
        self._usage[source] = change(usage, now)
        return self._usage[source]


def new_period(quota: Quota, now: datetime) -> QuotaUsage:
    """Return the usage at the start of a period."""
    return QuotaUsage(quota.period_of(now), left=quota.most)


def current_usage(usage: QuotaUsage | None, quota: Quota, now: datetime) -> QuotaUsage:
    """Return the stored usage, or a new period if it has ended."""
    expired = usage is not None and usage.resets_at is not None and usage.resets_at <= now
    if usage is None or expired or usage.period != quota.period_of(now):
        return new_period(quota, now)
    return usage


def with_spending(
    usage: QuotaUsage, source: str, quota: Quota, cost: int, *, now: datetime
) -> QuotaUsage:
    """Return the usage after a request; raise QuotaExceeded if too little is left."""
    if usage.left is not None and usage.left < cost:
        resets_at = usage.resets_at or quota.ends_after(now)
        message = (
            f"The quota of {source} is used up ({usage.used} this {quota.per}, {usage.left} left) "
            f"until {resets_at:%Y-%m-%d %H:%M} UTC."
        )
        wait = max(0.0, (resets_at - now).total_seconds())
        raise QuotaExceeded(message, source=source, retry_after_seconds=wait)
    left = None if usage.left is None else usage.left - cost
    return replace(usage, used=usage.used + cost, left=left)


def with_reading(usage: QuotaUsage, reading: QuotaReading) -> QuotaUsage:
    """Return the usage as reported by the source, which also sees other users of the account.

    Within one period the remainder only shrinks, so a late response does not add to it.
    """
    left = max(0, reading.left)
    if reading.resets_at is not None and reading.resets_at == usage.resets_at:
        left = min(left, left if usage.left is None else usage.left)
    return replace(
        usage,
        used=usage.used if reading.used is None else reading.used,
        left=left,
        resets_at=reading.resets_at,
    )
