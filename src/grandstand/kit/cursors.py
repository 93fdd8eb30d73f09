"""Pages of a list, and their cursors: opaque, signed, and valid for one query of one caller."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from itsdangerous import BadData, URLSafeSerializer

from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import Caller

T = TypeVar("T")


class InvalidCursor(InvalidInput):
    """The cursor was not issued to this caller for this query."""

    code = "invalid-cursor"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, and the cursor of the next page; None on the last one."""

    items: tuple[T, ...]
    cursor: str | None = None


class Cursors:
    """Signs and verifies cursors.

    Example:
        position = cursors.read(caller, "games/nba", cursor)
        games, position = await self._games.page(position)
        return cursors.page(caller, "games/nba", games, position)
    """

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
            raise InvalidCursor(
                "This cursor is not valid here. Start again without one."
            ) from error
        return str(position)

    def page(self, caller: Caller, query: str, items: Iterable[T], position: str | None) -> Page[T]:
        """Return a page with the signed cursor of the next one."""
        return Page(tuple(items), self.write(caller, query, position))

    def _serializer(self, caller: Caller, query: str) -> URLSafeSerializer:
        salt = f"{caller.user_id}\0{query}".encode()
        return URLSafeSerializer(
            self._secret, salt=salt, signer_kwargs={"digest_method": hashlib.sha256}
        )
