"""Parameters that predate expressions, converted to conditions and updates."""

from __future__ import annotations

import operator as operators
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from grandstand.storage.tables.attribute_values import Value, type_code
from grandstand.storage.tables.dynamodb_server.validation import invalid_parameter
from grandstand.storage.tables.encoding import from_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.evaluate import ordered

Shape: TypeAlias = Mapping[str, Any]

_COMPARE: Final[dict[str, nodes.Comparator]] = {
    "EQ": "=",
    "NE": "<>",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
}
_RANGES: Final[dict[str, nodes.RangeOperator]] = {
    "EQ": "=",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
    "BETWEEN": "between",
    "BEGINS_WITH": "begins_with",
}
_WITHOUT_ARGUMENT: Final = ("NULL", "NOT_NULL")
_SCALARS: Final = ("S", "N", "B")
_ARGUMENT_TYPES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("LE", "LT", "GE", "GT", "IN", "BETWEEN"), _SCALARS),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), _SCALARS),
    "BEGINS_WITH": ("S", "B"),
}


def expected_condition(expected: Shape | None, operator: str | None) -> nodes.Condition | None:
    """Convert Expected to a condition.

    Raises InvalidRequest.
    """
    _check_operator(operator, expected)
    if not expected:
        return None
    return _join_conditions(
        [_parse_expectation(name, expectation) for name, expectation in expected.items()], operator
    )


def filter_condition(conditions: Shape | None, operator: str | None) -> nodes.Condition | None:
    """Convert QueryFilter or ScanFilter to a condition.

    Raises InvalidRequest.
    """
    _check_operator(operator, conditions)
    if not conditions:
        return None
    parts = [
        _build_comparison(name, condition["ComparisonOperator"], _parse_arguments(condition))
        for name, condition in conditions.items()
    ]
    return _join_conditions(parts, operator)


def key_ranges(conditions: Shape) -> tuple[nodes.Range, ...]:
    """Convert KeyConditions to one range per attribute.

    Raises InvalidRequest.
    """
    ranges: list[nodes.Range] = []
    for name, condition in conditions.items():
        operator = condition["ComparisonOperator"]
        arguments = _parse_arguments(condition)
        _check_arguments(operator, arguments)
        if operator not in _RANGES:
            raise InvalidRequest("Attempted conditional constraint is not an indexable operation")
        high = arguments[1] if len(arguments) == 2 else None
        ranges.append(nodes.Range(name, _RANGES[operator], arguments[0], high))
    if not ranges:
        raise InvalidRequest("Conditions can be of length 1 or 2 only")
    return tuple(ranges)


def attribute_paths(names: Sequence[str] | None) -> tuple[nodes.Path, ...]:
    """Convert AttributesToGet to paths.

    Raises InvalidRequest if a name is repeated.
    """
    if not names:
        return ()
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid_parameter(f"Duplicate value in attribute name: {name}")
    return tuple(nodes.Path((name,)) for name in names)


def attribute_updates(updates: Shape | None) -> nodes.UpdateNode:
    """Convert AttributeUpdates to an update.

    Raises InvalidRequest.
    """
    sets: list[tuple[nodes.Path, Any]] = []
    removes: list[nodes.Path] = []
    adds: list[tuple[nodes.Path, nodes.Literal]] = []
    deletes: list[tuple[nodes.Path, nodes.Literal]] = []
    for name, update in (updates or {}).items():
        path, action, wire = nodes.Path((name,)), update.get("Action") or "PUT", update.get("Value")
        value = None if wire is None else nodes.Literal(from_wire(wire, text_binary=True))
        code = _check_update(action, value)
        if value is None:
            removes.append(path)
        elif action == "PUT":
            sets.append((path, value))
        elif action == "DELETE":
            deletes.append((path, value))
        elif code == "L":
            sets.append((path, nodes.Joined(nodes.IfMissing(path, nodes.Literal([])), value)))
        else:
            adds.append((path, value))
    return nodes.UpdateNode(tuple(sets), tuple(removes), tuple(adds), tuple(deletes))


def _check_update(action: str, value: nodes.Literal | None) -> str | None:
    if value is None:
        if action != "DELETE":
            raise invalid_parameter(
                "Only DELETE action is allowed when no attribute value is specified"
            )
        return None
    code = type_code(value.value)
    if action == "DELETE" and code not in ("SS", "NS", "BS"):
        raise invalid_parameter(f"DELETE action with value is not supported for the type {code}")
    if action == "ADD" and code not in ("L", "SS", "NS", "BS", "N"):
        raise invalid_parameter(f"ADD action is not supported for the type {code}")
    return code


