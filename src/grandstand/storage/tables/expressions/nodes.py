"""Expression trees, and DynamoDB's rules for them that do not depend on an item."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Final, TypeAlias, cast
from typing import Literal as OneOf

from grandstand.storage.tables.attribute_values import Number, Value, number_text, type_code
from grandstand.storage.tables.errors import InvalidRequest

Comparator: TypeAlias = OneOf["=", "<>", "<", "<=", ">", ">="]
RangeOperator: TypeAlias = OneOf["=", "<", "<=", ">", ">=", "between", "begins_with"]


@dataclass(frozen=True, slots=True)
class Path:
    """The position of a value in an item: an attribute, then map keys and list indexes."""

    steps: tuple[str | int, ...]

    @property
    def root(self) -> str:
        """The attribute the path starts at."""
        return str(self.steps[0])


@dataclass(frozen=True, slots=True)
class Literal:
    """A value in the request."""

    value: Value


@dataclass(frozen=True, slots=True)
class Size:
    """size(path)."""

    of: Path | Literal


Operand: TypeAlias = Path | Literal | Size


@dataclass(frozen=True, slots=True)
class Compare:
    """left <op> right."""

    op: Comparator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    """low <= operand <= high."""

    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    """operand IN (options)."""

    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """attribute_exists(path)."""

    path: Path


@dataclass(frozen=True, slots=True)
class Missing:
    """attribute_not_exists(path)."""

    path: Path


@dataclass(frozen=True, slots=True)
class TypeIs:
    """attribute_type(path, code)."""

    path: Path
    code: Literal


@dataclass(frozen=True, slots=True)
class BeginsWith:
    """begins_with(operand, prefix)."""

    operand: Operand
    prefix: Operand


@dataclass(frozen=True, slots=True)
class Contains:
    """contains(operand, part): a substring, set member or list element."""

    operand: Operand
    part: Operand


@dataclass(frozen=True, slots=True)
class And:
    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Or:
    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Not:
    inner: Condition


Condition: TypeAlias = (
    Compare | Between | In | Exists | Missing | TypeIs | BeginsWith | Contains | And | Or | Not
)


@dataclass(frozen=True, slots=True)
class IfMissing:
    """if_not_exists(path, other)."""

    path: Path
    other: Assigned


@dataclass(frozen=True, slots=True)
class Joined:
    """list_append(first, second)."""

    first: Assigned
    second: Assigned


@dataclass(frozen=True, slots=True)
class Sum:
    """left + right, or left - right."""

    left: Assigned
    right: Assigned
    subtract: bool = False


Assigned: TypeAlias = Path | Literal | IfMissing | Joined | Sum


@dataclass(frozen=True, slots=True)
class UpdateNode:
    """An update: SET, REMOVE, ADD and DELETE, all based on the item before."""

    sets: tuple[tuple[Path, Assigned], ...] = ()
    removes: tuple[Path, ...] = ()
    adds: tuple[tuple[Path, Literal], ...] = ()
    deletes: tuple[tuple[Path, Literal], ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every path the update writes."""
        return (
            tuple(path for path, _ in self.sets)
            + self.removes
            + tuple(path for path, _ in self.adds)
            + tuple(path for path, _ in self.deletes)
        )


@dataclass(frozen=True, slots=True)
class Range:
    """The condition on a sort key; `high` only with between."""

    attribute: str
    op: RangeOperator
    low: Value
    high: Value = None


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """The part of a table or index that a query reads: equalities, then at most one range.

    `equals` has every partition attribute (and, for a multi-attribute index, leading sort
    attributes); a single sort key compared with "=" is a Range.
    """

    equals: tuple[tuple[str, Value], ...]
    range: Range | None = None


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
_TYPE_NAMES: Final = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}
_ORDERED: Final = frozenset(("S", "N", "B"))


class ExpressionError(InvalidRequest):
    """An expression violates a rule; callers add which expression it is."""

    code: ClassVar[str] = "expression-error"


