"""Paging cursors: opaque, signed, and valid for one query of one caller."""

from __future__ import annotations

import hashlib
from typing import Final

from itsdangerous import BadData, URLSafeSerializer

from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import Caller

_ADVICE: Final = "This cursor is not valid here. Start again without one."


class InvalidCursor(InvalidInput):
    """The cursor was not issued to this caller for this query."""

    code = "invalid-cursor"


class Cursors:
    """Signs and verifies cursors."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def write(self, caller: Caller, query: str, position: str | None) -> str | None:
        """Return the cursor for the next page; None if there is no further page."""
        if position is None:
            return None
        return self._serializer(caller, query).dumps(position)

    def read(self, caller: Caller, query: str, cursor: str | None) -> str | None:
        """Return the position of a cursor, or None without one. Raises InvalidCursor."""
        if cursor is None:
            return None
        try:
            position = self._serializer(caller, query).loads(cursor)
        except (BadData, UnicodeError) as error:
            raise InvalidCursor(_ADVICE) from error
        return str(position)

    def _serializer(self, caller: Caller, query: str) -> URLSafeSerializer:
        salt = f"{caller.user_id}\0{query}".encode()
        return URLSafeSerializer(
            self._secret, salt=salt, signer_kwargs={"digest_method": hashlib.sha256}
        )
