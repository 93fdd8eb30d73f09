"""Kept here: the parameters from before expressions, turned into conditions and updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from grandstand.storage.tables.encoding.attributes import from_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import ordered
from grandstand.storage.tables.expressions.nodes import (
    And,
    BeginsWith,
    Between,
    Comparator,
    Compare,
    Condition,
    Contains,
    Exists,
    IfMissing,
    In,
    Joined,
    Literal,
    Missing,
    Not,
    Or,
    Path,
    Range,
    RangeOperator,
    Update,
)
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.values import Value, type_code

Shape: TypeAlias = Mapping[str, Any]

_COMPARE: Final[dict[str, Comparator]] = {
    "EQ": "=",
    "NE": "<>",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
}
_RANGES: Final[dict[str, RangeOperator]] = {
    "EQ": "=",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
    "BETWEEN": "between",
    "BEGINS_WITH": "begins_with",
}
_NO_ARGUMENT: Final = ("NULL", "NOT_NULL")
_SCALARS: Final = ("S", "N", "B")
_ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("LE", "LT", "GE", "GT", "IN", "BETWEEN"), _SCALARS),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), _SCALARS),
    "BEGINS_WITH": ("S", "B"),
}
_PAIR: Final = 2


def expected_condition(expected: Shape | None, operator: str | None) -> Condition | None:
    """Turn Expected into a condition; raise InvalidRequest."""
    _check_operator(operator, expected)
    if not expected:
        return None
    return _joined([_expectation(name, one) for name, one in expected.items()], operator)


def filter_condition(conditions: Shape | None, operator: str | None) -> Condition | None:
    """Turn QueryFilter or ScanFilter into a condition; raise InvalidRequest."""
    _check_operator(operator, conditions)
    if not conditions:
        return None
    parts = [
        _comparison(name, one["ComparisonOperator"], _arguments(one))
        for name, one in conditions.items()
    ]
    return _joined(parts, operator)


def key_ranges(conditions: Shape) -> tuple[Range, ...]:
    """Turn KeyConditions into one range an attribute; raise InvalidRequest."""
    found: list[Range] = []
    for name, one in conditions.items():
        operator, arguments = one["ComparisonOperator"], _arguments(one)
        _check_arguments(operator, arguments)
        if operator not in _RANGES:
            raise InvalidRequest("Attempted conditional constraint is not an indexable operation")
        high = arguments[1] if len(arguments) == _PAIR else None
        found.append(Range(name, _RANGES[operator], arguments[0], high))
    if not found:
        raise InvalidRequest("Conditions can be of length 1 or 2 only")
    return tuple(found)


def attribute_paths(names: Sequence[str] | None) -> tuple[Path, ...]:
    """Turn AttributesToGet into paths; raise InvalidRequest when one is twice there."""
    if not names:
        return ()
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid(f"Duplicate value in attribute name: {name}")
    return tuple(Path((name,)) for name in names)


def attribute_updates(updates: Shape | None) -> Update:
    """Turn AttributeUpdates into an update; raise InvalidRequest."""
    sets: list[tuple[Path, Any]] = []
    removes: list[Path] = []
    adds: list[tuple[Path, Literal]] = []
    deletes: list[tuple[Path, Literal]] = []
    for name, one in (updates or {}).items():
        path, action, value = Path((name,)), one.get("Action") or "PUT", _value(one)
        code = _update_code(action, value)
        if value is None:
            removes.append(path)
        elif action == "PUT":
            sets.append((path, value))
        elif action == "DELETE":
            deletes.append((path, value))
        elif code == "L":
            sets.append((path, Joined(IfMissing(path, Literal([])), value)))
        else:
            adds.append((path, value))
    return Update(tuple(sets), tuple(removes), tuple(adds), tuple(deletes))


def _value(one: Shape) -> Literal | None:
    wire = one.get("Value")
    return None if wire is None else Literal(from_wire(wire, text_binary=True))


def _update_code(action: str, value: Literal | None) -> str | None:
    if value is None:
        if action != "DELETE":
            raise invalid("Only DELETE action is allowed when no attribute value is specified")
        return None
    code = type_code(value.value)
    if action == "DELETE" and code not in ("SS", "NS", "BS"):
        raise invalid(f"DELETE action with value is not supported for the type {code}")
    if action == "ADD" and code not in ("L", "SS", "NS", "BS", "N"):
        raise invalid(f"ADD action is not supported for the type {code}")
    return code


def _joined(parts: list[Condition], operator: str | None) -> Condition:
    joined = parts[0]
    for part in parts[1:]:
        joined = Or(joined, part) if operator == "OR" else And(joined, part)
    return joined


def _check_operator(operator: str | None, conditions: Shape | None) -> None:
    if operator is None:
        return
    if conditions is None:
        raise InvalidRequest("ConditionalOperator cannot be used without Filter or Expected")
    if len(conditions) < _PAIR:
        raise InvalidRequest(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        )


def _expectation(name: str, one: Shape) -> Condition:
    operator, listed = one.get("ComparisonOperator"), one.get("AttributeValueList")
    wire, exists = one.get("Value"), one.get("Exists")
    if listed is not None and wire is not None:
        raise invalid(f"Value and AttributeValueList cannot be used together for Attribute: {name}")
    if operator is not None:
        if exists is not None:
            raise invalid(
                f"Exists and ComparisonOperator cannot be used together for Attribute: {name}"
            )
        if operator not in _NO_ARGUMENT and listed is None and wire is None:
            raise invalid(
                "Value or AttributeValueList must be used with ComparisonOperator: "
                f"{operator} for Attribute: {name}"
            )
        given = listed if listed is not None else [wire] if wire is not None else []
        return _comparison(name, operator, [from_wire(each, text_binary=True) for each in given])
    if listed is not None:
        raise invalid(
            f"AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}"
        )
    return _existence(name, wire, exists)


def _existence(name: str, wire: object, exists: bool | None) -> Condition:  # noqa: FBT001
    if exists is False:
        if wire is not None:
            raise invalid(f"Value cannot be used when Exists is false for Attribute: {name}")
        return Missing(Path((name,)))
    if wire is None:
        told = "null" if exists is None else "true"
        raise invalid(f"Value must be provided when Exists is {told} for Attribute: {name}")
    return Compare("=", Path((name,)), Literal(from_wire(wire, text_binary=True)))


def _arguments(one: Shape) -> list[Value]:
    return [from_wire(each, text_binary=True) for each in one.get("AttributeValueList") or ()]


def _check_arguments(operator: str, arguments: Sequence[Value]) -> None:
    wanted = {"BETWEEN": _PAIR, "NULL": 0, "NOT_NULL": 0}.get(operator, 1)
    if operator == "IN":
        wanted = max(1, len(arguments))
    if len(arguments) != wanted:
        raise invalid(f"Invalid number of argument(s) for the {operator} ComparisonOperator")
    codes = [type_code(value) for value in arguments]
    if len(set(codes)) > 1:
        raise invalid("AttributeValues inside AttributeValueList must be of same type")
    for code in codes:
        if code not in _ALLOWED.get(operator, (code,)):
            raise invalid(
                f"ComparisonOperator {operator} is not valid for {code} AttributeValue type"
            )
    if operator == "BETWEEN" and ordered(arguments[0], arguments[1], _greater):
        raise InvalidRequest(
            "The BETWEEN condition was provided a range where the lower bound is greater than the "
            "upper bound"
        )


def _greater(left: Any, right: Any) -> bool:  # noqa: ANN401 - two values of one ordered type
    return cast("bool", left > right)


def _comparison(name: str, operator: str, arguments: Sequence[Value]) -> Condition:
    _check_arguments(operator, arguments)
    path, given = Path((name,)), tuple(Literal(value) for value in arguments)
    match operator:
        case "NULL":
            return Missing(path)
        case "NOT_NULL":
            return Exists(path)
        case "BETWEEN":
            return Between(path, given[0], given[1])
        case "IN":
            return In(path, given)
        case "BEGINS_WITH":
            return BeginsWith(path, given[0])
        case "CONTAINS":
            return Contains(path, given[0])
        case "NOT_CONTAINS":
            return And(Exists(path), Not(Contains(path, given[0])))
    return Compare(_COMPARE[operator], path, given[0])
