"""That expressions written as text say what was meant, and read back as the same value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.expressions.evaluate import evaluate
from grandstand.storage.tables.expressions.nodes import (
    And,
    Compare,
    Condition,
    Exists,
    IfMissing,
    Joined,
    KeyCondition,
    Literal,
    Not,
    Or,
    Path,
    Range,
    Size,
    Sum,
    UpdateNode,
)
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
    parse_update,
)
from grandstand.storage.tables.expressions.render import Rendering
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from tests.storage.tables.expressions.expression_texts import parse_key_condition
from tests.storage.tables.expressions.strategies import conditions, projections, updates

A, B, C, D = (Exists(Path((name,))) for name in "abcd")
TABLE = TableSchema(
    "bets",
    "p",
    "s",
    {"p": "S", "s": "N", "h1": "S", "h2": "B", "r1": "S", "r2": "N"},
    (IndexSchema("wide", ("h1", "h2"), ("r1", "r2")),),
)

_texts = st.text(min_size=1, max_size=3)
_ranges = st.one_of(
    st.none(),
    st.builds(Range, st.just("s"), st.sampled_from(["=", "<", "<=", ">", ">="]), st.integers()),
    st.tuples(st.integers(), st.integers()).map(
        lambda ends: Range("s", "between", min(ends), max(ends))
    ),
)


def placeholders(rendering: Rendering) -> Placeholders:
    return Placeholders(rendering.names or None, rendering.values or None)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (And(And(A, B), C), "{a} AND {b} AND {c}"),
        (And(A, And(B, C)), "{a} AND ({b} AND {c})"),
        (Or(Or(A, B), C), "{a} OR {b} OR {c}"),
        (Or(A, Or(B, C)), "{a} OR ({b} OR {c})"),
        (Or(And(A, B), And(C, D)), "{a} AND {b} OR {c} AND {d}"),
        (And(Or(A, B), Or(C, D)), "({a} OR {b}) AND ({c} OR {d})"),
        (Not(And(A, B)), "NOT ({a} AND {b})"),
        (And(Not(A), B), "NOT {a} AND {b}"),
        (Not(Not(A)), "NOT NOT {a}"),
    ],
)
def test_parentheses_stand_only_where_they_are_needed(condition: Condition, text: str) -> None:
    rendering = Rendering()

    written = rendering.condition(condition)

    names = {name: f"attribute_exists({key})" for key, name in rendering.names.items()}
    assert written == text.format(**names)


def test_the_expressions_of_a_request_share_a_placeholder_for_each_name() -> None:
    rendering = Rendering()
    path = Path(("name", 2, "size"))

    texts = [
        rendering.condition(Compare(">", Size(path), Literal(3))),
        rendering.projection([path, Path(("size",))]),
        rendering.update(UpdateNode(removes=(path,))),
    ]

    assert texts == ["size(#n0[2].#n1) > :v0", "#n0[2].#n1, #n1", "REMOVE #n0[2].#n1"]
    assert rendering.names == {"#n0": "name", "#n1": "size"}
    assert rendering.values == {":v0": 3}


def test_an_update_is_written_section_by_section() -> None:
    rendering = Rendering()
    update = UpdateNode(
        sets=(
            (Path(("a",)), Sum(IfMissing(Path(("a",)), Literal(0)), Literal(1), subtract=True)),
            (Path(("b",)), Joined(Path(("b",)), Literal([1]))),
        ),
        removes=(Path(("c",)),),
        adds=((Path(("d",)), Literal(1)),),
        deletes=((Path(("e",)), Literal(frozenset({"x"}))),),
    )

    text = rendering.update(update)

    assert text == (
        "SET #n0 = if_not_exists(#n0, :v0) - :v1, #n1 = list_append(#n1, :v2) "
        "REMOVE #n2 ADD #n3 :v3 DELETE #n4 :v4"
    )


def test_an_update_that_does_nothing_is_an_empty_text() -> None:
    text = Rendering().update(UpdateNode())

    assert text == ""


def test_values_stay_the_values_they_were() -> None:
    rendering, value = Rendering(), {"list": [frozenset({1})]}

    rendering.condition(Compare("=", Path(("a",)), Literal(value)))  # type: ignore[arg-type]

    assert rendering.values[":v0"] is value


@given(conditions)
def test_a_condition_reads_back_as_the_same_value(condition: Condition) -> None:
    rendering = Rendering()
    text = rendering.condition(condition)

    given_back = parse_condition(text, placeholders(rendering))

    assert repr(given_back) == repr(condition)


@given(conditions, updates, projections)
def test_a_request_reads_back_with_no_placeholder_unused(
    condition: Condition, update: UpdateNode, paths: tuple[Path, ...]
) -> None:
    rendering = Rendering()
    texts = [
        rendering.condition(condition),
        rendering.update(UpdateNode(sets=((Path(("z",)), Literal(1)),), removes=update.removes)),
        rendering.projection(paths),
    ]
    shared = placeholders(rendering)

    given_back = [
        repr(parse_condition(texts[0], shared)),
        parse_update(texts[1], shared).removes,
        parse_projection(texts[2], shared),
    ]
    shared.check_used()

    assert given_back == [repr(condition), update.removes, paths]


@given(updates.filter(lambda update: bool(update.paths)))
def test_an_update_reads_back_as_the_same_value(update: UpdateNode) -> None:
    rendering = Rendering()
    text = rendering.update(update)

    given_back = parse_update(text, placeholders(rendering))

    assert repr(given_back) == repr(update)


@given(_texts, _ranges)
def test_a_key_condition_reads_back_as_the_same_value(partition: str, sort: Range | None) -> None:
    rendering = Rendering()
    condition = KeyCondition((("p", partition),), sort)
    text = rendering.key_condition(condition)

    given_back = parse_key_condition(text, placeholders(rendering), TABLE)

    assert given_back == condition


@pytest.mark.parametrize(
    ("equals", "sort"),
    [
        ((), None),
        ((), Range("r1", "begins_with", "x")),
        ((), Range("r1", "=", "x")),
        ((("r1", "x"),), Range("r2", ">", 4)),
        ((("r1", "x"),), Range("r2", "between", 4, 5)),
    ],
)
def test_a_key_condition_of_many_attributes_reads_back_as_the_same_value(
    equals: tuple[tuple[str, Value], ...], sort: Range | None
) -> None:
    rendering = Rendering()
    condition = KeyCondition((("h1", "x"), ("h2", b"y"), *equals), sort)
    text = rendering.key_condition(condition)

    given_back = parse_key_condition(text, placeholders(rendering), TABLE, TABLE.indexes[0])

    assert given_back == condition


def test_a_deep_chain_of_conditions_is_written_and_read_without_exhausting_the_stack() -> None:
    chain: Condition = A
    for _ in range(149):
        chain = And(chain, Compare("=", Path(("b",)), Literal(1)))
    rendering = Rendering()

    given_back = parse_condition(rendering.condition(chain), placeholders(rendering))

    assert given_back == chain


@pytest.mark.parametrize(
    "text",
    [
        "NOT " * 299 + "a = :v",
        "(a = :v AND " * 149 + "a = :v" + ")" * 149,
        "NOT (" * 150 + "a = :v" + ")" * 150,
        "NOT (a = :v AND " * 99 + "a = :v" + ")" * 99,
    ],
)
def test_the_deepest_conditions_are_read_written_and_carried_out(text: str) -> None:
    condition = parse_condition(text, Placeholders(None, {":v": 1}))
    rendering = Rendering()

    given_back = parse_condition(rendering.condition(condition), placeholders(rendering))

    assert repr(given_back) == repr(condition)
    assert evaluate(condition, {"a": 1}) is evaluate(given_back, {"a": 1})
