"""Rate limits and quotas of sources, shared by all processes on one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime, timedelta
from random import Random
from typing import Final, Self, TypeVar

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.core.logging import get_logger
from grandstand.net.errors import RateLimitTimeout
from grandstand.net.rate_limits import (
    Quota,
    QuotaLedger,
    QuotaReading,
    QuotaUsage,
    RateLimit,
    RateLimiter,
    Sleep,
    check_wait,
    current_usage,
    future_moment,
    limit_concurrency,
    next_slot,
    next_start,
    with_reading,
    with_spending,
)
from grandstand.storage.tables import AsyncStore, Delete, Entity, Get, Put, Table, key, ttl, version
from grandstand.storage.tables.errors import (
    ConditionFailed,
    StoreUnavailable,
    Throttled,
    Unprocessed,
)
from grandstand.storage.tables.leases import FLIGHTS, Lease, Leases

_MICROS: Final = 1_000_000
_TRIES: Final = 64
# Time to acquire and to release the lease.
_SLACK_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.05

allowances: Final = Table(
    "grandstand-allowances",
    partition="allowanceKey",
    ttl="ttl",
    purpose="Rate limits of hosts and quota usage of sources.",
)


class HostPace(Entity, table=allowances, names="camel"):
    """The queue of a host: when its next slot is, and until when it is paused."""

    host: str
    paced_to_us: int = 0
    rested_to_us: int = 0
    written: int = version()
    gone_at: datetime | None = ttl(after=timedelta(days=2))

    row = key("HOST#{host}")

    @classmethod
    def one(cls, host: str) -> Get[Self]:
        """Return a host's queue, also if expired: the next write needs its version."""
        return cls.get(host=host).consistent().with_expired()

    @property
    def paced_to(self) -> float:
        return self.paced_to_us / _MICROS

    @property
    def rested_to(self) -> float:
        return self.rested_to_us / _MICROS


class QuotaRecord(Entity, table=allowances, names="camel"):
    """The quota usage of a source in the period last written."""

    source: str
    period: str = ""
    used: int = 0
    left: int | None = None
    resets_at: datetime | None = None
    written: int = version()
    gone_at: datetime | None = ttl(after=timedelta(days=40))

    row = key("QUOTA#{source}")

    @classmethod
    def one(cls, source: str) -> Get[Self]:
        """Return a source's usage, also if expired: the next write needs its version."""
        return cls.get(source=source).consistent().with_expired()

    @property
    def spent(self) -> QuotaUsage:
        """Return the usage as a QuotaUsage."""
        return QuotaUsage(self.period, self.used, self.left, self.resets_at)


