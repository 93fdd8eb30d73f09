"""Kept here: what errors of SQLite and of the disk mean to whoever stands on the engine."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grandstand.base.errors import Broken, GrandstandError
from grandstand.storage.series.errors import (
    SeriesChanged,
    SeriesDamaged,
    SeriesReadOnly,
    SeriesUnavailable,
)

_PRIMARY: Final = 0xFF
_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_REFUSED: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
_OTHER_COLUMNS: Final = ("no such column", "has no column")


@contextmanager
def translating(place: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into ours while the block runs."""
    try:
        yield
    except sqlite3.Error as fault:
        raise _of_sqlite(fault, place) from fault
    except OSError as fault:
        raise _of_disk(fault, place) from fault


def code_of(fault: sqlite3.Error) -> int | None:
    """Answer SQLite's own number of an error; None for errors of Python's module."""
    code = getattr(fault, "sqlite_errorcode", None)
    return None if code is None else code & _PRIMARY


def without_table(fault: sqlite3.Error) -> bool:
    """Tell whether the file was made but its table was not yet."""
    return code_of(fault) == sqlite3.SQLITE_ERROR and "no such table" in str(fault)


def _of_sqlite(fault: sqlite3.Error, place: Path) -> GrandstandError:
    code = code_of(fault)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SeriesUnavailable(f"{place} stayed locked by another; try again later")
    if code == sqlite3.SQLITE_FULL:
        return _no_room(place)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return _read_only(place)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return SeriesDamaged(f"{place} is damaged ({fault}); restore it from a copy")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return SeriesUnavailable(f"{place} cannot be reached: {fault} ({fault.sqlite_errorname})")
    if code is None and isinstance(fault, sqlite3.ProgrammingError):
        return SeriesUnavailable(f"{place} is closed")
    if any(text in str(fault) for text in _OTHER_COLUMNS):
        return SeriesChanged(f"{place} has other columns than its series declares: {fault}")
    return Broken(f"{place} failed: {fault}")


def _of_disk(fault: OSError, place: Path) -> GrandstandError:
    if fault.errno in _FULL:
        return _no_room(place)
    if fault.errno in _REFUSED:
        return _read_only(place)
    return SeriesUnavailable(f"{place} cannot be reached: {fault}")


def _no_room(place: Path) -> SeriesUnavailable:
    return SeriesUnavailable(f"No room is left for {place}: free space and append again")


def _read_only(place: Path) -> SeriesReadOnly:
    return SeriesReadOnly(f"{place} can be read but not written; make it and its folder writable")
