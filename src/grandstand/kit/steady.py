"""Kept here: rates and quotas that hold while the store is away: then each process for itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Final, TypeVar

from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.storage.tables.errors import StoreUnavailable, Throttled, Unprocessed
from grandstand.wire.quota import Quota, QuotaLedger, QuotaReading, Spent
from grandstand.wire.rate import Allowance, Rate

T = TypeVar("T")

_AWAY: Final = (StoreUnavailable, Throttled, Unprocessed)
_LEFT_ALONE_SECONDS: Final = 30.0


class Leaning:
    """Asks the one that is shared through the store first, and one's own while that is away.

    After a failure the store is left alone for half a minute, so that not all who ask pay for it.
    """

    def __init__(self, clock: Clock, what: str) -> None:
        self._clock = clock
        self._what = what
        self._alone_until = float("-inf")

    async def first(self, shared: Callable[[], Awaitable[T]], own: Callable[[], Awaitable[T]]) -> T:
        """Answer what the shared one does, or one's own while the store is away."""
        if self._clock.monotonic() >= self._alone_until:
            try:
                return await shared()
            except _AWAY as fault:
                self._alone_until = self._clock.monotonic() + _LEFT_ALONE_SECONDS
                message = f"{self._what} are kept by this process alone for now"
                log("house").warning(message, error=str(fault))
        return await own()


class SteadyAllowance:
    """Keeps a rate together with others, and on its own while the store is away."""

    def __init__(self, shared: Allowance, own: Allowance, clock: Clock) -> None:
        self._shared = shared
        self._own = own
        self._leaning = Leaning(clock, "rates")

    @asynccontextmanager
    async def turn(
        self, host: str, rate: Rate, *, within_seconds: float, hold_seconds: float
    ) -> AsyncIterator[None]:
        """Wait for the right to send one request, and have it until the block ends."""
        async with AsyncExitStack() as held:

            async def entered(allowance: Allowance) -> None:
                waited = allowance.turn(
                    host, rate, within_seconds=within_seconds, hold_seconds=hold_seconds
                )
                await held.enter_async_context(waited)

            await self._leaning.first(lambda: entered(self._shared), lambda: entered(self._own))
            yield

    async def rest(self, host: str, seconds: float) -> None:
        """Let nobody ask a host for so long, as it wishes; this process in any case."""
        await self._own.rest(host, seconds)

        async def nothing_more() -> None:
            """Leave it at what this process keeps."""

        await self._leaning.first(lambda: self._shared.rest(host, seconds), nothing_more)

    async def next_at(self, host: str, rate: Rate) -> datetime | None:
        """Answer when a host may be asked again; None when it may be now."""
        return await self._leaning.first(
            lambda: self._shared.next_at(host, rate), lambda: self._own.next_at(host, rate)
        )


class SteadyQuotas:
    """Counts together with others, and on its own while the store is away."""

    def __init__(self, shared: QuotaLedger, own: QuotaLedger, clock: Clock) -> None:
        self._shared = shared
        self._own = own
        self._leaning = Leaning(clock, "quotas")

    async def spend(self, source: str, quota: Quota, cost: int) -> Spent:
        """Count a request; raise QuotaSpent, counting nothing, when there is not enough left."""
        return await self._leaning.first(
            lambda: self._shared.spend(source, quota, cost),
            lambda: self._own.spend(source, quota, cost),
        )

    async def told(self, source: str, quota: Quota, reading: QuotaReading) -> Spent:
        """Take over what the source says."""
        return await self._leaning.first(
            lambda: self._shared.told(source, quota, reading),
            lambda: self._own.told(source, quota, reading),
        )

    async def spent(self, source: str, quota: Quota) -> Spent:
        """Answer what was used in this period."""
        return await self._leaning.first(
            lambda: self._shared.spent(source, quota), lambda: self._own.spent(source, quota)
        )
