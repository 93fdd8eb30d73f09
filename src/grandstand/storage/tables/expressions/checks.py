"""Kept here: what DynamoDB refuses in an expression before it looks at any item."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, cast

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.lexer import Refused
from grandstand.storage.tables.expressions.nodes import (
    And,
    Assigned,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    IfMissing,
    In,
    Joined,
    Literal,
    Not,
    Operand,
    Or,
    Path,
    Size,
    Sum,
    TypeIs,
    Update,
)
from grandstand.storage.tables.values import Number, Value, number_text, type_code

MAX_OPTIONS: Final = 100
TYPE_CODES: Final = ("B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M")

_CODES: Final[dict[type, str]] = {
    str: "S",
    int: "N",
    Decimal: "N",
    bytes: "B",
    bool: "BOOL",
    type(None): "NULL",
    list: "L",
    dict: "M",
}
_WORDS: Final = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}
_EQUALITIES: Final = frozenset(("=", "<>"))
_ORDERED: Final = frozenset(("S", "N", "B"))
_PREFIXED: Final = frozenset(("S", "B"))
_UNSIZED: Final = frozenset(("N", "BOOL", "NULL"))


def code_of(value: Value) -> str:
    """Answer DynamoDB's name for the value's type; raise InvalidRequest if it has none."""
    return _CODES.get(type(value)) or type_code(value)


def check_condition(condition: Condition, expression: str = "ConditionExpression") -> None:
    """Raise InvalidRequest when DynamoDB would refuse the condition whatever the item holds."""
    try:
        _check_tree(condition)
    except Refused as refused:
        raise InvalidRequest(f"Invalid {expression}: {refused}") from refused


def check_update(update: Update) -> None:
    """Raise InvalidRequest when DynamoDB would refuse the update whatever the item holds."""
    try:
        check_paths(update.paths)
        for _, assigned in update.sets:
            check_assigned(assigned)
        for _, literal in update.adds:
            check_added(literal)
        for _, literal in update.deletes:
            check_deleted(literal)
    except Refused as refused:
        raise InvalidRequest(f"Invalid UpdateExpression: {refused}") from refused


def check_leaf(condition: Condition) -> None:
    """Check one condition that is not made of others; raise Refused."""
    check = _LEAVES.get(type(condition))
    if check is not None:
        check(condition)


def check_paths(paths: Sequence[Path]) -> None:
    """Raise Refused when one path lies within another, or two disagree about what is a list."""
    if len({path.steps[0] for path in paths}) == len(paths):
        return
    for at in range(len(paths) - 2, -1, -1):
        for later in paths[at + 1 :]:
            check_pair(paths[at], later)


def check_pair(one: Path, two: Path) -> None:
    """Raise Refused when two paths cannot be written or read side by side."""
    for left, right in zip(one.steps, two.steps, strict=False):
        if left != right:
            if isinstance(left, str) is isinstance(right, str):
                return
            raise Refused(_pair("conflict", one, two))
    raise Refused(_pair("overlap", one, two))


def _pair(fault: str, one: Path, two: Path) -> str:
    return (
        f"Two document paths {fault} with each other; must remove or rewrite one of these paths; "
        f"path one: {_shown(one)}, path two: {_shown(two)}"
    )


def _shown(path: Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else step for step in path.steps)
    return f"[{', '.join(steps)}]"


def check_assigned(assigned: Assigned) -> None:
    """Check the right side of a SET; raise Refused."""
    if type(assigned) is Literal or type(assigned) is Path:
        return
    match assigned:
        case Joined(first, second):
            for side in (first, second):
                _check_argument(side)
            _check_literals("list_append", (first, second), "L")
        case Sum(left, right, subtract):
            for side in (left, right):
                _check_argument(side)
            _check_literals("-" if subtract else "+", (left, right), "N")
        case IfMissing(path, other):
            _check_argument(other)
            if other == path:
                check_distinct("if_not_exists", path, (path,))


def _check_argument(assigned: Assigned) -> None:
    if isinstance(assigned, Joined):
        raise Refused(misused("list_append"))
    if isinstance(assigned, Sum):
        raise Refused("Syntax error; a sum can only be the whole value of a SET")
    check_assigned(assigned)


def _check_literals(name: str, sides: tuple[Assigned, ...], code: str) -> None:
    for side in sides:
        if isinstance(side, Literal) and code_of(side.value) != code:
            raise Refused(wrong_type(name, code_of(side.value)))


def check_added(literal: Literal) -> None:
    """Check what an ADD adds: a number or a set; raise Refused."""
    code = code_of(literal.value)
    if code in _WORDS and code != "N":
        raise Refused(_wrong_section("ADD", code))


def check_deleted(literal: Literal) -> None:
    """Check what a DELETE takes out: a set; raise Refused."""
    code = code_of(literal.value)
    if code in _WORDS:
        raise Refused(_wrong_section("DELETE", code))


def _wrong_section(section: str, code: str) -> str:
    return (
        f"Incorrect operand type for operator or function; operator: {section}, operand type: "
        f"{_WORDS[code]}, typeSet: ALLOWED_FOR_{section}_OPERAND"
    )


def misused(function: str) -> str:
    """Say that a function stands where it cannot."""
    return f"The function is not allowed to be used this way in an expression; function: {function}"


def check_size(size: Size) -> None:
    """Check what size is asked of; raise Refused."""
    if isinstance(size.of, Literal) and (code := code_of(size.of.value)) in _UNSIZED:
        raise Refused(wrong_type("size", code))


def _check_tree(condition: Condition) -> None:
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, And | Or):
            waiting += (node.right, node.left)
        elif isinstance(node, Not):
            waiting.append(node.inner)
        else:
            check_leaf(node)


def _operand_code(operand: Operand) -> str | None:
    if isinstance(operand, Literal):
        return code_of(operand.value)
    if isinstance(operand, Size):
        check_size(operand)
        return "N"
    return None


def wrong_type(name: str, code: str) -> str:
    """Say that an operand is of a type the operator or function does not take."""
    return (
        "Incorrect operand type for operator or function; "
        f"operator or function: {name}, operand type: {code}"
    )


def _check_codes(name: str, operands: Sequence[Operand], allowed: frozenset[str]) -> None:
    for operand in operands:
        code = _operand_code(operand)
        if code is not None and code not in allowed:
            raise Refused(wrong_type(name, code))


def check_distinct(name: str, first: Operand, rest: Sequence[Operand]) -> None:
    """Raise Refused when a path is compared with itself."""
    if isinstance(first, Path) and first in rest:
        raise Refused(
            "The first operand must be distinct from the remaining operands for this operator or "
            f"function; operator: {name}, first operand: {_shown(first)}"
        )


def _check_compare(node: Compare) -> None:
    left, right = node.left, node.right
    if node.op in _EQUALITIES:
        for operand in (left, right):
            if type(operand) is Size:
                check_size(operand)
    else:
        _check_codes(node.op, (left, right), _ORDERED)
    if left == right:
        check_distinct(node.op, left, (right,))


def _check_between(node: Between) -> None:
    _check_codes("BETWEEN", (node.operand, node.low, node.high), _ORDERED)
    check_distinct("BETWEEN", node.operand, (node.low, node.high))
    if isinstance(node.low, Literal) and isinstance(node.high, Literal):
        _check_bounds(node.low.value, node.high.value)


def _check_bounds(low: Value, high: Value) -> None:
    if code_of(low) != code_of(high):
        rule = "requires same data type for lower and upper bounds"
    elif cast("str", low) > cast("str", high):
        rule = "requires upper bound to be greater than or equal to lower bound"
    else:
        return
    raise Refused(
        f"The BETWEEN operator {rule}; lower bound operand: AttributeValue: {_described(low)}, "
        f"upper bound operand: AttributeValue: {_described(high)}"
    )


def _described(value: Value) -> str:
    text = str(value)
    if isinstance(value, Number):
        text = number_text(value)
    elif isinstance(value, bytes):
        text = base64.b64encode(value).decode()
    return f"{{{code_of(value)}:{text}}}"


def _check_in(node: In) -> None:
    if len(node.options) > MAX_OPTIONS:
        raise Refused(
            "The IN operator is provided with too many operands; "
            f"number of operands: {len(node.options)}"
        )
    for operand in (node.operand, *node.options):
        _operand_code(operand)
    check_distinct("IN", node.operand, node.options)


def _check_begins(node: BeginsWith) -> None:
    _check_codes("begins_with", (node.operand, node.prefix), _PREFIXED)
    check_distinct("begins_with", node.operand, (node.prefix,))


def _check_contains(node: Contains) -> None:
    _operand_code(node.operand)
    _operand_code(node.part)
    check_distinct("contains", node.operand, (node.part,))


def _check_type(node: TypeIs) -> None:
    check_type_name(node.code)


def check_type_name(code: Operand) -> None:
    """Check the second operand of attribute_type; raise Refused."""
    if not isinstance(code, Literal):
        kinds = "N" if isinstance(code, Size) else "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
        raise Refused(wrong_type("attribute_type", kinds))
    if not isinstance(code.value, str):
        raise Refused(wrong_type("attribute_type", code_of(code.value)))
    if code.value not in TYPE_CODES:
        valid = ",".join(TYPE_CODES)
        raise Refused(
            f"Invalid attribute type name found; type: {code.value}, valid types: {{{valid}}}"
        )


_LEAVES: Final[dict[type, Callable[..., None]]] = {
    Compare: _check_compare,
    Between: _check_between,
    In: _check_in,
    BeginsWith: _check_begins,
    Contains: _check_contains,
    TypeIs: _check_type,
}
