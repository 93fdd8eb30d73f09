"""Kept here: how often a host may be asked, and whose turn it is."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Protocol, TypeAlias

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.wire.errors import TooBusy

Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests a second to one host, `burst` of them at once after a pause.

    `concurrent` bounds how many are under way together; up to `jitter_seconds` are added to each
    gap, so that it is never shorter than the rate says. Raises InvalidInput.
    """

    per_second: float
    burst: int = 1
    concurrent: int | None = None
    jitter_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.per_second <= 0 or self.burst < 1 or self.jitter_seconds < 0:
            message = (
                f"{self} cannot be kept: a rate and a burst are above 0, a jitter not below it"
            )
            raise InvalidInput(message)
        if self.concurrent is not None and self.concurrent < 1:
            message = "A rate with concurrent below 1 would never send anything: use 1 or more"
            raise InvalidInput(message)

    def gap_seconds(self, random: Random) -> float:
        """Answer how much later the next request may go than this one."""
        return 1.0 / self.per_second + random.uniform(0.0, self.jitter_seconds)


@dataclass(frozen=True, slots=True)
class Slot:
    """A request's place in the queue of a host; `paced_to` is where the queue then ends."""

    wait_seconds: float
    paced_to: float


def next_slot(paced_to: float, now: float, rate: Rate, gap_seconds: float) -> Slot:
    """Answer when the next request may go, all moments in seconds of one clock.

    The queue of a host ends at `paced_to`: the moment its requests are paid for by (GCRA).
    """
    credit = (rate.burst - 1) / rate.per_second
    end = max(paced_to, now)
    return Slot(max(0.0, end - credit - now), end + gap_seconds)


class Allowance(Protocol):
    """Whoever says when a host may be asked; shared by all who must keep its rate together."""

    def turn(
        self, host: str, rate: Rate, *, within_seconds: float, hold_seconds: float
    ) -> AbstractAsyncContextManager[None]:
        """Wait for the right to send one request, and have it until the block ends.

        The block takes at most `hold_seconds`. Raises TooBusy, and takes no turn, when the wait
        would be longer than `within_seconds`.
        """
        ...

    async def rest(self, host: str, seconds: float) -> None:
        """Let nobody ask a host for so long, as it wishes."""
        ...

    async def next_at(self, host: str, rate: Rate) -> datetime | None:
        """Answer when a host may be asked again; None when it may be now."""
        ...


class MemoryAllowance:
    """Keeps the rates of one process."""

    def __init__(self, clock: Clock, random: Random, sleep: Sleep = asyncio.sleep) -> None:
        self._clock = clock
        self._random = random
        self._sleep = sleep
        self._paced: dict[str, float] = defaultdict(float)
        self._rested: dict[str, float] = defaultdict(float)
        self._gates: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def turn(
        self, host: str, rate: Rate, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for the right to send one request, and have it until the block ends."""
        del hold_seconds
        start = self._clock.monotonic()
        async with gate(self._gates, host, rate, within_seconds):
            left = within_seconds - (self._clock.monotonic() - start)
            await self._sleep(self._reserve(host, rate, left))
            while (rest := self._rested[host] - self._clock.epoch()) > 0:
                left = within_seconds - (self._clock.monotonic() - start)
                await self._sleep(bearable(host, rest, left))
            yield

    async def rest(self, host: str, seconds: float) -> None:
        """Let nobody ask a host for so long, as it wishes."""
        self._rested[host] = max(self._rested[host], self._clock.epoch() + seconds)

    async def next_at(self, host: str, rate: Rate) -> datetime | None:
        """Answer when a host may be asked again; None when it may be now."""
        now = self._clock.epoch()
        return moment_of(next_start(self._paced[host], self._rested[host], now, rate), now)

    def _reserve(self, host: str, rate: Rate, within_seconds: float) -> float:
        now = self._clock.epoch()
        begin = max(now, self._rested[host])
        slot = next_slot(self._paced[host], begin, rate, rate.gap_seconds(self._random))
        wait = bearable(host, begin - now + slot.wait_seconds, within_seconds)
        self._paced[host] = slot.paced_to
        return wait


def bearable(host: str, wait_seconds: float, within_seconds: float) -> float:
    """Answer the wait if there is time for it; raise TooBusy otherwise."""
    if wait_seconds > max(0.0, within_seconds):
        message = (
            f"{host} may be asked again in {wait_seconds:.1f} s, which is longer than this "
            f"request can wait ({max(0.0, within_seconds):.1f} s): try again later"
        )
        raise TooBusy(message, retry_after_seconds=wait_seconds)
    return wait_seconds


def next_start(paced_to: float, rested_to: float, now: float, rate: Rate) -> float:
    """Answer the moment at which the next request may go."""
    begin = max(now, rested_to)
    return begin + next_slot(paced_to, begin, rate, 0.0).wait_seconds


def moment_of(start: float, now: float) -> datetime | None:
    """Answer a moment to come; None when it is already there."""
    return datetime.fromtimestamp(start, UTC) if start > now else None


@asynccontextmanager
async def gate(
    gates: dict[str, asyncio.Semaphore], host: str, rate: Rate, within_seconds: float
) -> AsyncIterator[None]:
    """Let at most `rate.concurrent` blocks of this process run together; raise TooBusy."""
    if rate.concurrent is None:
        yield
        return
    semaphore = gates.setdefault(host, asyncio.Semaphore(rate.concurrent))
    try:
        async with asyncio.timeout(max(0.0, within_seconds)):
            await semaphore.acquire()
    except TimeoutError:
        message = (
            f"{host} is asked {rate.concurrent} at a time, and those before this request take too "
            "long: try again later"
        )
        raise TooBusy(message) from None
    try:
        yield
    finally:
        semaphore.release()
