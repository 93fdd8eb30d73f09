"""Kept here: key attributes as the engine stores them, and DynamoDB's words for wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from struct import Struct
from typing import Final, TypeAlias
from zlib import crc32

from grandstand.storage.tables.engines.sqlite.ordered.order import order_number
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import KeyType, TableSchema
from grandstand.storage.tables.values import Item, Key, Value, type_code

PARTITION_BYTES: Final = 2048
SORT_BYTES: Final = 1024
BUCKETS: Final = 1 << 16
MISMATCH: Final = "The provided key element does not match the schema"

_INVALID: Final = "One or more parameter values were invalid: "
_NOT_VALID: Final = "One or more parameter values are not valid. "
_EMPTY: Final = "The AttributeValue for a key attribute cannot contain an empty {} value."
_bucket: Final = Struct(">H").pack

Encode: TypeAlias = Callable[[Value], bytes | None]
Spot: TypeAlias = tuple[bytes, bytes]


class Unfit(InvalidRequest):
    """An action does not fit its table; within a transaction it cancels the whole."""


class KeyUnfit(Unfit):
    """The key of an item is missing or of another type."""


def _text(value: Value) -> bytes | None:
    return value.encode() if isinstance(value, str) else None


def _number(value: Value) -> bytes | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return order_number(value)


def _binary(value: Value) -> bytes | None:
    return value if isinstance(value, bytes) else None


ENCODERS: Final[Mapping[KeyType, Encode]] = {"S": _text, "N": _number, "B": _binary}


def bucketed(partition: bytes) -> bytes:
    """Put a partition's bucket before its bytes: a scan walks buckets, its segments share them."""
    return _bucket(crc32(partition) & 0xFFFF) + partition


def bucket_start(bucket: int) -> bytes:
    """Answer the bytes at which a bucket begins."""
    return _bucket(bucket)


@dataclass(frozen=True, slots=True)
class Part:
    """One attribute of a key: where it is kept, its type, and how long it may be."""

    attribute: str
    column: str
    kind: KeyType
    limit: int
    bucketed: bool = False

    def encode(self, value: Value) -> bytes | None:
        """Write a value as it is kept; None when it is of another type.

        Raises InvalidRequest when it is empty or too long.
        """
        data = ENCODERS[self.kind](value)
        if data is None:
            return None
        if not data:
            raise empty_key(self.attribute, value)
        if len(data) > self.limit:
            raise too_long(self.limit)
        return bucketed(data) if self.bucketed else data


def explain_lookup(schema: TableSchema, key: Key) -> InvalidRequest:
    """Say what is wrong with the key of an item to be found."""
    if key.keys() == set(schema.key_names):
        for name in schema.key_names:
            fault = _explain_value(schema, name, key[name])
            if fault is not None:
                return fault
    return KeyUnfit(MISMATCH)


def explain_item(schema: TableSchema, item: Item) -> InvalidRequest:
    """Say what is wrong with the key within an item to be written."""
    for name in schema.key_names:
        if name not in item:
            return KeyUnfit(f"{_INVALID}Missing the key {name} in the item")
        wanted, found = schema.types[name], type_code(item[name])
        if wanted != found:
            return KeyUnfit(
                f"{_INVALID}Type mismatch for key {name} expected: {wanted} actual: {found}"
            )
        fault = _explain_value(schema, name, item[name])
        if fault is not None:
            return fault
    return KeyUnfit(MISMATCH)


def _explain_value(schema: TableSchema, name: str, value: Value) -> InvalidRequest | None:
    data = ENCODERS[schema.types[name]](value)
    if data is None:
        return KeyUnfit(MISMATCH)
    if not data:
        return empty_key(name, value)
    limit = PARTITION_BYTES if name == schema.partition else SORT_BYTES
    return too_long(limit) if len(data) > limit else None


def empty_key(name: str, value: Value) -> InvalidRequest:
    """Say that a key attribute is empty."""
    return InvalidRequest(f"{_NOT_VALID}{_EMPTY.format(_word(value))} Key: {name}")


def too_long(limit: int) -> InvalidRequest:
    """Say that a key is too long."""
    if limit == PARTITION_BYTES:
        # DynamoDB leaves out the space before the number.
        return InvalidRequest(
            f"{_INVALID}Size of hashkey has exceeded the maximum size limit of{limit} bytes"
        )
    return InvalidRequest(
        f"{_INVALID}Aggregated size of all range keys has exceeded the size limit of {limit} bytes"
    )


def unfit_index_key(part: Part, index: str, value: Value) -> InvalidRequest:
    """Say that an attribute cannot be the index key it is for its type."""
    return Unfit(
        f"{_INVALID}Type mismatch for Index Key {part.attribute} Expected: {part.kind} "
        f"Actual: {type_code(value)} IndexName: {index}"
    )


def empty_index_key(part: Part, index: str, value: Value) -> InvalidRequest:
    """Say that an attribute of an item cannot be the index key it is, being empty."""
    return InvalidRequest(
        f"{_NOT_VALID}A value specified for a secondary index key is not supported. "
        f"{_EMPTY.format(_word(value))} IndexName: {index}, IndexKey: {part.attribute}"
    )


def emptied_index_key(value: Value) -> InvalidRequest:
    """Say that an update would leave an index key empty."""
    return InvalidRequest(
        f"{_NOT_VALID}The update expression attempted to update a secondary index key to a value "
        f"that is not supported. {_EMPTY.format(_word(value))}"
    )


def overgrown_index_key() -> InvalidRequest:
    """Say that an update would make an index key too long."""
    return Unfit(
        "The update expression attempted to update the secondary index key beyond allowed size "
        "limits"
    )


def _word(value: Value) -> str:
    return "string" if isinstance(value, str) else "binary"
