"""Kept here: what a push token may look like."""

from __future__ import annotations

import re
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
