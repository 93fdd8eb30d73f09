"""Opening the SQLite file, its connections, transactions and errors, and copies of it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from threading import Event, Lock, RLock, get_ident
from time import monotonic
from typing import Final, Literal, TypeAlias

import msgspec

from grandstand.core.clock import Clock
from grandstand.core.errors import Broken, GrandstandError
from grandstand.storage.tables import errors
from grandstand.storage.tables.engines.sqlite.layout import Layout, PhysicalNames, Row

Durability: TypeAlias = Literal["process", "power"]
Execute: TypeAlias = Callable[..., sqlite3.Cursor]

_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}
# Measured on 100 MB of items with the file mapped into memory: reading the same thousand items
# takes 17 µs each with their pages in the cache and 28 µs without; for items read once it makes
# no difference whether the cache has 4 MB or 64.
_CACHE_KIB: Final = 16 * 1024
_MAPPED_BYTES: Final = 256 * 1024 * 1024
_LOG_BYTES: Final = 64 * 1024 * 1024
_LOW_MEMORY_PRAGMAS: Final = ("PRAGMA cache_size = -1024", "PRAGMA mmap_size = 0")


@dataclass(frozen=True, slots=True)
class ConnectionParams:
    """How to connect to a store; `name` is for messages.

    With `low_memory` the file is not mapped and the page cache is small.
    """

    uri: str
    name: str
    durability: Durability = "process"
    read_only: bool = False
    memory: bool = False
    low_memory: bool = False


@dataclass(slots=True)
class SharedState:
    """State shared by all connections of an engine.

    Writers of one process queue at `write_lock`; between processes they retry.
    """

    clock: Clock
    metered: bool = False
    layouts: dict[str, Layout] = field(default_factory=dict)
    write_lock: Lock = field(default_factory=Lock)
    change_counter: count[int] = field(default_factory=lambda: count(1))


class WriteTransaction:
    """A transaction that takes the write lock at once, so that its reads stay valid."""

    __slots__ = ("_connection", "_execute", "_lock")

    def __init__(self, connection: sqlite3.Connection, write_lock: Lock) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._lock = write_lock

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._execute("BEGIN IMMEDIATE")
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._execute("COMMIT")
        finally:
            # After some errors, such as a full disk, SQLite has already rolled back.
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._execute("ROLLBACK")
            self._lock.release()


class Savepoint:
    """One write within the transaction of a group; an error undoes this write only."""

    __slots__ = ("_connection", "_execute")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute

    def __enter__(self) -> None:
        _require_transaction(self._connection)
        self._execute("SAVEPOINT one_write")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._execute("RELEASE one_write")
        elif self._connection.in_transaction:
            self._execute("ROLLBACK TO one_write")
            self._execute("RELEASE one_write")


def _require_transaction(connection: sqlite3.Connection) -> None:
    # After some errors, such as a full disk, SQLite rolls back the whole transaction.
    if not connection.in_transaction:
        raise errors.StoreUnavailable(
            "Another write that was to be committed together with this one failed; nothing was "
            "written. Try again later.",
            retry_after_seconds=1,
        )


class ReadTransaction:
    """A transaction whose reads all see the same moment."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")

    def __exit__(self, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class ConnectionContext:
    """A connection and the shared state; its lock admits one thread at a time."""

    __slots__ = (
        "__weakref__",
        "connection",
        "execute",
        "execute_one",
        "layouts",
        "lock",
        "read_transaction",
        "shared",
        "write_transaction",
    )

    def __init__(self, connection: sqlite3.Connection, shared: SharedState) -> None:
        self.connection = connection
        self.execute: Execute = connection.execute
        # For statements that return at most one row, so that the cursor can be reused.
        self.execute_one: Execute = connection.cursor().execute
        self.shared = shared
        self.layouts = shared.layouts
        self.lock = RLock()
        self.write_transaction: AbstractContextManager[None] = WriteTransaction(
            connection, shared.write_lock
        )
        self.read_transaction: AbstractContextManager[None] = ReadTransaction(connection)

    def write(self, sql: str, row: Row | Sequence[object]) -> int:
        """Run one statement as its own transaction; return the number of rows it affected."""
        with self.shared.write_lock:
            return self.execute(sql, row).rowcount

    def close(self) -> None:
        """Close the connection once nobody is using it."""
        with self.lock:
            self.connection.close()

    def __del__(self) -> None:
        # Runs when the thread of this connection ends.
        self.connection.close()


class GroupContext(ConnectionContext):
    """A connection for groups of writes that are committed together."""

    __slots__ = ()

    def __init__(self, connection: sqlite3.Connection, shared: SharedState) -> None:
        super().__init__(connection, shared)
        self.write_transaction = Savepoint(connection)
        self.read_transaction = nullcontext()

    def write(self, sql: str, row: Row | Sequence[object]) -> int:
        """Run one statement, which needs no savepoint; return the number of rows it affected."""
        _require_transaction(self.connection)
        return self.execute(sql, row).rowcount

    def begin(self, wait_seconds: float) -> None:
        """Take the write lock, waiting for other writers. Raises sqlite3.Error."""
        lock, deadline = self.shared.write_lock, monotonic() + wait_seconds
        retries = busy_retries(wait_seconds)
        while True:
            if not lock.acquire(timeout=max(0.0, deadline - monotonic())):
                busy = sqlite3.OperationalError("another thread is writing")
                busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise busy
            try:
                self.execute("BEGIN IMMEDIATE")
            except BaseException as error:
                lock.release()
                if not isinstance(error, sqlite3.Error) or not is_busy(error):
                    raise
                if next(retries, self) is self:
                    raise
            else:
                return

    def commit(self) -> None:
        """Commit the group and release the write lock. Raises sqlite3.Error."""
        try:
            _require_transaction(self.connection)
            self.execute("COMMIT")
        finally:
            self.rollback()

    def rollback(self) -> None:
        """Undo what is not committed and release the write lock."""
        try:
            if self.connection.in_transaction:
                with suppress(sqlite3.Error):
                    self.execute("ROLLBACK")
        finally:
            self.shared.write_lock.release()


def connect(params: ConnectionParams) -> sqlite3.Connection:
    """Open and configure a connection. Raises sqlite3.Error."""
    connection = sqlite3.connect(
        params.uri,
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=48 if params.low_memory else 256,
    )
    try:
        for pragma in _pragmas(params) + (_LOW_MEMORY_PRAGMAS if params.low_memory else ()):
            connection.execute(pragma).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def reduce_memory(connection: sqlite3.Connection) -> None:
    """Make an open connection use little memory."""
    for pragma in _LOW_MEMORY_PRAGMAS:
        connection.execute(pragma).fetchall()


def synchronous_pragma(params: ConnectionParams) -> str:
    return f"PRAGMA synchronous = {_SYNCHRONOUS[params.durability]}"


def _pragmas(params: ConnectionParams) -> tuple[str, ...]:
    common = (
        f"PRAGMA cache_size = -{_CACHE_KIB}",
        "PRAGMA trusted_schema = OFF",
        "PRAGMA secure_delete = OFF",
    )
    if params.memory:
        return common
    return (
        synchronous_pragma(params),
        f"PRAGMA mmap_size = {_MAPPED_BYTES}",
        f"PRAGMA journal_size_limit = {_LOG_BYTES}",
        *common,
    )


_BUSY: Final = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_STALE: Final = ("no such table", "no such index", "no such column", "has no column")


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another writer is in the way, so that a retry may succeed."""
    return _code(error) in _BUSY


def is_stale(error: sqlite3.Error) -> bool:
    """Return whether another connection altered or deleted the table."""
    return _code(error) == sqlite3.SQLITE_ERROR and any(text in str(error) for text in _STALE)


def translate_error(error: sqlite3.Error, store: str) -> GrandstandError:
    """Convert an SQLite error to one of ours."""
    code = _code(error)
    if code in _BUSY:
        return errors.StoreUnavailable(
            f"The store {store} is locked by another process. Try again later.",
            retry_after_seconds=1,
        )
    if code == sqlite3.SQLITE_FULL:
        return errors.StoreUnavailable(
            f"The disk of the store {store} is full; nothing was written. Free some space and try "
            "again."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return errors.StoreReadOnly(
            f"The store {store} is read-only. Make the file and its folder writable."
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return errors.StoreDamaged(
            f"The store {store} is damaged ({error}). Restore it from a backup."
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return errors.StoreUnavailable(f"The store {store} cannot be opened: {error}")
    if code is None and isinstance(error, sqlite3.ProgrammingError):
        return errors.StoreUnavailable(f"The store {store} is closed.")
    return Broken(f"The store {store} failed: {error}")


def _code(error: sqlite3.Error) -> int | None:
    # Errors of Python's own sqlite3 module, such as a closed connection, carry no code.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


# Measured with 4 writing processes on 2 cores: with SQLite's own busy handler, which sleeps ever
# longer, 60,000 writes per second, the slowest 130 ms; with short even pauses 90,000 and 16 ms.
_IMMEDIATE_RETRIES: Final = 3
_PAUSE_SECONDS: Final = 0.0002
_LONG_PAUSE_SECONDS: Final = 0.002
_SHORT_WAIT_SECONDS: Final = 1.0
_GOLDEN_RATIO: Final = 0.6180339887498949


def busy_retries(seconds: float) -> Iterator[None]:
    """Yield before each retry, until `seconds` have been waited in total.

    Waits in real time, whatever clock the engine uses.
    """
    for _ in range(_IMMEDIATE_RETRIES):
        yield
    jitter, waited, never = get_ident() * _GOLDEN_RATIO, 0.0, Event()
    while waited < seconds:
        pause = _PAUSE_SECONDS if waited < _SHORT_WAIT_SECONDS else _LONG_PAUSE_SECONDS
        jitter = (jitter + _GOLDEN_RATIO) % 1
        pause *= 0.5 + jitter
        never.wait(pause)
        waited += pause
        yield


# "GSTB" in ASCII; SQLite stores it at byte 68 of the file, where file(1) looks.
APPLICATION_ID: Final = 0x47535442
FILE_VERSION: Final = 1

_INITIAL_SCHEMA: Final = (
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
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FILE_VERSION}",
)


def open_memory() -> tuple[ConnectionParams, sqlite3.Connection]:
    """Create a store in memory."""
    params = ConnectionParams(":memory:", "in memory", memory=True)
    connection = connect(params)
    _initialize(connection)
    return params, connection


def open_file(
    path: Path, durability: Durability, timeout_seconds: float, *, read_only: bool, create: bool
) -> tuple[ConnectionParams, sqlite3.Connection]:
    """Open the store at a path, or create it if `create` is set.

    Raises StoreUnavailable, StoreReadOnly, StoreDamaged or StoreTooNew.
    """
    if create and not read_only:
        _create_folder(path.parent)
    if not path.is_file() and (read_only or not create):
        raise errors.StoreUnavailable(f"There is no store at {path}.")
    error: sqlite3.Error | None = None
    for params in _candidates(path, durability, read_only=read_only, create=create):
        try:
            return params, _connect_patiently(params, timeout_seconds)
        except sqlite3.Error as attempt:
            error = error or attempt
            unusable = _code(attempt) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not unusable or not path.is_file():
                break
    assert error is not None  # noqa: S101 - there is at least one candidate
    effective = os.access in os.supports_effective_ids
    if not path.exists() and not os.access(path.parent, os.W_OK, effective_ids=effective):
        raise errors.StoreReadOnly(f"The folder {path.parent} is not writable.") from error
    raise translate_error(error, str(path)) from error


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise errors.StoreReadOnly(
            f"Cannot create the folder {folder}: {error.strerror}"
        ) from error
    except OSError as error:
        raise errors.StoreUnavailable(
            f"Cannot create the folder {folder}: {error.strerror}"
        ) from error


def _candidates(
    path: Path, durability: Durability, *, read_only: bool, create: bool
) -> list[ConnectionParams]:
    uri = path.absolute().as_uri()
    params = ConnectionParams(f"{uri}?mode={'rwc' if create else 'rw'}", str(path), durability)
    read_only_params = replace(params, uri=f"{uri}?mode=ro", read_only=True)
    candidates = [read_only_params] if read_only else [params, read_only_params]
    # Where SQLite cannot create its side files it can only open the file as immutable, which
    # would ignore an existing write-ahead log.
    wal = path.with_name(f"{path.name}-wal")
    with suppress(OSError):
        if not wal.exists() or not wal.stat().st_size:
            candidates.append(replace(read_only_params, uri=f"{uri}?mode=ro&immutable=1"))
    return candidates


def _connect_patiently(params: ConnectionParams, timeout_seconds: float) -> sqlite3.Connection:
    for _ in busy_retries(timeout_seconds):
        try:
            return _connect_store(params)
        except sqlite3.Error as error:
            if not is_busy(error):
                raise
            last = error
    raise last


def _connect_store(params: ConnectionParams) -> sqlite3.Connection:
    connection = connect(params)
    try:
        if _is_new(connection) and not params.read_only:
            if params.durability == "process":
                # Losing an empty store does no harm, so do not wait 10 ms or more for the disk.
                connection.execute("PRAGMA synchronous = OFF").fetchall()
            _initialize(connection)
            connection.execute(synchronous_pragma(params)).fetchall()
        _check(connection, params.name)
        if not params.read_only and _query_value(connection, "PRAGMA journal_mode") != "wal":
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _is_new(connection: sqlite3.Connection) -> bool:
    empty = _query_value(connection, "SELECT count(*) FROM sqlite_master") == 0
    return empty and _query_value(connection, "PRAGMA application_id") == 0


def _initialize(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have initialized the store meanwhile.
        if _is_new(connection):
            for statement in _INITIAL_SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _check(connection: sqlite3.Connection, name: str) -> None:
    if _query_value(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise errors.StoreDamaged(
            f"The file {name} is not a Grandstand store. Use another file, or restore a backup."
        )
    version = _query_value(connection, "PRAGMA user_version")
    if not isinstance(version, int) or version > FILE_VERSION:
        raise errors.StoreTooNew(
            f"The store {name} has file version {version}; this Grandstand reads up to version "
            f"{FILE_VERSION}. Upgrade Grandstand, or open another store."
        )


def _query_value(connection: sqlite3.Connection, sql: str) -> object:
    return connection.execute(sql).fetchone()[0]


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
