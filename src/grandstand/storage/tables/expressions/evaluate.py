"""Evaluating conditions, projections and updates on items, by the rules of DynamoDB."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias, cast

from grandstand.storage.tables.attribute_values import (
    Item,
    Number,
    Value,
    add_numbers,
    normalize_number,
    same,
)
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import nodes

ConditionTest: TypeAlias = Callable[[Item | None], bool]


class Absent:
    """The value of a path that does not exist; NULL is a value."""


ABSENT: Final = Absent()

_OperandReader: TypeAlias = Callable[[Item], "Value | Absent"]
_Check: TypeAlias = Callable[[Item], bool]

_NUMBERS: Final = (int, Decimal)
_EMPTY: Final[Item] = {}
_ORDER: Final[dict[str, Callable[..., bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(condition: nodes.Condition, item: Item | None) -> bool:
    """Return whether the condition holds; None is an item that does not exist.

    Raises InvalidRequest if DynamoDB would reject the condition for every item.
    """
    return compile_condition(condition)(item)


def compile_condition(
    condition: nodes.Condition, expression: str = "ConditionExpression"
) -> ConditionTest:
    """Compile a condition, to test many items.

    Raises InvalidRequest, naming the expression, if DynamoDB would reject the condition.
    """
    try:
        check = _condition(condition)
    except nodes.ExpressionError as error:
        raise InvalidRequest(f"Invalid {expression}: {error}") from error

    def test(item: Item | None) -> bool:
        return check(_EMPTY if item is None else item)

    return test


def resolve(path: nodes.Path, item: Item) -> Value | Absent:
    """Return the value at a path, or ABSENT."""
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
    """Return the result of size(), or ABSENT for numbers, booleans and NULL.

    The length of a string is in UTF-16 code units.
    """
    if isinstance(value, str):
        if value.isascii():
            return len(value)
        return len(value) + sum(char > "\uffff" for char in value)
    if isinstance(value, bytes | list | dict | frozenset):
        return len(value)
    return ABSENT


def _condition(node: nodes.Condition) -> _Check:
    nodes.check_leaf(node)
    return _COMPILE[type(node)](node)


def _compile_operand(operand: nodes.Operand) -> _OperandReader:
    if isinstance(operand, nodes.Literal):
        value = operand.value
        return lambda _: value
    if isinstance(operand, nodes.Path):
        if len(operand.steps) == 1:
            name = operand.root
            return lambda item: item.get(name, ABSENT)
        path = operand
        return lambda item: resolve(path, item)
    inner = _compile_operand(operand.of)
    return lambda item: size_of(inner(item))


def ordered(left: Value | Absent, right: Value | Absent, compare: Callable[..., bool]) -> bool:
    """Compare two strings, two numbers or two byte strings; false for anything else.

    Python orders strings by code point, which is the order of their UTF-8 bytes.
    """
    kind = type(left)
    if kind is type(right) and kind in (int, str, bytes, Decimal):
        return compare(left, right)
    if kind in _NUMBERS and type(right) in _NUMBERS:
        return compare(left, right)
    return False


def equal(left: Value | Absent, right: Value | Absent) -> bool:
    """Return whether both values exist and are equal."""
    return not isinstance(left, Absent) and not isinstance(right, Absent) and same(left, right)


def _compare(node: nodes.Compare) -> _Check:
    left, right = _compile_operand(node.left), _compile_operand(node.right)
    if node.op == "=":
        return lambda item: equal(left(item), right(item))
    if node.op == "<>":
        return lambda item: not equal(left(item), right(item))
    compare = _ORDER[node.op]
    return lambda item: ordered(left(item), right(item), compare)


def _between(node: nodes.Between) -> _Check:
    operand, low, high = map(_compile_operand, (node.operand, node.low, node.high))

    def check(item: Item) -> bool:
        value = operand(item)
        return ordered(low(item), value, operator.le) and ordered(value, high(item), operator.le)

    return check


def _in(node: nodes.In) -> _Check:
    operand = _compile_operand(node.operand)
    options = tuple(map(_compile_operand, node.options))

    def check(item: Item) -> bool:
        value = operand(item)
        return any(equal(value, option(item)) for option in options)

    return check


def _exists(node: nodes.Exists) -> _Check:
    fetch = _compile_operand(node.path)
    return lambda item: fetch(item) is not ABSENT


def _missing(node: nodes.Missing) -> _Check:
    fetch = _compile_operand(node.path)
    return lambda item: fetch(item) is ABSENT


def _type_is(node: nodes.TypeIs) -> _Check:
    fetch, code = _compile_operand(node.path), node.code.value

    def check(item: Item) -> bool:
        value = fetch(item)
        return not isinstance(value, Absent) and nodes.type_code_of(value) == code

    return check


def _begins_with(node: nodes.BeginsWith) -> _Check:
    operand, prefix = _compile_operand(node.operand), _compile_operand(node.prefix)

    def check(item: Item) -> bool:
        value, start = operand(item), prefix(item)
        if isinstance(value, str):
            return isinstance(start, str) and value.startswith(start)
        return isinstance(value, bytes) and isinstance(start, bytes) and value.startswith(start)

    return check


def contains(value: Value | Absent, part: Value | Absent) -> bool:
    """Return whether a string, byte string, set or list contains the element."""
    if isinstance(value, str):
        return isinstance(part, str) and part in value
    if isinstance(value, bytes):
        return isinstance(part, bytes) and part in value
    if isinstance(value, frozenset):
        return type(part) in (str, int, Decimal, bytes) and part in value
    if isinstance(value, list):
        return any(equal(element, part) for element in value)
    return False


def _contains(node: nodes.Contains) -> _Check:
    operand, part = _compile_operand(node.operand), _compile_operand(node.part)
    return lambda item: contains(operand(item), part(item))


def _and(node: nodes.And) -> _Check:
    checks = _chain(node, nodes.And)
    return lambda item: all(check(item) for check in checks)


def _or(node: nodes.Or) -> _Check:
    checks = _chain(node, nodes.Or)
    return lambda item: any(check(item) for check in checks)


def _chain(node: nodes.And | nodes.Or, kind: type[nodes.And | nodes.Or]) -> tuple[_Check, ...]:
    """Flatten a chain of the same junction, so that its length does not cost depth."""
    parts: list[nodes.Condition] = []
    pending: list[nodes.Condition] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, kind):
            pending += (part.right, part.left)
        else:
            parts.append(part)
    return tuple(map(_condition, parts))


def _not(node: nodes.Not) -> _Check:
    inner, odd = node.inner, True
    while isinstance(inner, nodes.Not):
        inner, odd = inner.inner, not odd
    check = _condition(inner)
    return (lambda item: not check(item)) if odd else check


_COMPILE: Final[dict[type, Callable[..., _Check]]] = {
    nodes.Compare: _compare,
    nodes.Between: _between,
    nodes.In: _in,
    nodes.Exists: _exists,
    nodes.Missing: _missing,
    nodes.TypeIs: _type_is,
    nodes.BeginsWith: _begins_with,
    nodes.Contains: _contains,
    nodes.And: _and,
    nodes.Or: _or,
    nodes.Not: _not,
}


# The paths below a step; None means everything.
_Branch: TypeAlias = "Mapping[str | int, _Branch] | None"


def project(paths: tuple[nodes.Path, ...], item: Item) -> Item:
    """Return a new item with only the values at the paths.

    Maps and lists on the way to a value are kept; elements of one list stay in order.
    """
    found: Item = {}
    for name, branch in _branches(paths):
        if name in item:
            if branch is None:
                found[name] = item[name]
            else:
                _project_into(found, name, item[name], branch)
    return found


@lru_cache(maxsize=1024)
def _branches(paths: tuple[nodes.Path, ...]) -> tuple[tuple[str, _Branch], ...]:
    root: dict[str | int, _Branch] = {}
    for path in paths:
        _add_path(root, path)
    return tuple((str(name), branch) for name, branch in root.items())


def _add_path(root: dict[str | int, _Branch], path: nodes.Path) -> None:
    branch = root
    for step in path.steps[:-1]:
        child = branch.setdefault(step, {})
        if not isinstance(child, dict):
            return
        branch = child
    branch[path.steps[-1]] = None


def _project_into(found: dict[str, Value], name: str, value: Value, branch: _Branch) -> None:
    part = _project_value(value, branch)
    if part is not None:
        found[name] = part[0]


def _project_value(value: Value, branch: _Branch) -> tuple[Value] | None:
    """Cut a value down to a branch, in a tuple because None is a value."""
    if branch is None:
        return (value,)
    if isinstance(value, dict):
        fields: dict[str, Value] = {}
        for step, child in branch.items():
            if isinstance(step, str) and step in value:
                _project_into(fields, step, value[step], child)
        return (fields,) if fields else None
    if isinstance(value, list):
        parts = [
            _project_value(value[step], child)
            for step, child in sorted((s, b) for s, b in branch.items() if isinstance(s, int))
            if step < len(value)
        ]
        elements = [part[0] for part in parts if part is not None]
        return (elements,) if elements else None
    return None


class _Removed:
    """The result of an action that removes the value."""


_REMOVED: Final = _Removed()

_NewValue: TypeAlias = "Value | _Removed"
_OldValue: TypeAlias = "Value | Absent"
_Action: TypeAlias = Callable[[_OldValue], _NewValue]
_Plan: TypeAlias = "dict[str | int, _Action | _Plan]"


def apply(update: nodes.UpdateNode, item: Item, *, exists: bool = True) -> Item:
    """Return the item after the update; the given item is not changed.

    With `exists` false the item is only the key of a new item, where removals within absent
    attributes are ignored. Raises InvalidRequest.
    """
    nodes.check_update(update)
    plan: _Plan = {}
    for path, assigned in update.sets:
        _add_action(plan, path, _set_action(_evaluate_assigned(assigned, item)))
    for path in update.removes:
        if exists or len(path.steps) == 1:
            _add_action(plan, path, lambda _: _REMOVED)
    for path, literal in update.adds:
        _add_action(plan, path, _add_to_action(literal))
    for path, literal in update.deletes:
        if exists or len(path.steps) == 1:
            _add_action(plan, path, _delete_from_action(literal))
    return _apply_to_map(plan, item)


def touched(update: nodes.UpdateNode, item: Item) -> Item:
    """Return the values at the paths that the update writes."""
    return project(update.paths, item)


def makes_item(update: nodes.UpdateNode) -> bool:
    """Return whether the update creates an item where there is none.

    An update that only removes does not; one without actions does.
    """
    return bool(update.sets or update.adds) or not (update.removes or update.deletes)


def _evaluate_assigned(assigned: nodes.Assigned, item: Item) -> Value:
    match assigned:
        case nodes.Literal(value):
            return value
        case nodes.Path():
            found = resolve(assigned, item)
            if isinstance(found, Absent):
                raise InvalidRequest(
                    "The provided expression refers to an attribute that does not exist in the item"
                )
            return found
        case nodes.IfMissing(path, other):
            fallback = _evaluate_assigned(other, item)
            found = resolve(path, item)
            return fallback if isinstance(found, Absent) else found
        case nodes.Joined(first, second):
            return _evaluate_list(first, item) + _evaluate_list(second, item)
        case nodes.Sum(left, right, subtract):
            return _sum(
                _evaluate_number(left, item), _evaluate_number(right, item), subtract=subtract
            )


def _evaluate_list(assigned: nodes.Assigned, item: Item) -> list[Value]:
    value = _evaluate_assigned(assigned, item)
    if not isinstance(value, list):
        raise InvalidRequest(WRONG_OPERAND)
    return value


def _evaluate_number(assigned: nodes.Assigned, item: Item) -> Number:
    value = _evaluate_assigned(assigned, item)
    if isinstance(value, bool) or not isinstance(value, Number):
        raise InvalidRequest(WRONG_OPERAND)
    return value


def _sum(left: Number, right: Number, *, subtract: bool = False) -> Number:
    if type(left) is int and type(right) is int:
        return normalize_number(left - right if subtract else left + right)
    return add_numbers(left, right, subtract=subtract)


WRONG_OPERAND: Final = "An operand in the update expression has an incorrect data type"


def _path_error() -> InvalidRequest:
    return InvalidRequest(
        "The document path provided in the update expression is invalid for update"
    )


def _set_action(value: Value) -> _Action:
    return lambda _: value


def _add_to_action(literal: nodes.Literal) -> _Action:
    value = literal.value

    def action(before: _OldValue) -> _NewValue:
        if isinstance(before, Absent):
            return (
                value if isinstance(value, frozenset) else normalize_number(cast("Number", value))
            )
        if nodes.type_code_of(before) != nodes.type_code_of(value):
            raise InvalidRequest(WRONG_OPERAND)
        if isinstance(before, frozenset):
            return cast("frozenset[str]", before) | cast("frozenset[str]", value)
        return _sum(cast("Number", before), cast("Number", value))

    return action


def _delete_from_action(literal: nodes.Literal) -> _Action:
    value = literal.value

    def action(before: _OldValue) -> _NewValue:
        if isinstance(before, Absent):
            return _REMOVED
        if nodes.type_code_of(before) != nodes.type_code_of(value):
            raise InvalidRequest(WRONG_OPERAND)
        return cast("frozenset[str]", before) - cast("frozenset[str]", value) or _REMOVED

    return action


def _add_action(plan: _Plan, path: nodes.Path, action: _Action) -> None:
    for step in path.steps[:-1]:
        child = plan.setdefault(step, {})
        assert isinstance(child, dict)  # noqa: S101 - overlapping paths were rejected before
        plan = child
    plan[path.steps[-1]] = action


def _apply_to_map(plan: _Plan, old: dict[str, Value]) -> dict[str, Value]:
    new = dict(old)
    for step, action in plan.items():
        if not isinstance(step, str):
            raise _path_error()
        if isinstance(action, dict):
            if step not in old:
                raise _path_error()
            new[step] = _apply_to(action, old[step])
            continue
        after = action(old.get(step, ABSENT))
        if isinstance(after, _Removed):
            new.pop(step, None)
        else:
            new[step] = after
    return new


def _apply_to(plan: _Plan, old: Value) -> Value:
    if isinstance(old, dict):
        return _apply_to_map(plan, old)
    if isinstance(old, list):
        return _apply_to_list(plan, old)
    raise _path_error()


def _apply_to_list(plan: _Plan, old: list[Value]) -> list[Value]:
    """Apply actions to a list; positions are those before, and later ones are appended."""
    elements: list[_NewValue] = list(old)
    appended: list[tuple[int, _NewValue]] = []
    for step, action in plan.items():
        if not isinstance(step, int):
            raise _path_error()
        inside = step < len(old)
        if isinstance(action, dict):
            if not inside:
                raise _path_error()
            elements[step] = _apply_to(action, old[step])
        elif inside:
            elements[step] = action(old[step])
        else:
            appended.append((step, action(ABSENT)))
    appended.sort(key=operator.itemgetter(0))
    elements += [after for _, after in appended]
    return [after for after in elements if not isinstance(after, _Removed)]
