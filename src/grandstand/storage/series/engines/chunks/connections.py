"""Kept here: connections to chunk files: one that writes for each, and ones that only read."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

from grandstand.storage.series.engines.chunks.failures import code_of
from grandstand.storage.series.engines.chunks.layout import Layout, typed

Durability: TypeAlias = Literal["process", "power"]
FileId: TypeAlias = tuple[int, int]

_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}
# Writers take turns by the lock of the series; this is for another's index or recovery.
_BUSY_S: Final = 30.0
# Measured: rows are appended a tenth faster than to pages of 4096 bytes.
_PAGE_BYTES: Final = 16384
_KEPT_OPEN: Final = 16
# While another process makes or removes a file, its log and index do not fit it for a moment, and
# SQLite calls that an error of the disk; a real one comes back every time.
_OPENINGS: Final = 50
_LOG_BYTES: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class Writers:
    """Connections that write, kept open for the files used last.

    Only whoever holds the lock of the series may ask for one. A file that another process has
    replaced or removed is never written through an old connection.
    """

    durability: Durability
    most_bytes: int | None
    held: OrderedDict[Path, tuple[sqlite3.Connection, FileId]] = field(default_factory=OrderedDict)

    def to(self, path: Path, create: str) -> sqlite3.Connection:
        """Answer a connection to a file, made with its table if it is not there."""
        kept = self.held.get(path)
        if kept is not None and kept[1] == file_id(path):
            self.held.move_to_end(path)
            return kept[0]
        self.leave(path)
        connection = self._opened(path, create)
        identity = file_id(path)
        if identity is None:
            connection.close()
            raise FileNotFoundError(path)
        self.held[path] = (connection, identity)
        while len(self.held) > _KEPT_OPEN:
            self.leave(next(iter(self.held)))
        return connection

    def leave(self, path: Path) -> None:
        """Close the connection to a file, if there is one."""
        kept = self.held.pop(path, None)
        if kept is not None:
            kept[0].close()

    def close(self) -> None:
        """Close every connection."""
        for path in tuple(self.held):
            self.leave(path)

    def _opened(self, path: Path, create: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self.durability]}")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}").fetchall()
            if self.most_bytes is not None:
                (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
                pages = max(1, self.most_bytes // page_bytes)
                connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
            connection.execute(create)
        except BaseException:
            connection.close()
            raise
        return connection


def insert(connection: sqlite3.Connection, layout: Layout[Any], values: list[Any]) -> int:
    """Add rows in one transaction and answer how many were new; raise sqlite3.Error.

    Given are their values as stored, row after row in one list.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        added = _inserted(connection, layout, values)
        connection.execute("COMMIT")
    finally:
        # After a full disk SQLite may have rolled back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return added


def _inserted(connection: sqlite3.Connection, layout: Layout[Any], values: list[Any]) -> int:
    try:
        return _put(connection, layout, values)
    except sqlite3.OperationalError as fault:
        # SQLite reads a statement before it takes the first row.
        if "has no column named" not in str(fault):
            raise
        there = columns_of(connection)
        missing = [column for column in layout.columns if column.name not in there]
        if not all(column.nullable for column in missing):
            raise
    for column in missing:
        connection.execute(f"ALTER TABLE kept ADD COLUMN {typed(column)}")
    return _put(connection, layout, values)


def _put(connection: sqlite3.Connection, layout: Layout[Any], values: list[Any]) -> int:
    added = done = 0
    most = connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
    for rows, sql in layout.insert_many:
        size = rows * len(layout.columns)
        while size <= most and done + size <= len(values):
            added += connection.execute(sql, values[done : done + size]).rowcount
            done += size
    if done < len(values):
        added += connection.executemany(layout.insert, layout.cut(values[done:])).rowcount
    return added


def reading(path: Path) -> sqlite3.Connection | None:
    """Open a file to read it as it is now, without ever blocking a writer; None if it is gone."""
    for _ in range(_OPENINGS):
        try:
            return _reading(path)
        except sqlite3.OperationalError as fault:
            if code_of(fault) == sqlite3.SQLITE_CANTOPEN and not path.exists():
                return None
            if code_of(fault) != sqlite3.SQLITE_IOERR:
                raise
    return _reading(path)


def _reading(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro",
        uri=True,
        timeout=_BUSY_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def all_in_file(connection: sqlite3.Connection) -> bool:
    """Move the log into the file; tell whether nothing is left that only the log holds."""
    busy, logged, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy and logged == moved


def columns_of(connection: sqlite3.Connection) -> frozenset[str]:
    """Answer the columns a file has: those that were declared later are not there.

    SQLite would take the quoted name of a column that is not there for a text.
    """
    return frozenset(
        name for (name,) in connection.execute("SELECT name FROM pragma_table_info('kept')")
    )


def is_closed(connection: sqlite3.Connection) -> bool:
    """Tell whether the index by key was built, as it is when a chunk closes."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'by_key'").fetchone()
    return found is not None


def count(connection: sqlite3.Connection) -> int:
    """Answer how many rows a file holds; none when its making was stopped in the middle."""
    if not columns_of(connection):
        return 0
    (found,) = connection.execute("SELECT count(*) FROM kept").fetchone()
    return int(found)


def file_id(path: Path) -> FileId | None:
    """Answer which file a path names now; None when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
