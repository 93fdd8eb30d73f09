"""Kept here: what an engine promises to whoever stands on it."""

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
    Page,
    PutItem,
    Query,
    Scan,
    Transaction,
    UpdateItem,
    Written,
)
from grandstand.storage.tables.schema import TableDescription, TableSchema


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do; a caller that needs more falls back or refuses."""

    transactions: bool = True
    streams: bool = True
    ttl: bool = True


class Engine(Protocol):
    """A place that keeps tables by DynamoDB's rules.

    Every method raises the errors of `grandstand.storage.tables.errors` and no others. Reads
    return expired items still present: reading by expiry is the store's matter.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do."""
        ...

    @property
    def remote(self) -> bool:
        """Whether calls cross a network, so that an async caller must not wait in line."""
        ...

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Make a table, ready for use; raise TableInUse when it exists."""
        ...

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table; raise TableNotFound."""
        ...

    def schema_of(self, name: str) -> TableSchema:
        """Answer a table's schema without counting what it holds; raise TableNotFound."""
        ...

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Bring the table of that name to this schema (indexes, expiry, stream, capacity)."""
        ...

    def delete_table(self, name: str) -> TableDescription:
        """Remove a table and all in it; answer what it was."""
        ...

    def list_tables(self) -> tuple[str, ...]:
        """Name every table, sorted."""
        ...

    def get(self, request: GetItem) -> Found:
        """Read one item."""
        ...

    def put(self, request: PutItem) -> Written:
        """Write one item; raise ConditionFailed."""
        ...

    def update(self, request: UpdateItem) -> Written:
        """Change one item; raise ConditionFailed."""
        ...

    def delete(self, request: DeleteItem) -> Written:
        """Remove one item; raise ConditionFailed."""
        ...

    def query(self, request: Query) -> Page:
        """Read one page of a partition."""
        ...

    def scan(self, request: Scan) -> Page:
        """Read one page of a table."""
        ...

    def batch_get(self, requests: Sequence[GetItem]) -> BatchRead:
        """Read up to 100 items at once."""
        ...

    def batch_write(self, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
        """Write up to 25 items at once, each on its own."""
        ...

    def transact_write(self, request: Transaction) -> tuple[Written, ...]:
        """Write all or nothing; raise TransactionCancelled with a reason an action."""
        ...

    def transact_get(self, requests: Sequence[GetItem]) -> tuple[Found, ...]:
        """Read several items as of one moment."""
        ...

    def changes(self, table: str, position: str | None, limit: int) -> ChangeBatch:
        """Read changes after a position (None: from the oldest kept); raise ChangesLost."""
        ...

    def latest_position(self, table: str) -> str:
        """Answer the position after which only changes still to come are read."""
        ...

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Keep what follows this consumer's position from being trimmed; None forgets it."""
        ...

    def sweep(self, table: str, limit: int) -> int:
        """Delete up to that many expired items; answer how many went, 0 where the cloud does it."""
        ...

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Keep texts beside the table's description."""
        ...

    def close(self) -> None:
        """Let go of files and connections; calling twice is harmless."""
        ...
