"""Table engine on DynamoDB and compatible services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from secrets import token_hex
from threading import Lock
from typing import Any, Final, Self, TypeAlias

from grandstand.core.clock import Clock
from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.encoding import item_from_wire, item_to_wire
from grandstand.storage.tables.engines.dynamodb.client import (
    CapacityMeter,
    Clients,
    Credentials,
    DynamoClient,
    RetryPolicy,
    ServiceAddress,
    Timeouts,
    connect,
    detect_capabilities,
)
from grandstand.storage.tables.engines.dynamodb.errors import OperationNotSupported
from grandstand.storage.tables.engines.dynamodb.items import (
    get_action,
    get_parameters,
    is_applied,
    is_repeatable,
    new_attributes,
    query_parameters,
    read_batch,
    scan_parameters,
    write_action,
    write_batch,
    write_parameters,
)
from grandstand.storage.tables.engines.dynamodb.streams import StreamReader
from grandstand.storage.tables.engines.dynamodb.tables import TableManager
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import InvalidRequest
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

Shape: TypeAlias = dict[str, Any]

_TABLE_SECONDS: Final = 900.0


class DynamoEngine:
    """Stores tables in DynamoDB, DynamoDB Local, or another server with the same protocol.

    The service must support transactions: any other is refused at the first call. Thread-safe.
    Sizes in results are 0, because the service does not report them; consumed capacity goes to the
    meter. A write whose response was lost is repeated if that is harmless (see `is_repeatable`);
    what such a write replaced is then unknown.

    Example:
        >>> engine = DynamoEngine.open(region="eu-west-1", clock=SystemClock(), random=Random())
        >>> engine.create_table(schema)
        >>> engine.put(PutItem("users", {"pk": "ada"}))
    """

    def __init__(
        self,
        clients: Clients,
        client: DynamoClient,
        *,
        endpoint: str,
        capabilities: Capabilities | None,
        table_seconds: float,
    ) -> None:
        self._clients = clients
        self._unchecked_client = client
        self._endpoint = endpoint
        self._capabilities = capabilities
        self._detection_lock = Lock()
        self._table_manager = TableManager(client, client.clock, self._supported, table_seconds)
        self._stream_reader = StreamReader(
            DynamoClient(clients.streams, client.clock, client.random, client.retry_policy),
            client.clock,
            self._table_manager.stream,
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
        retry_policy: RetryPolicy | None = None,
        pool_size: int = 50,
        table_seconds: float = _TABLE_SECONDS,
        meter: CapacityMeter | None = None,
    ) -> Self:
        """Create an engine without connecting.

        Args:
            clock: the time source.
            random: the source of random retry delays.
            region: AWS region.
            endpoint: URL of a compatible service; Amazon DynamoDB if None.
            credentials: credentials; those of the AWS configuration if None.
            capabilities: what the service supports; detected at the first call if None.
            timeouts: timeouts of one attempt.
            retry_policy: how often failed calls are repeated.
            pool_size: maximum number of connections.
            table_seconds: how long to wait for a table to be created or changed.
            meter: receives the consumed capacity.

        Raises InvalidRequest if there is no region.
        """
        address = ServiceAddress(region, endpoint, credentials, timeouts or Timeouts(), pool_size)
        clients = connect(address)
        if capabilities is None and address.is_amazon:
            capabilities = Capabilities()
        client = DynamoClient(clients.tables, clock, random, retry_policy or RetryPolicy(), meter)
        return cls(
            clients,
            client,
            endpoint=endpoint or "Amazon DynamoDB",
            capabilities=capabilities,
            table_seconds=table_seconds,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What the service supports; detected once.

        Raises StoreUnavailable if the service does not respond, and OperationNotSupported if it
        has no transactions.
        """
        return self._supported()

    def _supported(self) -> Capabilities:
        capabilities = self._capabilities
        if capabilities is None:
            with self._detection_lock:
                if self._capabilities is None:
                    self._capabilities = detect_capabilities(
                        self._unchecked_client, self._stream_reader.client
                    )
                capabilities = self._capabilities
        if not capabilities.transactions:
            raise OperationNotSupported(
                f"The table store at {self._endpoint} does not support TransactWriteItems. "
                "Use Amazon DynamoDB, DynamoDB Local, or `grandstand tables serve`."
            )
        return capabilities

    @property
    def _client(self) -> DynamoClient:
        self._supported()
        return self._unchecked_client

    @property
    def _tables(self) -> TableManager:
        self._supported()
        return self._table_manager

    @property
    def _streams(self) -> StreamReader:
        self._supported()
        return self._stream_reader

    @property
    def remote(self) -> bool:
        """Whether calls use the network: always."""
        return True

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Create a table with its indexes, stream and time to live, and wait until it is active."""
        return self._tables.create(schema)

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table.

        Raises TableNotFound.
        """
        return self._tables.describe(name)

    def schema_of(self, name: str) -> TableSchema:
        """Return the schema of a table.

        Raises TableNotFound.
        """
        return self._tables.describe(name).schema

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Change the table of that name to this schema, one change at a time."""
        return self._tables.alter(schema)

    def delete_table(self, name: str) -> TableDescription:
        """Delete a table, wait until it is gone, and return its last description."""
        return self._tables.delete(name)

    def list_tables(self) -> tuple[str, ...]:
        """Return the names of all tables, sorted."""
        return self._tables.names()

    def get(self, request: GetItem) -> Found:
        """Read one item."""
        return _parse_item(self._client.send("get_item", get_parameters(request)))

    def put(self, request: PutItem) -> Written:
        """Write one item.

        Raises ConditionFailed.
        """
        return self._write(request)

    def update(self, request: UpdateItem) -> Written:
        """Update one item.

        Raises ConditionFailed.
        """
        return self._write(request)

    def delete(self, request: DeleteItem) -> Written:
        """Delete one item.

        Raises ConditionFailed.
        """
        return self._write(request)

    def _write(self, request: PutItem | UpdateItem | DeleteItem) -> Written:
        operation, parameters = write_parameters(request)
        response = self._client.send(
            operation,
            parameters,
            repeatable=is_repeatable(request),
            confirm=None if request.condition is None else lambda: self._confirm(request),
        )
        attributes = response.get("Attributes")
        return Written(item_from_wire(attributes) if attributes else None)

    def _confirm(self, request: PutItem | UpdateItem | DeleteItem) -> Shape | None:
        """Return the response of a write if the stored item shows that it was executed."""
        if isinstance(request, PutItem):
            key = self._key_of(request.table, request.item)
        else:
            key = request.key
        stored = self.get(GetItem(request.table, key, consistent=True)).item
        if not is_applied(request, stored):
            return None
        return {"Attributes": item_to_wire(new_attributes(request, stored))}

    def _key_of(self, table: str, item: Item) -> Key:
        names = self._tables.schema(table).key_names
        missing = next((name for name in names if name not in item), None)
        if missing is not None:
            raise InvalidRequest(
                f"One or more parameter values were invalid: Missing the key {missing} in the item"
            )
        return {name: item[name] for name in names}

    def query(self, request: QueryRequest) -> RawPage:
        """Read one page of a partition."""
        return _parse_page(self._client.send("query", query_parameters(request)))

    def scan(self, request: ScanRequest) -> RawPage:
        """Read one page of a table."""
        return _parse_page(self._client.send("scan", scan_parameters(request)))

    def batch_get(self, requests: Sequence[GetItem]) -> BatchRead:
        """Read up to 100 items at once; what is still unprocessed after all retries is `left`."""
        return read_batch(self._client, requests)

    def batch_write(self, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
        """Write up to 25 items at once; what is still unprocessed after all retries is `left`."""
        return write_batch(self._client, requests)

    def transact_write(self, request: Transaction) -> tuple[Written, ...]:
        """Write all items or none.

        Without a token it gets one, so that repeating it is harmless.

        Raises TransactionCancelled, with a reason for each action.
        """
        client = self._client
        # The token does not come from the engine's Random: two engines with the same seed would
        # share tokens, and the service treats the second transaction of a token as a repetition.
        token = request.token or token_hex(16)
        actions = [write_action(action) for action in request.actions]
        client.send("transact_write_items", {"TransactItems": actions, "ClientRequestToken": token})
        return (Written(),) * len(actions)

    def transact_get(self, requests: Sequence[GetItem]) -> tuple[Found, ...]:
        """Read several items as of one moment."""
        actions = [{"Get": get_action(request)} for request in requests]
        response = self._client.send("transact_get_items", {"TransactItems": actions})
        return tuple(_parse_item(item) for item in response.get("Responses") or ())

    def changes(self, table: str, position: str | None, limit: int) -> ChangeBatch:
        """Return changes after a position, or from the oldest if it is None.

        Raises ChangesLost.
        """
        return self._streams.changes(table, position, limit)

    def latest_position(self, table: str) -> str:
        """Return the position after which only future changes are read."""
        return self._streams.latest_position(table)

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Do nothing: the service stores changes for 24 hours, whether read or not."""

    def sweep(self, table: str, limit: int) -> int:  # noqa: ARG002 - part of the engine interface
        """Do nothing and return 0: the service deletes expired items itself."""
        return 0

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Store settings as tags of the table; does nothing if the service has no tags."""
        self._tables.tag(table, settings)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._clients.close()


def _parse_item(response: Shape) -> Found:
    item = response.get("Item")
    return Found(item_from_wire(item) if item else None)


def _parse_page(response: Shape) -> RawPage:
    last = response.get("LastEvaluatedKey")
    return RawPage(
        items=tuple(item_from_wire(item) for item in response.get("Items") or ()),
        scanned=response.get("ScannedCount") or 0,
        last_key=item_from_wire(last) if last else None,
    )