def type_code_of(value: Value) -> str:
    """Return DynamoDB's name of the value's type. Raises InvalidRequest if it has none."""
    return _CODES.get(type(value)) or type_code(value)


def check_update(update: UpdateNode) -> None:
    """Raise InvalidRequest if DynamoDB would reject the update for every item."""
    try:
        check_paths(update.paths)
        for _, assigned in update.sets:
            check_assigned(assigned)
        for _, literal in update.adds:
            check_added(literal)
        for _, literal in update.deletes:
            check_deleted(literal)
    except ExpressionError as error:
        raise InvalidRequest(f"Invalid UpdateExpression: {error}") from error


def check_leaf(condition: Condition) -> Condition:
    """Check and return a condition that does not consist of others. Raises ExpressionError."""
    check = _LEAVES.get(type(condition))
    if check is not None:
        check(condition)
    return condition


def check_paths(paths: Sequence[Path]) -> None:
    """Raise ExpressionError if a path is within another, or two disagree about what is a list."""
    if len({path.steps[0] for path in paths}) == len(paths):
        return
    for position in range(len(paths) - 2, -1, -1):
        for later in paths[position + 1 :]:
            check_path_pair(paths[position], later)


def check_path_pair(first: Path, second: Path) -> None:
    """Raise ExpressionError if two paths overlap or conflict."""
    for left, right in zip(first.steps, second.steps, strict=False):
        if left != right:
            if isinstance(left, str) is isinstance(right, str):
                return
            raise ExpressionError(_path_pair_message("conflict", first, second))
    raise ExpressionError(_path_pair_message("overlap", first, second))


def _path_pair_message(problem: str, first: Path, second: Path) -> str:
    return (
        f"Two document paths {problem} with each other; must remove or rewrite one of these paths; "
        f"path one: {_format_path(first)}, path two: {_format_path(second)}"
    )


def _format_path(path: Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else step for step in path.steps)
    return f"[{', '.join(steps)}]"


def check_assigned(assigned: Assigned) -> Assigned:
    """Check and return the right side of a SET. Raises ExpressionError."""
    if type(assigned) is Literal or type(assigned) is Path:
        return assigned
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
                check_distinct_operands("if_not_exists", path, (path,))
    return assigned


def _check_argument(assigned: Assigned) -> None:
    if isinstance(assigned, Joined):
        raise ExpressionError(misused_function("list_append"))
    if isinstance(assigned, Sum):
        raise ExpressionError("Syntax error; a sum can only be the whole value of a SET")
    check_assigned(assigned)


def _check_literals(name: str, sides: tuple[Assigned, ...], code: str) -> None:
    for side in sides:
        if isinstance(side, Literal) and type_code_of(side.value) != code:
            raise ExpressionError(wrong_operand_type(name, type_code_of(side.value)))


def check_added(literal: Literal) -> None:
    """Check the operand of ADD: a number or a set. Raises ExpressionError."""
    code = type_code_of(literal.value)
    if code in _TYPE_NAMES and code != "N":
        raise ExpressionError(_section_type_message("ADD", code))


def check_deleted(literal: Literal) -> None:
    """Check the operand of DELETE: a set. Raises ExpressionError."""
    code = type_code_of(literal.value)
    if code in _TYPE_NAMES:
        raise ExpressionError(_section_type_message("DELETE", code))


def _section_type_message(section: str, code: str) -> str:
    return (
        f"Incorrect operand type for operator or function; operator: {section}, operand type: "
        f"{_TYPE_NAMES[code]}, typeSet: ALLOWED_FOR_{section}_OPERAND"
    )


def misused_function(function: str) -> str:
    """Return the message for a function in the wrong place."""
    return f"The function is not allowed to be used this way in an expression; function: {function}"


def check_size(size: Size) -> None:
    """Check the operand of size(). Raises ExpressionError."""
    if isinstance(size.of, Literal) and (code := type_code_of(size.of.value)) in (
        "N",
        "BOOL",
        "NULL",
    ):
        raise ExpressionError(wrong_operand_type("size", code))


