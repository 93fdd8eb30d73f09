"""Table engine on DynamoDB and compatible services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC
from random import Random
from secrets import token_hex
from threading import Lock
from typing import Any, Final, Self, TypeAlias

from grandstand.core.clock import Clock
from grandstand.storage.tables import errors, requests
from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.encoding import item_from_wire, item_to_wire
from grandstand.storage.tables.engines.dynamodb import items
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
from grandstand.storage.tables.engines.dynamodb.streams import StreamReader
from grandstand.storage.tables.engines.dynamodb.table_changes import plan_changes
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.schema import (
    TableDescription,
    TableSchema,
    create_table_shape,
    schema_from_shape,
)

Shape: TypeAlias = dict[str, Any]

# How long the stream of a table is remembered.
_STREAM_CACHE_SECONDS: Final = 60.0


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
        self._table_seconds = table_seconds
        self._clock = client.clock
        self._schemas: dict[str, TableSchema] = {}
        self._stream_arns: dict[str, tuple[float, str]] = {}
        self._streams = StreamReader(
            DynamoClient(clients.streams, client.clock, client.random, client.retry_policy),
            client.clock,
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
        table_seconds: float = 900.0,
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
                        self._unchecked_client, self._streams.client
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
    def remote(self) -> bool:
        """Whether calls use the network: always."""
        return True

    def create_table(self, schema: TableSchema) -> TableDescription:
        """Create a table and wait until it is active.

        Raises TableInUse if it exists.
        """
        shape = create_table_shape(schema)
        if not self.capabilities.streams:
            shape.pop("StreamSpecification", None)
        self._forget(schema.name)
        self._client.send("create_table", shape, repeatable=False)
        self._wait(schema.name)
        self._change_time_to_live(schema.name, None, schema.ttl)
        return self.describe_table(schema.name)

    def describe_table(self, name: str) -> TableDescription:
        """Describe a table with its time to live and tags.

        Raises TableNotFound.
        """
        table = self._table(name)
        schema = schema_from_shape(table, ttl=self._time_to_live(table["TableName"]))
        return TableDescription(
            schema=schema,
            created_at=table["CreationDateTime"].astimezone(UTC),
            items=table.get("ItemCount") or 0,
            size_bytes=table.get("TableSizeBytes") or 0,
            stream_label=table.get("LatestStreamLabel") if schema.stream else None,
            settings=self._tags(table["TableArn"]),
            index_counts={
                index["IndexName"]: (index.get("ItemCount") or 0, index.get("IndexSizeBytes") or 0)
                for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
                for index in table.get(kind) or ()
            },
        )

    def schema_of(self, name: str) -> TableSchema:
        """Return the schema of a table.

        Raises TableNotFound.
        """
        return self.describe_table(name).schema

    def alter_table(self, schema: TableSchema) -> TableDescription:
        """Change a table to a schema, one change at a time, and wait after each.

        Raises TableNotFound, or InvalidRequest if the key of the table would change.
        """
        self._forget(schema.name)
        self._wait(schema.name)
        current = self.describe_table(schema.name).schema
        capabilities = self.capabilities
        for change in plan_changes(current, schema, streams=capabilities.streams):
            self._client.send(
                "update_table", {"TableName": schema.name, **change}, repeatable=False
            )
            self._wait(schema.name)
        self._change_time_to_live(schema.name, current.ttl, schema.ttl)
        self._forget(schema.name)
        return self.describe_table(schema.name)

    def delete_table(self, name: str) -> TableDescription:
        """Delete a table, wait until it is gone, and return its last description.

        Raises TableNotFound.
        """
        description = self.describe_table(name)
        self._forget(name)
        self._client.send("delete_table", {"TableName": name}, repeatable=False)
        with suppress(errors.TableNotFound):
            self._wait(name)
        return description

    def list_tables(self) -> tuple[str, ...]:
        """Return the names of all tables, sorted."""
        names: list[str] = []
        parameters: Shape = {}
        while True:
            response = self._client.send("list_tables", parameters)
            names += response.get("TableNames") or ()
            last = response.get("LastEvaluatedTableName")
            if not last:
                return tuple(sorted(names))
            parameters = {"ExclusiveStartTableName": last}

    def put_settings(self, table: str, settings: Mapping[str, str]) -> None:
        """Store settings as tags of the table; does nothing if the service has no tags."""
        arn = self._table(table)["TableArn"]
        tags = [{"Key": key, "Value": value} for key, value in settings.items()]
        with suppress(OperationNotSupported):
            self._client.send("tag_resource", {"ResourceArn": arn, "Tags": tags})

    def get(self, request: requests.GetItem) -> requests.Found:
        """Read one item."""
        return _parse_item(self._client.send("get_item", items.get_parameters(request)))

    def put(self, request: requests.PutItem) -> requests.Written:
        """Write one item.

        Raises ConditionFailed.
        """
        return self._write(request)

    def update(self, request: requests.UpdateItem) -> requests.Written:
        """Update one item.

        Raises ConditionFailed.
        """
        return self._write(request)

    def delete(self, request: requests.DeleteItem) -> requests.Written:
        """Delete one item.

        Raises ConditionFailed.
        """
        return self._write(request)

    def _write(
        self, request: requests.PutItem | requests.UpdateItem | requests.DeleteItem
    ) -> requests.Written:
        operation, parameters = items.write_parameters(request)
        response = self._client.send(
            operation,
            parameters,
            repeatable=items.is_repeatable(request),
            confirm=None if request.condition is None else lambda: self._confirm(request),
        )
        attributes = response.get("Attributes")
        return requests.Written(item_from_wire(attributes) if attributes else None)

    def _confirm(
        self, request: requests.PutItem | requests.UpdateItem | requests.DeleteItem
    ) -> Shape | None:
        """Return the response of a write if the stored item shows that it was executed."""
        if isinstance(request, requests.PutItem):
            key = self._key_of(request.table, request.item)
        else:
            key = request.key
        stored = self.get(requests.GetItem(request.table, key, consistent=True)).item
        if not items.is_applied(request, stored):
            return None
        return {"Attributes": item_to_wire(items.new_attributes(request, stored))}

    def _key_of(self, table: str, item: Item) -> Key:
        if table not in self._schemas:
            self._schemas[table] = schema_from_shape(self._table(table))
        names = self._schemas[table].key_names
        missing = next((name for name in names if name not in item), None)
        if missing is not None:
            raise errors.InvalidRequest(
                f"One or more parameter values were invalid: Missing the key {missing} in the item"
            )
        return {name: item[name] for name in names}

    def query(self, request: requests.QueryRequest) -> requests.RawPage:
        """Read one page of a partition."""
        return _parse_page(self._client.send("query", items.query_parameters(request)))

    def scan(self, request: requests.ScanRequest) -> requests.RawPage:
        """Read one page of a table."""
        return _parse_page(self._client.send("scan", items.scan_parameters(request)))

    def batch_get(self, gets: Sequence[requests.GetItem]) -> requests.BatchRead:
        """Read up to 100 items at once; what is still unprocessed after all retries is `left`."""
        return items.read_batch(self._client, gets)

    def batch_write(
        self, actions: Sequence[requests.PutItem | requests.DeleteItem]
    ) -> requests.BatchWritten:
        """Write up to 25 items at once; what is still unprocessed after all retries is `left`."""
        return items.write_batch(self._client, actions)

    def transact_write(self, request: requests.Transaction) -> tuple[requests.Written, ...]:
        """Write all items or none.

        Without a token it gets one, so that repeating it is harmless.

        Raises TransactionCancelled, with a reason for each action.
        """
        client = self._client
        # The token does not come from the engine's Random: two engines with the same seed would
        # share tokens, and the service treats the second transaction of a token as a repetition.
        token = request.token or token_hex(16)
        actions = [items.write_action(action) for action in request.actions]
        client.send("transact_write_items", {"TransactItems": actions, "ClientRequestToken": token})
        return (requests.Written(),) * len(actions)

    def transact_get(self, gets: Sequence[requests.GetItem]) -> tuple[requests.Found, ...]:
        """Read several items as of one moment."""
        actions = [{"Get": items.get_action(request)} for request in gets]
        response = self._client.send("transact_get_items", {"TransactItems": actions})
        return tuple(_parse_item(item) for item in response.get("Responses") or ())

    def changes(self, table: str, position: str | None, limit: int) -> requests.ChangeBatch:
        """Return changes after a position, or from the oldest if it is None.

        Raises ChangesLost.
        """
        stream = self._stream_arn(table)
        return self._streams.changes(stream, position, limit)

    def latest_position(self, table: str) -> str:
        """Return the position after which only future changes are read."""
        stream = self._stream_arn(table)
        return self._streams.latest_position(stream)

    def hold_changes(self, table: str, consumer: str, position: str | None) -> None:
        """Do nothing: the service stores changes for 24 hours, whether read or not."""

    def sweep(self, table: str, limit: int) -> int:  # noqa: ARG002 - part of the engine interface
        """Do nothing and return 0: the service deletes expired items itself."""
        return 0

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._clients.close()

    def _stream_arn(self, name: str) -> str:
        """Return the ARN of the current stream of a table.

        Raises InvalidRequest if the table has none.
        """
        cached_at, stream = self._stream_arns.get(name, (0.0, ""))
        now = self._clock.monotonic()
        if stream and now - cached_at < _STREAM_CACHE_SECONDS:
            return stream
        table = self._table(name)
        if not (table.get("StreamSpecification") or {}).get("StreamEnabled"):
            raise errors.InvalidRequest(f"Table {name} has no stream. Declare it with a stream.")
        stream = str(table["LatestStreamArn"])
        self._stream_arns[name] = (now, stream)
        return stream

    def _table(self, name: str) -> Shape:
        table: Shape = self._client.send("describe_table", {"TableName": name})["Table"]
        return table

    def _time_to_live(self, name: str) -> str | None:
        if not self.capabilities.ttl:
            return None
        response = self._client.send("describe_time_to_live", {"TableName": name})
        description = response.get("TimeToLiveDescription") or {}
        active = description.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        return description.get("AttributeName") if active else None

    def _change_time_to_live(self, name: str, current: str | None, target: str | None) -> None:
        if current == target or not self.capabilities.ttl:
            return
        if current is not None:
            self._set_time_to_live(name, current, enabled=False)
        if target is not None:
            self._set_time_to_live(name, target, enabled=True)

    def _set_time_to_live(self, name: str, attribute: str, *, enabled: bool) -> None:
        setting = {"AttributeName": attribute, "Enabled": enabled}
        already = f"TimeToLive is already {'enabled' if enabled else 'disabled'}"
        try:
            self._client.send(
                "update_time_to_live", {"TableName": name, "TimeToLiveSpecification": setting}
            )
        except errors.InvalidRequest as error:
            if already not in str(error):
                raise

    def _tags(self, arn: str) -> dict[str, str]:
        tags: dict[str, str] = {}
        parameters: Shape = {"ResourceArn": arn}
        with suppress(OperationNotSupported, errors.AccessRefused):
            while True:
                response = self._client.send("list_tags_of_resource", parameters)
                tags |= {tag["Key"]: tag["Value"] for tag in response.get("Tags") or ()}
                next_token = response.get("NextToken")
                if not next_token:
                    break
                parameters = {"ResourceArn": arn, "NextToken": next_token}
        return tags

    def _wait(self, name: str) -> None:
        """Wait until the table and its indexes are active.

        Raises TableNotFound if the table is gone, StoreUnavailable after the time limit.
        """
        deadline = self._clock.monotonic() + self._table_seconds
        delay = 0.05
        while True:
            table = self._table(name)
            states = [table["TableStatus"]] + [
                index["IndexStatus"] for index in table.get("GlobalSecondaryIndexes") or ()
            ]
            if all(state == "ACTIVE" for state in states):
                return
            if self._clock.monotonic() + delay > deadline:
                busy = ", ".join(sorted(set(states) - {"ACTIVE"}))
                raise errors.StoreUnavailable(f"Table {name} is still {busy}. Try again later.")
            self._clock.sleep(delay)
            delay = min(delay * 1.5, 5.0)

    def _forget(self, name: str) -> None:
        self._schemas.pop(name, None)
        self._stream_arns.pop(name, None)


def _parse_item(response: Shape) -> requests.Found:
    item = response.get("Item")
    return requests.Found(item_from_wire(item) if item else None)


def _parse_page(response: Shape) -> requests.RawPage:
    last = response.get("LastEvaluatedKey")
    return requests.RawPage(
        items=tuple(item_from_wire(item) for item in response.get("Items") or ()),
        scanned=response.get("ScannedCount") or 0,
        last_key=item_from_wire(last) if last else None,
    )
