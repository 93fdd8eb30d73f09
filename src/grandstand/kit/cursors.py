"""Kept here: cursors callers get: opaque, signed, and good for one question of one person."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from grandstand.base.errors import InvalidInput
from grandstand.kit.who.caller import Caller

_SIGNATURE_BYTES: Final = 16


class CursorRefused(InvalidInput):
    """The cursor is not one this person was given for this question."""


class Cursors:
    """Writes and reads cursors with a secret of the house."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def write(self, caller: Caller, question: str, position: str | None) -> str | None:
        """Answer the cursor a caller goes on with; None when there is no further page."""
        if position is None:
            return None
        signed = self._sign(caller, question, position.encode())
        return urlsafe_b64encode(signed + position.encode()).rstrip(b"=").decode()

    def read(self, caller: Caller, question: str, cursor: str | None) -> str | None:
        """Answer the position in a cursor, None for none; raise CursorRefused."""
        if cursor is None:
            return None
        try:
            raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            signature, position = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
            text = position.decode()
        except ValueError as fault:
            raise CursorRefused(_ADVICE) from fault
        if not hmac.compare_digest(signature, self._sign(caller, question, position)):
            raise CursorRefused(_ADVICE)
        return text

    def _sign(self, caller: Caller, question: str, position: bytes) -> bytes:
        said = f"{caller.user_id}\0{question}".encode() + b"\0" + position
        return hmac.new(self._secret, said, hashlib.sha256).digest()[:_SIGNATURE_BYTES]


_ADVICE: Final = "This cursor is not good here: ask again without one"
