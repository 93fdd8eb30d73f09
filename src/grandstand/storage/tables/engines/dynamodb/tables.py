"""Kept here: making, changing and describing tables at the service, and waiting for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Final, TypeAlias

from grandstand.base.clock import Clock
from grandstand.storage.tables.encoding.shapes import create_table_shape, schema_from_shape
from grandstand.storage.tables.engines.dynamodb.altering import changes_to
from grandstand.storage.tables.engines.dynamodb.calls import Calls
from grandstand.storage.tables.engines.dynamodb.failures import NotOffered
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import (
    AccessRefused,
    InvalidRequest,
    StoreUnavailable,
    TableNotFound,
)
from grandstand.storage.tables.schema import TableDescription, TableSchema

Shape: TypeAlias = dict[str, Any]

_FIRST_LOOK: Final = 0.05
_LONGEST_LOOK: Final = 5.0
_STREAM_SECONDS: Final = 60.0


@dataclass(slots=True)
class Tables:
    """The tables of one account and region."""

    calls: Calls
    clock: Clock
    capabilities: Callable[[], Capabilities]
    wait_seconds: float
    _schemas: dict[str, TableSchema] = field(default_factory=dict)
    _streams: dict[str, tuple[float, str]] = field(default_factory=dict)

    def create(self, schema: TableSchema) -> TableDescription:
        """Make a table and wait until it can be used; raise TableInUse when it exists."""
        shape = create_table_shape(schema)
        if not self.capabilities().streams:
            shape.pop("StreamSpecification", None)
        self._forget(schema.name)
        self.calls.send("create_table", shape, repeatable=False)
        self._wait(schema.name)
        self._expire_by(schema.name, None, schema.ttl)
        return self.describe(schema.name)

    def describe(self, name: str) -> TableDescription:
        """Describe a table with its expiry and tags; raise TableNotFound."""
        return self._described(self._table(name))

    def schema(self, name: str) -> TableSchema:
        """Answer the table's schema as last seen; raise TableNotFound."""
        if name not in self._schemas:
            self._schemas[name] = schema_from_shape(self._table(name))
        return self._schemas[name]

    def stream(self, name: str) -> str:
        """Answer the address of the stream the table has now; raise InvalidRequest if none."""
        at, stream = self._streams.get(name, (0.0, ""))
        now = self.clock.monotonic()
        if stream and now - at < _STREAM_SECONDS:
            return stream
        table = self._table(name)
        if not (table.get("StreamSpecification") or {}).get("StreamEnabled"):
            raise InvalidRequest(f"Table {name} keeps no changes: declare it with a stream")
        stream = str(table["LatestStreamArn"])
        self._streams[name] = (now, stream)
        return stream

    def alter(self, schema: TableSchema) -> TableDescription:
        """Bring a table to this schema, one change at a time, waiting after each.

        Raises TableNotFound, and InvalidRequest when the table's own key would change.
        """
        self._forget(schema.name)
        self._wait(schema.name)
        now = self.describe(schema.name).schema
        offered = self.capabilities()
        for change in changes_to(now, schema, streams=offered.streams):
            self.calls.send("update_table", {"TableName": schema.name, **change}, repeatable=False)
            self._wait(schema.name)
        self._expire_by(schema.name, now.ttl, schema.ttl)
        self._forget(schema.name)
        return self.describe(schema.name)

    def delete(self, name: str) -> TableDescription:
        """Remove a table and wait until it is gone; answer what it was; raise TableNotFound."""
        was = self.describe(name)
        self._forget(name)
        self.calls.send("delete_table", {"TableName": name}, repeatable=False)
        with suppress(TableNotFound):
            self._wait(name)
        return was

    def names(self) -> tuple[str, ...]:
        """Name every table, sorted."""
        names: list[str] = []
        parameters: Shape = {}
        while True:
            answer = self.calls.send("list_tables", parameters)
            names += answer.get("TableNames") or ()
            last = answer.get("LastEvaluatedTableName")
            if not last:
                return tuple(sorted(names))
            parameters = {"ExclusiveStartTableName": last}

    def tag(self, name: str, settings: Mapping[str, str]) -> None:
        """Keep the settings as tags, beside those the table has; without tags, keep nothing."""
        arn = self._table(name)["TableArn"]
        tags = [{"Key": key, "Value": value} for key, value in settings.items()]
        with suppress(NotOffered):
            self.calls.send("tag_resource", {"ResourceArn": arn, "Tags": tags})

    def _table(self, name: str) -> Shape:
        table: Shape = self.calls.send("describe_table", {"TableName": name})["Table"]
        return table

    def _described(self, table: Shape) -> TableDescription:
        schema = schema_from_shape(table, ttl=self._expiry(table["TableName"]))
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

    def _expiry(self, name: str) -> str | None:
        if not self.capabilities().ttl:
            return None
        answer = self.calls.send("describe_time_to_live", {"TableName": name})
        told = answer.get("TimeToLiveDescription") or {}
        active = told.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        return told.get("AttributeName") if active else None

    def _expire_by(self, name: str, now: str | None, wanted: str | None) -> None:
        if now == wanted or not self.capabilities().ttl:
            return
        if now is not None:
            self._set_expiry(name, now, enabled=False)
        if wanted is not None:
            self._set_expiry(name, wanted, enabled=True)

    def _set_expiry(self, name: str, attribute: str, *, enabled: bool) -> None:
        setting = {"AttributeName": attribute, "Enabled": enabled}
        already = f"TimeToLive is already {'enabled' if enabled else 'disabled'}"
        try:
            self.calls.send(
                "update_time_to_live", {"TableName": name, "TimeToLiveSpecification": setting}
            )
        except InvalidRequest as refused:
            if already not in str(refused):
                raise

    def _tags(self, arn: str) -> dict[str, str]:
        tags: dict[str, str] = {}
        parameters: Shape = {"ResourceArn": arn}
        with suppress(NotOffered, AccessRefused):
            while True:
                answer = self.calls.send("list_tags_of_resource", parameters)
                tags |= {tag["Key"]: tag["Value"] for tag in answer.get("Tags") or ()}
                following = answer.get("NextToken")
                if not following:
                    break
                parameters = {"ResourceArn": arn, "NextToken": following}
        return tags

    def _wait(self, name: str) -> None:
        """Return when the table and its indexes are ready; raise TableNotFound when it is gone."""
        deadline = self.clock.monotonic() + self.wait_seconds
        look = _FIRST_LOOK
        while True:
            table = self._table(name)
            states = [table["TableStatus"]] + [
                index["IndexStatus"] for index in table.get("GlobalSecondaryIndexes") or ()
            ]
            if all(state == "ACTIVE" for state in states):
                return
            if self.clock.monotonic() + look > deadline:
                busy = ", ".join(sorted(set(states) - {"ACTIVE"}))
                raise StoreUnavailable(f"Table {name} is still {busy}: ask again later")
            self.clock.sleep(look)
            look = min(look * 1.5, _LONGEST_LOOK)

    def _forget(self, name: str) -> None:
        self._schemas.pop(name, None)
        self._streams.pop(name, None)
