"""Password rules, hashing and verification."""

from __future__ import annotations

import asyncio
import unicodedata
from dataclasses import dataclass
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from grandstand.core.errors import Broken, InvalidInput

MIN_LENGTH: Final = 10
MAX_LENGTH: Final = 256
_FEWEST_DIFFERENT: Final = 4


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
        self._hasher = PasswordHasher(
            time_cost=self.cost.passes,
            memory_cost=self.cost.memory_kib,
            parallelism=self.cost.lanes,
        )
        self._turns = asyncio.Semaphore(at_once)

    async def hash(self, password: str) -> str:
        """Return the hash to store."""
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, _normal(password))

    async def matches(self, stored: str | None, password: str) -> bool:
        """Return whether a password matches; without a stored hash, take the same time.

        Raises Broken if the stored text is not a hash.
        """
        given = _normal(password)[: MAX_LENGTH + 1]
        async with self._turns:
            return await asyncio.to_thread(self._check, stored or self.nobodys(), given)

    def outdated(self, stored: str) -> bool:
        """Return whether a hash was made at a different cost."""
        return self._hasher.check_needs_rehash(stored)

    def nobodys(self) -> str:
        """Return a hash that no password matches, at the same cost."""
        cost = self.cost
        parameters = f"m={cost.memory_kib},t={cost.passes},p={cost.lanes}"
        return f"$argon2id$v=19${parameters}${'A' * 22}${'A' * 43}"

    def _check(self, stored: str, given: str) -> bool:
        try:
            return self._hasher.verify(stored, given)
        except VerifyMismatchError:
            return False
        except (InvalidHashError, VerificationError) as fault:
            message = (
                "A stored password hash is damaged. Set a new one with `grandstand user password`."
            )
            raise Broken(message) from fault


def check_password(password: str, name: str) -> str:
    """Return a valid password. Raises InvalidInput."""
    normal = _normal(password)
    if not MIN_LENGTH <= len(normal) <= MAX_LENGTH:
        message = f"A password has {MIN_LENGTH} to {MAX_LENGTH} characters. Choose another."
        raise InvalidInput(message)
    if len(set(normal)) < _FEWEST_DIFFERENT or name.casefold() == normal.casefold():
        raise InvalidInput(
            "This password is too easy to guess: take several words, or what a password keeper "
            "suggests"
        )
    return normal


def _normal(password: str) -> str:
    """Normalize Unicode: two keyboards may encode one letter differently."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode("utf-8")
