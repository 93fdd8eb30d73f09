"""Kept here: filling the placeholders of an expression as written, which makes it a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from grandstand.storage.tables.expressions.checks import (
    check_added,
    check_assigned,
    check_deleted,
    check_distinct,
    check_leaf,
    check_pair,
    check_size,
    check_type_name,
    code_of,
    wrong_type,
)
from grandstand.storage.tables.expressions.lexer import Refused
from grandstand.storage.tables.expressions.nodes import (
    And,
    Assigned,
    BeginsWith,
    Between,
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
    Operand,
    Or,
    Path,
    Size,
    Sum,
    TypeIs,
    Update,
)
from grandstand.storage.tables.expressions.raw import (
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
from grandstand.storage.tables.values import MAX_DEPTH, Value


@dataclass(frozen=True, slots=True)
class Filling:
    """What the placeholders of a request stand for."""

    names: Mapping[str, str]
    values: Mapping[str, Value]


T = TypeVar("T")
Bind: TypeAlias = Callable[[Filling], T]

_OPERANDS: Final = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}


def condition(raw: RawCondition) -> Bind[Condition]:
    """Prepare a condition; filling it raises Refused for what the values make wrong."""
    match raw:
        case RawJunction():
            return _junction(raw)
        case RawNot(inner):
            negated = condition(inner)
            return lambda filling: Not(negated(filling))
        case RawCompare(op, left, right):
            one, two = _operand(left), _operand(right)
            return lambda filling: _checked(Compare(op, one(filling), two(filling)))
        case RawBetween(operand, low, high):
            one, two, three = _operand(operand), _operand(low), _operand(high)
            return lambda filling: _checked(Between(one(filling), two(filling), three(filling)))
        case RawIn(operand, options):
            one, others = _operand(operand), tuple(map(_operand, options))
            return lambda filling: _checked(In(one(filling), tuple(o(filling) for o in others)))
        case RawCall(name, args):
            return _function(name, args)


def update(raw: RawUpdate) -> Bind[Update]:
    """Prepare an update; the paths are looked at before the values, both from last to first."""
    actions = [action for section in raw.sections for action in section]
    targets = paths([action.path for action in actions])
    values = [_action_value(action) for action in actions]
    last_first = range(len(actions) - 1, -1, -1)

    def fill(filling: Filling) -> Update:
        where = targets(filling)
        what: list[Assigned | None] = [None] * len(actions)
        for at in last_first:
            what[at] = values[at](filling)
        return _sorted_out(actions, where, what)

    return fill


def paths(raws: Sequence[RawPath]) -> Bind[tuple[Path, ...]]:
    """Prepare paths that must not touch one another, looked at from last to first."""
    binds = [path(raw) for raw in reversed(raws)]

    def fill(filling: Filling) -> tuple[Path, ...]:
        found: list[Path] = []
        for bind in binds:
            one = bind(filling)
            for two in reversed(found):
                check_pair(one, two)
            found.append(one)
        return tuple(reversed(found))

    return fill


def path(raw: RawPath) -> Bind[Path]:
    """Prepare a path; one without placeholders is made once."""
    steps = raw.steps
    if len(steps) > MAX_DEPTH:
        return lambda filling: _too_deep(_steps(steps, filling))
    if not any(isinstance(step, str) and step[0] in "#:" for step in steps):
        made = Path(steps)
        return lambda _: made
    return lambda filling: Path(_steps(steps, filling))


def _steps(steps: tuple[str | int, ...], filling: Filling) -> tuple[str | int, ...]:
    names = filling.names
    try:
        return tuple(
            [names[step] if isinstance(step, str) and step[0] in "#:" else step for step in steps]
        )
    except KeyError as missing:
        raise Refused(
            "An expression attribute name used in the document path is not defined; "
            f"attribute name: {missing.args[0]}"
        ) from missing


def _too_deep(steps: tuple[str | int, ...]) -> Path:
    raise Refused(f"The document path has too many nesting levels; nesting levels: {len(steps)}")


def _value(raw: RawValue) -> Bind[Literal]:
    key = raw.key

    def fill(filling: Filling) -> Literal:
        try:
            return Literal(filling.values[key])
        except KeyError as missing:
            raise Refused(
                "An expression attribute value used in expression is not defined; "
                f"attribute value: {key}"
            ) from missing

    return fill


def _checked(node: Condition) -> Condition:
    check_leaf(node)
    return node


def _junction(raw: RawJunction) -> Bind[Condition]:
    rights: list[tuple[type[And | Or], Bind[Condition]]] = []
    leftmost: RawCondition = raw
    while isinstance(leftmost, RawJunction):
        rights.append((And if leftmost.op == "AND" else Or, condition(leftmost.right)))
        leftmost = leftmost.left
    first = condition(leftmost)
    rights.reverse()

    def fill(filling: Filling) -> Condition:
        made = first(filling)
        for kind, right in rights:
            made = kind(made, right(filling))
        return made

    return fill


def _operand(raw: RawOperand) -> Bind[Operand]:
    if isinstance(raw, RawPath):
        return path(raw)
    if isinstance(raw, RawValue):
        return _value(raw)
    arguments = tuple(map(_operand, raw.args))

    def fill(filling: Filling) -> Operand:
        (of,) = _arguments("size", arguments, filling)
        if isinstance(of, Size):
            raise Refused(wrong_type("size", "N"))
        made = Size(of)
        check_size(made)
        return made

    return fill


def _arguments(name: str, binds: Sequence[Bind[T]], filling: Filling) -> list[T]:
    made = [bind(filling) for bind in binds]
    if len(made) != _OPERANDS[name]:
        raise Refused(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(made)}"
        )
    return made


def _needs_path(name: str) -> Refused:
    return Refused(f"Operator or function requires a document path; operator or function: {name}")


def _function(name: str, args: tuple[RawOperand, ...]) -> Bind[Condition]:
    binds = tuple(map(_operand, args))
    make = _FUNCTIONS[name]
    return lambda filling: make(*_arguments(name, binds, filling))


def _exists(operand: Operand) -> Condition:
    if not isinstance(operand, Path):
        raise _needs_path("attribute_exists")
    return Exists(operand)


def _missing(operand: Operand) -> Condition:
    if not isinstance(operand, Path):
        raise _needs_path("attribute_not_exists")
    return Missing(operand)


def _type_is(operand: Operand, code: Operand) -> Condition:
    check_distinct("attribute_type", operand, (code,))
    check_type_name(code)
    assert isinstance(code, Literal)  # noqa: S101 - any other was refused just now
    match operand:
        case Path():
            return TypeIs(operand, code)
        case Literal(value):
            return Compare("=", Literal(code_of(value)), code)
        case Size():
            zero = Literal(0)
            return Compare(">=", operand, zero) if code.value == "N" else Compare("<", zero, zero)


def _begins_with(operand: Operand, prefix: Operand) -> Condition:
    return _checked(BeginsWith(operand, prefix))


def _contains(operand: Operand, part: Operand) -> Condition:
    return _checked(Contains(operand, part))


_FUNCTIONS: Final[dict[str, Callable[..., Condition]]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _missing,
    "attribute_type": _type_is,
    "begins_with": _begins_with,
    "contains": _contains,
}


def _action_value(action: RawAction) -> Bind[Assigned | None]:
    raw = action.value
    if raw is None:
        return lambda _: None
    if isinstance(raw, RawSum):
        left, right, subtract = _assigned(raw.left), _assigned(raw.right), raw.op == "-"
        return lambda filling: _assigning(Sum(left(filling), right(filling), subtract))
    if action.section == "SET" or not isinstance(raw, RawValue):
        return _assigned(raw)
    value, check = _value(raw), check_added if action.section == "ADD" else check_deleted

    def fill(filling: Filling) -> Assigned:
        literal = value(filling)
        check(literal)
        return literal

    return fill


def _assigned(raw: RawOperand) -> Bind[Assigned]:
    if isinstance(raw, RawPath):
        return path(raw)
    if isinstance(raw, RawValue):
        return _value(raw)
    name, binds = raw.name, tuple(map(_assigned, raw.args))

    def fill(filling: Filling) -> Assigned:
        first, second = _arguments(name, binds, filling)
        if name == "list_append":
            return _assigning(Joined(first, second))
        if not isinstance(first, Path):
            raise _needs_path(name)
        return _assigning(IfMissing(first, second))

    return fill


def _assigning(assigned: Assigned) -> Assigned:
    check_assigned(assigned)
    return assigned


def _sorted_out(
    actions: Sequence[RawAction], where: Sequence[Path], what: Sequence[Assigned | None]
) -> Update:
    sets: list[tuple[Path, Assigned]] = []
    removes: list[Path] = []
    changes: dict[str, list[tuple[Path, Literal]]] = {"ADD": [], "DELETE": []}
    for action, target, value in zip(actions, where, what, strict=True):
        if value is None:
            removes.append(target)
        elif action.section == "SET":
            sets.append((target, value))
        elif isinstance(value, Literal):
            changes[action.section].append((target, value))
    return Update(tuple(sets), tuple(removes), tuple(changes["ADD"]), tuple(changes["DELETE"]))
