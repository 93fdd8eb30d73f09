"""The physical schema of a table, and its form in DynamoDB's requests, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, cast

from grandstand.storage.tables.errors import InvalidRequest

KeyType: TypeAlias = Literal["S", "N", "B"]
Projection: TypeAlias = Literal["ALL", "KEYS_ONLY", "INCLUDE"]
StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


@dataclass(frozen=True, slots=True)
class Capacity:
    """Provisioned reads and writes per second."""

    read_units: int
    write_units: int


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """A secondary index; keys may have several attributes."""

    name: str
    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()
    projection: Projection = "ALL"
    included: tuple[str, ...] = ()
    local: bool = False
    capacity: Capacity | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes an item needs to be in this index."""
        return self.partition + self.sort


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table as an engine stores it, under its physical name."""

    name: str
    partition: str
    sort: str | None = None
    types: Mapping[str, KeyType] = field(default_factory=dict)
    indexes: tuple[IndexSchema, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    capacity: Capacity | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes that identify an item."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    def index(self, name: str) -> IndexSchema | None:
        return next((index for index in self.indexes if index.name == name), None)


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A table's schema, creation time and size.

    `settings` belong to whoever stores them (tags, identifiers); the engine does not interpret
    them. `index_counts` has the items and bytes of each index, if the engine counts them.
    """

    schema: TableSchema
    created_at: datetime
    items: int
    size_bytes: int
    stream_label: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    index_counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


Shape: TypeAlias = dict[str, Any]

ON_DEMAND: Final = "PAY_PER_REQUEST"
PROVISIONED: Final = "PROVISIONED"


def create_table_shape(schema: TableSchema) -> Shape:
    """Return the parameters of CreateTable; expiry is set by another call.

    In provisioned mode an index without its own capacity gets that of the table.
    """
    shape: Shape = {
        "TableName": schema.name,
        "AttributeDefinitions": attribute_definitions(schema),
        "KeySchema": key_schema((schema.partition,), () if schema.sort is None else (schema.sort,)),
        **billing_shape(schema.capacity),
    }
    local = [index_shape(index) for index in schema.indexes if index.local]
    if local:
        shape["LocalSecondaryIndexes"] = local
    wide = [index_shape(index, schema.capacity) for index in schema.indexes if not index.local]
    if wide:
        shape["GlobalSecondaryIndexes"] = wide
    if schema.stream is not None:
        shape["StreamSpecification"] = stream_shape(schema.stream)
    return shape


def attribute_definitions(schema: TableSchema) -> list[Shape]:
    """Return the types of all key attributes, those of the table first.

    Raises InvalidRequest if the schema lacks one.
    """
    names = dict.fromkeys(schema.key_names)
    for index in schema.indexes:
        names.update(dict.fromkeys(index.key_names))
    unknown = [name for name in names if name not in schema.types]
    if unknown:
        raise InvalidRequest(
            "One or more parameter values were invalid: Some index key attributes are not defined "
            f"in AttributeDefinitions. Keys: [{', '.join(unknown)}], "
            f"AttributeDefinitions: [{', '.join(schema.types)}]"
        )
    return [{"AttributeName": name, "AttributeType": schema.types[name]} for name in names]


def key_schema(partition: tuple[str, ...], sort: tuple[str, ...]) -> list[Shape]:
    return [{"AttributeName": name, "KeyType": "HASH"} for name in partition] + [
        {"AttributeName": name, "KeyType": "RANGE"} for name in sort
    ]


def index_shape(index: IndexSchema, table_capacity: Capacity | None = None) -> Shape:
    """Return an index; the capacity of the table means provisioned mode."""
    projection: Shape = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    shape: Shape = {
        "IndexName": index.name,
        "KeySchema": key_schema(index.partition, index.sort),
        "Projection": projection,
    }
    if table_capacity is not None:
        shape["ProvisionedThroughput"] = capacity_shape(index.capacity or table_capacity)
    return shape


def capacity_shape(capacity: Capacity) -> Shape:
    return {
        "ReadCapacityUnits": capacity.read_units,
        "WriteCapacityUnits": capacity.write_units,
    }


def billing_shape(capacity: Capacity | None) -> Shape:
    if capacity is None:
        return {"BillingMode": ON_DEMAND}
    return {"BillingMode": PROVISIONED, "ProvisionedThroughput": capacity_shape(capacity)}


def stream_shape(view: StreamView | None) -> Shape:
    """Return the stream setting; None switches it off."""
    if view is None:
        return {"StreamEnabled": False}
    return {"StreamEnabled": True, "StreamViewType": view}


def schema_from_shape(shape: Mapping[str, Any], *, ttl: str | None = None) -> TableSchema:
    """Return the schema in the parameters of CreateTable or a description.

    An index whose capacity equals that of the table has none of its own. Raises InvalidRequest if
    the key has no partition attribute.
    """
    partition, sort = _key(shape)
    capacity = _table_capacity(shape)
    indexes = [
        _index(index, capacity, local=True) for index in shape.get("LocalSecondaryIndexes") or ()
    ] + [_index(index, capacity) for index in shape.get("GlobalSecondaryIndexes") or ()]
    return TableSchema(
        name=shape["TableName"],
        partition=partition[0],
        sort=sort[0] if sort else None,
        types={
            definition["AttributeName"]: cast("KeyType", definition["AttributeType"])
            for definition in shape.get("AttributeDefinitions") or ()
        },
        indexes=tuple(indexes),
        ttl=ttl,
        stream=_stream(shape),
        capacity=capacity,
    )


def _key(shape: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    elements = shape.get("KeySchema") or ()
    partition = tuple(part["AttributeName"] for part in elements if part["KeyType"] == "HASH")
    sort = tuple(part["AttributeName"] for part in elements if part["KeyType"] == "RANGE")
    if not partition:
        raise InvalidRequest("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    return partition, sort


def _index(
    shape: Mapping[str, Any], table_capacity: Capacity | None, *, local: bool = False
) -> IndexSchema:
    partition, sort = _key(shape)
    projection = shape.get("Projection") or {}
    capacity = None if local or table_capacity is None else _capacity(shape)
    return IndexSchema(
        name=shape["IndexName"],
        partition=partition,
        sort=sort,
        projection=cast("Projection", projection.get("ProjectionType", "ALL")),
        included=tuple(projection.get("NonKeyAttributes") or ()),
        local=local,
        capacity=None if capacity == table_capacity else capacity,
    )


def _table_capacity(shape: Mapping[str, Any]) -> Capacity | None:
    summary = shape.get("BillingModeSummary") or {}
    mode = shape.get("BillingMode") or summary.get("BillingMode")
    return None if mode == ON_DEMAND else _capacity(shape)


def _capacity(shape: Mapping[str, Any]) -> Capacity | None:
    units = shape.get("ProvisionedThroughput") or {}
    read, write = units.get("ReadCapacityUnits") or 0, units.get("WriteCapacityUnits") or 0
    return Capacity(int(read), int(write)) if read and write else None


def _stream(shape: Mapping[str, Any]) -> StreamView | None:
    setting = shape.get("StreamSpecification") or {}
    if not setting.get("StreamEnabled"):
        return None
    return cast("StreamView", setting["StreamViewType"])
