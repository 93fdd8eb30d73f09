"""Parsing the expressions of a request and binding their placeholders."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from grandstand.storage.tables.attribute_values import MAX_DEPTH, Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import nodes, syntax

Names: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]
T = TypeVar("T")

# Names rarely change between requests and values usually do, so names are bound first, once for
# many requests. Errors in names are still reported in order.
Bind: TypeAlias = Callable[[Values], T]


def bind_condition(raw: syntax.RawCondition, names: Names) -> Bind[nodes.Condition]:
    """Bind the names of a condition; binding its values may raise ExpressionError."""
    match raw:
        case syntax.RawJunction():
            return _bind_junction(raw, names)
        case syntax.RawNot():
            return _bind_not(raw, names)
        case syntax.RawCompare(op, left, right):
            first, second = _bind_operand(left, names), _bind_operand(right, names)
            if op in ("=", "<>") and not (
                isinstance(left, syntax.RawPath) and isinstance(right, syntax.RawPath)
            ):
                return lambda values: nodes.Compare(op, first(values), second(values))
            return lambda values: nodes.check_leaf(nodes.Compare(op, first(values), second(values)))
        case syntax.RawBetween(operand, low, high):
            first, second, third = (_bind_operand(part, names) for part in (operand, low, high))
            return lambda values: nodes.check_leaf(
                nodes.Between(first(values), second(values), third(values))
            )
        case syntax.RawIn(operand, options):
            first, others = (
                _bind_operand(operand, names),
                [_bind_operand(raw, names) for raw in options],
            )
            return lambda values: nodes.check_leaf(
                nodes.In(first(values), tuple([o(values) for o in others]))
            )
        case syntax.RawCall(name, args):
            make, binds = _FUNCTIONS[name], [_bind_operand(arg, names) for arg in args]
            return lambda values: make(*_bind_arguments(name, binds, values))


def bind_update(raw: syntax.RawUpdate, names: Names) -> Bind[nodes.UpdateNode]:
    """Bind the names of an update; raises ExpressionError for its paths and later its values.

    DynamoDB checks the values from last to first.
    """
    actions = [action for section in raw.sections for action in section]
    action_paths = bind_paths([action.path for action in actions], names)
    binds = [_bind_action_value(action, names) for action in actions]
    reversed_indexes = range(len(actions) - 1, -1, -1)

    def fill(values: Values) -> nodes.UpdateNode:
        values_by_action: list[nodes.Assigned | None] = [None] * len(actions)
        for at in reversed_indexes:
            values_by_action[at] = binds[at](values)
        return _build_update(actions, action_paths, values_by_action)

    return fill


def bind_paths(raws: Sequence[syntax.RawPath], names: Names) -> tuple[nodes.Path, ...]:
    """Bind paths that must not overlap, from last to first. Raises ExpressionError."""
    paths: list[nodes.Path] = []
    for raw in reversed(raws):
        first = _path(raw, names)
        for second in reversed(paths):
            nodes.check_path_pair(first, second)
        paths.append(first)
    return tuple(reversed(paths))


def _path(raw: syntax.RawPath, names: Names) -> nodes.Path:
    steps: list[str | int] = []
    for step in raw.steps:
        if isinstance(step, str) and step[0] in "#:":
            if step not in names:
                raise nodes.ExpressionError(
                    "An expression attribute name used in the document path is not defined; "
                    f"attribute name: {step}"
                )
            steps.append(names[step])
        else:
            steps.append(step)
    if len(steps) > MAX_DEPTH:
        raise nodes.ExpressionError(
            f"The document path has too many nesting levels; nesting levels: {len(steps)}"
        )
    return nodes.Path(tuple(steps))


def _bind_path(raw: syntax.RawPath, names: Names) -> Bind[nodes.Path]:
    try:
        path = _path(raw, names)
    except nodes.ExpressionError as error:
        message = str(error)

        def raise_error(_: Values) -> nodes.Path:
            raise nodes.ExpressionError(message)

        return raise_error
    return lambda _: path


def _bind_value(raw: syntax.RawValue) -> Bind[nodes.Literal]:
    key = raw.key

    def fill(values: Values) -> nodes.Literal:
        try:
            return nodes.Literal(values[key])
        except KeyError as missing:
            raise nodes.ExpressionError(
                "An expression attribute value used in expression is not defined; "
                f"attribute value: {key}"
            ) from missing

    return fill


def _bind_not(raw: syntax.RawNot, names: Names) -> Bind[nodes.Condition]:
    inner, times = raw.inner, 1
    while isinstance(inner, syntax.RawNot):
        inner, times = inner.inner, times + 1
    innermost = bind_condition(inner, names)

    def fill(values: Values) -> nodes.Condition:
        result = innermost(values)
        for _ in range(times):
            result = nodes.Not(result)
        return result

    return fill


def _bind_junction(raw: syntax.RawJunction, names: Names) -> Bind[nodes.Condition]:
    rights: list[tuple[type[nodes.And | nodes.Or], Bind[nodes.Condition]]] = []
    leftmost: syntax.RawCondition = raw
    while isinstance(leftmost, syntax.RawJunction):
        rights.append(
            (nodes.And if leftmost.op == "AND" else nodes.Or, bind_condition(leftmost.right, names))
        )
        leftmost = leftmost.left
    first = bind_condition(leftmost, names)
    rights.reverse()

    def fill(values: Values) -> nodes.Condition:
        result = first(values)
        for kind, right in rights:
            result = kind(result, right(values))
        return result

    return fill


def _bind_operand(raw: syntax.RawOperand, names: Names) -> Bind[nodes.Operand]:
    if isinstance(raw, syntax.RawPath):
        return _bind_path(raw, names)
    if isinstance(raw, syntax.RawValue):
        return _bind_value(raw)
    arguments = [_bind_operand(arg, names) for arg in raw.args]

    def fill(values: Values) -> nodes.Operand:
        (of,) = _bind_arguments("size", arguments, values)
        if isinstance(of, nodes.Size):
            raise nodes.ExpressionError(nodes.wrong_operand_type("size", "N"))
        result = nodes.Size(of)
        nodes.check_size(result)
        return result

    return fill


def _bind_arguments(name: str, binds: Sequence[Bind[T]], values: Values) -> list[T]:
    result = [bind(values) for bind in binds]
    if len(result) != (1 if name in ("attribute_exists", "attribute_not_exists", "size") else 2):
        raise nodes.ExpressionError(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(result)}"
        )
    return result


def _path_required_error(name: str) -> nodes.ExpressionError:
    return nodes.ExpressionError(
        f"Operator or function requires a document path; operator or function: {name}"
    )


def _path_function(
    name: str, node: type[nodes.Exists | nodes.Missing]
) -> Callable[[nodes.Operand], nodes.Condition]:
    def make(operand: nodes.Operand) -> nodes.Condition:
        if not isinstance(operand, nodes.Path):
            raise _path_required_error(name)
        return node(operand)

    return make


def _type_is(operand: nodes.Operand, code: nodes.Operand) -> nodes.Condition:
    nodes.check_distinct_operands("attribute_type", operand, (code,))
    nodes.check_type_name(code)
    assert isinstance(code, nodes.Literal)  # noqa: S101 - others were rejected above
    match operand:
        case nodes.Path():
            return nodes.TypeIs(operand, code)
        case nodes.Literal(value):
            return nodes.Compare("=", nodes.Literal(nodes.type_code_of(value)), code)
        case nodes.Size():
            zero = nodes.Literal(0)
            return (
                nodes.Compare(">=", operand, zero)
                if code.value == "N"
                else nodes.Compare("<", zero, zero)
            )


_FUNCTIONS: Final[dict[str, Callable[..., nodes.Condition]]] = {
    "attribute_exists": _path_function("attribute_exists", nodes.Exists),
    "attribute_not_exists": _path_function("attribute_not_exists", nodes.Missing),
    "attribute_type": _type_is,
    "begins_with": lambda operand, prefix: nodes.check_leaf(nodes.BeginsWith(operand, prefix)),
    "contains": lambda operand, part: nodes.check_leaf(nodes.Contains(operand, part)),
}


def _bind_action_value(action: syntax.RawAction, names: Names) -> Bind[nodes.Assigned | None]:
    raw = action.value
    if raw is None:
        return lambda _: None
    if isinstance(raw, syntax.RawSum):
        left, right = _bind_assigned(raw.left, names), _bind_assigned(raw.right, names)
        subtract = raw.op == "-"
        return lambda values: nodes.check_assigned(nodes.Sum(left(values), right(values), subtract))
    if action.section == "SET" or not isinstance(raw, syntax.RawValue):
        return _bind_assigned(raw, names)
    value, check = (
        _bind_value(raw),
        nodes.check_added if action.section == "ADD" else nodes.check_deleted,
    )

    def fill(values: Values) -> nodes.Assigned:
        literal = value(values)
        check(literal)
        return literal

    return fill


def _bind_assigned(raw: syntax.RawOperand, names: Names) -> Bind[nodes.Assigned]:
    if isinstance(raw, syntax.RawPath):
        return _bind_path(raw, names)
    if isinstance(raw, syntax.RawValue):
        return _bind_value(raw)
    name, binds = raw.name, [_bind_assigned(arg, names) for arg in raw.args]

    def fill(values: Values) -> nodes.Assigned:
        first, second = _bind_arguments(name, binds, values)
        if name == "list_append":
            return nodes.check_assigned(nodes.Joined(first, second))
        if not isinstance(first, nodes.Path):
            raise _path_required_error(name)
        return nodes.check_assigned(nodes.IfMissing(first, second))

    return fill


def _build_update(
    actions: Sequence[syntax.RawAction],
    action_paths: Sequence[nodes.Path],
    values_by_action: Sequence[nodes.Assigned | None],
) -> nodes.UpdateNode:
    sets: list[tuple[nodes.Path, nodes.Assigned]] = []
    removes: list[nodes.Path] = []
    changes: dict[str, list[tuple[nodes.Path, nodes.Literal]]] = {"ADD": [], "DELETE": []}
    for action, target, value in zip(actions, action_paths, values_by_action, strict=True):
        if value is None:
            removes.append(target)
        elif action.section == "SET":
            sets.append((target, value))
        elif isinstance(value, nodes.Literal):
            changes[action.section].append((target, value))
    return nodes.UpdateNode(
        tuple(sets), tuple(removes), tuple(changes["ADD"]), tuple(changes["DELETE"])
    )


ConditionKind: TypeAlias = typing.Literal[
    "ConditionExpression", "FilterExpression", "KeyConditionExpression"
]

_CACHE_SIZE: Final = 2048
_MAX_NAME: Final = 65_535
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
) -> nodes.Condition:
    """Parse a condition, filter or key condition. Raises InvalidRequest, naming the expression."""
    return _parse(_condition, text, placeholders, kind)


def parse_update(text: str, placeholders: Placeholders) -> nodes.UpdateNode:
    """Parse an update. Raises InvalidRequest."""
    return _parse(_update, text, placeholders, "UpdateExpression")


def parse_projection(text: str, placeholders: Placeholders) -> tuple[nodes.Path, ...]:
    """Parse a projection. Raises InvalidRequest."""
    return _parse(_projection, text, placeholders, "ProjectionExpression")


def _parse(
    read: Callable[[str, _Names], _Compiled[T]], text: str, placeholders: Placeholders, kind: str
) -> T:
    try:
        fill, used = read(text, placeholders.names)
        result = fill(placeholders.values)
    except nodes.ExpressionError as error:
        raise InvalidRequest(f"Invalid {kind}: {error}") from error
    placeholders.used |= used
    return result


@lru_cache(maxsize=_CACHE_SIZE)
def _condition(text: str, names: _Names) -> _Compiled[nodes.Condition]:
    raw = syntax.parse_condition_tree(text)
    syntax.check_condition_syntax(raw)
    return bind_condition(raw, dict(names)), _used_placeholders(text)


@lru_cache(maxsize=_CACHE_SIZE)
def _update(text: str, names: _Names) -> _Compiled[nodes.UpdateNode]:
    raw = syntax.parse_update_tree(text)
    syntax.check_update_syntax(raw)
    return bind_update(raw, dict(names)), _used_placeholders(text)


@lru_cache(maxsize=_CACHE_SIZE)
def _projection(text: str, names: _Names) -> _Compiled[tuple[nodes.Path, ...]]:
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
    if len(key) > 255:
        return (
            f"The expression attribute map contains a key that is too long; size of key: {len(key)}"
        )
    return None


def _check_name(key: str, name: str) -> None:
    problem = None
    if not name:
        problem = "Empty attribute name"
    elif len(name) * 4 > _MAX_NAME and len(name.encode()) > _MAX_NAME:
        problem = "Attribute name is too large, must be less than 65536 bytes"
    if problem is not None:
        raise InvalidRequest(
            f"ExpressionAttributeNames contains invalid value: {problem} for key {key}"
        )
