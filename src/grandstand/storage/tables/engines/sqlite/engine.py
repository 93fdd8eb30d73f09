"""The embedded engine: tables in an SQLite file, with the semantics of DynamoDB."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock, local
from types import SimpleNamespace
from typing import Final, Self, TypeVar
from weakref import WeakSet

import msgspec

from grandstand.core.clock import Clock
from grandstand.storage.tables import requests
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.engines.sqlite import (
    batches,
    catalog,
    changes,
    connections,
    reads,
    writes,
)
from grandstand.storage.tables.errors import InvalidRequest, StoreDamaged, StoreUnavailable
from grandstand.storage.tables.schema import TableDescription, TableSchema

BUSY_TIMEOUT_SECONDS: Final = 10.0

_CAPABILITIES: Final = Capabilities()
_MAX_RELOADS: Final = 8

_Request = TypeVar("_Request")
_Result = TypeVar("_Result")
_Context = TypeVar("_Context", bound=connections.ConnectionContext)


class SqliteEngine:
    """Tables in one file, or in memory, for several threads and processes.

    Each thread has its own connection. An engine does not survive a fork: open one in the child.

    Example:
        engine = SqliteEngine.open(Path("tables.db"), clock=SystemClock())
        store = Store(engine, naming=Naming(), clock=SystemClock())
    """

    def __init__(
        self,
        params: connections.ConnectionParams,
        connection: sqlite3.Connection,
        shared: connections.SharedState,
        busy_timeout_seconds: float,
    ) -> None:
        self._params = params
        self._shared = shared
        self._busy_timeout_seconds = busy_timeout_seconds
        context = connections.ConnectionContext(connection, shared)
        self._contexts = WeakSet((context,))
        self._open_lock = Lock()
        self._closed = False
        # A store in memory belongs to one connection, which all threads share.
        self._local: SimpleNamespace | local = SimpleNamespace() if params.memory else local()
        self._local.context = context

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        clock: Clock,
        durability: connections.Durability = "process",
        read_only: bool = False,
        create: bool = True,
        metered: bool = False,
        busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
        low_memory: bool = False,
    ) -> Self:
        """Open the store at a path, or one in memory that ends with the engine.

        Args:
            path: The file; None for a store in memory.
            clock: The time used for expiry and changes.
            durability: "process" keeps every acknowledged write if the program crashes, "power"
                also if the machine does.
            read_only: Do not write.
            create: Create the file if it does not exist.
            metered: Report what each write did to each index, at the price of a read.
            busy_timeout_seconds: How long to wait for a writer of another process.
            low_memory: Read a little slower and use hardly any memory.

        Raises:
            StoreUnavailable: The file cannot be opened or does not exist.
            StoreReadOnly: The file cannot be written.
            StoreDamaged: The file is damaged, or is not a store.
            StoreTooNew: The file was written by a newer version.
        """
        if path is None:
            params, connection = connections.open_memory()
        else:
            params, connection = connections.open_file(
                path, durability, busy_timeout_seconds, read_only=read_only, create=create
            )
        if low_memory:
            params = replace(params, low_memory=True)
            connections.reduce_memory(connection)
        shared = connections.SharedState(clock, metered)
        return cls(params, connection, shared, busy_timeout_seconds)

    @property
    def capabilities(self) -> Capabilities:
        return _CAPABILITIES

    @property
    def remote(self) -> bool:
        return False

    @property
    def write_wait_seconds(self) -> float | None:
        # A store in memory has one connection, so nobody else can be writing.
        return None if self._params.memory else self._busy_timeout_seconds

    @contextmanager
    def write_group(self, wait_seconds: float) -> Iterator[None]:
        context = getattr(self._local, "context", None)
        if not isinstance(context, connections.GroupContext):
            context = self._connect(connections.GroupContext)
        with context.lock:
            try:
                context.begin(wait_seconds)
            except sqlite3.Error as error:
                raise connections.translate_error(error, self._params.name) from error
            try:
                yield
            except BaseException:
                context.rollback()
                raise
            try:
                context.commit()
            except sqlite3.Error as error:
                raise connections.translate_error(error, self._params.name) from error

    def create_table(self, schema: TableSchema) -> TableDescription:
        return self._run(catalog.create_table, schema)

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table; counts of large tables are estimates."""
        return self._run(catalog.describe_table, name)

    def schema_of(self, name: str) -> TableSchema:
        return self._run(catalog.schema_of, name)

    def alter_table(self, schema: TableSchema) -> TableDescription:
        return self._run(catalog.alter_table, schema)

    def delete_table(self, name: str) -> TableDescription:
        return self._run(catalog.delete_table, name)

    def list_tables(self) -> tuple[str, ...]:
        return self._run(catalog.list_tables, None)

    def get(self, request: requests.GetItem) -> requests.Found:
        # Inlined: this is the fastest call, and `_run` would be measurable.
        try:
            context: connections.ConnectionContext = self._local.context
        except AttributeError:
            context = self._new_context()
        try:
            with context.lock:
                return reads.get(context, request)
        except (sqlite3.Error, UnicodeEncodeError, msgspec.DecodeError):
            return self._run(reads.get, request)

    def put(self, request: requests.PutItem) -> requests.Written:
        return self._run(writes.put, request)

    def update(self, request: requests.UpdateItem) -> requests.Written:
        return self._run(writes.update, request)

    def delete(self, request: requests.DeleteItem) -> requests.Written:
        return self._run(writes.delete, request)

    def query(self, request: requests.QueryRequest) -> requests.RawPage:
        return self._run(reads.query, request)

    def scan(self, request: requests.ScanRequest) -> requests.RawPage:
        return self._run(reads.scan, request)

    def batch_get(self, gets: Sequence[requests.GetItem]) -> requests.BatchRead:
        return self._run(batches.batch_get, gets)

    def batch_write(
        self, actions: Sequence[requests.PutItem | requests.DeleteItem]
    ) -> requests.BatchWritten:
        return self._run(batches.batch_write, actions)

    def transact_write(self, request: requests.Transaction) -> tuple[requests.Written, ...]:
        return self._run(batches.transact_write, request)

    def transact_get(self, gets: Sequence[requests.GetItem]) -> tuple[requests.Found, ...]:
        return self._run(batches.transact_get, gets)

    def changes(self, table: str, position: str | None, limit: int) -> requests.ChangeBatch:
        return self._run(changes.read_changes, (table, position, limit))

    def latest_position(self, table: str) -> str:
        return self._run(changes.latest_position, table)

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        self._run(changes.hold_changes, (table, consumer, position))

    def sweep(self, table: str, limit: int) -> int:
        """Delete up to `limit` expired items in short transactions; return how many."""
        deleted = 0
        while True:
            batch = min(limit - deleted, changes.SWEEP_BATCH)
            count = self._run(changes.sweep, (table, batch))
            deleted += count
            if count < batch or deleted >= limit:
                return deleted

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        self._run(catalog.put_settings, (table, settings))

    def close(self) -> None:
        with self._open_lock:
            self._closed = True
            for context in list(self._contexts):
                context.close()

    def _run(
        self, work: Callable[[connections.ConnectionContext, _Request], _Result], request: _Request
    ) -> _Result:
        try:
            context: connections.ConnectionContext = self._local.context
        except AttributeError:
            context = self._new_context()
        with context.lock:
            try:
                return work(context, request)
            except sqlite3.Error as error:
                return self._retry(context, work, request, error)
            except UnicodeEncodeError as error:
                raise InvalidRequest(f"Text must be valid Unicode: {error.reason}") from error
            except msgspec.DecodeError as error:
                raise self._damaged() from error

    def _retry(
        self,
        context: connections.ConnectionContext,
        work: Callable[[connections.ConnectionContext, _Request], _Result],
        request: _Request,
        error: sqlite3.Error,
    ) -> _Result:
        """Retry while another process is writing, or after reloading a changed layout."""
        reloads, retries = 0, connections.busy_retries(self._busy_timeout_seconds)
        while True:
            if connections.is_stale(error) and reloads < _MAX_RELOADS:
                reloads += 1
                self._shared.layouts.clear()
            elif not connections.is_busy(error) or next(retries, self) is self:
                raise connections.translate_error(error, self._params.name) from error
            try:
                return work(context, request)
            except sqlite3.Error as next_error:
                error = next_error
            except msgspec.DecodeError as decode_error:
                raise self._damaged() from decode_error

    def _damaged(self) -> StoreDamaged:
        return StoreDamaged(
            f"The store {self._params.name} has an item that cannot be decoded. Restore a backup."
        )

    def _new_context(self) -> connections.ConnectionContext:
        return self._connect(connections.ConnectionContext)

    def _connect(self, kind: type[_Context]) -> _Context:
        with self._open_lock:
            if self._closed:
                raise StoreUnavailable(f"The store {self._params.name} is closed.")
            try:
                context = kind(connections.connect(self._params), self._shared)
            except sqlite3.Error as error:
                raise connections.translate_error(error, self._params.name) from error
            self._contexts.add(context)
        self._local.context = context
        return context
