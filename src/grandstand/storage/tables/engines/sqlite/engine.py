"""Kept here: the embedded engine: tables in one SQLite file, by DynamoDB's rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock, local
from types import SimpleNamespace
from typing import Final, Self, TypeVar
from weakref import WeakSet

import msgspec

from grandstand.base.clock import Clock
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.engines.sqlite.faults import Faults
from grandstand.storage.tables.engines.sqlite.file.connections import (
    Door,
    Durability,
    Lane,
    Shared,
    connect,
    spare,
)
from grandstand.storage.tables.engines.sqlite.file.failures import busy, stale, translated
from grandstand.storage.tables.engines.sqlite.file.founding import open_file, open_memory
from grandstand.storage.tables.engines.sqlite.file.patience import waits
from grandstand.storage.tables.engines.sqlite.items import (
    batches,
    changes,
    expiry,
    reads,
    transactions,
    writes,
)
from grandstand.storage.tables.engines.sqlite.tables import catalogue
from grandstand.storage.tables.errors import InvalidRequest, StoreDamaged, StoreUnavailable
from grandstand.storage.tables.requests import (
    BatchRead,
    BatchWritten,
    ChangeBatch,
    DeleteItem,
    Found,
    GetItem,
    Page,
    PutItem,
    Query,
    Scan,
    Transaction,
    UpdateItem,
    Written,
)
from grandstand.storage.tables.schema import TableDescription, TableSchema

PATIENCE_SECONDS: Final = 10.0

_CAPABILITIES: Final = Capabilities()
_RELOADS: Final = 8

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


class SqliteEngine:
    """Tables in one file, or in memory, for several threads and several processes.

    Each thread has its own connection. An engine does not survive a fork: open one in the child.
    """

    def __init__(
        self, door: Door, connection: sqlite3.Connection, shared: Shared, patience_seconds: float
    ) -> None:
        self._door = door
        self._shared = shared
        self._patience_seconds = patience_seconds
        lane = Lane(connection, shared)
        self._lanes = WeakSet((lane,))
        self._opening = Lock()
        self._closed = False
        # What lives in memory is one connection's own, so its threads share that and its lock.
        self._here: SimpleNamespace | local = SimpleNamespace() if door.memory else local()
        self._here.lane = lane

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        clock: Clock,
        durability: Durability = "process",
        faults: Faults | None = None,
        read_only: bool = False,
        create: bool = True,
        metered: bool = False,
        patience_seconds: float = PATIENCE_SECONDS,
        sparing: bool = False,
    ) -> Self:
        """Open the store at a path, or one in memory that ends with the engine.

        "process" keeps every acknowledged write through a crash of the program, "power" also
        through one of the machine. With `metered` every write tells what it did to each index, at
        the price of a read. Another writer is waited for up to the patience. A `sparing` one reads
        a little slower, and takes hardly any memory. Raises StoreUnavailable, StoreReadOnly,
        StoreDamaged or StoreTooNew.
        """
        if path is None:
            door, connection = open_memory()
        else:
            door, connection = open_file(
                path, durability, patience_seconds, read_only=read_only, create=create
            )
        if sparing:
            door = replace(door, sparing=True)
            spare(connection)
        shared = Shared(clock, faults or Faults(), metered)
        return cls(door, connection, shared, patience_seconds)

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do: everything."""
        return _CAPABILITIES

    @property
    def remote(self) -> bool:
        """Whether calls cross a network: they do not."""
        return False

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Make a table, ready for use; raise TableInUse when it exists."""
        return self._run(catalogue.create_table, schema)

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table; raise TableNotFound. Counts of large tables are estimates."""
        return self._run(catalogue.describe_table, name)

    def schema_of(self, name: str) -> TableSchema:
        """Answer a table's schema without counting what it holds; raise TableNotFound."""
        return self._run(catalogue.schema_of, name)

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Bring the table of that name to this schema (indexes, expiry, stream, capacity)."""
        return self._run(catalogue.alter_table, schema)

    def delete_table(self, name: str) -> TableDescription:
        """Remove a table and all in it; answer what it was."""
        return self._run(catalogue.delete_table, name)

    def list_tables(self) -> tuple[str, ...]:
        """Name every table, sorted."""
        return self._run(catalogue.list_tables, None)

    def get(self, request: GetItem) -> Found:
        """Read one item."""
        # Written out, because this is the shortest call of all and the wrapping shows in it.
        try:
            lane: Lane = self._here.lane
        except AttributeError:
            lane = self._new_lane()
        try:
            with lane.lock:
                return reads.get(lane, request)
        except (sqlite3.Error, UnicodeEncodeError, msgspec.DecodeError):
            return self._run(reads.get, request)

    def put(self, request: PutItem) -> Written:
        """Write one item; raise ConditionFailed."""
        return self._run(writes.put, request)

    def update(self, request: UpdateItem) -> Written:
        """Change one item; raise ConditionFailed."""
        return self._run(writes.update, request)

    def delete(self, request: DeleteItem) -> Written:
        """Remove one item; raise ConditionFailed."""
        return self._run(writes.delete, request)

    def query(self, request: Query) -> Page:
        """Read one page of a partition."""
        return self._run(reads.query, request)

    def scan(self, request: Scan) -> Page:
        """Read one page of a table."""
        return self._run(reads.scan, request)

    def batch_get(self, requests: Sequence[GetItem]) -> BatchRead:
        """Read up to 100 items at once."""
        return self._run(batches.batch_get, requests)

    def batch_write(self, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
        """Write up to 25 items at once, each on its own."""
        return self._run(batches.batch_write, requests)

    def transact_write(self, request: Transaction) -> tuple[Written, ...]:
        """Write all or nothing; raise TransactionCancelled with a reason an action."""
        return self._run(transactions.transact_write, request)

    def transact_get(self, requests: Sequence[GetItem]) -> tuple[Found, ...]:
        """Read several items as of one moment."""
        return self._run(transactions.transact_get, requests)

    def changes(self, table: str, position: str | None, limit: int) -> ChangeBatch:
        """Read changes after a position (None: from the oldest kept); raise ChangesLost."""
        return self._run(changes.read_changes, (table, position, limit))

    def latest_position(self, table: str) -> str:
        """Answer the position after which only changes still to come are read."""
        return self._run(changes.latest_position, table)

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Keep what follows this consumer's position from being trimmed; None forgets it."""
        self._run(changes.hold_changes, (table, consumer, position))

    def sweep(self, table: str, limit: int) -> int:
        """Delete up to that many expired items, in short transactions; answer how many went."""
        swept = 0
        while True:
            wanted = min(limit - swept, expiry.SWEPT_AT_ONCE)
            went = self._run(expiry.sweep, (table, wanted))
            swept += went
            if went < wanted or swept >= limit:
                return swept

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Keep texts beside the table's description, and those kept before."""
        self._run(catalogue.put_settings, (table, settings))

    def close(self) -> None:
        """Let go of files and connections; calling twice is harmless."""
        with self._opening:
            self._closed = True
            for lane in list(self._lanes):
                lane.close()

    def _run(self, work: Callable[[Lane, _Request], _Answer], request: _Request) -> _Answer:
        try:
            lane: Lane = self._here.lane
        except AttributeError:
            lane = self._new_lane()
        with lane.lock:
            try:
                return work(lane, request)
            except sqlite3.Error as fault:
                return self._insist(lane, work, request, fault)
            except UnicodeEncodeError as fault:
                raise InvalidRequest(f"Text must be valid Unicode: {fault.reason}") from fault
            except msgspec.DecodeError as fault:
                raise self._undecodable() from fault

    def _insist(
        self,
        lane: Lane,
        work: Callable[[Lane, _Request], _Answer],
        request: _Request,
        fault: sqlite3.Error,
    ) -> _Answer:
        """Try again while another writes, or once the layout of a changed table has been read."""
        reloads, waiting = 0, waits(self._patience_seconds)
        while True:
            if stale(fault) and reloads < _RELOADS:
                reloads += 1
                self._shared.layouts.clear()
            elif not busy(fault) or next(waiting, self) is self:
                raise translated(fault, self._door.name) from fault
            try:
                return work(lane, request)
            except sqlite3.Error as again:
                fault = again
            except msgspec.DecodeError as damage:
                raise self._undecodable() from damage

    def _undecodable(self) -> StoreDamaged:
        return StoreDamaged(
            f"The store {self._door.name} holds an item that cannot be read; restore it from a copy"
        )

    def _new_lane(self) -> Lane:
        with self._opening:
            if self._closed:
                raise StoreUnavailable(f"The store {self._door.name} is closed")
            try:
                lane = Lane(connect(self._door), self._shared)
            except sqlite3.Error as fault:
                raise translated(fault, self._door.name) from fault
            self._lanes.add(lane)
        self._here.lane = lane
        return lane
