"""Kept here: connections to the file, one a thread, and the transactions on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Lock, RLock
from types import TracebackType
from typing import Final, Literal, TypeAlias

from grandstand.base.clock import Clock
from grandstand.storage.tables.engines.sqlite.faults import Faults
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout, Row

Durability: TypeAlias = Literal["process", "power"]
Execute: TypeAlias = Callable[..., sqlite3.Cursor]

_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}
_STATEMENTS: Final = 256
_FEW_STATEMENTS: Final = 48
# Measured on 100 MB of items, with the file mapped into memory: a thousand items read again and
# again take 17 µs each from a cache that holds their pages and 28 µs from one that does not; items
# read once take the same whether the cache has 4 MB or 64.
_CACHE_KIB: Final = 16 * 1024
_MAPPED_BYTES: Final = 256 * 1024 * 1024
_LOG_BYTES: Final = 64 * 1024 * 1024
_SPARING: Final = ("PRAGMA cache_size = -1024", "PRAGMA mmap_size = 0")


@dataclass(frozen=True, slots=True)
class Door:
    """Where the store is and how it is opened; `name` is for messages.

    With `sparing` nothing is mapped into memory and little of it is kept.
    """

    uri: str
    name: str
    durability: Durability = "process"
    read_only: bool = False
    memory: bool = False
    sparing: bool = False


@dataclass(slots=True)
class Shared:
    """What all connections of one engine have in common.

    Writers of one process take their turn by `turn`, which wakes the next at once; between
    processes only trying again helps.
    """

    clock: Clock
    faults: Faults
    metered: bool = False
    layouts: dict[str, Layout] = field(default_factory=dict)
    turn: Lock = field(default_factory=Lock)
    members: count[int] = field(default_factory=lambda: count(1))
    recorded: count[int] = field(default_factory=lambda: count(1))


class Writing:
    """A transaction that may write, begun at once so that what it reads stays true."""

    __slots__ = ("_connection", "_execute", "_turn")

    def __init__(self, connection: sqlite3.Connection, turn: Lock) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._turn = turn

    def __enter__(self) -> None:
        self._turn.acquire()
        try:
            self._execute("BEGIN IMMEDIATE")
        except BaseException:
            self._turn.release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._execute("COMMIT")
        finally:
            # After some failures, a full disk among them, SQLite has rolled back by itself.
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._execute("ROLLBACK")
            self._turn.release()


class Reading:
    """A transaction in which every read sees the same moment."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class Lane:
    """One connection with what is shared between all; its lock lets one thread in at a time."""

    __slots__ = (
        "__weakref__",
        "connection",
        "execute",
        "find",
        "layouts",
        "lock",
        "reading",
        "shared",
        "writing",
    )

    def __init__(self, connection: sqlite3.Connection, shared: Shared) -> None:
        self.connection = connection
        self.execute: Execute = connection.execute
        # For statements that find one row at most: their cursor is done once it is fetched.
        self.find: Execute = connection.cursor().execute
        self.shared = shared
        self.layouts = shared.layouts
        self.lock = RLock()
        self.writing = Writing(connection, shared.turn)
        self.reading = Reading(connection)

    def write(self, sql: str, row: Row | Sequence[object]) -> int:
        """Carry out one statement that is a transaction of its own; answer how many rows it met."""
        with self.shared.turn:
            return self.execute(sql, row).rowcount

    def close(self) -> None:
        """Let go of the file once whoever is using the connection is done."""
        with self.lock:
            self.connection.close()

    def __del__(self) -> None:
        # A thread that ends takes its connection with it.
        self.connection.close()


def connect(door: Door) -> sqlite3.Connection:
    """Open a connection, set up for the engine; raise sqlite3.Error."""
    connection = sqlite3.connect(
        door.uri,
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_FEW_STATEMENTS if door.sparing else _STATEMENTS,
    )
    try:
        for setting in _settings(door) + (_SPARING if door.sparing else ()):
            connection.execute(setting).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def spare(connection: sqlite3.Connection) -> None:
    """Let a connection that is open take little memory."""
    for setting in _SPARING:
        connection.execute(setting).fetchall()


def synchronous(door: Door) -> str:
    """Answer the statement that has commits wait for the disk, or not."""
    return f"PRAGMA synchronous = {_SYNCHRONOUS[door.durability]}"


def _settings(door: Door) -> tuple[str, ...]:
    common = (
        f"PRAGMA cache_size = -{_CACHE_KIB}",
        "PRAGMA trusted_schema = OFF",
        "PRAGMA secure_delete = OFF",
    )
    if door.memory:
        return common
    return (
        synchronous(door),
        f"PRAGMA mmap_size = {_MAPPED_BYTES}",
        f"PRAGMA journal_size_limit = {_LOG_BYTES}",
        *common,
    )
