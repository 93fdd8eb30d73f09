"""Kept here: what an expression may say about key attributes, and how a query's condition splits.

Everything here needs the table's schema, so it follows once the expressions have been read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.checks import code_of
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
    KeyCondition,
    Literal,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Range,
    RangeOperator,
    Size,
    Sum,
    TypeIs,
    Update,
)
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from grandstand.storage.tables.values import Value

_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NAMES: Final[dict[type, str]] = {
    Or: "OR",
    Not: "NOT",
    In: "IN",
    Exists: "attribute_exists",
    Missing: "attribute_not_exists",
    TypeIs: "attribute_type",
    Contains: "contains",
}
_MAX_TERMS: Final = 2


def key_terms(condition: Condition) -> tuple[Range, ...]:
    """Take a key condition apart into one range an attribute; raise InvalidRequest.

    What it says is not yet compared with any schema.
    """
    terms: dict[str, Range] = {}
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, And):
            waiting += (node.right, node.left)
            continue
        term = _term(node)
        if term.attribute in terms:
            raise InvalidRequest("KeyConditionExpressions must only contain one condition per key")
        terms[term.attribute] = term
    return tuple(terms.values())


def key_condition(
    terms: Sequence[Range], schema: TableSchema, index: IndexSchema | None = None
) -> KeyCondition:
    """Fit the parts of a key condition to the key of a table or index; raise InvalidRequest.

    The last sort attribute named is the range, whatever its operator; those before it, and every
    partition attribute, are equalities.
    """
    partition: tuple[str, ...] = (schema.partition,)
    sort: tuple[str, ...] = () if schema.sort is None else (schema.sort,)
    if index is not None:
        partition, sort = index.partition, index.sort
    by_name = {term.attribute: term for term in terms}
    if len(partition) > 1 or len(sort) > 1:
        _check_many(by_name, partition, sort, schema, index)
    else:
        _check_single(by_name, partition[0], sort, schema, index)
    named = [name for name in sort if name in by_name]
    equals = [*partition, *named[:-1]]
    return KeyCondition(
        equals=tuple((name, by_name[name].low) for name in equals),
        range=by_name[named[-1]] if named else None,
    )


def check_filter(
    condition: Condition, schema: TableSchema, index: IndexSchema | None = None
) -> None:
    """Raise InvalidRequest when a query's filter looks at the key the query goes by."""
    roots = {path.root for path in condition_paths(condition)}
    for name in schema.key_names if index is None else index.key_names:
        if name in roots:
            raise InvalidRequest(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )


def check_key_update(update: Update, schema: TableSchema) -> None:
    """Raise InvalidRequest when an update writes to the table's key."""
    roots = {path.root for path in update.paths}
    for name in schema.key_names:
        if name in roots:
            raise InvalidRequest(
                f"One or more parameter values were invalid: Cannot update attribute {name}. "
                "This attribute is part of the key"
            )


def check_key_paths(paths: Sequence[Path], schema: TableSchema) -> None:
    """Raise InvalidRequest when a path goes into a key attribute, of the table or an index."""
    inside = {path.root for path in paths if len(path.steps) > 1}
    if not inside:
        return
    keys = [("Key", name) for name in schema.key_names]
    keys += [("IndexKey", name) for index in schema.indexes for name in index.key_names]
    for kind, name in keys:
        if name in inside:
            raise InvalidRequest(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are "
                f"not allowed: {kind}: {name}"
            )


def condition_paths(condition: Condition) -> Iterator[Path]:
    """Name every path a condition looks at, in the order written."""
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        match node:
            case And(left, right) | Or(left, right):
                waiting += (right, left)
            case Not(inner):
                waiting.append(inner)
            case Exists(path) | Missing(path) | TypeIs(path):
                yield path
            case Compare(_, left, right):
                yield from _operand_paths(left, right)
            case BeginsWith(operand, part) | Contains(operand, part):
                yield from _operand_paths(operand, part)
            case Between(operand, low, high):
                yield from _operand_paths(operand, low, high)
            case In(operand, options):
                yield from _operand_paths(operand, *options)


def update_paths(update: Update) -> Iterator[Path]:
    """Name every path an update writes to or reads."""
    yield from update.paths
    waiting: list[Assigned] = [assigned for _, assigned in update.sets]
    while waiting:
        match waiting.pop():
            case Path() as path:
                yield path
            case IfMissing(path, other):
                yield path
                waiting.append(other)
            case Joined(left, right) | Sum(left, right):
                waiting += (right, left)


def _operand_paths(*operands: Operand) -> Iterator[Path]:
    for operand in operands:
        inner = operand.of if isinstance(operand, Size) else operand
        if isinstance(inner, Path):
            yield inner


