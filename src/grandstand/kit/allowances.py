"""Kept here: rates and quotas of outsiders, kept together by all processes on one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime, timedelta
from random import Random
from typing import Final, Self

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError
from grandstand.storage.tables import (
    AsyncStore,
    Delete,
    Entity,
    Get,
    Put,
    Table,
    key,
    ttl,
    version,
)
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.leases import FLIGHTS, Lease, Leases
from grandstand.wire.errors import TooBusy
from grandstand.wire.quota import (
    Quota,
    QuotaReading,
    Spent,
    after_spending,
    after_told,
    up_to_date,
)
from grandstand.wire.rate import Rate, Sleep, bearable, gate, moment_of, next_slot, next_start

_MICROS: Final = 1_000_000
_TRIES: Final = 64
# Between asking for a lease and holding it, and between answering and giving it back.
_SLACK_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.05

allowances: Final = Table(
    "grandstand-allowances",
    partition="allowanceKey",
    ttl="ttl",
    purpose="When each host may be asked again, and what is used of each source's quota.",
)


class Pace(Entity, table=allowances, names="camel"):
    """Up to when the requests to a host are paid for, and until when it wishes to rest."""

    host: str
    paced_to_us: int = 0
    rested_to_us: int = 0
    written: int = version()
    gone_at: datetime | None = ttl(after=timedelta(days=2))

    row = key("HOST#{host}")

    @classmethod
    def one(cls, host: str) -> Get[Self]:
        """A host's pace; the expired too, whose version the next write goes by."""
        return cls.get(host=host).consistent().with_expired()

    @property
    def paced_to(self) -> float:
        """The same in seconds."""
        return self.paced_to_us / _MICROS

    @property
    def rested_to(self) -> float:
        """The same in seconds."""
        return self.rested_to_us / _MICROS


class Spending(Entity, table=allowances, names="camel"):
    """What was used of a source's quota in the period last written."""

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
        """A source's spending; the expired too, whose version the next write goes by."""
        return cls.get(source=source).consistent().with_expired()

    @property
    def spent(self) -> Spent:
        """What wire knows of it."""
        return Spent(self.period, self.used, self.left, self.resets_at)


class Refusal(Entity, table=allowances, names="camel"):
    """A source that turned us away: until when it is left alone, why, and how often in a row."""

    name: str
    until: datetime
    why: str
    times: int = 1
    gone_at: datetime | None = ttl(after=timedelta(days=2), of="until")

    row = key("REFUSAL#{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """The last refusal of a source, over or not."""
        return cls.get(name=name).consistent()

    def keep(self) -> Put[Self]:
        """Keep a refusal over the one before."""
        return self.put()

    @classmethod
    def forget(cls, name: str) -> Delete[Self]:
        """Forget the refusals of a source that answers."""
        return cls.delete(name=name)


ALLOWANCE_TABLES: Final = (allowances,)


class TableAllowance:
    """Keeps one rate for all processes on one store; `owner` tells this process from others."""

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
    async def turn(
        self, host: str, rate: Rate, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for the right to send one request, and have it until the block ends."""
        until = self._clock.monotonic() + within_seconds
        async with AsyncExitStack() as held:
            await held.enter_async_context(gate(self._gates, host, rate, within_seconds))
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

    async def rest(self, host: str, seconds: float) -> None:
        """Let nobody ask a host for so long, as it wishes."""
        until = _micros(self._clock.epoch() + seconds)

        def rested(kept: Pace) -> Pace:
            return kept.replace(rested_to_us=max(kept.rested_to_us, until))

        await self._change(host, rested)

    async def next_at(self, host: str, rate: Rate) -> datetime | None:
        """Answer when a host may be asked again; None when it may be now."""
        now = self._clock.epoch()
        kept = await self._store(Pace.one(host)) or Pace(host=host)
        return moment_of(next_start(kept.paced_to, kept.rested_to, now, rate), now)

    async def _reserve(self, host: str, rate: Rate, until: float) -> float:
        """Answer how long to wait for a place in the host's queue, which is then taken."""
        gap, wait = rate.gap_seconds(self._random), 0.0

        def reserved(kept: Pace) -> Pace:
            nonlocal wait
            now = self._clock.epoch()
            begin = max(now, kept.rested_to)
            slot = next_slot(kept.paced_to, begin, rate, gap)
            left = until - self._clock.monotonic()
            wait = bearable(host, begin - now + slot.wait_seconds, left)
            return kept.replace(paced_to_us=_micros(slot.paced_to))

        await self._change(host, reserved)
        return wait

    async def _resting(self, host: str, until: float) -> float:
        """Answer how long a host wishes to rest that was told so while this request waited."""
        kept = await self._store(Pace.one(host))
        rest = kept.rested_to - self._clock.epoch() if kept else 0.0
        return bearable(host, max(0.0, rest), until - self._clock.monotonic())

    async def _change(self, host: str, change: Callable[[Pace], Pace]) -> None:
        for _ in range(_TRIES):
            kept = await self._store(Pace.one(host)) or Pace(host=host)
            try:
                await self._store(change(kept).put())
            except ConditionFailed:
                await self._sleep(self._random.uniform(0.0, _POLL_SECONDS))
                continue
            return
        message = f"Too many want to ask {host} at once: try again later"
        raise TooBusy(message)

    async def _seat(self, host: str, rate: Rate, until: float) -> Lease | None:
        """Take one of the places a host has, for all processes; None when it has any number."""
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
            await self._sleep(bearable(host, pause, until - self._clock.monotonic()))

    async def _leave(self, lease: Lease) -> None:
        # A store that does not answer now lets the lease lapse by itself.
        with suppress(GrandstandError):
            await self._store(self._leases(1.0).release(lease))

    def _leases(self, seconds: float) -> Leases:
        return Leases(FLIGHTS, self._owner, seconds=seconds)


class TableQuotas:
    """Counts what all processes on one store use."""

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

    async def spend(self, source: str, quota: Quota, cost: int) -> Spent:
        """Count a request; raise QuotaSpent, counting nothing, when there is not enough left."""

        def charged(kept: Spent, now: datetime) -> Spent:
            return after_spending(kept, source, quota, cost, now=now)

        return await self._change(source, quota, charged)

    async def told(self, source: str, quota: Quota, reading: QuotaReading) -> Spent:
        """Take over what the source says."""
        return await self._change(source, quota, lambda kept, _now: after_told(kept, reading))

    async def spent(self, source: str, quota: Quota) -> Spent:
        """Answer what was used in this period."""
        kept = await self._store(Spending.one(source))
        return up_to_date(kept.spent if kept else None, quota, self._clock.now())

    async def _change(
        self, source: str, quota: Quota, change: Callable[[Spent, datetime], Spent]
    ) -> Spent:
        for _ in range(_TRIES):
            kept = await self._store(Spending.one(source)) or Spending(source=source)
            now = self._clock.now()
            after = change(up_to_date(kept.spent, quota, now), now)
            changed = kept.replace(
                period=after.period, used=after.used, left=after.left, resets_at=after.resets_at
            )
            try:
                await self._store(changed.put())
            except ConditionFailed:
                await self._sleep(self._random.uniform(0.0, _POLL_SECONDS))
                continue
            return after
        message = f"Too many count on the quota of {source} at once: try again later"
        raise TooBusy(message, source=source)


def _micros(seconds: float) -> int:
    return round(seconds * _MICROS)
