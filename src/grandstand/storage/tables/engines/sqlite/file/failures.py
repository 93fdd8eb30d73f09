"""Kept here: what SQLite's errors mean to whoever stands on the engine."""

from __future__ import annotations

import sqlite3
from typing import Final

from grandstand.base.errors import Broken, GrandstandError
from grandstand.storage.tables.errors import StoreDamaged, StoreReadOnly, StoreUnavailable

_PRIMARY: Final = 0xFF
_BUSY: Final = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_STALE: Final = ("no such table", "no such index", "no such column", "has no column")


def busy(fault: sqlite3.Error) -> bool:
    """Tell whether another writer was in the way, so that the same work may pass later."""
    return _code(fault) in _BUSY


def stale(fault: sqlite3.Error) -> bool:
    """Tell whether a table was altered or deleted by another since its layout was read."""
    return _code(fault) == sqlite3.SQLITE_ERROR and any(text in str(fault) for text in _STALE)


def unusable(fault: sqlite3.Error) -> bool:
    """Tell whether the file could not be opened the way it was tried."""
    return _code(fault) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def translated(fault: sqlite3.Error, place: str) -> GrandstandError:
    """Say what an error of SQLite means for the store at that place, and what to do."""
    code = _code(fault)
    if code in _BUSY:
        return StoreUnavailable(
            f"The store {place} stayed locked by another writer; try again later"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailable(
            f"No room is left for the store {place}: nothing of this was written; "
            "free space and try again"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreReadOnly(
            f"The store {place} can be read but not written; make the file and its folder writable"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamaged(f"The store {place} is damaged ({fault}); restore it from a copy")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return StoreUnavailable(f"The store {place} cannot be reached: {fault}")
    if code is None and isinstance(fault, sqlite3.ProgrammingError):
        return StoreUnavailable(f"The store {place} is closed")
    return Broken(f"The store {place} failed: {fault}")


def _code(fault: sqlite3.Error) -> int | None:
    # Errors of Python's own sqlite3 module, such as a closed connection, carry no code.
    code = getattr(fault, "sqlite_errorcode", None)
    return None if code is None else code & _PRIMARY
