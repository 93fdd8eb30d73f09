"""Kept here: a checksum of items that is the same on every engine, in whatever order they come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final

import msgspec

from grandstand.storage.tables.values import Item, Key, number_text

_BYTES: Final = 16
_MODULUS: Final = 2 ** (8 * _BYTES)
_AS_IT_IS: Final = frozenset((str, bool, bytes, type(None)))
_encode: Final = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class ItemSum:
    """How many items there are, and their checksum: equal sums mean equal items."""

    items: int = 0
    total: int = 0

    def plus(self, items: Iterable[Item]) -> ItemSum:
        """Answer the sum with these items added."""
        count, total = self.items, self.total
        for item in items:
            count += 1
            total += int.from_bytes(blake2b(exact(item), digest_size=_BYTES).digest())
        return ItemSum(count, total % _MODULUS)

    @property
    def checksum(self) -> str:
        """The checksum as a text."""
        return f"{self.total:032x}"


def exact(item: Item | Key) -> bytes:
    """Write an item so that items DynamoDB calls equal are equal bytes, and no others."""
    return _encode([(name, _plain(item[name])) for name in sorted(item)])


def _plain(value: Any) -> Any:  # noqa: ANN401 - the codec's own tree, not an attribute value
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is int or kind is Decimal:
        return {"N": number_text(value)}
    if kind is dict:
        return {"M": [(name, _plain(value[name])) for name in sorted(value)]}
    if kind is list:
        return [_plain(inner) for inner in value]
    return {"S": sorted(_encode(_plain(one)) for one in value)}
