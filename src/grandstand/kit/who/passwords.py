"""Kept here: passwords: what one may be, and how it is hashed and checked."""

from __future__ import annotations

import asyncio
import unicodedata
from dataclasses import dataclass
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from grandstand.base.errors import Broken, InvalidInput

SHORTEST: Final = 10
LONGEST: Final = 256
_FEWEST_DIFFERENT: Final = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """What one hash costs; argon2id with 64 MiB and two passes takes about 0.15 s on one core."""

    passes: int = 2
    memory_kib: int = 65_536
    lanes: int = 1


class Passwords:
    """Hashes and checks passwords in threads, only a few at once: each takes its memory."""

    def __init__(self, cost: Cost | None = None, *, at_once: int = 2) -> None:
        self.cost = cost or Cost()
        self._hasher = PasswordHasher(
            time_cost=self.cost.passes,
            memory_cost=self.cost.memory_kib,
            parallelism=self.cost.lanes,
        )
        self._turns = asyncio.Semaphore(at_once)

    async def hash(self, password: str) -> str:
        """Answer what is stored of a password."""
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, _normal(password))

    async def matches(self, stored: str | None, password: str) -> bool:
        """Tell whether a password is the stored one; without one, work as hard and say no.

        Raises Broken when what is stored is no hash.
        """
        given = _normal(password)[: LONGEST + 1]
        async with self._turns:
            return await asyncio.to_thread(self._check, stored or self.nobodys(), given)

    def outdated(self, stored: str) -> bool:
        """Tell whether a hash was made at another cost than is asked for today."""
        return self._hasher.check_needs_rehash(stored)

    def nobodys(self) -> str:
        """Answer a hash no password is known for, at the same cost as every other."""
        cost = self.cost
        parameters = f"m={cost.memory_kib},t={cost.passes},p={cost.lanes}"
        return f"$argon2id$v=19${parameters}${'A' * 22}${'A' * 43}"

    def _check(self, stored: str, given: str) -> bool:
        try:
            return self._hasher.verify(stored, given)
        except VerifyMismatchError:
            return False
        except (InvalidHashError, VerificationError) as fault:
            message = "A stored password cannot be read; set a new one: grandstand user password"
            raise Broken(message) from fault


def checked_password(password: str, name: str) -> str:
    """Answer a password that may be used; raise InvalidInput with what to change."""
    normal = _normal(password)
    if not SHORTEST <= len(normal) <= LONGEST:
        message = f"A password has {SHORTEST} to {LONGEST} characters: choose another"
        raise InvalidInput(message)
    if len(set(normal)) < _FEWEST_DIFFERENT or name.casefold() == normal.casefold():
        message = (
            "This password is too easy to guess: take several words, or what a password keeper "
            "suggests"
        )
        raise InvalidInput(message)
    return normal


def _normal(password: str) -> str:
    """Two keyboards may write one letter in two ways; both are the same password."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode("utf-8")
