"""Kept here: which UpdateTable calls, in which order, bring a table from one schema to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from grandstand.storage.tables.encoding.shapes import (
    billing_shape,
    capacity_shape,
    index_shape,
    stream_shape,
)
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import Capacity, IndexSchema, TableSchema

Shape: TypeAlias = dict[str, Any]


def changes_to(now: TableSchema, wanted: TableSchema, *, streams: bool = True) -> Iterator[Shape]:
    """Yield the parameters of each UpdateTable call; DynamoDB takes one index change at a time.

    Raises InvalidRequest when the table's key or a local index differs: those never change.
    """
    _check_fixed(now, wanted)
    kept = [index for index in _wide(now) if _same_index(index, now, wanted)]
    for index in _wide(now):
        if index not in kept:
            yield {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": index.name}}]}
    yield from _capacity_changes(now, wanted, kept)
    names = {index.name for index in kept}
    for index in _wide(wanted):
        if index.name not in names:
            yield _creation(index, wanted)
    if streams and now.stream != wanted.stream:
        if now.stream is not None:
            yield {"StreamSpecification": stream_shape(None)}
        if wanted.stream is not None:
            yield {"StreamSpecification": stream_shape(wanted.stream)}


def _wide(schema: TableSchema) -> list[IndexSchema]:
    return [index for index in schema.indexes if not index.local]


def _check_fixed(now: TableSchema, wanted: TableSchema) -> None:
    def fixed(schema: TableSchema) -> object:
        local = {
            index.name: (index.key_names, index.projection, frozenset(index.included))
            for index in schema.indexes
            if index.local
        }
        names = [*schema.key_names, *(name for key in local.values() for name in key[0])]
        return schema.key_names, local, {name: schema.types.get(name) for name in names}

    if fixed(now) != fixed(wanted):
        raise InvalidRequest(
            f"The key and the local indexes of table {now.name} cannot change: make a new table"
        )


def _same_index(index: IndexSchema, now: TableSchema, wanted: TableSchema) -> bool:
    other = wanted.index(index.name)
    return (
        other is not None
        and not other.local
        and (other.partition, other.sort) == (index.partition, index.sort)
        and (other.projection, set(other.included)) == (index.projection, set(index.included))
        and all(now.types.get(name) == wanted.types.get(name) for name in index.key_names)
    )


def _capacity_changes(
    now: TableSchema, wanted: TableSchema, kept: list[IndexSchema]
) -> Iterator[Shape]:
    change: Shape = {}
    if now.capacity != wanted.capacity:
        change = billing_shape(wanted.capacity)
    if wanted.capacity is not None:
        updates = [
            {"Update": {"IndexName": index.name, "ProvisionedThroughput": capacity_shape(after)}}
            for index in kept
            if (after := _index_capacity(wanted, index.name)) is not None
            and (now.capacity is None or _index_capacity(now, index.name) != after)
        ]
        if updates:
            change["GlobalSecondaryIndexUpdates"] = updates
    if change:
        yield change


def _index_capacity(schema: TableSchema, name: str) -> Capacity | None:
    index = schema.index(name)
    return (index.capacity if index is not None else None) or schema.capacity


def _creation(index: IndexSchema, wanted: TableSchema) -> Shape:
    unknown = [name for name in index.key_names if name not in wanted.types]
    if unknown:
        raise InvalidRequest(
            "One or more parameter values were invalid: Some index key attributes are not defined "
            f"in AttributeDefinitions. Keys: [{', '.join(unknown)}]"
        )
    return {
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": wanted.types[name]} for name in index.key_names
        ],
        "GlobalSecondaryIndexUpdates": [{"Create": index_shape(index, wanted.capacity)}],
    }
