"""Key conditions of queries, and rules about key attributes in expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.schema import IndexSchema, TableSchema

_SWAPPED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPERATOR_NAMES: Final[dict[type, str]] = {
    nodes.Or: "OR",
    nodes.Not: "NOT",
    nodes.In: "IN",
    nodes.Exists: "attribute_exists",
    nodes.Missing: "attribute_not_exists",
    nodes.TypeIs: "attribute_type",
    nodes.Contains: "contains",
}
_MAX_TERMS: Final = 2


def key_terms(condition: nodes.Condition) -> tuple[nodes.Range, ...]:
    """Split a key condition into one range per attribute. Raises InvalidRequest.

    The attributes are not yet compared with a schema.
    """
    terms: dict[str, nodes.Range] = {}
    pending = [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.And):
            pending += (node.right, node.left)
            continue
        term = _term(node)
        if term.attribute in terms:
            raise InvalidRequest("KeyConditionExpressions must only contain one condition per key")
        terms[term.attribute] = term
    return tuple(terms.values())


def key_condition(
    terms: Sequence[nodes.Range], schema: TableSchema, index: IndexSchema | None = None
) -> nodes.KeyCondition:
    """Match the terms of a key condition with the key of a table or index.

    The last sort attribute is the range, whatever its operator; those before it, and every
    partition attribute, are equalities. Raises InvalidRequest.
    """
    partition: tuple[str, ...] = (schema.partition,)
    sort: tuple[str, ...] = () if schema.sort is None else (schema.sort,)
    if index is not None:
        partition, sort = index.partition, index.sort
    by_name = {term.attribute: term for term in terms}
    if len(partition) > 1 or len(sort) > 1:
        _check_multi_attribute(by_name, partition, sort, schema, index)
    else:
        _check_single_attribute(by_name, partition[0], sort, schema, index)
    sort_names = [name for name in sort if name in by_name]
    equals = [*partition, *sort_names[:-1]]
    return nodes.KeyCondition(
        equals=tuple((name, by_name[name].low) for name in equals),
        range=by_name[sort_names[-1]] if sort_names else None,
    )


def check_filter(
    condition: nodes.Condition, schema: TableSchema, index: IndexSchema | None = None
) -> None:
    """Raise InvalidRequest if the filter of a query refers to its key."""
    roots = {path.root for path in condition_paths(condition)}
    for name in schema.key_names if index is None else index.key_names:
        if name in roots:
            raise InvalidRequest(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )


def check_key_update(update: nodes.UpdateNode, schema: TableSchema) -> None:
    """Raise InvalidRequest if an update writes to the key."""
    roots = {path.root for path in update.paths}
    for name in schema.key_names:
        if name in roots:
            raise InvalidRequest(
                f"One or more parameter values were invalid: Cannot update attribute {name}. "
                "This attribute is part of the key"
            )


def check_key_paths(paths: Sequence[nodes.Path], schema: TableSchema) -> None:
    """Raise InvalidRequest if a path goes into a key attribute of the table or an index."""
    nested = {path.root for path in paths if len(path.steps) > 1}
    if not nested:
        return
    keys = [("Key", name) for name in schema.key_names]
    keys += [("IndexKey", name) for index in schema.indexes for name in index.key_names]
    for kind, name in keys:
        if name in nested:
            raise InvalidRequest(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are "
                f"not allowed: {kind}: {name}"
            )


def condition_paths(condition: nodes.Condition) -> Iterator[nodes.Path]:
    """Yield every path of a condition, in order."""
    pending = [condition]
    while pending:
        node = pending.pop()
        match node:
            case nodes.And(left, right) | nodes.Or(left, right):
                pending += (right, left)
            case nodes.Not(inner):
                pending.append(inner)
            case nodes.Exists(path) | nodes.Missing(path) | nodes.TypeIs(path):
                yield path
            case nodes.Compare(_, left, right):
                yield from _operand_paths(left, right)
            case nodes.BeginsWith(operand, part) | nodes.Contains(operand, part):
                yield from _operand_paths(operand, part)
            case nodes.Between(operand, low, high):
                yield from _operand_paths(operand, low, high)
            case nodes.In(operand, options):
                yield from _operand_paths(operand, *options)


def update_paths(update: nodes.UpdateNode) -> Iterator[nodes.Path]:
    """Yield every path that an update reads or writes."""
    yield from update.paths
    pending: list[nodes.Assigned] = [assigned for _, assigned in update.sets]
    while pending:
        match pending.pop():
            case nodes.Path() as path:
                yield path
            case nodes.IfMissing(path, other):
                yield path
                pending.append(other)
            case nodes.Joined(left, right) | nodes.Sum(left, right):
                pending += (right, left)


def _operand_paths(*operands: nodes.Operand) -> Iterator[nodes.Path]:
    for operand in operands:
        inner = operand.of if isinstance(operand, nodes.Size) else operand
        if isinstance(inner, nodes.Path):
            yield inner


def _term(node: nodes.Condition) -> nodes.Range:
    match node:
        case nodes.Compare(op, left, right) if op != "<>":
            name = _key_name((left, right))
            if isinstance(left, nodes.Path):
                return nodes.Range(name, op, cast("nodes.Literal", right).value)
            return nodes.Range(
                name, cast("nodes.RangeOperator", _SWAPPED[op]), cast("nodes.Literal", left).value
            )
        case nodes.Between(operand, low, high):
            _check_first_operand("BETWEEN", operand)
            name = _key_name((operand, low, high))
            low_value, high_value = (
                cast("nodes.Literal", low).value,
                cast("nodes.Literal", high).value,
            )
            return nodes.Range(name, "between", low_value, high_value)
        case nodes.BeginsWith(operand, prefix):
            _check_first_operand("begins_with", operand)
            return nodes.Range(
                _key_name((operand, prefix)), "begins_with", cast("nodes.Literal", prefix).value
            )
    operator = _OPERATOR_NAMES.get(type(node), "<>")
    raise InvalidRequest(f"Invalid operator used in KeyConditionExpression: {operator}")


def _check_first_operand(name: str, operand: nodes.Operand) -> None:
    if not isinstance(operand, nodes.Path | nodes.Size):
        raise InvalidRequest(
            f"Invalid condition in KeyConditionExpression: {name} operator must have the key "
            "attribute as its first operand"
        )


def _key_name(operands: tuple[nodes.Operand, ...]) -> str:
    name = None
    for operand in operands:
        if isinstance(operand, nodes.Size):
            raise InvalidRequest("KeyConditionExpressions cannot contain nested operations")
        if isinstance(operand, nodes.Path):
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


def _check_single_attribute(
    terms: Mapping[str, nodes.Range],
    partition: str,
    sort: tuple[str, ...],
    schema: TableSchema,
    index: IndexSchema | None,
) -> None:
    if len(terms) > _MAX_TERMS:
        raise InvalidRequest("Conditions can be of length 1 or 2 only")
    if not sort and len(terms) > 1:
        raise _unsupported_error()
    for name in (partition, *sort):
        term = terms.get(name)
        if term is None:
            if name == partition or len(terms) > 1:
                raise _missing_error(name)
            continue
        _check_type(term, schema)
        if name == partition and term.op != "=":
            raise _unsupported_error()
        _check_not_empty(term, index)


def _check_multi_attribute(
    terms: Mapping[str, nodes.Range],
    partition: tuple[str, ...],
    sort: tuple[str, ...],
    schema: TableSchema,
    index: IndexSchema | None,
) -> None:
    missing_names = [name for name in partition if name not in terms]
    without_equality = missing_names or [name for name in partition if terms[name].op != "="]
    if without_equality:
        raise InvalidRequest(
            f"HASH key attributes {', '.join(without_equality)} must have equality conditions "
            "specified in the query"
        )
    for name in partition:
        _check_type(terms[name], schema)
        _check_not_empty(terms[name], index)
    _check_sequence(terms, sort)
    for term in terms.values():
        if term.attribute in partition:
            continue
        if term.attribute not in sort:
            raise _missing_error(next((n for n in sort if n not in terms), partition[0]))
        _check_type(term, schema)
        _check_not_empty(term, index)


def _check_sequence(terms: Mapping[str, nodes.Range], sort: tuple[str, ...]) -> None:
    """Sort attributes must be given from the left without gaps, all but the last with "="."""
    sort_names = [name for name in sort if name in terms]
    if not sort_names:
        return
    gaps = ([n for n in sort[: sort.index(name)] if n not in terms] for name in sort_names)
    later, missing = next(
        ((name, gap) for name, gap in zip(sort_names, gaps, strict=True) if gap),
        (sort_names[-1], []),
    )
    without_equality = missing or [name for name in sort_names[:-1] if terms[name].op != "="]
    if without_equality:
        raise InvalidRequest(
            f"RANGE key attributes {', '.join(without_equality)} must have equality conditions "
            f"specified in the query because a condition is present on key attribute {later}"
        )


def _values(term: nodes.Range) -> tuple[Value, ...]:
    return (term.low, term.high) if term.op == "between" else (term.low,)


def _check_type(term: nodes.Range, schema: TableSchema) -> None:
    expected = schema.types.get(term.attribute)
    if any(nodes.type_code_of(value) != expected for value in _values(term)):
        raise InvalidRequest(
            "One or more parameter values were invalid: "
            "Condition parameter type does not match schema type"
        )


def _check_not_empty(term: nodes.Range, index: IndexSchema | None) -> None:
    for value in _values(term):
        if isinstance(value, str | bytes) and not value:
            kind = "string" if isinstance(value, str) else "binary"
            rule = f"The AttributeValue for a key attribute cannot contain an empty {kind} value."
            where = f"Key: {term.attribute}"
            if index is not None:
                rule = f"A value specified for a secondary index key is not supported. {rule}"
                where = f"IndexName: {index.name}, IndexKey: {term.attribute}"
            raise InvalidRequest(f"One or more parameter values are not valid. {rule} {where}")


def _unsupported_error() -> InvalidRequest:
    return InvalidRequest("Query key condition not supported")


def _missing_error(name: str) -> InvalidRequest:
    return InvalidRequest(f"Query condition missed key schema element: {name}")
