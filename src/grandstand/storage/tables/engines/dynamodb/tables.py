"""Creating, changing and describing tables, and waiting until they are ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Final, TypeAlias

from grandstand.core.clock import Clock
from grandstand.storage.tables.engines.dynamodb.client import DynamoClient
from grandstand.storage.tables.engines.dynamodb.errors import OperationNotSupported
from grandstand.storage.tables.engines.dynamodb.table_changes import plan_changes
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import (
    AccessRefused,
    InvalidRequest,
    StoreUnavailable,
    TableNotFound,
)
from grandstand.storage.tables.schema import (
    TableDescription,
    TableSchema,
    create_table_shape,
    schema_from_shape,
)

Shape: TypeAlias = dict[str, Any]

_FIRST_POLL_SECONDS: Final = 0.05
_LONGEST_POLL_SECONDS: Final = 5.0
_STREAM_CACHE_SECONDS: Final = 60.0


@dataclass(slots=True)
class TableManager:
    """Manages the tables of one account and region."""

    client: DynamoClient
    clock: Clock
    capabilities: Callable[[], Capabilities]
    wait_seconds: float
    _schemas: dict[str, TableSchema] = field(default_factory=dict)
    _streams: dict[str, tuple[float, str]] = field(default_factory=dict)

    def create(self, schema: TableSchema) -> TableDescription:
        """Create a table and wait until it is active.

        Raises TableInUse if it exists.
        """
        shape = create_table_shape(schema)
        if not self.capabilities().streams:
            shape.pop("StreamSpecification", None)
        self._forget(schema.name)
        self.client.send("create_table", shape, repeatable=False)
        self._wait(schema.name)
        self._change_time_to_live(schema.name, None, schema.ttl)
        return self.describe(schema.name)

    def describe(self, name: str) -> TableDescription:
        """Describe a table with its time to live and tags.

        Raises TableNotFound.
        """
        return self._build_description(self._table(name))

    def schema(self, name: str) -> TableSchema:
        """Return the cached schema of a table.

        Raises TableNotFound.
        """
        if name not in self._schemas:
            self._schemas[name] = schema_from_shape(self._table(name))
        return self._schemas[name]

    def stream(self, name: str) -> str:
        """Return the ARN of the current stream of a table.

        Raises InvalidRequest if the table has none.
        """
        cached_at, stream = self._streams.get(name, (0.0, ""))
        now = self.clock.monotonic()
        if stream and now - cached_at < _STREAM_CACHE_SECONDS:
            return stream
        table = self._table(name)
        if not (table.get("StreamSpecification") or {}).get("StreamEnabled"):
            raise InvalidRequest(f"Table {name} has no stream. Declare it with a stream.")
        stream = str(table["LatestStreamArn"])
        self._streams[name] = (now, stream)
        return stream

    def alter(self, schema: TableSchema) -> TableDescription:
        """Change a table to a schema, one change at a time, and wait after each.

        Raises TableNotFound, or InvalidRequest if the key of the table would change.
        """
        self._forget(schema.name)
        self._wait(schema.name)
        current = self.describe(schema.name).schema
        capabilities = self.capabilities()
        for change in plan_changes(current, schema, streams=capabilities.streams):
            self.client.send("update_table", {"TableName": schema.name, **change}, repeatable=False)
            self._wait(schema.name)
        self._change_time_to_live(schema.name, current.ttl, schema.ttl)
        self._forget(schema.name)
        return self.describe(schema.name)

    def delete(self, name: str) -> TableDescription:
        """Delete a table, wait until it is gone, and return its last description.

        Raises TableNotFound.
        """
        description = self.describe(name)
        self._forget(name)
        self.client.send("delete_table", {"TableName": name}, repeatable=False)
        with suppress(TableNotFound):
            self._wait(name)
        return description

    def names(self) -> tuple[str, ...]:
        """Return the names of all tables, sorted."""
        names: list[str] = []
        parameters: Shape = {}
        while True:
            response = self.client.send("list_tables", parameters)
            names += response.get("TableNames") or ()
            last = response.get("LastEvaluatedTableName")
            if not last:
                return tuple(sorted(names))
            parameters = {"ExclusiveStartTableName": last}

    def tag(self, name: str, settings: Mapping[str, str]) -> None:
        """Store settings as tags of the table; does nothing if the service has no tags."""
        arn = self._table(name)["TableArn"]
        tags = [{"Key": key, "Value": value} for key, value in settings.items()]
        with suppress(OperationNotSupported):
            self.client.send("tag_resource", {"ResourceArn": arn, "Tags": tags})

    def _table(self, name: str) -> Shape:
        table: Shape = self.client.send("describe_table", {"TableName": name})["Table"]
        return table

    def _build_description(self, table: Shape) -> TableDescription:
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

    def _time_to_live(self, name: str) -> str | None:
        if not self.capabilities().ttl:
            return None
        response = self.client.send("describe_time_to_live", {"TableName": name})
        description = response.get("TimeToLiveDescription") or {}
        active = description.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        return description.get("AttributeName") if active else None

    def _change_time_to_live(self, name: str, current: str | None, target: str | None) -> None:
        if current == target or not self.capabilities().ttl:
            return
        if current is not None:
            self._set_time_to_live(name, current, enabled=False)
        if target is not None:
            self._set_time_to_live(name, target, enabled=True)

    def _set_time_to_live(self, name: str, attribute: str, *, enabled: bool) -> None:
        setting = {"AttributeName": attribute, "Enabled": enabled}
        already = f"TimeToLive is already {'enabled' if enabled else 'disabled'}"
        try:
            self.client.send(
                "update_time_to_live", {"TableName": name, "TimeToLiveSpecification": setting}
            )
        except InvalidRequest as error:
            if already not in str(error):
                raise

    def _tags(self, arn: str) -> dict[str, str]:
        tags: dict[str, str] = {}
        parameters: Shape = {"ResourceArn": arn}
        with suppress(OperationNotSupported, AccessRefused):
            while True:
                response = self.client.send("list_tags_of_resource", parameters)
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
        deadline = self.clock.monotonic() + self.wait_seconds
        delay = _FIRST_POLL_SECONDS
        while True:
            table = self._table(name)
            states = [table["TableStatus"]] + [
                index["IndexStatus"] for index in table.get("GlobalSecondaryIndexes") or ()
            ]
            if all(state == "ACTIVE" for state in states):
                return
            if self.clock.monotonic() + delay > deadline:
                busy = ", ".join(sorted(set(states) - {"ACTIVE"}))
                raise StoreUnavailable(f"Table {name} is still {busy}. Try again later.")
            self.clock.sleep(delay)
            delay = min(delay * 1.5, _LONGEST_POLL_SECONDS)

    def _forget(self, name: str) -> None:
        self._schemas.pop(name, None)
        self._streams.pop(name, None)
