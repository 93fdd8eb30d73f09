"""Attribute values as Python values, DynamoDB's rules for them, and their sizes.

S is str, N is int or Decimal, B is bytes, BOOL is bool, NULL is None, L is list, M is dict, and
the three sets are frozensets of one type of element.
"""

from __future__ import annotations

from decimal import Clamped, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Final, TypeAlias

from grandstand.storage.tables.errors import InvalidRequest

Number: TypeAlias = int | Decimal
Value: TypeAlias = (
    str
    | int
    | Decimal
    | bytes
    | bool
    | list["Value"]
    | dict[str, "Value"]
    | frozenset[str]
    | frozenset[Number]
    | frozenset[bytes]
    | None
)
Item: TypeAlias = dict[str, Value]
Key: TypeAlias = dict[str, Value]

MAX_ITEM_BYTES: Final = 409_600
MAX_DEPTH: Final = 32
MAX_DIGITS: Final = 38

_MAX_EXPONENT: Final = 125
_MIN_EXPONENT: Final = -130
_INT64: Final = 2**63

_WIDE_CONTEXT: Final = Context(prec=400, Emin=-9999, Emax=9999, traps=[InvalidOperation, Clamped])


def type_code(value: Value) -> str:
    """Return DynamoDB's name of the value's type. Raises InvalidRequest if it has none."""
    match value:
        case str():
            return "S"
        case bool():
            return "BOOL"
        case int() | Decimal():
            return "N"
        case dict():
            return "M"
        case list():
            return "L"
        case None:
            return "NULL"
        case bytes():
            return "B"
        case frozenset():
            return _set_code(value)
    raise InvalidRequest(_unsupported(value))


def normalize_number(number: Number) -> Number:
    """Return a number in its stored form: int if whole and within 64 bits, else Decimal.

    Raises InvalidRequest if it has too many digits or is out of range.
    """
    if isinstance(number, int):
        if -_INT64 <= number < _INT64:
            return number
        number = Decimal(number)
    if not number.is_finite():
        raise InvalidRequest(f"The parameter cannot be converted to a numeric value: {number}")
    if not number:
        return 0
    exponent = number.adjusted()
    if exponent > _MAX_EXPONENT:
        raise InvalidRequest(
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range"
        )
    if exponent < _MIN_EXPONENT:
        raise InvalidRequest(
            "Number underflow. Attempting to store a number with magnitude smaller than supported "
            "range"
        )
    normalized = number.normalize(_WIDE_CONTEXT)
    _, coefficient, power = normalized.as_tuple()
    if len(coefficient) > MAX_DIGITS:
        raise InvalidRequest("Attempting to store more than 38 significant digits in a Number")
    if isinstance(power, int) and power >= 0:
        whole = int(normalized)
        if -_INT64 <= whole < _INT64:
            return whole
    return normalized


def number_text(number: Number) -> str:
    """Format a number as DynamoDB does: plain digits, no exponent, no trailing zeros."""
    if isinstance(number, int):
        return str(number)
    text = str(number) if number else "0"
    # Most are plain already; formatting costs ten times as much as checking.
    if "E" not in text and ("." not in text or text[-1] != "0"):
        return text
    return format(number.normalize(_WIDE_CONTEXT), "f")


def add_numbers(left: Number, right: Number, *, subtract: bool = False) -> Number:
    """Add exactly. Raises InvalidRequest if the sum needs more than 38 digits."""
    a, b = Decimal(left), Decimal(right)
    return normalize_number(_WIDE_CONTEXT.subtract(a, b) if subtract else _WIDE_CONTEXT.add(a, b))


def same(left: Value, right: Value) -> bool:
    """Return whether DynamoDB considers two values equal: never across types, numbers by value."""
    kind = type(left)
    if kind is type(right) and kind not in (list, dict):
        return left == right
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, int | Decimal) and isinstance(right, int | Decimal):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return False


def item_size(item: Item) -> int:
    """Return an item's size in DynamoDB's bytes, including names. Raises InvalidRequest."""
    total = _names_size(tuple(item))
    for value in item.values():
        kind = type(value)
        if kind is str:
            total += len(value) if value.isascii() else len(value.encode())  # type: ignore[union-attr, arg-type]
        elif kind is bool:
            total += 1
        elif kind is int or kind is Decimal:
            total += number_size(value)  # type: ignore[arg-type]
        else:
            total += _value_size(value, 1)
    return total


@lru_cache(maxsize=4096)
def _names_size(names: tuple[str, ...]) -> int:
    return sum(len(name.encode()) for name in names)


def check_size(item: Item, message: str = "Item size has exceeded the maximum allowed size") -> int:
    """Return the item's size. Raises InvalidRequest if it is over the limit."""
    size = item_size(item)
    if size > MAX_ITEM_BYTES:
        raise InvalidRequest(message)
    return size


def _value_size(value: Value, depth: int) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int | Decimal):
        return number_size(value)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, frozenset):
        _set_code(value)
        return sum(_value_size(v, depth) for v in value)
    if depth >= MAX_DEPTH:
        raise InvalidRequest(
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
            "levels beyond supported limit"
        )
    if isinstance(value, dict):
        if "" in value:
            raise InvalidRequest(
                "One or more parameter values were invalid: an attribute name is empty"
            )
        return 3 + sum(1 + len(k.encode()) + _value_size(v, depth + 1) for k, v in value.items())
    if isinstance(value, list):
        return 3 + sum(1 + _value_size(v, depth + 1) for v in value)
    raise InvalidRequest(_unsupported(value))


def number_size(number: Number) -> int:
    """Return the size of a number: one byte, one per pair of digits, one more if negative."""
    if type(number) is int and 0 <= number < 100:
        return 2 if number else 1
    text = str(number)
    if "E" in text or "N" in text or "I" in text or len(text) > MAX_DIGITS:
        number = normalize_number(number)
        text = number_text(number)
    whole, _, fraction = text.lstrip("-").partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if fraction:
        low, high = -len(fraction), len(whole) or len(fraction.lstrip("0")) - len(fraction)
    else:
        low, high = len(whole) - len(whole.rstrip("0")), len(whole)
    return 1 + (high + 1) // 2 - low // 2 + (number < 0)


def _set_code(value: frozenset[str] | frozenset[Number] | frozenset[bytes]) -> str:
    codes = {type_code(element) for element in value}
    if not codes:
        raise InvalidRequest(
            "One or more parameter values were invalid: An string set  may not be empty"
        )
    code = codes.pop()
    if codes or code not in ("S", "N", "B"):
        raise InvalidRequest(
            "A set has elements of one type: all strings, all numbers or all bytes"
        )
    return code + "S"


def _unsupported(value: object) -> str:
    hint = "; use Decimal" if isinstance(value, float) else ""
    return f"A {type(value).__name__} cannot be stored{hint}"
