"""Items as compact bytes for embedded engines, and checksums of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final, cast

import msgspec

from grandstand.storage.tables.attribute_values import Item, Key, Value, number_text

_NUMBER: Final = 1
_STRINGS: Final = 2
_NUMBERS: Final = 3
_BINARIES: Final = 4
_INT64: Final = 2**63
_NATIVE: Final = frozenset((str, bool, type(None), bytes))

_NATIVE_WITH_INT: Final = _NATIVE | {int}
_encode: Final = msgspec.msgpack.Encoder().encode


def pack(item: Item) -> bytes:
    """Serialize an item."""
    try:
        if _NATIVE_WITH_INT.issuperset(map(type, item.values())):
            return _encode(item)
        return _encode(
            {n: v if type(v) in _NATIVE_WITH_INT else _to_msgpack(v) for n, v in item.items()}
        )
    except OverflowError:
        # An integer beyond 64 bits.
        return _encode(_to_msgpack(item))


def _to_msgpack(value: Any) -> Any:  # noqa: ANN401 - the codec's own tree, not an attribute value
    kind = type(value)
    if kind in _NATIVE:
        return value
    if kind is int:
        return value if -_INT64 <= value < _INT64 else _pack_number(value)
    if kind is dict:
        return {
            name: inner if type(inner) in _NATIVE else _to_msgpack(inner)
            for name, inner in value.items()
        }
    if kind is list:
        return [_to_msgpack(inner) for inner in value]
    if kind is Decimal:
        return _pack_number(value)
    return _pack_set(value)


def _pack_number(value: int | Decimal) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(_NUMBER, str(value).encode())


def _pack_set(value: frozenset[Any]) -> msgspec.msgpack.Ext:
    element = next(iter(value))
    if isinstance(element, str):
        return msgspec.msgpack.Ext(_STRINGS, _encode(sorted(value)))
    if isinstance(element, bytes):
        return msgspec.msgpack.Ext(_BINARIES, _encode(sorted(value)))
    return msgspec.msgpack.Ext(_NUMBERS, _encode([number_text(n) for n in sorted(value)]))


def _from_extension(code: int, data: memoryview) -> Value:
    if code == _NUMBER:
        return Decimal(str(data, "ascii"))
    elements = msgspec.msgpack.decode(data)
    if code == _NUMBERS:
        return frozenset(_parse_number(text) for text in elements)
    return cast("Value", frozenset(elements))


def _parse_number(text: str) -> int | Decimal:
    number = Decimal(text)
    whole = int(number)
    return whole if whole == number and -_INT64 <= whole < _INT64 else number


# Deserializes an item.
unpack: Final[Callable[[bytes], Item]] = msgspec.msgpack.Decoder(ext_hook=_from_extension).decode


_BYTES: Final = 16
_MODULUS: Final = 2 ** (8 * _BYTES)
_UNCHANGED: Final = frozenset((str, bool, bytes, type(None)))


@dataclass(frozen=True, slots=True)
class ItemSum:
    """A count and an order-independent checksum; equal sums mean equal items."""

    items: int = 0
    total: int = 0

    def plus(self, items: Iterable[Item]) -> ItemSum:
        """Return the sum with these items added."""
        count, total = self.items, self.total
        for item in items:
            count += 1
            total += int.from_bytes(blake2b(canonical_bytes(item), digest_size=_BYTES).digest())
        return ItemSum(count, total % _MODULUS)

    @property
    def checksum(self) -> str:
        """The checksum in hexadecimal."""
        return f"{self.total:032x}"


def canonical_bytes(item: Item | Key) -> bytes:
    """Serialize an item so that bytes are equal exactly if DynamoDB considers the items equal."""
    return _encode([(name, _canonical(item[name])) for name in sorted(item)])


def _canonical(value: Any) -> Any:  # noqa: ANN401 - the codec's own tree, not an attribute value
    kind = type(value)
    if kind in _UNCHANGED:
        return value
    if kind is int or kind is Decimal:
        return {"N": number_text(value)}
    if kind is dict:
        return {"M": [(name, _canonical(value[name])) for name in sorted(value)]}
    if kind is list:
        return [_canonical(inner) for inner in value]
    return {"S": sorted(_encode(_canonical(element)) for element in value)}
