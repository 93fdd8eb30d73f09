"""Kept here: changing a table: its capacity, indexes, stream and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast

from grandstand.storage.tables.encoding.shapes import schema_from_shape
from grandstand.storage.tables.errors import InvalidRequest, TableNotFound, TooMany
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.front.tables.demands import (
    MOST_GLOBAL,
    check_definitions,
    check_global_index,
    check_units,
)
from grandstand.storage.tables.front.tables.describing import (
    DECREASED,
    INCREASED,
    ON_DEMAND_SINCE,
    STREAM_VIEW,
    described,
    keep,
)
from grandstand.storage.tables.front.tables.making import kept_settings
from grandstand.storage.tables.schema import (
    Capacity,
    IndexSchema,
    KeyType,
    TableDescription,
    TableSchema,
)

Shape: TypeAlias = Mapping[str, Any]

_NOTHING: Final = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
)
_MEANINGFUL: Final = frozenset(
    (
        "BillingMode",
        "DeletionProtectionEnabled",
        "GlobalSecondaryIndexUpdates",
        "OnDemandThroughput",
        "ProvisionedThroughput",
        "SSESpecification",
        "StreamSpecification",
        "TableClass",
        "WarmThroughput",
    )
)


def update_table(service: Service, request: Request) -> Answer:
    """Change a table; raise InvalidRequest, TableNotFound or TooMany before anything changes."""
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    if not any(request.get(name) for name in _MEANINGFUL - {"DeletionProtectionEnabled"}) and (
        request.get("DeletionProtectionEnabled") is None
    ):
        raise InvalidRequest(_NOTHING)
    _check_shape(request, updates)
    table = service.describe(request["TableName"])
    schema, kept = _billed(service, table, request, updates)
    schema = _streamed(schema, request.get("StreamSpecification"))
    if schema.stream is None and table.schema.stream is not None:
        kept[STREAM_VIEW] = table.schema.stream
    schema = _indexed(schema, request, updates)
    kept.update(kept_settings(request))
    if schema != table.schema:
        service.engine.alter_table(schema)
    if kept:
        keep(service, table, kept)
    told = described(service, service.describe(schema.name), "UPDATING")
    _mark(told, updates)
    return {"TableDescription": told}


def _check_shape(request: Request, updates: Any) -> None:  # noqa: ANN401 - a list of shapes
    if request.get("BillingMode") == "PROVISIONED" and not request.get("ProvisionedThroughput"):
        raise invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
    if request.get("ProvisionedThroughput"):
        check_units(request["ProvisionedThroughput"])
    seen: set[str] = set()
    for update in updates:
        given = [update[kind] for kind in ("Update", "Create", "Delete") if update.get(kind)]
        if not given:
            raise invalid(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        name = given[0]["IndexName"]
        if name in seen:
            raise invalid(
                "Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {name}"
            )
        seen.add(name)
    if sum(1 for update in updates if not update.get("Update")) > 1:
        raise TooMany(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted "
            "simultaneously per table"
        )


def _billed(
    service: Service,
    table: TableDescription,
    request: Request,
    updates: Any,  # noqa: ANN401 - a list of shapes
) -> tuple[TableSchema, dict[str, Any]]:
    """Bring capacity to what is asked; answer the schema and what to remember of the change."""
    schema, units = table.schema, request.get("ProvisionedThroughput")
    mode = request.get("BillingMode")
    now = round(service.clock.epoch(), 3)
    if units and (mode == "PAY_PER_REQUEST" or (mode is None and schema.capacity is None)):
        raise invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if mode == "PAY_PER_REQUEST":
        if schema.capacity is None:
            return schema, {}
        indexes = tuple(replace(index, capacity=None) for index in schema.indexes)
        return replace(schema, capacity=None, indexes=indexes), {ON_DEMAND_SINCE: now}
    kept: dict[str, Any] = {}
    if units:
        wanted = Capacity(units["ReadCapacityUnits"], units["WriteCapacityUnits"])
        _check_differs(schema.capacity, wanted)
        if schema.capacity is None:
            _check_indexes_given(schema, updates)
            kept[ON_DEMAND_SINCE] = round(table.created_at.timestamp(), 3)
        elif wanted.read_units > schema.capacity.read_units or (
            wanted.write_units > schema.capacity.write_units
        ):
            kept[INCREASED] = now
        else:
            kept[DECREASED] = now
        schema = _recapacitated(schema, wanted)
    return schema, kept


def _recapacitated(schema: TableSchema, wanted: Capacity) -> TableSchema:
    """Change the table's capacity alone: an index that shared the old one keeps its amount."""
    indexes = tuple(
        index if index.local else replace(index, capacity=index.capacity or schema.capacity)
        for index in schema.indexes
    )
    return replace(schema, capacity=wanted, indexes=indexes)


def _check_differs(current: Capacity | None, wanted: Capacity) -> None:
    if current == wanted:
        raise InvalidRequest(
            "The provisioned throughput for the table will not change. The requested value equals "
            "the current value. Current ReadCapacityUnits provisioned for the table: "
            f"{current.read_units}. Requested ReadCapacityUnits: {wanted.read_units}. Current "
            f"WriteCapacityUnits provisioned for the table: {current.write_units}. Requested "
            f"WriteCapacityUnits: {wanted.write_units}. Refer to the Amazon DynamoDB Developer "
            "Guide for current limits and how to request higher limits."
        )


