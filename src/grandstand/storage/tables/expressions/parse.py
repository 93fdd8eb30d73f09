"""Parsing the expressions of a request and binding their placeholders."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from grandstand.storage.tables.attribute_values import MAX_DEPTH, Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import syntax
from grandstand.storage.tables.expressions.nodes import (
    And,
    Assigned,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    ExpressionError,
    IfMissing,
    In,
    Joined,
    Literal,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Size,
    Sum,
    TypeIs,
    UpdateNode,
    check_added,
    check_assigned,
    check_deleted,
    check_distinct_operands,
    check_leaf,
    check_path_pair,
    check_size,
    check_type_name,
    type_code_of,
    wrong_operand_type,
)
from grandstand.storage.tables.expressions.syntax import (
    RawAction,
    RawBetween,
    RawCall,
    RawCompare,
    RawCondition,
    RawIn,
    RawJunction,
    RawNot,
    RawOperand,
    RawPath,
    RawSum,
    RawUpdate,
    RawValue,
)

Names: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]
T = TypeVar("T")

# Names rarely change between requests and values usually do, so names are bound first, once for
# many requests. Errors in names are still reported in order.
Bind: TypeAlias = Callable[[Values], T]

_OPERAND_COUNTS: Final = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}


def bind_condition(raw: RawCondition, names: Names) -> Bind[Condition]:
    """Bind the names of a condition; binding its values may raise ExpressionError."""
    match raw:
        case RawJunction():
            return _bind_junction(raw, names)
        case RawNot():
            return _bind_not(raw, names)
        case RawCompare(op, left, right):
            first, second = _bind_operand(left, names), _bind_operand(right, names)
            if op in ("=", "<>") and not (isinstance(left, RawPath) and isinstance(right, RawPath)):
                return lambda values: Compare(op, first(values), second(values))
            return lambda values: _check(Compare(op, first(values), second(values)))
        case RawBetween(operand, low, high):
            first, second, third = (_bind_operand(part, names) for part in (operand, low, high))
            return lambda values: _check(Between(first(values), second(values), third(values)))
        case RawIn(operand, options):
            first, others = (
                _bind_operand(operand, names),
                [_bind_operand(raw, names) for raw in options],
            )
            return lambda values: _check(In(first(values), tuple([o(values) for o in others])))
        case RawCall(name, args):
            return _bind_function(name, [_bind_operand(arg, names) for arg in args])


def bind_update(raw: RawUpdate, names: Names) -> Bind[UpdateNode]:
    """Bind the names of an update; raises ExpressionError for its paths and later its values.

    DynamoDB checks the values from last to first.
    """
    actions = [action for section in raw.sections for action in section]
    action_paths = bind_paths([action.path for action in actions], names)
    binds = [_bind_action_value(action, names) for action in actions]
    reversed_indexes = range(len(actions) - 1, -1, -1)

    def fill(values: Values) -> UpdateNode:
        values_by_action: list[Assigned | None] = [None] * len(actions)
        for at in reversed_indexes:
            values_by_action[at] = binds[at](values)
        return _build_update(actions, action_paths, values_by_action)

    return fill


def bind_paths(raws: Sequence[RawPath], names: Names) -> tuple[Path, ...]:
    """Bind paths that must not overlap, from last to first. Raises ExpressionError."""
    paths: list[Path] = []
    for raw in reversed(raws):
        first = _path(raw, names)
        for second in reversed(paths):
            check_path_pair(first, second)
        paths.append(first)
    return tuple(reversed(paths))


def _path(raw: RawPath, names: Names) -> Path:
    steps: list[str | int] = []
    for step in raw.steps:
        if isinstance(step, str) and step[0] in "#:":
            if step not in names:
                raise ExpressionError(
                    "An expression attribute name used in the document path is not defined; "
                    f"attribute name: {step}"
                )
            steps.append(names[step])
        else:
            steps.append(step)
    if len(steps) > MAX_DEPTH:
        raise ExpressionError(
            f"The document path has too many nesting levels; nesting levels: {len(steps)}"
        )
    return Path(tuple(steps))


def _bind_path(raw: RawPath, names: Names) -> Bind[Path]:
    try:
        path = _path(raw, names)
    except ExpressionError as error:
        message = str(error)

        def raise_error(_: Values) -> Path:
            raise ExpressionError(message)

        return raise_error
    return lambda _: path


def _bind_value(raw: RawValue) -> Bind[Literal]:
    key = raw.key

    def fill(values: Values) -> Literal:
        try:
            return Literal(values[key])
        except KeyError as missing:
            raise ExpressionError(
                "An expression attribute value used in expression is not defined; "
                f"attribute value: {key}"
            ) from missing

    return fill


def _check(node: Condition) -> Condition:
    check_leaf(node)
    return node


def _bind_not(raw: RawNot, names: Names) -> Bind[Condition]:
    inner, times = raw.inner, 1
    while isinstance(inner, RawNot):
        inner, times = inner.inner, times + 1
    innermost = bind_condition(inner, names)

    def fill(values: Values) -> Condition:
        result = innermost(values)
        for _ in range(times):
            result = Not(result)
        return result

    return fill


def _bind_junction(raw: RawJunction, names: Names) -> Bind[Condition]:
    rights: list[tuple[type[And | Or], Bind[Condition]]] = []
    leftmost: RawCondition = raw
    while isinstance(leftmost, RawJunction):
        rights.append((And if leftmost.op == "AND" else Or, bind_condition(leftmost.right, names)))
        leftmost = leftmost.left
    first = bind_condition(leftmost, names)
    rights.reverse()

    def fill(values: Values) -> Condition:
        result = first(values)
        for kind, right in rights:
            result = kind(result, right(values))
        return result

    return fill


def _bind_operand(raw: RawOperand, names: Names) -> Bind[Operand]:
    if isinstance(raw, RawPath):
        return _bind_path(raw, names)
    if isinstance(raw, RawValue):
        return _bind_value(raw)
    arguments = [_bind_operand(arg, names) for arg in raw.args]

    def fill(values: Values) -> Operand:
        (of,) = _bind_arguments("size", arguments, values)
        if isinstance(of, Size):
            raise ExpressionError(wrong_operand_type("size", "N"))
        result = Size(of)
        check_size(result)
        return result

    return fill


def _bind_arguments(name: str, binds: Sequence[Bind[T]], values: Values) -> list[T]:
    result = [bind(values) for bind in binds]
    if len(result) != _OPERAND_COUNTS[name]:
        raise ExpressionError(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(result)}"
        )
    return result


def _path_required_error(name: str) -> ExpressionError:
    return ExpressionError(
        f"Operator or function requires a document path; operator or function: {name}"
    )


def _bind_function(name: str, binds: Sequence[Bind[Operand]]) -> Bind[Condition]:
    make = _FUNCTIONS[name]
    return lambda values: make(*_bind_arguments(name, binds, values))


def _exists(operand: Operand) -> Condition:
    if not isinstance(operand, Path):
        raise _path_required_error("attribute_exists")
    return Exists(operand)


def _missing(operand: Operand) -> Condition:
    if not isinstance(operand, Path):
        raise _path_required_error("attribute_not_exists")
    return Missing(operand)


def _type_is(operand: Operand, code: Operand) -> Condition:
    check_distinct_operands("attribute_type", operand, (code,))
    check_type_name(code)
    assert isinstance(code, Literal)  # noqa: S101 - others were rejected above
    match operand:
        case Path():
            return TypeIs(operand, code)
        case Literal(value):
            return Compare("=", Literal(type_code_of(value)), code)
        case Size():
            zero = Literal(0)
            return Compare(">=", operand, zero) if code.value == "N" else Compare("<", zero, zero)


def _begins_with(operand: Operand, prefix: Operand) -> Condition:
    return _check(BeginsWith(operand, prefix))


def _contains(operand: Operand, part: Operand) -> Condition:
    return _check(Contains(operand, part))


_FUNCTIONS: Final[dict[str, Callable[..., Condition]]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _missing,
    "attribute_type": _type_is,
    "begins_with": _begins_with,
    "contains": _contains,
}


def _bind_action_value(action: RawAction, names: Names) -> Bind[Assigned | None]:
    raw = action.value
    if raw is None:
        return lambda _: None
    if isinstance(raw, RawSum):
        left, right = _bind_assigned(raw.left, names), _bind_assigned(raw.right, names)
        subtract = raw.op == "-"
        return lambda values: _check_assigned(Sum(left(values), right(values), subtract))
    if action.section == "SET" or not isinstance(raw, RawValue):
        return _bind_assigned(raw, names)
    value, check = _bind_value(raw), check_added if action.section == "ADD" else check_deleted

    def fill(values: Values) -> Assigned:
        literal = value(values)
        check(literal)
        return literal

    return fill


def _bind_assigned(raw: RawOperand, names: Names) -> Bind[Assigned]:
    if isinstance(raw, RawPath):
        return _bind_path(raw, names)
    if isinstance(raw, RawValue):
        return _bind_value(raw)
    name, binds = raw.name, [_bind_assigned(arg, names) for arg in raw.args]

    def fill(values: Values) -> Assigned:
        first, second = _bind_arguments(name, binds, values)
        if name == "list_append":
            return _check_assigned(Joined(first, second))
        if not isinstance(first, Path):
            raise _path_required_error(name)
        return _check_assigned(IfMissing(first, second))

    return fill


def _check_assigned(assigned: Assigned) -> Assigned:
    check_assigned(assigned)
    return assigned


def _build_update(
    actions: Sequence[RawAction],
    action_paths: Sequence[Path],
    values_by_action: Sequence[Assigned | None],
) -> UpdateNode:
    sets: list[tuple[Path, Assigned]] = []
    removes: list[Path] = []
    changes: dict[str, list[tuple[Path, Literal]]] = {"ADD": [], "DELETE": []}
    for action, target, value in zip(actions, action_paths, values_by_action, strict=True):
        if value is None:
            removes.append(target)
        elif action.section == "SET":
            sets.append((target, value))
        elif isinstance(value, Literal):
            changes[action.section].append((target, value))
    return UpdateNode(tuple(sets), tuple(removes), tuple(changes["ADD"]), tuple(changes["DELETE"]))


ConditionKind: TypeAlias = typing.Literal[
    "ConditionExpression", "FilterExpression", "KeyConditionExpression"
]

_CACHE_SIZE: Final = 2048
_MAX_KEY: Final = 255
_MAX_NAME: Final = 65_535
_MAX_CHAR: Final = 4
_KEY: Final = re.compile(r"[#:][A-Za-z0-9_]+")

_Names: TypeAlias = tuple[tuple[str, str], ...]
_Compiled: TypeAlias = tuple[Bind[T], frozenset[str]]


class Placeholders:
    """The placeholders of a request, and which of them its expressions have used."""

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Raise InvalidRequest if a map is empty, or a key or name is malformed."""
        if names is not None:
            _check_map("ExpressionAttributeNames", "#", names)
            for key, name in names.items():
                _check_name(key, name)
        if values is not None:
            _check_map("ExpressionAttributeValues", ":", values)
        self.names: _Names = tuple(names.items()) if names else ()
        self.values: Mapping[str, Value] = values or {}
        self.used: set[str] = set()

    def check_used(self) -> None:
        """Raise InvalidRequest if a placeholder was not used by any expression."""
        unused = [key for key, _ in self.names if key not in self.used]
        if unused:
            raise _unused("ExpressionAttributeNames", unused)
        unused = [key for key in self.values if key not in self.used]
        if unused:
            raise _unused("ExpressionAttributeValues", unused)


