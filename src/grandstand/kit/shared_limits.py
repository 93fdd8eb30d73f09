"""Rate limits and quotas of sources, shared by all processes on one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Final, Self, TypeVar

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.core.logging import get_logger
from grandstand.net.errors import RateLimitTimeout
from grandstand.net.rate_limits import (
    MemoryQuotas,
    MemoryRateLimiter,
    Quota,
    QuotaUsage,
    RateLimit,
    Sleep,
    check_wait,
    current_usage,
    future_moment,
    limit_concurrency,
    next_slot,
    next_start,
)
from grandstand.storage.tables import AsyncStore, Delete, Entity, Get, Put, Table, key, ttl, version
from grandstand.storage.tables.errors import (
    ConditionFailed,
    StoreUnavailable,
    Throttled,
    Unprocessed,
)
from grandstand.storage.tables.leases import FLIGHTS, Lease, Leases

T = TypeVar("T")

_MICROS: Final = 1_000_000
_TRIES: Final = 64
# Time to acquire and to release the lease.
_SLACK_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.05
_ALONE_SECONDS: Final = 30.0

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
    def paused_to(self) -> float:
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
    def usage(self) -> QuotaUsage:
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
            except (StoreUnavailable, Throttled, Unprocessed) as error:
                self._alone_until = self._clock.monotonic() + _ALONE_SECONDS
                get_logger("limits").warning(
                    "limits_not_shared", what=self._what, seconds=_ALONE_SECONDS, error=str(error)
                )
        return await own()


class TableRateLimiter(MemoryRateLimiter):
    """One rate limit for all processes on a store; `owner` identifies this process.

    While the store is unavailable, the limit holds within this process.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        owner: str,
        clock: Clock,
        random: Random,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(clock, random, sleep)
        self._store = store
        self._owner = owner
        self._fallback = StoreFallback(clock, "rate limits")

    @asynccontextmanager
    async def acquire(
        self, host: str, rate: RateLimit, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block ends."""
        limits = {"within_seconds": within_seconds, "hold_seconds": hold_seconds}
        own = partial(super().acquire, host, rate, **limits)
        async with AsyncExitStack() as held:
            await self._fallback.first(
                lambda: held.enter_async_context(self._acquire_shared(host, rate, **limits)),
                lambda: held.enter_async_context(own()),
            )
            yield

    @asynccontextmanager
    async def _acquire_shared(
        self, host: str, rate: RateLimit, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        until = self._clock.monotonic() + within_seconds
        async with AsyncExitStack() as held:
            await held.enter_async_context(
                limit_concurrency(self._semaphores, host, rate, within_seconds)
            )
            lease = await self._take_lease(host, rate, until)
            if lease is not None:
                held.push_async_callback(self._release, lease)
            wait = await self._reserve_shared(host, rate, until)
            while True:
                if lease is not None:
                    longer = self._leases(wait + hold_seconds + _SLACK_SECONDS)
                    await self._store(longer.renew(lease))
                if wait <= 0:
                    break
                await self._sleep(wait)
                # The host may have been paused in the meantime.
                pace = await self._store(HostPace.one(host))
                rest = pace.paused_to - self._clock.epoch() if pace else 0.0
                wait = check_wait(host, max(0.0, rest), until - self._clock.monotonic())
            yield

    async def pause(self, host: str, seconds: float) -> None:
        """Send nothing to a host for that long; this process in any case."""
        until = round((self._clock.epoch() + seconds) * _MICROS)

        def extend(pace: HostPace) -> HostPace:
            return pace.replace(rested_to_us=max(pace.rested_to_us, until))

        own = partial(super().pause, host, seconds)
        await own()
        await self._fallback.first(lambda: self._change(host, extend), own)

    async def next_at(self, host: str, rate: RateLimit) -> datetime | None:
        """Return when the next request may be sent; None for now."""

        async def shared() -> datetime | None:
            now = self._clock.epoch()
            pace = await self._store(HostPace.one(host)) or HostPace(host=host)
            return future_moment(next_start(pace.paced_to, pace.paused_to, now, rate), now)

        return await self._fallback.first(shared, partial(super().next_at, host, rate))

    async def _reserve_shared(self, host: str, rate: RateLimit, until: float) -> float:
        """Take a slot in the host's queue and return the wait."""
        gap, wait = rate.gap_seconds(self._random), 0.0

        def reserve(pace: HostPace) -> HostPace:
            nonlocal wait
            now = self._clock.epoch()
            begin = max(now, pace.paused_to)
            slot = next_slot(pace.paced_to, begin, rate, gap)
            left = until - self._clock.monotonic()
            wait = check_wait(host, begin - now + slot.wait_seconds, left)
            return pace.replace(paced_to_us=round(slot.paced_to * _MICROS))

        await self._change(host, reserve)
        return wait

    async def _change(self, host: str, change: Callable[[HostPace], HostPace]) -> None:
        for _ in range(_TRIES):
            pace = await self._store(HostPace.one(host)) or HostPace(host=host)
            try:
                await self._store(change(pace).put())
            except ConditionFailed:
                await self._sleep(self._random.uniform(0.0, _POLL_SECONDS))
                continue
            return
        raise RateLimitTimeout(
            f"Too many processes want to send requests to {host} at once. Try again later."
        )

    async def _take_lease(self, host: str, rate: RateLimit, until: float) -> Lease | None:
        """Take one of the concurrent slots of a host; None if they are not limited."""
        if rate.concurrent is None:
            return None
        leases = self._leases(_SLACK_SECONDS)
        slots = [leases.acquire(f"ask/{host}/{slot}") for slot in range(rate.concurrent)]
        while True:
            for slot in slots:
                lease = await self._store(slot)
                if lease is not None:
                    return lease
            pause = self._random.uniform(0.5, 1.0) * _POLL_SECONDS
            await self._sleep(check_wait(host, pause, until - self._clock.monotonic()))

    async def _release(self, lease: Lease) -> None:
        # If the store does not respond, the lease expires.
        with suppress(GrandstandError):
            await self._store(self._leases(1.0).release(lease))

    def _leases(self, seconds: float) -> Leases:
        return Leases(FLIGHTS, self._owner, seconds=seconds)


class TableQuotas(MemoryQuotas):
    """Quota usage of all processes on a store; of this process while it is unavailable."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(clock)
        self._store = store
        self._random = random
        self._sleep = sleep
        self._fallback = StoreFallback(clock, "quotas")

    async def spent(self, source: str, quota: Quota) -> QuotaUsage:
        """Return the usage of the current period."""

        async def shared() -> QuotaUsage:
            record = await self._store(QuotaRecord.one(source))
            return current_usage(record.usage if record else None, quota, self._clock.now())

        return await self._fallback.first(shared, partial(super().spent, source, quota))

    async def _change(
        self, source: str, quota: Quota, change: Callable[[QuotaUsage, datetime], QuotaUsage]
    ) -> QuotaUsage:
        return await self._fallback.first(
            lambda: self._change_shared(source, quota, change),
            partial(super()._change, source, quota, change),
        )

    async def _change_shared(
        self, source: str, quota: Quota, change: Callable[[QuotaUsage, datetime], QuotaUsage]
    ) -> QuotaUsage:
        for _ in range(_TRIES):
            record = await self._store(QuotaRecord.one(source)) or QuotaRecord(source=source)
            now = self._clock.now()
            after = change(current_usage(record.usage, quota, now), now)
            try:
                await self._store(record.replace(**asdict(after)).put())
            except ConditionFailed:
                await self._sleep(self._random.uniform(0.0, _POLL_SECONDS))
                continue
            return after
        raise RateLimitTimeout(
            f"Too many processes update the quota of {source} at once. Try again later.",
            source=source,
        )
