"""The interface of storage engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from grandstand.storage.tables import requests
from grandstand.storage.tables.schema import TableDescription, TableSchema


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Optional features of an engine; callers fall back or refuse without them."""

    transactions: bool = True
    streams: bool = True
    ttl: bool = True


class Engine(Protocol):
    """Stores tables with the semantics of DynamoDB.

    Methods raise only errors of `grandstand.storage.tables.errors`. Reads return expired items
    that are still stored; the store filters them.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def remote(self) -> bool:
        """Whether calls go over a network, so that an event loop must not wait for them."""

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Create a table, ready for use. Raises TableInUse."""

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table. Raises TableNotFound."""

    def schema_of(self, name: str) -> TableSchema:
        """Return a table's schema without counting items. Raises TableNotFound."""

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Change indexes, expiry, stream and capacity of a table to match the schema."""

    def delete_table(self, name: str) -> TableDescription:
        """Delete a table; return its last description."""

    def list_tables(self) -> tuple[str, ...]:
        """Return the names of all tables, sorted."""

    def get(self, request: requests.GetItem) -> requests.Found: ...

    def put(self, request: requests.PutItem) -> requests.Written:
        """Write one item. Raises ConditionFailed."""

    def update(self, request: requests.UpdateItem) -> requests.Written:
        """Update one item. Raises ConditionFailed."""

    def delete(self, request: requests.DeleteItem) -> requests.Written:
        """Delete one item. Raises ConditionFailed."""

    def query(self, request: requests.QueryRequest) -> requests.RawPage:
        """Read one page of a partition."""

    def scan(self, request: requests.ScanRequest) -> requests.RawPage:
        """Read one page of a table."""

    def batch_get(self, gets: Sequence[requests.GetItem]) -> requests.BatchRead:
        """Read up to 100 items."""

    def batch_write(
        self, actions: Sequence[requests.PutItem | requests.DeleteItem]
    ) -> requests.BatchWritten:
        """Write up to 25 items independently."""

    def transact_write(self, request: requests.Transaction) -> tuple[requests.Written, ...]:
        """Write all or nothing. Raises TransactionCancelled with a reason per action."""

    def transact_get(self, gets: Sequence[requests.GetItem]) -> tuple[requests.Found, ...]:
        """Read items as of one moment."""

    def changes(self, table: str, position: str | None, limit: int) -> requests.ChangeBatch:
        """Read changes after a position, or the oldest without one. Raises ChangesLost."""

    def latest_position(self, table: str) -> str:
        """Return the position after the last change."""

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Keep changes after a consumer's position from being trimmed; None releases them."""

    def sweep(self, table: str, limit: int) -> int:
        """Delete up to `limit` expired items; return how many. DynamoDB does this by itself."""

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Add to the settings in a table's description."""

    def close(self) -> None:
        """Close files and connections; may be called twice."""


@runtime_checkable
class GroupingEngine(Engine, Protocol):
    """An engine that can commit the writes of one thread together."""

    @property
    def write_wait_seconds(self) -> float | None:
        """How long a write may wait for other writers; None if it never waits."""

    def write_group(self, wait_seconds: float) -> AbstractContextManager[None]:
        """Commit what this thread writes inside, all at once at the end.

        A write that fails undoes only itself. Raises StoreUnavailable if other writers are in the
        way for `wait_seconds`, or if the commit fails, and then nothing is written.
        """