def parse_condition(
    text: str, placeholders: Placeholders, kind: ConditionKind = "ConditionExpression"
) -> Condition:
    """Parse a condition, filter or key condition. Raises InvalidRequest, naming the expression."""
    return _parse(_condition, text, placeholders, kind)


def parse_update(text: str, placeholders: Placeholders) -> UpdateNode:
    """Parse an update. Raises InvalidRequest."""
    return _parse(_update, text, placeholders, "UpdateExpression")


def parse_projection(text: str, placeholders: Placeholders) -> tuple[Path, ...]:
    """Parse a projection. Raises InvalidRequest."""
    return _parse(_projection, text, placeholders, "ProjectionExpression")


def _parse(
    read: Callable[[str, _Names], _Compiled[T]], text: str, placeholders: Placeholders, kind: str
) -> T:
    try:
        fill, used = read(text, placeholders.names)
        result = fill(placeholders.values)
    except ExpressionError as error:
        raise InvalidRequest(f"Invalid {kind}: {error}") from error
    placeholders.used |= used
    return result


@lru_cache(maxsize=_CACHE_SIZE)
def _condition(text: str, names: _Names) -> _Compiled[Condition]:
    raw = syntax.parse_condition_tree(text)
    syntax.check_condition_syntax(raw)
    return bind_condition(raw, dict(names)), _used_placeholders(text)


