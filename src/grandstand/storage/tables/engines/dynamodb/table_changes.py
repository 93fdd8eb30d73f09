"""The UpdateTable calls that change a table from one schema to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import (
    Capacity,
    IndexSchema,
    TableSchema,
    billing_shape,
    capacity_shape,
    index_shape,
    stream_shape,
)

Shape: TypeAlias = dict[str, Any]


def plan_changes(
    current: TableSchema, target: TableSchema, *, streams: bool = True
) -> Iterator[Shape]:
    """Yield the parameters of each UpdateTable call. DynamoDB allows one index change per call.

    Raises InvalidRequest if the key or a local index differs; these cannot be changed.
    """
    _check_unchangeable(current, target)
    unchanged = [index for index in _global_indexes(current) if _same_index(index, current, target)]
    for index in _global_indexes(current):
        if index not in unchanged:
            yield {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": index.name}}]}
    yield from _capacity_changes(current, target, unchanged)
    names = {index.name for index in unchanged}
    for index in _global_indexes(target):
        if index.name not in names:
            yield _create_index(index, target)
    if streams and current.stream != target.stream:
        if current.stream is not None:
            yield {"StreamSpecification": stream_shape(None)}
        if target.stream is not None:
            yield {"StreamSpecification": stream_shape(target.stream)}


def _global_indexes(schema: TableSchema) -> list[IndexSchema]:
    return [index for index in schema.indexes if not index.local]


def _check_unchangeable(current: TableSchema, target: TableSchema) -> None:
    def unchangeable(schema: TableSchema) -> object:
        local = {
            index.name: (index.key_names, index.projection, frozenset(index.included))
            for index in schema.indexes
            if index.local
        }
        names = [*schema.key_names, *(name for key in local.values() for name in key[0])]
        return schema.key_names, local, {name: schema.types.get(name) for name in names}

    if unchangeable(current) != unchangeable(target):
        raise InvalidRequest(
            f"The key and local indexes of table {current.name} cannot be changed. "
            "Create a new table."
        )


def _same_index(index: IndexSchema, current: TableSchema, target: TableSchema) -> bool:
    other = target.index(index.name)
    return (
        other is not None
        and not other.local
        and (other.partition, other.sort) == (index.partition, index.sort)
        and (other.projection, set(other.included)) == (index.projection, set(index.included))
        and all(current.types.get(name) == target.types.get(name) for name in index.key_names)
    )


def _capacity_changes(
    current: TableSchema, target: TableSchema, unchanged: list[IndexSchema]
) -> Iterator[Shape]:
    change: Shape = {}
    if current.capacity != target.capacity:
        change = billing_shape(target.capacity)
    if target.capacity is not None:
        updates = [
            {"Update": {"IndexName": index.name, "ProvisionedThroughput": capacity_shape(after)}}
            for index in unchanged
            if (after := _index_capacity(target, index.name)) is not None
            and (current.capacity is None or _index_capacity(current, index.name) != after)
        ]
        if updates:
            change["GlobalSecondaryIndexUpdates"] = updates
    if change:
        yield change


def _index_capacity(schema: TableSchema, name: str) -> Capacity | None:
    index = schema.index(name)
    return (index.capacity if index is not None else None) or schema.capacity


def _create_index(index: IndexSchema, target: TableSchema) -> Shape:
    undefined = [name for name in index.key_names if name not in target.types]
    if undefined:
        raise InvalidRequest(
            "One or more parameter values were invalid: Some index key attributes are not defined "
            f"in AttributeDefinitions. Keys: [{', '.join(undefined)}]"
        )
    return {
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": target.types[name]} for name in index.key_names
        ],
        "GlobalSecondaryIndexUpdates": [{"Create": index_shape(index, target.capacity)}],
    }