class SourcePause(Entity, table=allowances, names="camel"):
    """A source that rejected us: until when to leave it alone, why, and how often in a row."""

    name: str
    until: datetime
    why: str
    times: int = 1
    gone_at: datetime | None = ttl(after=timedelta(days=2), of="until")

    row = key("REFUSAL#{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """Return the last pause of a source, over or not."""
        return cls.get(name=name).consistent()

    def keep(self) -> Put[Self]:
        """Store the pause."""
        return self.put()

    @classmethod
    def forget(cls, name: str) -> Delete[Self]:
        """Delete the pause of a source that responds again."""
        return cls.delete(name=name)


LIMIT_TABLES: Final = (allowances,)


class TableRateLimiter:
    """One rate limit for all processes on a store; `owner` identifies this process."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        owner: str,
        clock: Clock,
        random: Random,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._random = random
        self._sleep = sleep
        self._gates: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def acquire(
        self, host: str, rate: RateLimit, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block ends."""
        until = self._clock.monotonic() + within_seconds
        async with AsyncExitStack() as held:
            await held.enter_async_context(
                limit_concurrency(self._gates, host, rate, within_seconds)
            )
            lease = await self._seat(host, rate, until)
            if lease is not None:
                held.push_async_callback(self._leave, lease)
            wait = await self._reserve(host, rate, until)
            while True:
                if lease is not None:
                    longer = self._leases(wait + hold_seconds + _SLACK_SECONDS)
                    await self._store(longer.renew(lease))
                if wait <= 0:
                    break
                await self._sleep(wait)
                wait = await self._resting(host, until)
            yield

    async def pause(self, host: str, seconds: float) -> None:
        """Send nothing to a host for that long."""
        until = _micros(self._clock.epoch() + seconds)

        def rested(kept: HostPace) -> HostPace:
            return kept.replace(rested_to_us=max(kept.rested_to_us, until))

        await self._change(host, rested)

    async def next_at(self, host: str, rate: RateLimit) -> datetime | None:
        """Return when the next request may be sent; None for now."""
        now = self._clock.epoch()
        kept = await self._store(HostPace.one(host)) or HostPace(host=host)
        return future_moment(next_start(kept.paced_to, kept.rested_to, now, rate), now)

    async def _reserve(self, host: str, rate: RateLimit, until: float) -> float:
        """Take a slot in the host's queue and return the wait."""
        gap, wait = rate.gap_seconds(self._random), 0.0

        def reserved(kept: HostPace) -> HostPace:
            nonlocal wait
            now = self._clock.epoch()
            begin = max(now, kept.rested_to)
            slot = next_slot(kept.paced_to, begin, rate, gap)
            left = until - self._clock.monotonic()
            wait = check_wait(host, begin - now + slot.wait_seconds, left)
            return kept.replace(paced_to_us=_micros(slot.paced_to))

        await self._change(host, reserved)
        return wait

    async def _resting(self, host: str, until: float) -> float:
        """Return how long a host is still paused, if that was set while waiting."""
        kept = await self._store(HostPace.one(host))
        rest = kept.rested_to - self._clock.epoch() if kept else 0.0
        return check_wait(host, max(0.0, rest), until - self._clock.monotonic())

    async def _change(self, host: str, change: Callable[[HostPace], HostPace]) -> None:
        for _ in range(_TRIES):
            kept = await self._store(HostPace.one(host)) or HostPace(host=host)
            try:
                await self._store(change(kept).put())
            except ConditionFailed:
                await self._sleep(self._random.uniform(0.0, _POLL_SECONDS))
                continue
            return
        message = f"Too many processes want to send requests to {host} at once. Try again later."
        raise RateLimitTimeout(message)

    async def _seat(self, host: str, rate: RateLimit, until: float) -> Lease | None:
        """Take one of the concurrent slots of a host; None if they are not limited."""
        if rate.concurrent is None:
            return None
        leases = self._leases(_SLACK_SECONDS)
        places = [leases.acquire(f"ask/{host}/{place}") for place in range(rate.concurrent)]
        while True:
            for place in places:
                lease = await self._store(place)
                if lease is not None:
                    return lease
            pause = self._random.uniform(0.5, 1.0) * _POLL_SECONDS
            await self._sleep(check_wait(host, pause, until - self._clock.monotonic()))

    async def _leave(self, lease: Lease) -> None:
        # If the store does not respond, the lease expires.
        with suppress(GrandstandError):
            await self._store(self._leases(1.0).release(lease))

    def _leases(self, seconds: float) -> Leases:
        return Leases(FLIGHTS, self._owner, seconds=seconds)


class TableQuotas:
    """Quota usage of all processes on a store."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._sleep = sleep

    async def spend(self, source: str, quota: Quota, cost: int) -> QuotaUsage:
        """Count a request; raise QuotaExceeded, without counting it, if too little is left."""

        def charged(kept: QuotaUsage, now: datetime) -> QuotaUsage:
            return with_spending(kept, source, quota, cost, now=now)

        return await self._change(source, quota, charged)

    async def record_reading(self, source: str, quota: Quota, reading: QuotaReading) -> QuotaUsage:
        """Adopt the quota reported by the source."""
        return await self._change(source, quota, lambda kept, _now: with_reading(kept, reading))

    async def spent(self, source: str, quota: Quota) -> QuotaUsage:
        """Return the usage of the current period."""
        kept = await self._store(QuotaRecord.one(source))
        return current_usage(kept.spent if kept else None, quota, self._clock.now())

    async def _change(
        self, source: str, quota: Quota, change: Callable[[QuotaUsage, datetime], QuotaUsage]
    ) -> QuotaUsage:
        for _ in range(_TRIES):
            kept = await self._store(QuotaRecord.one(source)) or QuotaRecord(source=source)
            now = self._clock.now()
            after = change(current_usage(kept.spent, quota, now), now)
            changed = kept.replace(
                period=after.period, used=after.used, left=after.left, resets_at=after.resets_at
            )
            try:
                await self._store(changed.put())
            except ConditionFailed:
                await self._sleep(self._random.uniform(0.0, _POLL_SECONDS))
                continue
            return after
        message = f"Too many processes update the quota of {source} at once. Try again later."
        raise RateLimitTimeout(message, source=source)


def _micros(seconds: float) -> int:
    return round(seconds * _MICROS)


T = TypeVar("T")

_AWAY: Final = (StoreUnavailable, Throttled, Unprocessed)
_LEFT_ALONE_SECONDS: Final = 30.0


class StoreFallback:
    """Uses the store, and this process alone while the store is unavailable.

    After a failure the store is not tried for half a minute.
    """

    def __init__(self, clock: Clock, what: str) -> None:
        self._clock = clock
        self._what = what
        self._alone_until = float("-inf")

    async def first(self, shared: Callable[[], Awaitable[T]], own: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the shared function, or of the own one while the store is down."""
        if self._clock.monotonic() >= self._alone_until:
            try:
                return await shared()
            except _AWAY as fault:
                self._alone_until = self._clock.monotonic() + _LEFT_ALONE_SECONDS
                message = f"{self._what} are kept by this process alone for now"
                get_logger("limits").warning(message, error=str(fault))
        return await own()


class FallbackRateLimiter:
    """A shared rate limit that falls back to this process while the store is unavailable."""

    def __init__(self, shared: RateLimiter, own: RateLimiter, clock: Clock) -> None:
        self._shared = shared
        self._own = own
        self._leaning = StoreFallback(clock, "rates")

    @asynccontextmanager
    async def acquire(
        self, host: str, rate: RateLimit, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block ends."""
        async with AsyncExitStack() as held:

            async def entered(rate_limiter: RateLimiter) -> None:
                waited = rate_limiter.acquire(
                    host, rate, within_seconds=within_seconds, hold_seconds=hold_seconds
                )
                await held.enter_async_context(waited)

            await self._leaning.first(lambda: entered(self._shared), lambda: entered(self._own))
            yield

    async def pause(self, host: str, seconds: float) -> None:
        """Send nothing to a host for that long; this process in any case."""
        await self._own.pause(host, seconds)

        async def nothing_more() -> None:
            """Leave it at what this process keeps."""

        await self._leaning.first(lambda: self._shared.pause(host, seconds), nothing_more)

    async def next_at(self, host: str, rate: RateLimit) -> datetime | None:
        """Return when the next request may be sent; None for now."""
        return await self._leaning.first(
            lambda: self._shared.next_at(host, rate), lambda: self._own.next_at(host, rate)
        )


class FallbackQuotas:
    """Shared quotas that fall back to this process while the store is unavailable."""

    def __init__(self, shared: QuotaLedger, own: QuotaLedger, clock: Clock) -> None:
        self._shared = shared
        self._own = own
        self._leaning = StoreFallback(clock, "quotas")

    async def spend(self, source: str, quota: Quota, cost: int) -> QuotaUsage:
        """Count a request; raise QuotaExceeded, without counting it, if too little is left."""
        return await self._leaning.first(
            lambda: self._shared.spend(source, quota, cost),
            lambda: self._own.spend(source, quota, cost),
        )

    async def record_reading(self, source: str, quota: Quota, reading: QuotaReading) -> QuotaUsage:
        """Adopt the quota reported by the source."""
        return await self._leaning.first(
            lambda: self._shared.record_reading(source, quota, reading),
            lambda: self._own.record_reading(source, quota, reading),
        )

    async def spent(self, source: str, quota: Quota) -> QuotaUsage:
        """Return the usage of the current period."""
        return await self._leaning.first(
            lambda: self._shared.spent(source, quota), lambda: self._own.spent(source, quota)
        )
