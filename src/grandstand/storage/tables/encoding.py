"""Items as DynamoDB JSON, as compact bytes, and their checksums."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Fault
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, ClassVar, Final, TypeAlias, cast

import msgspec

from grandstand.core.errors import InvalidInput
from grandstand.storage.tables.attribute_values import (
    MAX_DEPTH,
    Item,
    Key,
    Number,
    Value,
    normalize_number,
    number_text,
    type_code,
)
from grandstand.storage.tables.errors import InvalidRequest

Attribute: TypeAlias = dict[str, object]

_CODES: Final = frozenset(("S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"))
_MAX_SHORT_DIGITS: Final = 18
_MAX_POWER: Final = 999
_INT64: Final = 2**63
_INVALID: Final = "One or more parameter values were invalid: "

# In shortest form already, and too short to be out of range.
_shortest: Final = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{0,17}[1-9])?", re.ASCII).fullmatch
_numeric: Final = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?", re.ASCII
).fullmatch
_invalid_base64: Final = re.compile(r"[^A-Za-z0-9+/=]|=[^=]").search


class WireFault(InvalidInput):
    """The JSON has a value of an unexpected type."""

    code: ClassVar[str] = "invalid-attribute-value"
    aws_name: ClassVar[str] = "SerializationException"


def to_wire(value: Value, *, text_binary: bool = False) -> Attribute:
    """Return a value in DynamoDB JSON; binaries as bytes, or as base64 with `text_binary`.

    Sets are sorted, so that equal values are written alike. Raises InvalidRequest for values that
    DynamoDB cannot store.
    """
    kind = type(value)
    if kind is str:
        return {"S": value}
    write = _writers.get(kind)
    if write is None:
        return to_wire(_to_base_type(value), text_binary=text_binary)
    return write(value, text_binary)


def item_to_wire(item: Mapping[str, Value], *, text_binary: bool = False) -> dict[str, Attribute]:
    """Return an item or key in DynamoDB JSON. Raises InvalidRequest."""
    return {
        name: {"S": value} if type(value) is str else to_wire(value, text_binary=text_binary)
        for name, value in item.items()
    }


def from_wire(attribute: object, *, text_binary: bool = False) -> Value:
    """Read a value in DynamoDB JSON; binaries from bytes, or from base64 with `text_binary`.

    Raises InvalidRequest with DynamoDB's message if the value violates a rule, and WireFault if it
    is not an attribute value.
    """
    return _read(attribute, text_binary, 1)


def item_from_wire(attributes: object, *, text_binary: bool = False) -> Item:
    """Read an item or key in DynamoDB JSON; raises as `from_wire` does."""
    return _read_map(attributes, text_binary, 0)


def _to_base_type(value: Value) -> Value:
    """Convert an instance of a subclass, such as an enum member, to its base type."""
    match type_code(value), value:
        case "S", str():
            return str.__str__(value)
        case "N", int():
            return int(value)
        case "N", Decimal():
            return Decimal(value)
        case "B", bytes():
            return bytes(value)
        case "L", list():
            return list(value)
        case "M", dict():
            return dict(value)
    raise InvalidRequest(f"A {type(value).__name__} cannot be stored")


def _format_number(value: Number) -> str:
    if type(value) is int and -_INT64 <= value < _INT64:
        return str(value)
    number = Decimal(value)
    text = str(number)
    if number and _shortest(text):
        return text
    if not number.is_finite():
        raise _number_error(text)
    return number_text(_normalize(number))


def _normalize(number: Decimal) -> Number:
    """Normalize a finite number of any magnitude. Raises InvalidRequest."""
    power = number.adjusted() if number else 0
    if abs(power) > _MAX_POWER:
        return normalize_number(Decimal((0, (1,), _MAX_POWER if power > 0 else -_MAX_POWER)))
    return normalize_number(number)


def _write_set(value: Any, text_binary: bool) -> Attribute:  # noqa: ANN401, FBT001
    code = type_code(value)
    if code == "NS":
        return {"NS": [_format_number(number) for number in sorted(value)]}
    if code == "BS" and text_binary:
        return {"BS": [b64encode(binary).decode() for binary in sorted(value)]}
    return {code: sorted(value)}


_writers: Final[dict[type, Callable[[Any, bool], Attribute]]] = {
    int: lambda value, _: {"N": _format_number(value)},
    Decimal: lambda value, _: {"N": _format_number(value)},
    bool: lambda value, _: {"BOOL": value},
    type(None): lambda _value, _: {"NULL": True},
    bytes: lambda value, text: {"B": b64encode(value).decode() if text else value},
    frozenset: _write_set,
    list: lambda value, text: {"L": [to_wire(inner, text_binary=text) for inner in value]},
    dict: lambda value, text: {"M": item_to_wire(value, text_binary=text)},
}


def _read(attribute: Any, text_binary: bool, depth: int) -> Value:  # noqa: ANN401, FBT001
    if type(attribute) is not dict:
        raise _structure_error(attribute, "Unexpected value type in payload")
    if len(attribute) != 1:
        attribute = _single_type(attribute, text_binary, depth)
    ((code, content),) = attribute.items()
    if code == "S" and type(content) is str:
        return content
    if content is None or code not in _CODES:
        raise InvalidRequest(
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        )
    if code == "M":
        return _read_map(content, text_binary, depth)
    if code == "L":
        return _read_list(content, text_binary, depth)
    if text_binary and code in ("B", "BS"):
        return _read_base64(content) if code == "B" else _read_set(content, code, _read_base64)
    return _readers[code](content)


def _single_type(attribute: dict[str, object], text_binary: bool, depth: int) -> Attribute:  # noqa: FBT001
    typed = {code: inner for code, inner in attribute.items() if code in _CODES}
    values = {code: inner for code, inner in typed.items() if inner is not None}
    if len(values) > 1:
        for code, content in values.items():
            _read({code: content}, text_binary, depth)
        raise InvalidRequest(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        )
    return values or {"": None}


def _read_map(content: Any, text_binary: bool, depth: int) -> Item:  # noqa: ANN401, FBT001
    if type(content) is not dict:
        raise _structure_error(content, "Unexpected field type")
    if depth >= MAX_DEPTH:
        raise _depth_error()
    item: Item = {}
    for name, attribute in content.items():
        if not name:
            raise InvalidRequest("Empty attribute name")
        item[name] = _read(attribute, text_binary, depth + 1)
    return item


def _read_list(content: Any, text_binary: bool, depth: int) -> list[Value]:  # noqa: ANN401, FBT001
    if depth >= MAX_DEPTH:
        raise _depth_error()
    return [_read(inner, text_binary, depth + 1) for inner in _elements(content)]


def _elements(content: object) -> list[Any]:
    if isinstance(content, list):
        return content
    if isinstance(content, dict):
        raise WireFault("Start of structure or map found where not expected")
    raise WireFault("Unexpected field type")


def _read_text(content: object) -> str:
    if isinstance(content, str):
        return content
    raise _type_mismatch(content, "String", "java.lang.String")


def _read_number(content: object) -> Number:
    text = _read_text(content)
    if text.isdecimal() and text.isascii() and len(text) <= _MAX_SHORT_DIGITS:
        return int(text)
    if _shortest(text):
        return Decimal(text) if "." in text else int(text)
    if not _numeric(text):
        raise _number_error(text)
    return _normalize(Decimal(text))


def _read_bytes(content: object) -> bytes:
    if isinstance(content, bytes | bytearray):
        return bytes(content)
    raise _type_mismatch(content, "", "java.nio.ByteBuffer")


def _read_base64(content: object) -> bytes:
    if not isinstance(content, str):
        raise _type_mismatch(content, "", "java.nio.ByteBuffer")
    if len(content) % 4:
        raise WireFault(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(content)}"
        )
    if wrong := _invalid_base64(content):
        raise WireFault(f"Invalid Base64 character: '{wrong[0][0]}'")
    try:
        binary = b64decode(content)
    except Base64Fault as error:
        raise _base64_end_error() from error
    if content.endswith("=") and b64encode(binary).decode() != content:
        raise _base64_end_error()
    return binary


def _read_bool(content: object) -> bool:
    if isinstance(content, bool):
        return content
    if isinstance(content, str):
        word = content.lower()
        if word in ("true", "false"):
            return word == "true"
        raise WireFault("Unexpected token received from parser")
    raise _type_mismatch(content, "Boolean", "java.lang.Boolean")


def _read_null(content: object) -> None:
    if not _read_bool(content):
        raise InvalidRequest(f"{_INVALID}Null attribute value types must have the value of true")


def _read_set(content: object, code: str, read: Callable[[object], Any]) -> frozenset[Any]:
    elements = _elements(content)
    if not elements:
        raise InvalidRequest(_INVALID + _EMPTY[code])
    members = [read(element) for element in elements]
    unique = frozenset(members)
    if len(unique) != len(members):
        raise _duplicates_error(elements, code)
    return unique


_EMPTY: Final = {
    "SS": "An string set  may not be empty",
    "NS": "An number set  may not be empty",
    "BS": "Binary sets should not be empty",
}

_readers: Final[dict[str, Callable[[object], Value]]] = {
    "S": _read_text,
    "N": _read_number,
    "B": _read_bytes,
    "BOOL": _read_bool,
    "NULL": _read_null,
    "SS": lambda content: _read_set(content, "SS", _read_text),
    "NS": lambda content: _read_set(content, "NS", _read_number),
    "BS": lambda content: _read_set(content, "BS", _read_bytes),
}


def _duplicates_error(elements: list[Any], code: str) -> InvalidRequest:
    if code == "NS":
        return InvalidRequest("Input collection contains duplicates")
    members = ", ".join(
        element if isinstance(element, str) else b64encode(element).decode() for element in elements
    )
    # DynamoDB leaves out the space before "of type BS".
    kind = "of type BS" if code == "BS" else ""
    return InvalidRequest(f"{_INVALID}Input collection [{members}]{kind} contains duplicates.")


def _number_error(text: str) -> InvalidRequest:
    suffix = f": {text}" if text else ""
    return InvalidRequest(f"The parameter cannot be converted to a numeric value{suffix}")


def _depth_error() -> InvalidRequest:
    return InvalidRequest(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
        "beyond supported limit"
    )


def _base64_end_error() -> WireFault:
    return WireFault("Invalid last non-pad Base64 character dectected")


def _type_mismatch(content: object, expected: str, java: str) -> WireFault:
    if isinstance(content, dict):
        return WireFault("Start of structure or map found where not expected")
    if isinstance(content, list):
        return WireFault(f"Unrecognized collection type class {java}")
    if not expected:
        return WireFault("only base-64-encoded strings are convertible to bytes")
    if isinstance(content, bool):
        return WireFault(f"{str(content).upper()}_VALUE cannot be converted to {expected}")
    return WireFault(f"NUMBER_VALUE cannot be converted to {expected}")


def _structure_error(content: object, message: str) -> WireFault:
    if isinstance(content, list):
        return WireFault(
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"
        )
    return WireFault(message)


_NUMBER: Final = 1
_STRINGS: Final = 2
_NUMBERS: Final = 3
_BINARIES: Final = 4
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
    if kind in _NATIVE:
        return value
    if kind is int or kind is Decimal:
        return {"N": number_text(value)}
    if kind is dict:
        return {"M": [(name, _canonical(value[name])) for name in sorted(value)]}
    if kind is list:
        return [_canonical(inner) for inner in value]
    return {"S": sorted(_encode(_canonical(element)) for element in value)}
