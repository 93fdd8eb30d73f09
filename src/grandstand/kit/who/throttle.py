"""Kept here: how often a login may fail before it must wait."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from grandstand.base.clock import Clock
from grandstand.kit.who.errors import LoginThrottled
from grandstand.kit.who.secrets import hashed
from grandstand.kit.who.tables import Tries
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed

_NETWORK_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Patience:
    """How many tries a window of time allows: on one account from one address, and per address."""

    window_seconds: int = 900
    per_account: int = 5
    per_address: int = 30


@dataclass(frozen=True, slots=True)
class Try:
    """A try that was counted before it was made."""

    pair: str
    address: str
    window: int


class Throttle:
    """Counts tries before they are made, so that many at once cannot exceed what is allowed."""

    def __init__(self, store: AsyncStore, clock: Clock, patience: Patience | None = None) -> None:
        self._store = store
        self._clock = clock
        self._patience = patience or Patience()

    async def take(self, account: str, address: str) -> Try:
        """Count a try; raise LoginThrottled when it is one too many."""
        patience = self._patience
        window = int(self._clock.epoch()) // patience.window_seconds
        place = network_of(address)
        tried = Try(hashed(f"{account}\n{place}"), hashed(place), window)
        await self._count(tried.pair, window, patience.per_account)
        try:
            await self._count(tried.address, window, patience.per_address)
        except LoginThrottled:
            await self._take_back(tried.pair, window)
            raise
        return tried

    async def forgive(self, tried: Try) -> None:
        """Forget what failed on this account from there: the password was right at last."""
        await self._store(Tries.forget(tried.pair, tried.window))
        await self._take_back(tried.address, tried.window)

    async def _take_back(self, subject: str, window: int) -> None:
        # The window may be over and its count swept away.
        with suppress(ConditionFailed):
            await self._store(Tries.take_back(subject, window))

    async def _count(self, subject: str, window: int, most: int) -> None:
        end = (window + 1) * self._patience.window_seconds
        try:
            await self._store(
                Tries.one_more(subject, window, most, datetime.fromtimestamp(end, UTC))
            )
        except ConditionFailed as refused:
            wait = max(1, end - int(self._clock.epoch()))
            minutes = -(-wait // 60)
            message = f"Too many logins failed: try again in {minutes} min"
            raise LoginThrottled(message, wait) from refused


def network_of(address: str) -> str:
    """Answer what one visitor can be told by: an IPv4 address, or the network of an IPv6 one.

    Whoever has one IPv6 address usually has all 2^64 of its network.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.casefold()
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _NETWORK_BITS), strict=False))
