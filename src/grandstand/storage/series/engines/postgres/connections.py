"""Kept here: the connections to the server, lent to one piece of work at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grandstand.storage.series.engines.postgres.failures import translated
from grandstand.storage.series.errors import SeriesUnavailable

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

# TimescaleDB's functions are looked for where they were installed, and tables only in the schema.
_SEARCH_PATH: Final = """
SELECT set_config('search_path', concat_ws(', ', quote_ident(%s), (
    SELECT quote_ident(nspname) FROM pg_extension
    JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'timescaledb'
)), FALSE)
"""


class Connections:
    """Connections to one server, opened as they are needed and used again.

    May be used from several threads; each piece of work has a connection of its own.
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
        """Lend a connection for one transaction, kept when the work ends and undone if it fails.

        Raises an error of ours for every error of the server.
        """
        import psycopg

        connection = self._take()
        try:
            with connection.transaction():
                yield connection
        except psycopg.Error as fault:
            raise translated(fault, broken_off=connection.broken) from fault
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close every connection, also those in use; calling twice is harmless."""
        with self._lock:
            self._closed = True
            connections, self._open, self._idle = self._open, set(), []
        for connection in connections:
            connection.close()

    def _take(self) -> Connection:
        with self._lock:
            if self._closed:
                raise SeriesUnavailable("The engine is closed; open it again")
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
        except psycopg.Error as fault:
            raise translated(fault, broken_off=False) from fault
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not connection.closed and not self._closed:
                self._idle.append(connection)
                return
            self._open.discard(connection)
        connection.close()
