"""Kept here: items as bytes, compact and exact, for engines that keep their own disk."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, cast

import msgspec

from grandstand.storage.tables.values import Item, Value, number_text

_NUMBER: Final = 1
_STRINGS: Final = 2
_NUMBERS: Final = 3
_BINARIES: Final = 4
_INT64: Final = 2**63
_DIRECT: Final = frozenset((str, bool, type(None), bytes))

_QUICK: Final = _DIRECT | {int}
_encode: Final = msgspec.msgpack.Encoder().encode
_sets: Final = {_STRINGS: str, _NUMBERS: Decimal, _BINARIES: bytes}


def pack(item: Item) -> bytes:
    """Write an item as bytes that `unpack` turns into an equal item."""
    try:
        if _QUICK.issuperset(map(type, item.values())):
            return _encode(item)
        return _encode({n: v if type(v) in _QUICK else _outward(v) for n, v in item.items()})
    except OverflowError:
        # An integer beyond 64 bits.
        return _encode(_outward(item))


def _outward(value: Any) -> Any:  # noqa: ANN401 - the codec's own tree, not an attribute value
    kind = type(value)
    if kind in _DIRECT:
        return value
    if kind is int:
        return value if -_INT64 <= value < _INT64 else _number(value)
    if kind is dict:
        return {
            name: inner if type(inner) in _DIRECT else _outward(inner)
            for name, inner in value.items()
        }
    if kind is list:
        return [_outward(inner) for inner in value]
    if kind is Decimal:
        return _number(value)
    return _set(value)


def _number(value: int | Decimal) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(_NUMBER, str(value).encode())


def _set(value: frozenset[Any]) -> msgspec.msgpack.Ext:
    element = next(iter(value))
    if isinstance(element, str):
        return msgspec.msgpack.Ext(_STRINGS, _encode(sorted(value)))
    if isinstance(element, bytes):
        return msgspec.msgpack.Ext(_BINARIES, _encode(sorted(value)))
    return msgspec.msgpack.Ext(_NUMBERS, _encode([number_text(n) for n in sorted(value)]))


def _inward(code: int, data: memoryview) -> Value:
    if code == _NUMBER:
        return Decimal(str(data, "ascii"))
    elements = msgspec.msgpack.decode(data)
    if code == _NUMBERS:
        return frozenset(_plain(text) for text in elements)
    return cast("Value", frozenset(elements))


def _plain(text: str) -> int | Decimal:
    number = Decimal(text)
    whole = int(number)
    return whole if whole == number and -_INT64 <= whole < _INT64 else number


# Reads an item back from its bytes.
unpack: Final[Callable[[bytes], Item]] = msgspec.msgpack.Decoder(ext_hook=_inward).decode
