"""Consistent copies of a store while others write to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from grandstand.storage.tables.engines.sqlite.connections import is_busy, open_file, translate_error
from grandstand.storage.tables.engines.sqlite.layout import PhysicalNames

_TIMEOUT_SECONDS: Final = 10.0
_PAGES_PER_STEP: Final = 2_048


def snapshot(
    path: Path, to: Path, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> dict[str, int]:
    """Copy the store at a path to a new file; return the number of items of each table.

    The copy shows one moment after the call began: everything acknowledged before is in it, and
    no partial transactions. Writers are not blocked. `progress` is called with the pages copied
    and the total. Raises StoreUnavailable, StoreDamaged or StoreTooNew.
    """
    try:
        _, connection = open_file(path, "process", _TIMEOUT_SECONDS, read_only=True, create=False)
        with closing(connection), closing(sqlite3.connect(to, isolation_level=None)) as copy:
            # After a crash the copy is discarded, so it needs no journal.
            copy.execute("PRAGMA journal_mode = OFF").fetchall()
            copy.execute("PRAGMA synchronous = OFF").fetchall()
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.backup(
                copy,
                pages=_PAGES_PER_STEP,
                progress=lambda _status, left, total: progress(total - left, total),
            )
            return _count(copy)
    except sqlite3.Error as error:
        raise translate_error(error, str(path)) from error


def count_items(path: Path) -> dict[str, int]:
    """Return the exact number of items of each table. Raises the same errors as `snapshot`."""
    try:
        _, connection = open_file(path, "process", _TIMEOUT_SECONDS, read_only=True, create=False)
        with closing(connection):
            return _count(connection)
    except sqlite3.Error as error:
        raise translate_error(error, str(path)) from error


def in_use(path: Path) -> bool:
    """Return whether any connection of any process has the store open."""
    if not path.is_file():
        return False
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            # A connection in WAL mode holds a shared lock, which excludes this one.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            return is_busy(error)
    return False


def _count(connection: sqlite3.Connection) -> dict[str, int]:
    rows = connection.execute("SELECT name, physical FROM _tables ORDER BY name").fetchall()
    physical: Mapping[str, PhysicalNames] = {
        name: msgspec.json.decode(text, type=PhysicalNames) for name, text in rows
    }
    return {
        name: int(connection.execute(f"SELECT count(*) FROM {names.table}").fetchone()[0])
        for name, names in physical.items()
    }
