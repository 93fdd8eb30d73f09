"""The interface of storage engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from grandstand.storage.tables.requests import (
    BatchRead,
    BatchWritten,
    ChangeBatch,
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    QueryRequest,
    RawPage,
    ScanRequest,
    Transaction,
    UpdateItem,
    Written,
)
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
        ...

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Create a table, ready for use. Raises TableInUse."""
        ...

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table. Raises TableNotFound."""
        ...

    def schema_of(self, name: str) -> TableSchema:
        """Return a table's schema without counting items. Raises TableNotFound."""
        ...

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Change indexes, expiry, stream and capacity of a table to match the schema."""
        ...

    def delete_table(self, name: str) -> TableDescription:
        """Delete a table; return its last description."""
        ...

    def list_tables(self) -> tuple[str, ...]:
        """Return the names of all tables, sorted."""
        ...

    def get(self, request: GetItem) -> Found: ...

    def put(self, request: PutItem) -> Written:
        """Write one item. Raises ConditionFailed."""
        ...

    def update(self, request: UpdateItem) -> Written:
        """Update one item. Raises ConditionFailed."""
        ...

    def delete(self, request: DeleteItem) -> Written:
        """Delete one item. Raises ConditionFailed."""
        ...

    def query(self, request: QueryRequest) -> RawPage:
        """Read one page of a partition."""
        ...

    def scan(self, request: ScanRequest) -> RawPage:
        """Read one page of a table."""
        ...

    def batch_get(self, requests: Sequence[GetItem]) -> BatchRead:
        """Read up to 100 items."""
        ...

    def batch_write(self, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
        """Write up to 25 items independently."""
        ...

    def transact_write(self, request: Transaction) -> tuple[Written, ...]:
        """Write all or nothing. Raises TransactionCancelled with a reason per action."""
        ...

    def transact_get(self, requests: Sequence[GetItem]) -> tuple[Found, ...]:
        """Read items as of one moment."""
        ...

    def changes(self, table: str, position: str | None, limit: int) -> ChangeBatch:
        """Read changes after a position, or the oldest without one. Raises ChangesLost."""
        ...

    def latest_position(self, table: str) -> str:
        """Return the position after the last change."""
        ...

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Keep changes after a consumer's position from being trimmed; None releases them."""
        ...

    def sweep(self, table: str, limit: int) -> int:
        """Delete up to `limit` expired items; return how many. DynamoDB does this by itself."""
        ...

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Add to the settings in a table's description."""
        ...

    def close(self) -> None:
        """Close files and connections; may be called twice."""
        ...
