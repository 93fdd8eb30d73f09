"""Kept here: opening the file of a store, or making it, and telling ours from others."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from grandstand.storage.tables.engines.sqlite.file.connections import (
    Door,
    Durability,
    connect,
    synchronous,
)
from grandstand.storage.tables.engines.sqlite.file.failures import busy, translated, unusable
from grandstand.storage.tables.engines.sqlite.file.patience import waits
from grandstand.storage.tables.errors import (
    StoreDamaged,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)

# "GSTB" in ASCII; SQLite keeps it at byte 68 of the file, where file(1) looks for it.
APPLICATION: Final = 0x47535442
VERSION: Final = 1

_FOUNDATION: Final = (
    """CREATE TABLE _tables(
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, schema TEXT NOT NULL,
        physical TEXT NOT NULL, created_at REAL NOT NULL, stream_label TEXT,
        floor INTEGER NOT NULL DEFAULT 0, settings TEXT NOT NULL)""",
    """CREATE TABLE _consumers(
        number INTEGER NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL,
        PRIMARY KEY(number, name)) WITHOUT ROWID""",
    """CREATE TABLE _tokens(
        token TEXT PRIMARY KEY, body BLOB NOT NULL, at REAL NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX _tokens_at ON _tokens(at)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


def open_memory() -> tuple[Door, sqlite3.Connection]:
    """Make a store that lives in memory."""
    door = Door(":memory:", "in memory", memory=True)
    connection = connect(door)
    _found(connection)
    return door, connection


def open_file(
    path: Path, durability: Durability, patience_seconds: float, *, read_only: bool, create: bool
) -> tuple[Door, sqlite3.Connection]:
    """Open the store at a path, making it when allowed.

    Raises StoreUnavailable, StoreReadOnly, StoreDamaged or StoreTooNew.
    """
    if create and not read_only:
        _make_folder(path.parent)
    if not path.is_file() and (read_only or not create):
        raise StoreUnavailable(f"There is no store at {path}")
    fault: sqlite3.Error | None = None
    for door in _doors(path, durability, read_only=read_only, create=create):
        try:
            return door, _enter(door, patience_seconds)
        except sqlite3.Error as refused:
            fault = fault or refused
            if not unusable(refused) or not path.is_file():
                break
    assert fault is not None  # noqa: S101 - there is always a first door
    if not path.exists() and not _writable(path.parent):
        raise StoreReadOnly(f"The folder {path.parent} may not be written to") from fault
    raise translated(fault, str(path)) from fault


def _writable(folder: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK, effective_ids=effective)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except PermissionError as fault:
        raise StoreReadOnly(f"The folder {folder} cannot be made: {fault.strerror}") from fault
    except OSError as fault:
        raise StoreUnavailable(f"The folder {folder} cannot be made: {fault.strerror}") from fault


def _doors(path: Path, durability: Durability, *, read_only: bool, create: bool) -> list[Door]:
    uri = path.absolute().as_uri()
    door = Door(f"{uri}?mode={'rwc' if create else 'rw'}", str(path), durability)
    reading = replace(door, uri=f"{uri}?mode=ro", read_only=True)
    doors = [reading] if read_only else [door, reading]
    # Without the right to make its side files SQLite reads a store only if told that nobody
    # writes to it; a log that has been left there would be missed.
    log = path.with_name(f"{path.name}-wal")
    with suppress(OSError):
        if not log.exists() or not log.stat().st_size:
            doors.append(replace(reading, uri=f"{uri}?mode=ro&immutable=1"))
    return doors


def _enter(door: Door, patience_seconds: float) -> sqlite3.Connection:
    for _ in waits(patience_seconds):
        try:
            return _entered(door)
        except sqlite3.Error as fault:
            if not busy(fault):
                raise
            last = fault
    raise last


def _entered(door: Door) -> sqlite3.Connection:
    connection = connect(door)
    try:
        if _fresh(connection) and not door.read_only:
            if door.durability == "process":
                # An empty store is no loss: it need not wait for the disk, 10 ms and more.
                connection.execute("PRAGMA synchronous = OFF").fetchall()
            _found(connection)
            connection.execute(synchronous(door)).fetchall()
        _check(connection, door.name)
        if not door.read_only and _ask(connection, "PRAGMA journal_mode") != "wal":
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _fresh(connection: sqlite3.Connection) -> bool:
    empty = _ask(connection, "SELECT count(*) FROM sqlite_master") == 0
    return empty and _ask(connection, "PRAGMA application_id") == 0


def _found(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first.
        if _fresh(connection):
            for statement in _FOUNDATION:
                connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _check(connection: sqlite3.Connection, name: str) -> None:
    if _ask(connection, "PRAGMA application_id") != APPLICATION:
        raise StoreDamaged(
            f"The file {name} is not a store of Grandstand; name another file, or restore it"
        )
    version = _ask(connection, "PRAGMA user_version")
    if not isinstance(version, int) or version > VERSION:
        raise StoreTooNew(
            f"The store {name} has version {version}, made by a newer Grandstand; this one reads "
            f"up to version {VERSION}: upgrade, or open another store"
        )


def _ask(connection: sqlite3.Connection, sql: str) -> object:
    return connection.execute(sql).fetchone()[0]