def _check_indexes_given(schema: TableSchema, updates: Any) -> None:  # noqa: ANN401
    named = {update["Update"]["IndexName"] for update in updates if update.get("Update")}
    left = [index.name for index in schema.indexes if not index.local and index.name not in named]
    if left:
        raise invalid(f"ProvisionedThroughput must be specified for index: {','.join(left)}")


def _streamed(schema: TableSchema, stream: Shape | None) -> TableSchema:
    if stream is None:
        return schema
    if not stream["StreamEnabled"]:
        if stream.get("StreamViewType"):
            raise invalid("StreamViewType should not be specified when a stream is disabled")
        if schema.stream is None:
            raise InvalidRequest(f"Table has no stream to disable: TableName: {schema.name}")
        return replace(schema, stream=None)
    if not stream.get("StreamViewType"):
        raise invalid("StreamViewType must be specified when a stream is enabled")
    if schema.stream is not None:
        raise InvalidRequest(f"Table already has an enabled stream: TableName: {schema.name}")
    return replace(schema, stream=stream["StreamViewType"])


def _indexed(schema: TableSchema, request: Request, updates: Any) -> TableSchema:  # noqa: ANN401
    given = check_definitions(request.get("AttributeDefinitions") or ())
    for name, kind in given.items():
        if schema.types.get(name, kind) != kind:
            raise invalid(
                f"Attribute {name} is already defined as {schema.types[name]} and cannot become "
                f"{kind}"
            )
    for update in updates:
        if update.get("Create"):
            schema = _with_index(schema, update["Create"], given)
        elif update.get("Delete"):
            schema = _without_index(schema, update["Delete"]["IndexName"])
        else:
            schema = _with_capacity(schema, update["Update"])
    spare = [name for name in given if name not in schema.types]
    if spare:
        raise invalid(
            "Some AttributeDefinitions are not used. AttributeDefinitions: "
            f"[{', '.join(given)}], keys used: [{', '.join(sorted(schema.types))}]"
        )
    return schema


def _with_index(schema: TableSchema, create: Shape, given: Mapping[str, str]) -> TableSchema:
    definitions: dict[str, str] = {**schema.types, **given}
    check_global_index(create, definitions, on_demand=schema.capacity is None)
    if schema.index(create["IndexName"]) is not None:
        raise InvalidRequest("Attempting to create an index which already exists")
    if sum(1 for index in schema.indexes if not index.local) >= MOST_GLOBAL:
        raise TooMany(
            f"Subscriber limit exceeded: GlobalSecondaryIndex count exceeds the per-table limit of "
            f"{MOST_GLOBAL}"
        )
    made = _read_index(schema, create, definitions)
    types = {name: definitions[name] for name in (*schema.types, *made.key_names)}
    return replace(
        schema,
        indexes=(*schema.indexes, made),
        types=cast("Mapping[str, KeyType]", types),
    )


def _read_index(schema: TableSchema, create: Shape, definitions: Mapping[str, str]) -> IndexSchema:
    table: dict[str, Any] = {
        "TableName": schema.name,
        "KeySchema": [{"AttributeName": schema.partition, "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in definitions.items()
        ],
        "GlobalSecondaryIndexes": [create],
    }
    if schema.capacity is None:
        table["BillingMode"] = "PAY_PER_REQUEST"
    else:
        table["ProvisionedThroughput"] = {
            "ReadCapacityUnits": schema.capacity.read_units,
            "WriteCapacityUnits": schema.capacity.write_units,
        }
    return schema_from_shape(table).indexes[0]


def _without_index(schema: TableSchema, name: str) -> TableSchema:
    index = schema.index(name)
    if index is None or index.local:
        raise TableNotFound("Requested resource not found")
    left = tuple(other for other in schema.indexes if other.name != name)
    used = set(schema.key_names).union(*(other.key_names for other in left))
    types = {name: kind for name, kind in schema.types.items() if name in used}
    return replace(schema, indexes=left, types=types)


def _with_capacity(schema: TableSchema, update: Shape) -> TableSchema:
    index = schema.index(update["IndexName"])
    if index is None or index.local:
        raise TableNotFound("Requested resource not found")
    units = update.get("ProvisionedThroughput")
    if not units:
        return schema
    if schema.capacity is None:
        raise invalid(
            f"ProvisionedThroughput should not be specified for index: {index.name} when "
            "BillingMode is PAY_PER_REQUEST"
        )
    wanted = Capacity(units["ReadCapacityUnits"], units["WriteCapacityUnits"])
    _check_differs(index.capacity or schema.capacity, wanted)
    changed = replace(index, capacity=wanted)
    return replace(
        schema,
        indexes=tuple(changed if one.name == index.name else one for one in schema.indexes),
    )


def _mark(told: Answer, updates: Any) -> None:  # noqa: ANN401 - a list of shapes
    """Show an index just asked for as still being made."""
    made = {update["Create"]["IndexName"] for update in updates if update.get("Create")}
    for index in told.get("GlobalSecondaryIndexes", ()):
        if index["IndexName"] in made:
            index["IndexStatus"], index["Backfilling"] = "CREATING", True
