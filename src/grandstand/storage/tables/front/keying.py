"""Kept here: what the schema demands of keys and of index keys, in DynamoDB's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from grandstand.storage.tables.values import Item, Key, Value, type_code

MISMATCH: Final = "The provided key element does not match the schema"
_PARTITION_BYTES: Final = 2048
_SORT_BYTES: Final = 1024
_INVALID: Final = "One or more parameter values are not valid. "


def empty_kind(value: Value) -> str | None:
    """Name the kind of an empty text or binary; None for everything else."""
    if value == "":
        return "string"
    return "binary" if value == b"" else None


def check_key(schema: TableSchema, key: Key) -> None:
    """Raise InvalidRequest unless these are exactly the table's key attributes, well filled."""
    if len(key) != len(schema.key_names):
        raise InvalidRequest(MISMATCH)
    for name in schema.key_names:
        if name not in key or type_code(key[name]) != schema.types[name]:
            raise InvalidRequest(MISMATCH)
        check_filled(key[name], name)
        check_length(key[name], partition=name == schema.partition)


def check_item(schema: TableSchema, item: Item) -> None:
    """Raise InvalidRequest unless the item's keys, and its index keys if any, can be kept."""
    for name in schema.key_names:
        if name not in item:
            raise invalid(f"Missing the key {name} in the item")
        found = type_code(item[name])
        if found != schema.types[name]:
            raise invalid(
                f"Type mismatch for key {name} expected: {schema.types[name]} actual: {found}"
            )
        check_filled(item[name], name)
        check_length(item[name], partition=name == schema.partition)
    check_index_keys(schema, item)


def check_filled(value: Value, name: str) -> None:
    """Raise InvalidRequest when a key's value is empty."""
    kind = empty_kind(value)
    if kind is not None:
        raise InvalidRequest(
            f"{_INVALID}The AttributeValue for a key attribute cannot contain an empty {kind} "
            f"value. Key: {name}"
        )


def check_length(value: Value, *, partition: bool) -> None:
    """Raise InvalidRequest when a key's value is too long."""
    size = len(value.encode()) if isinstance(value, str) else 0
    if isinstance(value, bytes):
        size = len(value)
    if partition and size > _PARTITION_BYTES:
        # DynamoDB leaves out the space before the number.
        raise invalid(
            f"Size of hashkey has exceeded the maximum size limit of{_PARTITION_BYTES} bytes"
        )
    if not partition and size > _SORT_BYTES:
        raise invalid(
            f"Aggregated size of all range keys has exceeded the size limit of {_SORT_BYTES} bytes"
        )


def indexed_by_name(schema: TableSchema) -> Iterator[tuple[str, IndexSchema]]:
    """Pair every attribute of an index key with its index, indexes by name."""
    for index in sorted(schema.indexes, key=lambda one: one.name):
        for name in index.key_names:
            if name not in schema.key_names:
                yield name, index


def check_index_keys(schema: TableSchema, item: Mapping[str, Value]) -> None:
    """Raise InvalidRequest when an attribute cannot be the index key it is."""
    for name, index in indexed_by_name(schema):
        if name not in item:
            continue
        check_index_type(schema, index, name, item[name])
        kind = empty_kind(item[name])
        if kind is not None:
            raise InvalidRequest(
                f"{_INVALID}A value specified for a secondary index key is not supported. The "
                f"AttributeValue for a key attribute cannot contain an empty {kind} value. "
                f"IndexName: {index.name}, IndexKey: {name}"
            )
        check_length(item[name], partition=name in index.partition)


def check_index_type(schema: TableSchema, index: IndexSchema, name: str, value: Value) -> None:
    """Raise InvalidRequest when an index key's value is of another type than declared."""
    found = type_code(value)
    if found != schema.types[name]:
        raise invalid(
            f"Type mismatch for Index Key {name} Expected: {schema.types[name]} Actual: {found} "
            f"IndexName: {index.name}"
        )
