"""Kept here: what the schema demands of one attribute of a key, in DynamoDB's words."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import TableSchema
from grandstand.storage.tables.values import Key, type_code

MISMATCH: Final = "The provided key element does not match the schema"


def check_piece(schema: TableSchema, key: Key, name: str) -> None:
    """Raise InvalidRequest unless the key has that attribute, of its type and not empty."""
    if name not in key or type_code(key[name]) != schema.types[name]:
        raise InvalidRequest(MISMATCH)
    if key[name] in ("", b""):
        kind = "string" if isinstance(key[name], str) else "binary"
        raise InvalidRequest(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            f"cannot contain an empty {kind} value. Key: {name}"
        )
