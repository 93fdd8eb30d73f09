"""Kept here: holding a lease for the length of a block, renewed by a task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn, Self

from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.errors import LeaseLost
from grandstand.storage.tables.leases import Lease, Leases, LeaseTaken

if TYPE_CHECKING:
    from grandstand.storage.tables.store import AsyncStore

_POLL_SECONDS: Final = 0.25

Sleep = Callable[[float], Awaitable[None]]


class AsyncHolding:
    """Holds a lease from entering a block to leaving it, renewed at half time by a task.

    Entering raises LeaseTaken. When the lease is lost, or lapses because the store does not
    answer, the block is cancelled and leaving it raises LeaseLost.
    """

    def __init__(
        self,
        store: AsyncStore,
        leases: Leases,
        key: str,
        *,
        random: Random,
        wait_seconds: float = 0.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._store = store
        self._leases = leases
        self._key = key
        self._random = random
        self._wait_seconds = wait_seconds
        self._sleep = sleep
        self._clock = store.store.session.clock
        self._lease: Lease | None = None
        self._lost: LeaseLost | None = None
        self._holder: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._renewing: asyncio.Task[None] | None = None

    @property
    def lease(self) -> Lease:
        """The lease as last renewed; raises LeaseLost outside the block."""
        if self._lease is None:
            message = f"The lease {self._key} is not held: enter the block first"
            raise LeaseLost(message)
        return self._lease

    @property
    def token(self) -> int | None:
        """The number that is greater than that of every earlier holder."""
        return self.lease.token

    async def __aenter__(self) -> Self:
        acquire = self._leases.acquire(self._key)
        end = self._clock.monotonic() + self._wait_seconds
        while (lease := await self._store(acquire)) is None:
            pause = self._pause()
            if self._clock.monotonic() + pause > end:
                message = f"The lease {self._key} is held by another; try again later"
                raise LeaseTaken(message)
            await self._sleep(pause)
        self._lease = lease
        holder = asyncio.current_task()
        assert holder is not None  # noqa: S101 - a coroutine that runs is some task's
        self._holder, self._cancelling = holder, holder.cancelling()
        self._renewing = asyncio.create_task(self._renew_until_lost(holder))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lease, self._lease = self.lease, None
        assert self._renewing is not None  # noqa: S101 - set on entering
        self._renewing.cancel()
        try:
            await asyncio.wait([self._renewing])
        except asyncio.CancelledError:
            if self._lost is None:
                raise
        if self._lost is not None:
            self._surrender(self._lost, fault)
        with suppress(GrandstandError):
            await self._store(self._leases.release(lease))

    def _surrender(self, lost: LeaseLost, fault: BaseException | None) -> NoReturn:
        """Raise what ends the block: the loss, or a cancellation that somebody else asked for."""
        assert self._holder is not None  # noqa: S101 - set on entering
        if self._holder.uncancel() > self._cancelling:
            raise asyncio.CancelledError from lost
        raise lost from fault

    def check(self) -> None:
        """Raise LeaseLost when the lease has lapsed, without asking the store."""
        self.lease.check(self._clock)

    async def _renew_until_lost(self, holder: asyncio.Task[object]) -> None:
        try:
            while True:
                await self._sleep(max(0.0, self.lease.left(self._clock) - self.lease.seconds / 2))
                await self._renew()
        except LeaseLost as lost:
            self._lost = lost
            holder.cancel()
        except Exception as fault:  # noqa: BLE001 - whatever ends the renewing loses the lease
            self._lost = LeaseLost(f"The lease {self._key} could not be renewed: {fault}")
            self._lost.__cause__ = fault
            holder.cancel()

    async def _renew(self) -> None:
        """Renew, trying again while the lease has not lapsed; raise LeaseLost."""
        while True:
            # A call that hangs must not outlast the lease by more than others wait for it.
            patience = max(self.lease.left(self._clock), self._leases.grace_seconds)
            try:
                async with asyncio.timeout(patience):
                    self._lease = await self._store(self._leases.renew(self.lease))
                return
            except LeaseLost:
                raise
            except (GrandstandError, TimeoutError) as fault:
                if self.lease.left(self._clock) <= 0:
                    message = f"The lease {self._key} lapsed while the store did not answer"
                    raise LeaseLost(message) from fault
                await self._sleep(self._pause())

    def _pause(self) -> float:
        return self._random.uniform(0.5, 1.0) * min(_POLL_SECONDS, self._leases.seconds / 4)
