"""Kept here: what a table's schema must be for the engine to keep it."""

from __future__ import annotations

import re
from typing import Final

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import IndexSchema, TableSchema

_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_INVALID: Final = "One or more parameter values were invalid: "
_MOST_GLOBAL: Final = 20
_MOST_LOCAL: Final = 5
_MOST_ATTRIBUTES: Final = 4


def check_schema(schema: TableSchema) -> None:
    """Raise InvalidRequest unless DynamoDB could keep such a table."""
    _check_name(schema.name)
    names = [index.name for index in schema.indexes]
    for name in names:
        _check_name(name)
        if names.count(name) > 1:
            raise InvalidRequest(f"{_INVALID}Duplicate index name: {name}")
    _check_typed(schema, schema.key_names)
    if schema.partition == schema.sort:
        raise InvalidRequest(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    for index in schema.indexes:
        _check_index(schema, index)
    local = sum(index.local for index in schema.indexes)
    if local > _MOST_LOCAL:
        raise InvalidRequest(
            f"{_INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of {_MOST_LOCAL}"
        )
    if len(names) - local > _MOST_GLOBAL:
        raise InvalidRequest(
            f"{_INVALID}GlobalSecondaryIndex count exceeds the per-table limit of {_MOST_GLOBAL}"
        )


def check_change(old: TableSchema, new: TableSchema) -> None:
    """Raise InvalidRequest unless one schema may follow the other."""
    check_schema(new)
    kept = [
        (schema.partition, schema.sort, [schema.types[name] for name in schema.key_names])
        for schema in (old, new)
    ]
    if kept[0] != kept[1]:
        raise InvalidRequest(f"{_INVALID}the key of a table is fixed when the table is made")
    if [index for index in old.indexes if index.local] != [
        index for index in new.indexes if index.local
    ]:
        raise InvalidRequest(f"{_INVALID}local indexes are fixed when the table is made")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            "Invalid table/index name.  Table/index names must be between 3 and 255 characters "
            "long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
        )


def _check_typed(schema: TableSchema, names: tuple[str, ...]) -> None:
    for name in names:
        if schema.types.get(name) not in ("S", "N", "B"):
            raise InvalidRequest(
                f"{_INVALID}Some AttributeDefinitions are missing: give the key attribute {name} "
                "the type S, N or B"
            )


def _check_index(schema: TableSchema, index: IndexSchema) -> None:
    _check_typed(schema, index.key_names)
    for names in (index.partition, index.sort):
        if len(names) > _MOST_ATTRIBUTES:
            raise InvalidRequest(
                f"{_INVALID}index {index.name} has more than {_MOST_ATTRIBUTES} attributes in "
                "its partition or sort key"
            )
    if not index.partition or len(set(index.key_names)) != len(index.key_names):
        raise InvalidRequest(f"{_INVALID}index {index.name} names no key, or one attribute twice")
    if index.local and (schema.sort is None or index.partition != (schema.partition,)):
        raise InvalidRequest(
            f"{_INVALID}Table KeySchema does not have a range key, or index {index.name} does not "
            "have the table's hash key, which a local secondary index needs"
        )
