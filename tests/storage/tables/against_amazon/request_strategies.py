"""Random requests: items, conditions, updates and key conditions as both sides take them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.encoding import item_to_wire, to_wire
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.render import Rendering

Shape = dict[str, Any]

PARTITIONS = st.sampled_from(["a", "b"])
SORTS = st.integers(1, 6)
NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from(
        [Decimal("1.5"), Decimal("-0.001"), Decimal("1E+30"), Decimal("9" * 38), Decimal("1E-120")]
    ),
)
TEXTS = st.sampled_from(["", "a", "ab", "b", "é", "\uffff", "\U0001d11e", "A"])
BINARIES = st.sampled_from([b"", b"\x00", b"\x7f", b"\x80\xff", b"ab"])
SCALARS: st.SearchStrategy[Any] = st.one_of(TEXTS, NUMBERS, BINARIES, st.booleans(), st.none())
SETS: st.SearchStrategy[Any] = st.one_of(
    st.frozensets(st.sampled_from(["a", "b", "c"]), min_size=1),
    st.frozensets(st.integers(1, 4), min_size=1),
    st.frozensets(st.sampled_from([b"x", b"y"]), min_size=1),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(SCALARS, SETS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("xyz"), inner, max_size=2)
    ),
    max_leaves=3,
)
NAMES = st.sampled_from(["v", "w", "n", "m", "l", "t"])
PATHS = st.one_of(
    st.builds(lambda name: nodes.Path((name,)), NAMES),
    st.builds(lambda step: nodes.Path(("m", step)), st.sampled_from("xyz")),
    st.builds(lambda at: nodes.Path(("l", at)), st.integers(0, 3)),
    st.just(nodes.Path(("m", "x", "y"))),
)


@st.composite
def items(draw: st.DrawFn) -> Item:
    """An item of the table under comparison: key, sometimes index keys, and anything."""
    item: Item = {"p": draw(PARTITIONS), "s": draw(SORTS)}
    if draw(st.booleans()):
        item["g"] = draw(st.sampled_from(["x", "y"]))
    if draw(st.booleans()):
        item["h"] = draw(st.integers(1, 5))
    item.update(draw(st.dictionaries(NAMES, VALUES, max_size=4)))
    if draw(st.booleans()):
        item["m"] = draw(st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3))
    if draw(st.booleans()):
        item["l"] = draw(st.lists(VALUES, max_size=4))
    return item


@st.composite
def keys(draw: st.DrawFn) -> Item:
    """A key of the table under comparison."""
    return {"p": draw(PARTITIONS), "s": draw(SORTS)}


LITERALS = st.builds(nodes.Literal, VALUES)
OPERANDS = st.one_of(PATHS, LITERALS, st.builds(nodes.Size, PATHS))
_COMPARATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
_TYPES = st.sampled_from(["S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"])
_SIMPLE: st.SearchStrategy[Any] = st.one_of(
    st.builds(nodes.Compare, _COMPARATORS, PATHS, OPERANDS),
    st.builds(nodes.Exists, PATHS),
    st.builds(nodes.Missing, PATHS),
    st.builds(nodes.TypeIs, PATHS, st.builds(nodes.Literal, _TYPES)),
    st.builds(nodes.BeginsWith, PATHS, st.builds(nodes.Literal, st.one_of(TEXTS, BINARIES))),
    st.builds(nodes.Contains, PATHS, LITERALS),
    st.builds(nodes.In, PATHS, st.lists(LITERALS, min_size=1, max_size=3).map(tuple)),
    st.builds(
        lambda path, low, span: nodes.Between(path, nodes.Literal(low), nodes.Literal(low + span)),
        PATHS,
        st.integers(-3, 5),
        st.integers(0, 4),
    ),
)
CONDITIONS: st.SearchStrategy[Any] = st.recursive(
    _SIMPLE,
    lambda inner: st.one_of(
        st.builds(nodes.And, inner, inner),
        st.builds(nodes.Or, inner, inner),
        st.builds(nodes.Not, inner),
    ),
    max_leaves=3,
)
ASSIGNED: st.SearchStrategy[Any] = st.one_of(
    LITERALS,
    PATHS,
    st.builds(nodes.IfMissing, PATHS, LITERALS),
    st.builds(nodes.Joined, PATHS, st.builds(nodes.Literal, st.lists(VALUES, max_size=2))),
    st.builds(nodes.Sum, PATHS, st.builds(nodes.Literal, NUMBERS), st.booleans()),
)


@st.composite
def updates(draw: st.DrawFn) -> nodes.UpdateNode:
    """An update of one to three places, which may well be refused."""
    sets, removes, adds, deletes = [], [], [], []
    for path in draw(st.lists(PATHS, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(["set", "set", "remove", "add", "delete"]))
        if kind == "set":
            sets.append((path, draw(ASSIGNED)))
        elif kind == "remove":
            removes.append(path)
        elif kind == "add":
            adds.append((path, nodes.Literal(draw(st.one_of(NUMBERS, SETS)))))
        else:
            deletes.append((path, nodes.Literal(draw(SETS))))
    return nodes.UpdateNode(tuple(sets), tuple(removes), tuple(adds), tuple(deletes))


def with_placeholders(shape: Shape, rendering: Rendering) -> Shape:
    """Add the names and values the expressions use."""
    if rendering.names:
        shape["ExpressionAttributeNames"] = rendering.names
    if rendering.values:
        shape["ExpressionAttributeValues"] = {
            name: to_wire(value, text_binary=True) for name, value in rendering.values.items()
        }
    return shape


def wire(item: Item) -> Shape:
    """An item as JSON carries it."""
    return item_to_wire(item, text_binary=True)


def place(item: Item) -> tuple[Value, Value]:
    """What tells one item from another."""
    return item["p"], item["s"]
