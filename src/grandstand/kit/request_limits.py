"""Limits on incoming requests: size, time and rate per caller, and failed logins."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from grandstand.core.clock import Clock
from grandstand.core.errors import LimitReached
from grandstand.kit.auth.caller import LoginThrottled
from grandstand.kit.auth.sessions import hashed
from grandstand.kit.auth.tables import LoginFailures
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed

_MOST_CALLERS: Final = 10_000


class TooManyRequests(LimitReached):
    """The caller exceeds the rate limit; `retry_after_seconds` says when to continue."""

    code = "too-many-requests"

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits on one request."""

    body_bytes: int = 1_000_000
    request_seconds: float = 30.0
    requests_per_minute: int = 600


class CallerRateLimiter:
    """A token bucket per caller, ten seconds deep.

    It counts within this process and forgets the caller that has been idle longest.
    """

    def __init__(self, per_minute: int, clock: Clock, *, most_callers: int = _MOST_CALLERS) -> None:
        self._per_second = per_minute / 60
        self._burst = max(1.0, per_minute / 6)
        self._clock = clock
        self._most = most_callers
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Take a request from the caller's bucket. Raises TooManyRequests."""
        now = self._clock.monotonic()
        left, at = self._left.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        if not allowed:
            wait = (1 - left) / self._per_second
            raise TooManyRequests(f"Too many requests. Wait {wait:.1f} s.", wait)


_NETWORK_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class LoginLimits:
    """Failed logins allowed per window: per account and address, and per address."""

    window_seconds: int = 900
    per_account: int = 5
    per_address: int = 30


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """An attempt, counted before the password is checked."""

    pair: str
    address: str
    window: int


class LoginThrottle:
    """Counts attempts before they are made, so that parallel ones cannot exceed the limit."""

    def __init__(
        self, store: AsyncStore, clock: Clock, patience: LoginLimits | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._patience = patience or LoginLimits()

    async def take(self, account: str, address: str) -> LoginAttempt:
        """Count an attempt. Raises LoginThrottled."""
        patience = self._patience
        window = int(self._clock.epoch()) // patience.window_seconds
        place = network_of(address)
        tried = LoginAttempt(hashed(f"{account}\n{place}"), hashed(place), window)
        await self._count(tried.pair, window, patience.per_account)
        try:
            await self._count(tried.address, window, patience.per_address)
        except LoginThrottled:
            await self._take_back(tried.pair, window)
            raise
        return tried

    async def forgive(self, tried: LoginAttempt) -> None:
        """Reset the count of an account and address after a successful login."""
        await self._store(LoginFailures.forget(tried.pair, tried.window))
        await self._take_back(tried.address, tried.window)

    async def _take_back(self, subject: str, window: int) -> None:
        # The window may have ended and its count been swept.
        with suppress(ConditionFailed):
            await self._store(LoginFailures.take_back(subject, window))

    async def _count(self, subject: str, window: int, most: int) -> None:
        end = (window + 1) * self._patience.window_seconds
        try:
            await self._store(
                LoginFailures.one_more(subject, window, most, datetime.fromtimestamp(end, UTC))
            )
        except ConditionFailed as refused:
            wait = max(1, end - int(self._clock.epoch()))
            minutes = -(-wait // 60)
            message = f"Too many failed logins. Try again in {minutes} min"
            raise LoginThrottled(message, wait) from refused


def network_of(address: str) -> str:
    """Return the IPv4 address or IPv6 /64 network of a client.

    A client with one IPv6 address usually has its whole /64.
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
