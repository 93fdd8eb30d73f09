"""Chance values, items, conditions, updates and projections for the tests of expressions."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Item, Number, Value, normalize_number
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import compile_condition
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
    UpdateNode,
    check_paths,
    check_update,
)

T = TypeVar("T")

_CODES = ("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")

# Few and short, so that paths often meet what an item holds.
NAMES = st.sampled_from(["a", "b", "c", "name", "#odd name.[0]", "é"])

texts = st.text(st.sampled_from("abzé\uffff\U0001d11e"), max_size=3)
binaries = st.binary(max_size=2)
numbers: st.SearchStrategy[Number] = (
    st.integers(-3, 3) | st.decimals(-3, 3, places=1, allow_nan=False, allow_infinity=False)
).map(normalize_number)
sets: st.SearchStrategy[Value] = st.one_of(
    st.frozensets(texts, min_size=1, max_size=3),
    st.frozensets(numbers, min_size=1, max_size=3),
    st.frozensets(binaries, min_size=1, max_size=3),
)
scalars: st.SearchStrategy[Value] = st.one_of(
    texts, numbers, binaries, st.booleans(), st.none(), sets
)
values: st.SearchStrategy[Value] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
items: st.SearchStrategy[Item] = st.dictionaries(NAMES, values, max_size=5)
paths: st.SearchStrategy[Path] = st.builds(
    lambda root, rest: Path((root, *rest)),
    NAMES,
    st.lists(NAMES | st.integers(0, 3), max_size=2),
)

_literals = st.builds(Literal, values)
_sized = st.builds(Literal, st.one_of(texts, binaries, sets, st.lists(scalars, max_size=2)))
_orderable = st.builds(Literal, st.one_of(texts, numbers, binaries))
_prefixes: st.SearchStrategy[Operand] = paths | st.builds(Literal, texts | binaries)
_sizes: st.SearchStrategy[Operand] = st.builds(Size, paths | _sized)
operands: st.SearchStrategy[Operand] = st.one_of(paths, paths, _literals, _sizes)
_in_order: st.SearchStrategy[Operand] = st.one_of(paths, paths, _orderable, _sizes)


def _accepted_condition(condition: Condition) -> bool:
    return _accepted(compile_condition, condition)


def _accepted_update(update: UpdateNode) -> bool:
    return _accepted(check_update, update)


def _accepted(check: object, subject: object) -> bool:
    try:
        check(subject)  # type: ignore[operator]
    except InvalidRequest:
        return False
    return True


leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Compare, st.sampled_from(["=", "<>"]), operands, operands),
    st.builds(Compare, st.sampled_from(["<", "<=", ">", ">="]), _in_order, _in_order),
    st.builds(Between, _in_order, _in_order, _in_order),
    st.builds(In, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    st.builds(Exists, paths),
    st.builds(Missing, paths),
    st.builds(TypeIs, paths, st.builds(Literal, st.sampled_from(_CODES))),
    st.builds(BeginsWith, _prefixes, _prefixes),
    st.builds(Contains, operands, operands),
).filter(_accepted_condition)

conditions: st.SearchStrategy[Condition] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(And, inner, inner), st.builds(Or, inner, inner), st.builds(Not, inner)
    ),
    max_leaves=6,
)

_fallbacks: st.SearchStrategy[Assigned] = st.recursive(
    paths | _literals, lambda inner: st.builds(IfMissing, paths, inner), max_leaves=2
)
_addends = st.one_of(
    paths, st.builds(Literal, numbers), st.builds(IfMissing, paths, st.builds(Literal, numbers))
)
_lists = st.one_of(
    paths,
    st.builds(Literal, st.lists(scalars, max_size=2)),
    st.builds(IfMissing, paths, st.builds(Literal, st.just([]))),
)
_assigned: st.SearchStrategy[Assigned] = st.one_of(
    _literals,
    _fallbacks,
    st.builds(Sum, _addends, _addends, st.booleans()),
    st.builds(Joined, _lists, _lists),
)


def _several(entries: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(entries, max_size=2).map(tuple)


updates: st.SearchStrategy[UpdateNode] = st.builds(
    UpdateNode,
    sets=_several(st.tuples(paths, _assigned)),
    removes=_several(paths),
    adds=_several(st.tuples(paths, st.builds(Literal, numbers | sets))),
    deletes=_several(st.tuples(paths, st.builds(Literal, sets))),
).filter(_accepted_update)

projections: st.SearchStrategy[tuple[Path, ...]] = (
    st.lists(paths, min_size=1, max_size=4)
    .map(tuple)
    .filter(lambda chosen: _accepted(check_paths, chosen))
)
