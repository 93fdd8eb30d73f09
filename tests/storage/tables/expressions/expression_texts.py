"""Chance texts of expressions, right and wrong, over the names and values given here."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.expressions.key_conditions import key_condition, key_terms
from grandstand.storage.tables.expressions.nodes import KeyCondition
from grandstand.storage.tables.expressions.parse import Placeholders, parse_condition
from grandstand.storage.tables.schema import IndexSchema, TableSchema

NAMES: Final = {"#a": "a", "#x": "a", "#w": "weird name!", "#r": "name", "#b": "b"}
VALUES: Final[dict[str, Value]] = {
    ":n": 1,
    ":m": 2,
    ":s": "x",
    ":t": "ab",
    ":l": [1, "x"],
    ":el": [],
    ":ss": frozenset({"a"}),
    ":s2": frozenset({"a", "b"}),
    ":ns": frozenset({1, 2}),
    ":map": {"a": 1},
    ":nul": None,
    ":true": True,
    ":e": "",
    ":S": "S",
    ":N": "N",
}
ITEMS: Final[tuple[Item, ...]] = (
    {},
    {"a": 1, "b": 2, "c": "x"},
    {"a": "x", "b": "ab", "c": [1, "x"]},
    {"a": {"b": 1, "c": {"d": [1, 2, {"e": "x"}]}}, "b": [1, 2, 3], "c": None},
    {"a": frozenset({"a", "b"}), "b": frozenset({1, 2}), "c": b"x", "d": True},
    {"a": [1, "x", [1]], "b": 1, "c": {"a": 1}},
    {"weird name!": 1, "name": "x", "a": None, "b": False},
    {"a": Decimal("1.5"), "b": 10, "c": "é\U0001d11e"},
    {"a": b"xy", "b": b"x", "c": ""},
    {"a": [{"b": 1}, {"c": 2}], "b": {"a": [0, 1]}, "c": frozenset({b"x"})},
)

_PATHS = [
    "a",
    "b",
    "c",
    "d",
    "z",
    "#a",
    "#x",
    "#w",
    "#r",
    "#b",
    "a.b",
    "a.z",
    "a.c.d[0]",
    "a.c.d[9]",
    "a.c.d[2].e",
    "b[0]",
    "b[1]",
    "b[7]",
    "a[0].b",
    "a[1]",
    "c.a",
    "b.a[0]",
    "b.a[5]",
    "z.y",
]
_WRONG = ["#zz", ":zz", "name", "a[99999999999]", "foo(a)", "contains(a, b)"]
_TOKENS = [
    "a",
    "#a",
    ":n",
    ":s",
    "=",
    "<>",
    "<",
    "(",
    ")",
    ",",
    ".",
    "[",
    "]",
    "0",
    "01",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "IN",
    "attribute_exists",
    "SET",
    "REMOVE",
    "ADD",
    "DELETE",
    "+",
    "-",
    "!",
    "é",
    "_x",
    "name",
    "#zz",
    ":zz",
    "foo",
    "if_not_exists",
    "list_append",
    "#",
    ":",
]

paths = st.sampled_from(_PATHS)
_operands = st.one_of(
    paths,
    st.sampled_from(list(VALUES)),
    paths.map("size({})".format),
    st.sampled_from([*_WRONG, "(a)", "((b))", "size(:n)", "size(:s)", "size(a, b)"]),
)
_several = st.lists(_operands, min_size=1, max_size=3).map(", ".join)
_leaves = st.one_of(
    st.builds(
        "{} {} {}".format, _operands, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), _operands
    ),
    st.builds("{} BETWEEN {} AND {}".format, _operands, _operands, _operands),
    st.builds("{} IN ({})".format, _operands, _several),
    st.builds(
        "{}({}, {})".format,
        st.sampled_from(["begins_with", "contains", "attribute_type"]),
        _operands,
        _operands,
    ),
    st.builds(
        "{}({})".format, st.sampled_from(["attribute_exists", "attribute_not_exists"]), _operands
    ),
)
_conditions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds("{} AND {}".format, inner, inner),
        st.builds("{} OR {}".format, inner, inner),
        st.builds("NOT {}".format, inner),
        st.builds("({})".format, inner),
    ),
    max_leaves=4,
)

_assigned = st.one_of(
    _operands,
    st.builds("{} + {}".format, _operands, _operands),
    st.builds("({} - :n)".format, paths),
    st.builds("if_not_exists({}, {})".format, paths, _operands),
    st.builds("if_not_exists({}, :n) + :m".format, paths),
    st.builds("list_append({}, {})".format, _operands, _operands),
    st.builds("list_append(if_not_exists({}, :el), :l)".format, paths),
)
_sections = st.one_of(
    st.lists(st.builds("{} = {}".format, paths, _assigned), min_size=1, max_size=2).map(
        lambda actions: "SET " + ", ".join(actions)
    ),
    st.lists(paths, min_size=1, max_size=2).map(lambda actions: "REMOVE " + ", ".join(actions)),
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["ADD", "DELETE"]),
        paths,
        st.sampled_from([":n", ":ss", ":s2", ":ns", ":s", ":zz"]),
    ),
)


def _damaged(text: str, edits: list[tuple[int, str]]) -> str:
    tokens = re.findall(r"\s+|[#:]?\w+|<=|>=|<>|.", text)
    for at, token in edits:
        tokens[at % len(tokens) : at % len(tokens) + len(token) % 2] = [token]
    return "".join(tokens)


def _sometimes_damaged(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    edits = st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from([*_TOKENS, *(f" {t} " for t in _TOKENS)])),
        min_size=1,
        max_size=2,
    )
    # DynamoDB Local breaks down over a value's placeholder as a step of a path.
    return (texts | st.builds(_damaged, texts, edits)).filter(
        lambda text: not re.search(r"\.\s*:", text)
    )


condition_texts = _sometimes_damaged(_conditions)
update_texts = _sometimes_damaged(st.lists(_sections, min_size=1, max_size=3).map(" ".join))
projection_texts = _sometimes_damaged(st.lists(paths, min_size=1, max_size=3).map(", ".join))


def parse_key_condition(
    text: str, placeholders: Placeholders, schema: TableSchema, index: IndexSchema | None = None
) -> KeyCondition:
    """Read which part of a table or index a query wants; raise InvalidRequest."""
    condition = parse_condition(text, placeholders, "KeyConditionExpression")
    return key_condition(key_terms(condition), schema, index)
