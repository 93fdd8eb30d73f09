"""Kept here: a whole copy of a store's file as it is at one moment, while others write to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from grandstand.storage.tables.engines.sqlite.file.failures import busy, translated
from grandstand.storage.tables.engines.sqlite.file.founding import open_file
from grandstand.storage.tables.engines.sqlite.tables.layout import Physical

_PATIENCE_SECONDS: Final = 10.0
_PAGES_AT_ONCE: Final = 2_048


def snapshot(
    path: Path, to: Path, tell: Callable[[int, int], None] = lambda _done, _total: None
) -> dict[str, int]:
    """Copy the store at a path to a new file, and answer how many items each table holds there.

    The copy is the state of one moment after the call: all that was acknowledged before is in it,
    and of each transaction all or nothing. Writers go on meanwhile. `tell` hears how many pages of
    how many are copied. Raises StoreUnavailable, StoreDamaged or StoreTooNew.
    """
    try:
        _, connection = open_file(path, "process", _PATIENCE_SECONDS, read_only=True, create=False)
        with closing(connection), closing(sqlite3.connect(to, isolation_level=None)) as copy:
            # The copy is not looked for after a crash, so nothing has to be undone in it.
            copy.execute("PRAGMA journal_mode = OFF").fetchall()
            copy.execute("PRAGMA synchronous = OFF").fetchall()
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.backup(
                copy,
                pages=_PAGES_AT_ONCE,
                progress=lambda _status, left, total: tell(total - left, total),
            )
            return _counted(copy)
    except sqlite3.Error as fault:
        raise translated(fault, str(path)) from fault


def count_exactly(path: Path) -> dict[str, int]:
    """Answer how many items each table of a store holds, counting all; raise as `snapshot`."""
    try:
        _, connection = open_file(path, "process", _PATIENCE_SECONDS, read_only=True, create=False)
        with closing(connection):
            return _counted(connection)
    except sqlite3.Error as fault:
        raise translated(fault, str(path)) from fault


def in_use(path: Path) -> bool:
    """Tell whether any connection, of this process or another, has the store at a path open."""
    if not path.is_file():
        return False
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            # Whoever has the file open in WAL mode holds a lock on it that this one cannot share.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.Error as fault:
            return busy(fault)
    return False


def _counted(connection: sqlite3.Connection) -> dict[str, int]:
    known = connection.execute("SELECT name, physical FROM _tables ORDER BY name").fetchall()
    places: Mapping[str, Physical] = {
        name: msgspec.json.decode(text, type=Physical) for name, text in known
    }
    return {
        name: int(connection.execute(f"SELECT count(*) FROM {place.table}").fetchone()[0])
        for name, place in places.items()
    }
