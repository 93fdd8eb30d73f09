"""Password rules, hashing and verification, and limits on failed logins."""

from __future__ import annotations

import asyncio
import ipaddress
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from grandstand.core.clock import Clock
from grandstand.core.errors import Broken, InvalidInput
from grandstand.kit.auth.caller import LoginThrottled
from grandstand.kit.auth.credentials import hash_secret
from grandstand.kit.auth.tables import LoginFailures
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed

MIN_LENGTH: Final = 10
MAX_LENGTH: Final = 256


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one hash; argon2id with 64 MiB and two passes takes about 0.15 s."""

    passes: int = 2
    memory_kib: int = 65_536
    lanes: int = 1


class Passwords:
    """Hashes and verifies passwords in threads, a few at a time because of their memory."""

    def __init__(self, cost: Cost | None = None, *, at_once: int = 2) -> None:
        self.cost = cost or Cost()
        self.hasher = PasswordHasher(
            time_cost=self.cost.passes,
            memory_cost=self.cost.memory_kib,
            parallelism=self.cost.lanes,
        )
        self._semaphore = asyncio.Semaphore(at_once)

    async def hash(self, password: str) -> str:
        """Return the hash to store."""
        async with self._semaphore:
            return await asyncio.to_thread(self.hasher.hash, _normalize(password))

    async def matches(self, stored: str | None, password: str) -> bool:
        """Return whether a password matches; without a stored hash, take the same time.

        Raises Broken if the stored text is not a hash.
        """
        given = _normalize(password)[: MAX_LENGTH + 1]
        async with self._semaphore:
            return await asyncio.to_thread(self._check, stored or self._unmatchable(), given)

    def _unmatchable(self) -> str:
        """Return a hash that no password matches, at the same cost."""
        cost = self.cost
        parameters = f"m={cost.memory_kib},t={cost.passes},p={cost.lanes}"
        return f"$argon2id$v=19${parameters}${'A' * 22}${'A' * 43}"

    def _check(self, stored: str, given: str) -> bool:
        try:
            return self.hasher.verify(stored, given)
        except VerifyMismatchError:
            return False
        except (InvalidHashError, VerificationError) as fault:
            raise Broken(
                "A stored password hash is damaged. Set a new one with `grandstand user password`."
            ) from fault


def check_password(password: str, name: str) -> str:
    """Return a valid password. Raises InvalidInput."""
    normal = _normalize(password)
    if not MIN_LENGTH <= len(normal) <= MAX_LENGTH:
        raise InvalidInput(
            f"A password has {MIN_LENGTH} to {MAX_LENGTH} characters. Choose another."
        )
    if len(set(normal)) < 4 or name.casefold() == normal.casefold():
        raise InvalidInput(
            "This password is too easy to guess. Use several words, or let a password manager "
            "generate one."
        )
    return normal


def _normalize(password: str) -> str:
    """Normalize Unicode: two keyboards may encode one letter differently."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode("utf-8")


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

    def __init__(self, store: AsyncStore, clock: Clock, limits: LoginLimits | None = None) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits or LoginLimits()

    async def take(self, account: str, address: str) -> LoginAttempt:
        """Count an attempt. Raises LoginThrottled."""
        limits = self._limits
        window = int(self._clock.epoch()) // limits.window_seconds
        network = network_of(address)
        attempt = LoginAttempt(hash_secret(f"{account}\n{network}"), hash_secret(network), window)
        await self._count(attempt.pair, window, limits.per_account)
        try:
            await self._count(attempt.address, window, limits.per_address)
        except LoginThrottled:
            await self._uncount(attempt.pair, window)
            raise
        return attempt

    async def forgive(self, attempt: LoginAttempt) -> None:
        """Reset the count of an account and address after a successful login."""
        await self._store(LoginFailures.delete(subject=attempt.pair, window=attempt.window))
        await self._uncount(attempt.address, attempt.window)

    async def _uncount(self, subject: str, window: int) -> None:
        # The window may have ended and its count been swept.
        with suppress(ConditionFailed):
            await self._store(LoginFailures.take_back(subject, window))

    async def _count(self, subject: str, window: int, most: int) -> None:
        end = (window + 1) * self._limits.window_seconds
        try:
            await self._store(
                LoginFailures.one_more(subject, window, most, datetime.fromtimestamp(end, UTC))
            )
        except ConditionFailed as refused:
            wait = max(1, end - int(self._clock.epoch()))
            minutes = -(-wait // 60)
            raise LoginThrottled(
                f"Too many failed logins. Try again in {minutes} min", wait
            ) from refused


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
    return str(ipaddress.ip_network((parsed, 64), strict=False))