def _term(node: Condition) -> Range:
    match node:
        case Compare(op, left, right) if op != "<>":
            name = _key_name((left, right))
            if isinstance(left, Path):
                return Range(name, op, cast("Literal", right).value)
            return Range(name, cast("RangeOperator", _MIRRORED[op]), cast("Literal", left).value)
        case Between(operand, low, high):
            _check_first("BETWEEN", operand)
            name = _key_name((operand, low, high))
            low_value, high_value = cast("Literal", low).value, cast("Literal", high).value
            return Range(name, "between", low_value, high_value)
        case BeginsWith(operand, prefix):
            _check_first("begins_with", operand)
            return Range(_key_name((operand, prefix)), "begins_with", cast("Literal", prefix).value)
    operator = _NAMES.get(type(node), "<>")
    raise InvalidRequest(f"Invalid operator used in KeyConditionExpression: {operator}")


def _check_first(name: str, operand: Operand) -> None:
    if not isinstance(operand, Path | Size):
        raise InvalidRequest(
            f"Invalid condition in KeyConditionExpression: {name} operator must have the key "
            "attribute as its first operand"
        )


def _key_name(operands: tuple[Operand, ...]) -> str:
    name = None
    for operand in operands:
        if isinstance(operand, Size):
            raise InvalidRequest("KeyConditionExpressions cannot contain nested operations")
        if isinstance(operand, Path):
            if name is not None:
                raise InvalidRequest(
                    "Invalid condition in KeyConditionExpression: "
                    "Multiple attribute names used in one condition"
                )
            if len(operand.steps) > 1:
                raise InvalidRequest(
                    "KeyConditionExpressions cannot have conditions on nested attributes"
                )
            name = operand.root
    if name is None:
        raise InvalidRequest(
            "Invalid condition in KeyConditionExpression: No key attribute specified"
        )
    return name


def _check_single(
    terms: Mapping[str, Range],
    partition: str,
    sort: tuple[str, ...],
    schema: TableSchema,
    index: IndexSchema | None,
) -> None:
    if len(terms) > _MAX_TERMS:
        raise InvalidRequest("Conditions can be of length 1 or 2 only")
    if not sort and len(terms) > 1:
        raise _unsupported()
    for name in (partition, *sort):
        term = terms.get(name)
        if term is None:
            if name == partition or len(terms) > 1:
                raise _missed(name)
            continue
        _check_type(term, schema)
        if name == partition and term.op != "=":
            raise _unsupported()
        _check_filled(term, index)


def _check_many(
    terms: Mapping[str, Range],
    partition: tuple[str, ...],
    sort: tuple[str, ...],
    schema: TableSchema,
    index: IndexSchema | None,
) -> None:
    absent = [name for name in partition if name not in terms]
    unequal = absent or [name for name in partition if terms[name].op != "="]
    if unequal:
        raise InvalidRequest(
            f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in "
            "the query"
        )
    for name in partition:
        _check_type(terms[name], schema)
        _check_filled(terms[name], index)
    _check_sequence(terms, sort)
    for term in terms.values():
        if term.attribute in partition:
            continue
        if term.attribute not in sort:
            raise _missed(next((n for n in sort if n not in terms), partition[0]))
        _check_type(term, schema)
        _check_filled(term, index)


def _check_sequence(terms: Mapping[str, Range], sort: tuple[str, ...]) -> None:
    """Sort attributes are named from the left without a gap, and only the last not by "="."""
    named = [name for name in sort if name in terms]
    if not named:
        return
    gaps = ([n for n in sort[: sort.index(name)] if n not in terms] for name in named)
    later, missing = next(
        ((name, gap) for name, gap in zip(named, gaps, strict=True) if gap), (named[-1], [])
    )
    unequal = missing or [name for name in named[:-1] if terms[name].op != "="]
    if unequal:
        raise InvalidRequest(
            f"RANGE key attributes {', '.join(unequal)} must have equality conditions specified "
            f"in the query because a condition is present on key attribute {later}"
        )


def _values(term: Range) -> tuple[Value, ...]:
    return (term.low, term.high) if term.op == "between" else (term.low,)


def _check_type(term: Range, schema: TableSchema) -> None:
    wanted = schema.types.get(term.attribute)
    if any(code_of(value) != wanted for value in _values(term)):
        raise InvalidRequest(
            "One or more parameter values were invalid: "
            "Condition parameter type does not match schema type"
        )


def _check_filled(term: Range, index: IndexSchema | None) -> None:
    for value in _values(term):
        if isinstance(value, str | bytes) and not value:
            kind = "string" if isinstance(value, str) else "binary"
            rule = f"The AttributeValue for a key attribute cannot contain an empty {kind} value."
            where = f"Key: {term.attribute}"
            if index is not None:
                rule = f"A value specified for a secondary index key is not supported. {rule}"
                where = f"IndexName: {index.name}, IndexKey: {term.attribute}"
            raise InvalidRequest(f"One or more parameter values are not valid. {rule} {where}")


def _unsupported() -> InvalidRequest:
    return InvalidRequest("Query key condition not supported")


def _missed(name: str) -> InvalidRequest:
    return InvalidRequest(f"Query condition missed key schema element: {name}")