def _operand_code(operand: Operand) -> str | None:
    if isinstance(operand, Literal):
        return type_code_of(operand.value)
    if isinstance(operand, Size):
        check_size(operand)
        return "N"
    return None


def wrong_operand_type(name: str, code: str) -> str:
    """Return the message for an operand of the wrong type."""
    return (
        "Incorrect operand type for operator or function; "
        f"operator or function: {name}, operand type: {code}"
    )


def _check_codes(name: str, operands: Sequence[Operand], allowed: frozenset[str]) -> None:
    for operand in operands:
        code = _operand_code(operand)
        if code is not None and code not in allowed:
            raise ExpressionError(wrong_operand_type(name, code))


def check_distinct_operands(name: str, first: Operand, rest: Sequence[Operand]) -> None:
    """Raise ExpressionError if a path is compared with itself."""
    if isinstance(first, Path) and first in rest:
        raise ExpressionError(
            "The first operand must be distinct from the remaining operands for this operator or "
            f"function; operator: {name}, first operand: {_format_path(first)}"
        )


def _check_compare(node: Compare) -> None:
    left, right = node.left, node.right
    if node.op in ("=", "<>"):
        for operand in (left, right):
            if type(operand) is Size:
                check_size(operand)
    else:
        _check_codes(node.op, (left, right), _ORDERED)
    if left == right:
        check_distinct_operands(node.op, left, (right,))


def _check_between(node: Between) -> None:
    _check_codes("BETWEEN", (node.operand, node.low, node.high), _ORDERED)
    check_distinct_operands("BETWEEN", node.operand, (node.low, node.high))
    if isinstance(node.low, Literal) and isinstance(node.high, Literal):
        _check_bounds(node.low.value, node.high.value)


def _check_bounds(low: Value, high: Value) -> None:
    if type_code_of(low) != type_code_of(high):
        rule = "requires same data type for lower and upper bounds"
    elif cast("str", low) > cast("str", high):
        rule = "requires upper bound to be greater than or equal to lower bound"
    else:
        return
    raise ExpressionError(
        f"The BETWEEN operator {rule}; lower bound operand: AttributeValue: {_format_value(low)}, "
        f"upper bound operand: AttributeValue: {_format_value(high)}"
    )


def _format_value(value: Value) -> str:
    text = str(value)
    if isinstance(value, Number):
        text = number_text(value)
    elif isinstance(value, bytes):
        text = base64.b64encode(value).decode()
    return f"{{{type_code_of(value)}:{text}}}"


def _check_in(node: In) -> None:
    if len(node.options) > 100:
        raise ExpressionError(
            "The IN operator is provided with too many operands; "
            f"number of operands: {len(node.options)}"
        )
    for operand in (node.operand, *node.options):
        _operand_code(operand)
    check_distinct_operands("IN", node.operand, node.options)


def _check_begins(node: BeginsWith) -> None:
    _check_codes("begins_with", (node.operand, node.prefix), frozenset(("S", "B")))
    check_distinct_operands("begins_with", node.operand, (node.prefix,))


def _check_contains(node: Contains) -> None:
    _operand_code(node.operand)
    _operand_code(node.part)
    check_distinct_operands("contains", node.operand, (node.part,))


def check_type_name(code: Operand) -> None:
    """Check the second operand of attribute_type. Raises ExpressionError."""
    if not isinstance(code, Literal):
        kinds = "N" if isinstance(code, Size) else "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
        raise ExpressionError(wrong_operand_type("attribute_type", kinds))
    if not isinstance(code.value, str):
        raise ExpressionError(wrong_operand_type("attribute_type", type_code_of(code.value)))
    if code.value not in TYPE_CODES:
        valid = ",".join(TYPE_CODES)
        raise ExpressionError(
            f"Invalid attribute type name found; type: {code.value}, valid types: {{{valid}}}"
        )


_LEAVES: Final[dict[type, Callable[..., None]]] = {
    Compare: _check_compare,
    Between: _check_between,
    In: _check_in,
    BeginsWith: _check_begins,
    Contains: _check_contains,
    TypeIs: lambda node: check_type_name(node.code),
}
