"""Kept here: what a push token may look like, and the id a push goes under."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from grandstand.apps.cricket.model.errors import TokenInvalid

# Apple says not to count on a length; device tokens have 64 digits, activity tokens 160 to 256.
_TOKEN: Final = re.compile(r"(?:[0-9a-fA-F]{2}){4,256}")


def check_token(token: str, what: str = "token") -> str:
    """Answer a push token in small letters; raise TokenInvalid when it is none."""
    if _TOKEN.fullmatch(token) is None:
        message = (
            f"The {what} must be 8 to 512 hexadecimal digits, an even number of them, as the "
            f"device shows it; this has {len(token)} characters"
        )
        raise TokenInvalid(message)
    return token.lower()


def push_id(*parts: str) -> str:
    """Answer the id of a push, a UUID: the same parts always have the same one.

    What is sent again after a crash carries the id it had before.
    """
    digits = blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