@lru_cache(maxsize=_CACHE_SIZE)
def _update(text: str, names: _Names) -> _Compiled[UpdateNode]:
    raw = syntax.parse_update_tree(text)
    syntax.check_update_syntax(raw)
    return bind_update(raw, dict(names)), _used_placeholders(text)


@lru_cache(maxsize=_CACHE_SIZE)
def _projection(text: str, names: _Names) -> _Compiled[tuple[Path, ...]]:
    raw = syntax.parse_projection_tree(text)
    for path in raw:
        syntax.check_path_syntax(path)
    result = bind_paths(raw, dict(names))
    return lambda _: result, _used_placeholders(text)


def _used_placeholders(text: str) -> frozenset[str]:
    return frozenset(_KEY.findall(text))


def _unused(title: str, keys: list[str]) -> InvalidRequest:
    return InvalidRequest(
        f"Value provided in {title} unused in expressions: keys: {{{', '.join(sorted(keys))}}}"
    )


def _check_map(title: str, mark: str, placeholders: Mapping[str, object]) -> None:
    if not placeholders:
        raise InvalidRequest(f"{title} must not be empty")
    for key in placeholders:
        problem = _key_problem(key, mark)
        if problem is not None:
            raise InvalidRequest(f"{title} contains invalid key: {problem}")


@lru_cache(maxsize=_CACHE_SIZE)
def _key_problem(key: str, mark: str) -> str | None:
    if key[:1] != mark or not _KEY.fullmatch(key):
        return f'Syntax error; key: "{key}"'
    if len(key) > _MAX_KEY:
        return (
            f"The expression attribute map contains a key that is too long; size of key: {len(key)}"
        )
    return None


def _check_name(key: str, name: str) -> None:
    problem = None
    if not name:
        problem = "Empty attribute name"
    elif len(name) * _MAX_CHAR > _MAX_NAME and len(name.encode()) > _MAX_NAME:
        problem = "Attribute name is too large, must be less than 65536 bytes"
    if problem is not None:
        raise InvalidRequest(
            f"ExpressionAttributeNames contains invalid value: {problem} for key {key}"
        )
