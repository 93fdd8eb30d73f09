"""Kept here: filling the placeholders of an expression as written, which makes it a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

Names: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]
T = TypeVar("T")

# Names seldom change from one request to the next and values mostly do, so names are filled in
# first, once for many requests. What is wrong with a name is still said in its turn.
Bind: TypeAlias = Callable[[Values], T]

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


def condition(raw: RawCondition, names: Names) -> Bind[Condition]:
    """Prepare a condition; filling it raises Refused for what its placeholders make wrong."""
    match raw:
        case RawJunction():
            return _junction(raw, names)
        case RawNot():
            return _negation(raw, names)
        case RawCompare(op, left, right):
            one, two = _operand(left, names), _operand(right, names)
            if op in ("=", "<>") and not (isinstance(left, RawPath) and isinstance(right, RawPath)):
                return lambda values: Compare(op, one(values), two(values))
            return lambda values: _checked(Compare(op, one(values), two(values)))
        case RawBetween(operand, low, high):
            one, two, three = (_operand(part, names) for part in (operand, low, high))
            return lambda values: _checked(Between(one(values), two(values), three(values)))
        case RawIn(operand, options):
            one, others = _operand(operand, names), [_operand(raw, names) for raw in options]
            return lambda values: _checked(In(one(values), tuple([o(values) for o in others])))
        case RawCall(name, args):
            return _function(name, [_operand(arg, names) for arg in args])


def update(raw: RawUpdate, names: Names) -> Bind[Update]:
    """Prepare an update; raise Refused for its paths, and when filled for its values.

    DynamoDB looks at the values from last to first.
    """
    actions = [action for section in raw.sections for action in section]
    where = paths([action.path for action in actions], names)
    binds = [_action_value(action, names) for action in actions]
    last_first = range(len(actions) - 1, -1, -1)

    def fill(values: Values) -> Update:
        what: list[Assigned | None] = [None] * len(actions)
        for at in last_first:
            what[at] = binds[at](values)
        return _sorted_out(actions, where, what)

    return fill


def paths(raws: Sequence[RawPath], names: Names) -> tuple[Path, ...]:
    """Fill paths that must not touch one another, from last to first; raise Refused."""
    found: list[Path] = []
    for raw in reversed(raws):
        one = _path(raw, names)
        for two in reversed(found):
            check_pair(one, two)
        found.append(one)
    return tuple(reversed(found))


def _path(raw: RawPath, names: Names) -> Path:
    steps: list[str | int] = []
    for step in raw.steps:
        if isinstance(step, str) and step[0] in "#:":
            if step not in names:
                raise Refused(
                    "An expression attribute name used in the document path is not defined; "
                    f"attribute name: {step}"
                )
            steps.append(names[step])
        else:
            steps.append(step)
    if len(steps) > MAX_DEPTH:
        raise Refused(
            f"The document path has too many nesting levels; nesting levels: {len(steps)}"
        )
    return Path(tuple(steps))


def _path_in_turn(raw: RawPath, names: Names) -> Bind[Path]:
    try:
        path = _path(raw, names)
    except Refused as refused:
        sentence = str(refused)

        def refuse(_: Values) -> Path:
            raise Refused(sentence)

        return refuse
    return lambda _: path


def _value(raw: RawValue) -> Bind[Literal]:
    key = raw.key

    def fill(values: Values) -> Literal:
        try:
            return Literal(values[key])
        except KeyError as missing:
            raise Refused(
                "An expression attribute value used in expression is not defined; "
                f"attribute value: {key}"
            ) from missing

    return fill


def _checked(node: Condition) -> Condition:
    check_leaf(node)
    return node


def _negation(raw: RawNot, names: Names) -> Bind[Condition]:
    inner, times = raw.inner, 1
    while isinstance(inner, RawNot):
        inner, times = inner.inner, times + 1
    innermost = condition(inner, names)

    def fill(values: Values) -> Condition:
        made = innermost(values)
        for _ in range(times):
            made = Not(made)
        return made

    return fill


def _junction(raw: RawJunction, names: Names) -> Bind[Condition]:
    rights: list[tuple[type[And | Or], Bind[Condition]]] = []
    leftmost: RawCondition = raw
    while isinstance(leftmost, RawJunction):
        rights.append((And if leftmost.op == "AND" else Or, condition(leftmost.right, names)))
        leftmost = leftmost.left
    first = condition(leftmost, names)
    rights.reverse()

    def fill(values: Values) -> Condition:
        made = first(values)
        for kind, right in rights:
            made = kind(made, right(values))
        return made

    return fill


def _operand(raw: RawOperand, names: Names) -> Bind[Operand]:
    if isinstance(raw, RawPath):
        return _path_in_turn(raw, names)
    if isinstance(raw, RawValue):
        return _value(raw)
    arguments = [_operand(arg, names) for arg in raw.args]

    def fill(values: Values) -> Operand:
        (of,) = _arguments("size", arguments, values)
        if isinstance(of, Size):
            raise Refused(wrong_type("size", "N"))
        made = Size(of)
        check_size(made)
        return made

    return fill


def _arguments(name: str, binds: Sequence[Bind[T]], values: Values) -> list[T]:
    made = [bind(values) for bind in binds]
    if len(made) != _OPERANDS[name]:
        raise Refused(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(made)}"
        )
    return made


def _needs_path(name: str) -> Refused:
    return Refused(f"Operator or function requires a document path; operator or function: {name}")


def _function(name: str, binds: Sequence[Bind[Operand]]) -> Bind[Condition]:
    make = _FUNCTIONS[name]
    return lambda values: make(*_arguments(name, binds, values))


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


def _action_value(action: RawAction, names: Names) -> Bind[Assigned | None]:
    raw = action.value
    if raw is None:
        return lambda _: None
    if isinstance(raw, RawSum):
        left, right = _assigned(raw.left, names), _assigned(raw.right, names)
        subtract = raw.op == "-"
        return lambda values: _assigning(Sum(left(values), right(values), subtract))
    if action.section == "SET" or not isinstance(raw, RawValue):
        return _assigned(raw, names)
    value, check = _value(raw), check_added if action.section == "ADD" else check_deleted

    def fill(values: Values) -> Assigned:
        literal = value(values)
        check(literal)
        return literal

    return fill


def _assigned(raw: RawOperand, names: Names) -> Bind[Assigned]:
    if isinstance(raw, RawPath):
        return _path_in_turn(raw, names)
    if isinstance(raw, RawValue):
        return _value(raw)
    name, binds = raw.name, [_assigned(arg, names) for arg in raw.args]

    def fill(values: Values) -> Assigned:
        first, second = _arguments(name, binds, values)
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
