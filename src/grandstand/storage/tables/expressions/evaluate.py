"""Kept here: whether a condition holds for an item, by DynamoDB's rules."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeAlias

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.checks import check_leaf, code_of
from grandstand.storage.tables.expressions.lexer import Refused
from grandstand.storage.tables.expressions.nodes import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    In,
    Literal,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    TypeIs,
)
from grandstand.storage.tables.values import Item, Value, same

Test: TypeAlias = Callable[[Item | None], bool]


class Absent:
    """What a path answers where there is no value; NULL is a value."""


ABSENT: Final = Absent()

_Fetch: TypeAlias = Callable[[Item], "Value | Absent"]
_Check: TypeAlias = Callable[[Item], bool]

_NUMBERS: Final = (int, Decimal)
_EMPTY: Final[Item] = {}
_ORDER: Final[dict[str, Callable[..., bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(condition: Condition, item: Item | None) -> bool:
    """Tell whether the condition holds; None is an item that is not there.

    Raises InvalidRequest when DynamoDB would refuse the condition whatever the item holds.
    """
    return compiled(condition)(item)


def compiled(condition: Condition, expression: str = "ConditionExpression") -> Test:
    """Turn a condition into a test, for asking it of many items.

    Raises InvalidRequest, naming the expression, when DynamoDB would refuse the condition.
    """
    try:
        check = _condition(condition)
    except Refused as refused:
        raise InvalidRequest(f"Invalid {expression}: {refused}") from refused

    def test(item: Item | None) -> bool:
        return check(_EMPTY if item is None else item)

    return test


def resolve(path: Path, item: Item) -> Value | Absent:
    """Find the value at a path, or ABSENT."""
    steps = path.steps
    value: Value | Absent = item.get(path.root, ABSENT)
    for step in steps[1:]:
        if isinstance(step, int):
            if not isinstance(value, list) or not 0 <= step < len(value):
                return ABSENT
            value = value[step]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return ABSENT
    return value


def size_of(value: Value | Absent) -> Value | Absent:
    """Measure a value as size() does; numbers, booleans and NULL have none.

    The length of a text is in UTF-16 code units.
    """
    if isinstance(value, str):
        if value.isascii():
            return len(value)
        return len(value) + sum(char > "\uffff" for char in value)
    if isinstance(value, bytes | list | dict | frozenset):
        return len(value)
    return ABSENT


def _condition(node: Condition) -> _Check:
    check_leaf(node)
    return _COMPILE[type(node)](node)


def _fetch(operand: Operand) -> _Fetch:
    if isinstance(operand, Literal):
        value = operand.value
        return lambda _: value
    if isinstance(operand, Path):
        if len(operand.steps) == 1:
            name = operand.root
            return lambda item: item.get(name, ABSENT)
        path = operand
        return lambda item: resolve(path, item)
    inner = _fetch(operand.of)
    return lambda item: size_of(inner(item))


def ordered(left: Value | Absent, right: Value | Absent, compare: Callable[..., bool]) -> bool:
    """Compare two texts, two numbers or two byte strings; anything else is not in order.

    Python orders text by code point, which is the order of its UTF-8 bytes.
    """
    kind = type(left)
    if kind is type(right) and kind in (int, str, bytes, Decimal):
        return compare(left, right)
    if kind in _NUMBERS and type(right) in _NUMBERS:
        return compare(left, right)
    return False


def equal(left: Value | Absent, right: Value | Absent) -> bool:
    """Tell whether both values are there and the same."""
    return not isinstance(left, Absent) and not isinstance(right, Absent) and same(left, right)


def _compare(node: Compare) -> _Check:
    left, right = _fetch(node.left), _fetch(node.right)
    if node.op == "=":
        return lambda item: equal(left(item), right(item))
    if node.op == "<>":
        return lambda item: not equal(left(item), right(item))
    compare = _ORDER[node.op]
    return lambda item: ordered(left(item), right(item), compare)


def _between(node: Between) -> _Check:
    operand, low, high = _fetch(node.operand), _fetch(node.low), _fetch(node.high)

    def check(item: Item) -> bool:
        value = operand(item)
        return ordered(low(item), value, operator.le) and ordered(value, high(item), operator.le)

    return check


def _in(node: In) -> _Check:
    operand = _fetch(node.operand)
    options = tuple(map(_fetch, node.options))

    def check(item: Item) -> bool:
        value = operand(item)
        return any(equal(value, option(item)) for option in options)

    return check


def _exists(node: Exists) -> _Check:
    fetch = _fetch(node.path)
    return lambda item: fetch(item) is not ABSENT


def _missing(node: Missing) -> _Check:
    fetch = _fetch(node.path)
    return lambda item: fetch(item) is ABSENT


def _type_is(node: TypeIs) -> _Check:
    fetch, code = _fetch(node.path), node.code.value

    def check(item: Item) -> bool:
        value = fetch(item)
        return not isinstance(value, Absent) and code_of(value) == code

    return check


def _begins_with(node: BeginsWith) -> _Check:
    operand, prefix = _fetch(node.operand), _fetch(node.prefix)

    def check(item: Item) -> bool:
        value, start = operand(item), prefix(item)
        if isinstance(value, str):
            return isinstance(start, str) and value.startswith(start)
        return isinstance(value, bytes) and isinstance(start, bytes) and value.startswith(start)

    return check


def contains(value: Value | Absent, part: Value | Absent) -> bool:
    """Tell whether a text or bytes has the part, a set has the member, or a list the element."""
    if isinstance(value, str):
        return isinstance(part, str) and part in value
    if isinstance(value, bytes):
        return isinstance(part, bytes) and part in value
    if isinstance(value, frozenset):
        return type(part) in (str, int, Decimal, bytes) and part in value
    if isinstance(value, list):
        return any(equal(element, part) for element in value)
    return False


def _contains(node: Contains) -> _Check:
    operand, part = _fetch(node.operand), _fetch(node.part)
    return lambda item: contains(operand(item), part(item))


def _and(node: And) -> _Check:
    checks = _chain(node, And)
    return lambda item: all(check(item) for check in checks)


def _or(node: Or) -> _Check:
    checks = _chain(node, Or)
    return lambda item: any(check(item) for check in checks)


def _chain(node: And | Or, kind: type[And | Or]) -> tuple[_Check, ...]:
    """Lay a chain of the same junction out flat, so that its length costs no depth."""
    parts: list[Condition] = []
    waiting: list[Condition] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            waiting += (part.right, part.left)
        else:
            parts.append(part)
    return tuple(map(_condition, parts))


def _not(node: Not) -> _Check:
    inner, odd = node.inner, True
    while isinstance(inner, Not):
        inner, odd = inner.inner, not odd
    check = _condition(inner)
    return (lambda item: not check(item)) if odd else check


_COMPILE: Final[dict[type, Callable[..., _Check]]] = {
    Compare: _compare,
    Between: _between,
    In: _in,
    Exists: _exists,
    Missing: _missing,
    TypeIs: _type_is,
    BeginsWith: _begins_with,
    Contains: _contains,
    And: _and,
    Or: _or,
    Not: _not,
}