def _join_conditions(parts: list[nodes.Condition], operator: str | None) -> nodes.Condition:
    joined = parts[0]
    for part in parts[1:]:
        joined = nodes.Or(joined, part) if operator == "OR" else nodes.And(joined, part)
    return joined


def _check_operator(operator: str | None, conditions: Shape | None) -> None:
    if operator is None:
        return
    if conditions is None:
        raise InvalidRequest("ConditionalOperator cannot be used without Filter or Expected")
    if len(conditions) < 2:
        raise InvalidRequest(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        )


def _parse_expectation(name: str, expected: Shape) -> nodes.Condition:
    operator, listed = expected.get("ComparisonOperator"), expected.get("AttributeValueList")
    wire, exists = expected.get("Value"), expected.get("Exists")
    if listed is not None and wire is not None:
        raise invalid_parameter(
            f"Value and AttributeValueList cannot be used together for Attribute: {name}"
        )
    if operator is not None:
        if exists is not None:
            raise invalid_parameter(
                f"Exists and ComparisonOperator cannot be used together for Attribute: {name}"
            )
        if operator not in _WITHOUT_ARGUMENT and listed is None and wire is None:
            raise invalid_parameter(
                "Value or AttributeValueList must be used with ComparisonOperator: "
                f"{operator} for Attribute: {name}"
            )
        operands = listed if listed is not None else [wire] if wire is not None else []
        return _build_comparison(
            name, operator, [from_wire(value, text_binary=True) for value in operands]
        )
    if listed is not None:
        raise invalid_parameter(
            f"AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}"
        )
    return _parse_existence(name, wire, exists)


def _parse_existence(name: str, wire: object, exists: bool | None) -> nodes.Condition:  # noqa: FBT001
    if exists is False:
        if wire is not None:
            raise invalid_parameter(
                f"Value cannot be used when Exists is false for Attribute: {name}"
            )
        return nodes.Missing(nodes.Path((name,)))
    if wire is None:
        response = "null" if exists is None else "true"
        raise invalid_parameter(
            f"Value must be provided when Exists is {response} for Attribute: {name}"
        )
    return nodes.Compare("=", nodes.Path((name,)), nodes.Literal(from_wire(wire, text_binary=True)))


def _parse_arguments(condition: Shape) -> list[Value]:
    return [
        from_wire(value, text_binary=True) for value in condition.get("AttributeValueList") or ()
    ]


def _check_arguments(operator: str, arguments: Sequence[Value]) -> None:
    wanted = {"BETWEEN": 2, "NULL": 0, "NOT_NULL": 0}.get(operator, 1)
    if operator == "IN":
        wanted = max(1, len(arguments))
    if len(arguments) != wanted:
        raise invalid_parameter(
            f"Invalid number of argument(s) for the {operator} ComparisonOperator"
        )
    codes = [type_code(value) for value in arguments]
    if len(set(codes)) > 1:
        raise invalid_parameter("AttributeValues inside AttributeValueList must be of same type")
    for code in codes:
        if code not in _ARGUMENT_TYPES.get(operator, (code,)):
            raise invalid_parameter(
                f"ComparisonOperator {operator} is not valid for {code} AttributeValue type"
            )
    if operator == "BETWEEN" and ordered(arguments[0], arguments[1], operators.gt):
        raise InvalidRequest(
            "The BETWEEN condition was provided a range where the lower bound is greater than the "
            "upper bound"
        )


def _build_comparison(name: str, operator: str, arguments: Sequence[Value]) -> nodes.Condition:
    _check_arguments(operator, arguments)
    path, operands = nodes.Path((name,)), tuple(nodes.Literal(value) for value in arguments)
    match operator:
        case "NULL":
            return nodes.Missing(path)
        case "NOT_NULL":
            return nodes.Exists(path)
        case "BETWEEN":
            return nodes.Between(path, operands[0], operands[1])
        case "IN":
            return nodes.In(path, operands)
        case "BEGINS_WITH":
            return nodes.BeginsWith(path, operands[0])
        case "CONTAINS":
            return nodes.Contains(path, operands[0])
        case "NOT_CONTAINS":
            return nodes.And(nodes.Exists(path), nodes.Not(nodes.Contains(path, operands[0])))
    return nodes.Compare(_COMPARE[operator], path, operands[0])
