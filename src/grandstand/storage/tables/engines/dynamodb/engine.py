"""Kept here: the cloud engine, DynamoDB or what speaks its protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from secrets import token_hex
from threading import Lock
from typing import Any, Final, Self, TypeAlias

from grandstand.base.clock import Clock
from grandstand.storage.tables.encoding.attributes import item_from_wire, item_to_wire
from grandstand.storage.tables.engines.dynamodb import fallback
from grandstand.storage.tables.engines.dynamodb.batches import read_batch, write_batch
from grandstand.storage.tables.engines.dynamodb.calls import Calls, Meter, Patience
from grandstand.storage.tables.engines.dynamodb.connection import (
    Address,
    Clients,
    Credentials,
    Timeouts,
    connect,
)
from grandstand.storage.tables.engines.dynamodb.doubt import (
    holds,
    new_attributes,
    repeatable,
)
from grandstand.storage.tables.engines.dynamodb.items import (
    get_action,
    get_parameters,
    query_parameters,
    scan_parameters,
    write_action,
    write_parameters,
)
from grandstand.storage.tables.engines.dynamodb.probe import probe
from grandstand.storage.tables.engines.dynamodb.streams import Streams
from grandstand.storage.tables.engines.dynamodb.tables import Tables
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import InvalidRequest
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
from grandstand.storage.tables.values import Item, Key

Shape: TypeAlias = dict[str, Any]

_TABLE_SECONDS: Final = 900.0


class DynamoEngine:
    """Keeps tables in DynamoDB, DynamoDB Local, ScyllaDB Alternator or our own endpoint.

    Safe to share between threads. Sizes in answers are 0: the service does not tell them; what
    calls cost is told to the meter instead. A write whose answer was lost is repeated where that
    is harmless (see `doubt`); what such a write replaced is then not known.
    """

    def __init__(
        self,
        clients: Clients,
        calls: Calls,
        *,
        capabilities: Capabilities | None,
        table_seconds: float,
    ) -> None:
        self._clients = clients
        self._calls = calls
        self._capabilities = capabilities
        self._probing = Lock()
        self._tables = Tables(calls, calls.clock, self._offered, table_seconds)
        self._streams = Streams(
            Calls(clients.streams, calls.clock, calls.random, calls.patience),
            calls.clock,
            self._tables.stream,
        )

    @classmethod
    def open(
        cls,
        *,
        clock: Clock,
        random: Random,
        region: str | None = None,
        endpoint: str | None = None,
        credentials: Credentials | None = None,
        capabilities: Capabilities | None = None,
        timeouts: Timeouts | None = None,
        patience: Patience | None = None,
        pool_size: int = 50,
        table_seconds: float = _TABLE_SECONDS,
        meter: Meter | None = None,
    ) -> Self:
        """Make an engine, without calling anyone yet.

        Without an endpoint it is Amazon's service. What another service can do is asked of it
        when it first matters, unless `capabilities` says so. Making and changing a table waits
        `table_seconds` at most. Raises InvalidRequest when there is no region.
        """
        address = Address(region, endpoint, credentials, timeouts or Timeouts(), pool_size)
        clients = connect(address)
        if capabilities is None and address.of_amazon:
            capabilities = Capabilities()
        calls = Calls(clients.tables, clock, random, patience or Patience(), meter)
        return cls(clients, calls, capabilities=capabilities, table_seconds=table_seconds)

    @property
    def capabilities(self) -> Capabilities:
        """What the service can do; asked of it once; raises StoreUnavailable."""
        return self._offered()

    def _offered(self) -> Capabilities:
        with self._probing:
            if self._capabilities is None:
                self._capabilities = probe(self._calls, self._streams.calls)
            return self._capabilities

    @property
    def remote(self) -> bool:
        """Calls cross a network."""
        return True

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Make a table with its indexes, stream and expiry, and wait until it can be used."""
        return self._tables.create(schema)

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table; raise TableNotFound."""
        return self._tables.describe(name)

    def schema_of(self, name: str) -> TableSchema:
        """Answer a table's schema; raise TableNotFound."""
        return self._tables.describe(name).schema

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Bring the table of that name to this schema, one change at a time."""
        return self._tables.alter(schema)

    def delete_table(self, name: str) -> TableDescription:
        """Remove a table and wait until it is gone; answer what it was."""
        return self._tables.delete(name)

    def list_tables(self) -> tuple[str, ...]:
        """Name every table, sorted."""
        return self._tables.names()

    def get(self, request: GetItem) -> Found:
        """Read one item."""
        return _found(self._calls.send("get_item", get_parameters(request)))

    def put(self, request: PutItem) -> Written:
        """Write one item; raise ConditionFailed."""
        return self.write(request)

    def update(self, request: UpdateItem) -> Written:
        """Change one item; raise ConditionFailed."""
        return self.write(request)

    def delete(self, request: DeleteItem) -> Written:
        """Remove one item; raise ConditionFailed."""
        return self.write(request)

    def write(self, request: PutItem | UpdateItem | DeleteItem, *, once: bool = False) -> Written:
        """Write one item by whichever call it takes; raise ConditionFailed.

        With `once` it is never done twice: a lost answer raises StoreUnavailable.
        """
        operation, parameters = write_parameters(request)
        answer = self._calls.send(
            operation,
            parameters,
            repeatable=not once and repeatable(request),
            confirm=None if request.condition is None else lambda: self._confirm(request),
        )
        attributes = answer.get("Attributes")
        return Written(item_from_wire(attributes) if attributes else None)

    def _confirm(self, request: PutItem | UpdateItem | DeleteItem) -> Shape | None:
        """Answer as the write would have, if the item is as the write wanted it."""
        key = self.key(request.table, request.item) if isinstance(request, PutItem) else request.key
        found = self.get(GetItem(request.table, key, consistent=True)).item
        if not holds(request, found):
            return None
        return {"Attributes": item_to_wire(new_attributes(request, found))}

    def query(self, request: Query) -> Page:
        """Read one page of a partition."""
        return _page(self._calls.send("query", query_parameters(request)))

    def scan(self, request: Scan) -> Page:
        """Read one page of a table."""
        return _page(self._calls.send("scan", scan_parameters(request)))

    def batch_get(self, requests: Sequence[GetItem]) -> BatchRead:
        """Read up to 100 items at once; what stays unread after every try is `left`."""
        return read_batch(self._calls, requests)

    def batch_write(self, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
        """Write up to 25 items at once; what stays unwritten after every try is `left`."""
        return write_batch(self._calls, requests)

    def transact_write(self, request: Transaction) -> tuple[Written, ...]:
        """Write all or nothing; raise TransactionCancelled with a reason an action.

        Without a token it gets one of its own, so that repeating it is harmless. Where the
        service has no transactions, see `fallback`.
        """
        if not self._offered().transactions:
            return fallback.transact_write(self, request)
        # Not from the engine's own chance: two engines seeded alike would share their tokens, and
        # the service takes the second transaction of a token for a repetition of the first.
        token = request.token or token_hex(16)
        actions = [write_action(action) for action in request.actions]
        self._calls.send(
            "transact_write_items", {"TransactItems": actions, "ClientRequestToken": token}
        )
        return (Written(),) * len(actions)

    def transact_get(self, requests: Sequence[GetItem]) -> tuple[Found, ...]:
        """Read several items as of one moment."""
        if not self._offered().transactions:
            return fallback.transact_get(self._each, requests)
        actions = [{"Get": get_action(request)} for request in requests]
        answer = self._calls.send("transact_get_items", {"TransactItems": actions})
        return tuple(_found(response) for response in answer.get("Responses") or ())

    def _each(self, requests: Sequence[GetItem]) -> tuple[Found, ...]:
        return tuple(self.get(request) for request in requests)

    def key(self, table: str, item: Item) -> Key:
        """Take an item's key out of it; raise TableNotFound, or InvalidRequest when it lacks it."""
        names = self._tables.schema(table).key_names
        missing = next((name for name in names if name not in item), None)
        if missing is not None:
            raise InvalidRequest(
                f"One or more parameter values were invalid: Missing the key {missing} in the item"
            )
        return {name: item[name] for name in names}

    def changes(self, table: str, position: str | None, limit: int) -> ChangeBatch:
        """Read changes after a position (None: from the oldest kept); raise ChangesLost."""
        return self._streams.changes(table, position, limit)

    def latest_position(self, table: str) -> str:
        """Answer the position after which only changes still to come are read."""
        return self._streams.latest_position(table)

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Do nothing: the service keeps changes for 24 hours, whoever reads them."""

    def sweep(self, table: str, limit: int) -> int:  # noqa: ARG002 - as the engines promise
        """Do nothing and answer 0: the service deletes expired items itself."""
        return 0

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Keep texts as the table's tags; a service without tags keeps nothing."""
        self._tables.tag(table, settings)

    def close(self) -> None:
        """Let go of connections; calling twice is harmless."""
        self._clients.close()


def _found(answer: Shape) -> Found:
    item = answer.get("Item")
    return Found(item_from_wire(item) if item else None)


def _page(answer: Shape) -> Page:
    last = answer.get("LastEvaluatedKey")
    return Page(
        items=tuple(item_from_wire(item) for item in answer.get("Items") or ()),
        scanned=answer.get("ScannedCount") or 0,
        last_key=item_from_wire(last) if last else None,
    )
