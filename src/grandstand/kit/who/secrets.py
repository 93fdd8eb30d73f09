"""Kept here: secrets nobody can guess, and what is stored in their place."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Final, TypeAlias

SECRET_BYTES: Final = 32

Chance: TypeAlias = Callable[[int], bytes]


def new_secret(chance: Chance) -> str:
    """Answer 256 bits as 43 characters that a cookie can hold."""
    return urlsafe_b64encode(chance(SECRET_BYTES)).rstrip(b"=").decode("ascii")


def new_hex_secret(chance: Chance) -> str:
    """Answer 256 bits as 64 digits, which no separator can be mistaken for."""
    return chance(SECRET_BYTES).hex()


def hashed(secret: str) -> str:
    """Answer what is stored of a secret; 256 bits of chance need no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same(one: str, other: str) -> bool:
    """Tell whether two texts are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )
