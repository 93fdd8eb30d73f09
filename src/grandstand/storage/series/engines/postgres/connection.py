"""Connections to PostgreSQL, and translation of its errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grandstand.core.errors import Broken, GrandstandError, NotAllowed, NotFound
from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.errors import SeriesChanged, SeriesReadOnly, SeriesUnavailable

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_PARTITION_MISSING: Final = "23514"
_READ_ONLY: Final = "25006"
_NO_TABLE: Final = "42P01"
_NO_COLUMN: Final = "42703"
_DISK_FULL: Final = "53100"
_CONFLICTS: Final = frozenset(("40001", "40P01"))
_LOCK_TIMEOUT: Final = "55P03"
_NOT_ALLOWED: Final = frozenset(("42501", "28000", "28P01"))
# Classes of SQLSTATE: invalid data; connection, resources, operator intervention, system error.
_INVALID_DATA: Final = "22"
_UNAVAILABLE: Final = frozenset(("08", "53", "57", "58"))
# Tables are found only in the schema, TimescaleDB's functions where the extension is installed.
_SEARCH_PATH: Final = """
SELECT set_config('search_path', concat_ws(', ', quote_ident(%s), (
    SELECT quote_ident(nspname) FROM pg_extension
    JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'timescaledb'
)), FALSE)
"""


class PartitionMissing(SeriesUnavailable):
    """The partition of a row was dropped while the row was being sent."""

    code = "partition-missing"


class WriteConflict(SeriesUnavailable):
    """Another transaction wrote the same rows, and the server aborted this one."""

    code = "write-conflict"


class TableLocked(SeriesUnavailable):
    """The table to change is in use."""

    code = "table-locked"


def translate_error(error: psycopg.Error, *, connection_lost: bool) -> GrandstandError:
    """Translate a PostgreSQL error to an error of series storage."""
    code = error.sqlstate or ""
    message = str(error).partition("\n")[0]
    if code in _NOT_ALLOWED:
        return NotAllowed(f"The series server refused access: {message}. Grant the rights.")
    if code == _READ_ONLY:
        return SeriesReadOnly(f"The series server is read-only: {message}. Use the primary server.")
    if code == _DISK_FULL:
        return SeriesUnavailable(
            f"The series server has no space left; nothing was written ({message}). "
            "Free disk space and try again."
        )
    if code[:2] in _UNAVAILABLE or connection_lost or _is_client_error(error):
        return SeriesUnavailable(f"The series server does not respond: {message}. Try again.")
    if code in _CONFLICTS:
        return WriteConflict(f"Conflict with another writer: {message}. Try again.")
    if code == _PARTITION_MISSING:
        return PartitionMissing(f"A partition is missing: {message}. Try again.")
    if code == _LOCK_TIMEOUT:
        return TableLocked(f"The table is in use: {message}. Try again later.")
    return _translate_statement_error(code, message)


def _translate_statement_error(code: str, message: str) -> GrandstandError:
    if code == _NO_TABLE:
        return NotFound(f"The series does not exist: {message}. Prepare it first.")
    if code == _NO_COLUMN:
        return SeriesChanged(f"The table has other columns: {message}. Prepare the series first.")
    if code[:2] == _INVALID_DATA:
        return SeriesFault(f"The server cannot store a value: {message}")
    return Broken(f"The series server failed: {message}")


def _is_client_error(error: psycopg.Error) -> bool:
    # Errors of the client itself, such as a refused connection, have no code.
    import psycopg

    return error.sqlstate is None and isinstance(
        error, psycopg.OperationalError | psycopg.InterfaceError
    )


class Connections:
    """A pool of connections to one server, opened on demand.

    Thread-safe; each transaction has a connection of its own.
    """

    def __init__(self, dsn: str, schema: str | None) -> None:
        self._dsn = dsn
        self._schema = schema
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Run one transaction, which is rolled back if the block raises.

        Errors of the server are translated; see `translate_error`.
        """
        import psycopg

        connection = self._acquire()
        try:
            with connection.transaction():
                yield connection
        except psycopg.Error as error:
            raise translate_error(error, connection_lost=connection.broken) from error
        finally:
            self._release(connection)

    def close(self) -> None:
        """Close all connections, also those in use. Idempotent."""
        with self._lock:
            self._closed = True
            connections, self._open, self._idle = self._open, set(), []
        for connection in connections:
            connection.close()

    def _acquire(self) -> Connection:
        with self._lock:
            if self._closed:
                raise SeriesUnavailable("The series engine is closed. Open it again.")
            while self._idle:
                connection = self._idle.pop()
                if not connection.closed:
                    return connection
                self._open.discard(connection)
        connection = self._connect()
        with self._lock:
            self._open.add(connection)
        return connection

    def _connect(self) -> Connection:
        import psycopg

        try:
            connection = psycopg.connect(self._dsn, autocommit=True)
            if self._schema is not None:
                connection.execute(_SEARCH_PATH, (self._schema,))
        except psycopg.Error as error:
            raise translate_error(error, connection_lost=False) from error
        return connection

    def _release(self, connection: Connection) -> None:
        with self._lock:
            if not connection.closed and not self._closed:
                self._idle.append(connection)
                return
            self._open.discard(connection)
        connection.close()
