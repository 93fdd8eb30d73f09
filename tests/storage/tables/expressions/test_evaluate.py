"""That a condition holds exactly when DynamoDB says so."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given

from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import compile_condition, evaluate
from grandstand.storage.tables.expressions.nodes import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    In,
    Literal,
    Missing,
    Not,
    Or,
    Path,
    Size,
    TypeIs,
)
from tests.storage.tables.expressions.strategies import conditions, items

A = Path(("a",))
B = Path(("b",))
NOWHERE = Path(("nowhere",))


def at(*steps: str | int) -> Path:
    return Path(steps)


def of(value: Value) -> Literal:
    return Literal(value)


@pytest.mark.parametrize("op", ["=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("item", [None, {}, {"b": 1}])
def test_comparing_an_absent_attribute_is_false(op: str, item: Item | None) -> None:
    condition = Compare(op, A, of(1))  # type: ignore[arg-type]

    holds = evaluate(condition, item)

    assert holds is False


@pytest.mark.parametrize("other", [of(1), NOWHERE, Size(NOWHERE)])
def test_an_absent_attribute_differs_from_everything_even_from_another_absent_one(
    other: Literal | Path | Size,
) -> None:
    condition = Compare("<>", A, other)

    holds = evaluate(condition, None)

    assert holds is True


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, Decimal("1.0"), True),
        (Decimal("0.1"), Decimal("0.10"), True),
        (1, True, False),
        (0, False, False),
        (None, None, True),
        (None, False, False),
        ("1", 1, False),
        ("a", b"a", False),
        ([1, [2]], [Decimal(1), [Decimal(2)]], True),
        ([1, 2], [2, 1], False),
        ([1], [True], False),
        ({"x": {"y": 1}}, {"x": {"y": Decimal(1)}}, True),
        ({"x": 1}, {"x": 1, "y": 1}, False),
        ({"x": 1}, {"x": True}, False),
        (frozenset({1, 2}), frozenset({Decimal("2.0"), 1}), True),
        (frozenset({"1"}), frozenset({1}), False),
        (frozenset({"a"}), ["a"], False),
    ],
)
def test_equality_never_crosses_types_and_takes_numbers_by_amount(
    *, left: Value, right: Value, equal: bool
) -> None:
    item: Item = {"a": left, "b": right}

    answers = [
        evaluate(Compare("=", A, of(right)), item),
        evaluate(Compare("=", A, B), item),
        not evaluate(Compare("<>", B, A), item),
        evaluate(In(A, (of("other"), B)), item),
        evaluate(Contains(of([right]), A), item),
    ]

    assert answers == [equal] * 5


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (1, Decimal("1.5")),
        (Decimal(-2), 1),
        (9, 10),
        ("A", "a"),
        ("a", "aa"),
        ("z", "é"),
        ("\uffff", "\U0001d11e"),
        (b"\x7f", b"\x80"),
        (b"", b"\x00"),
    ],
)
def test_order_is_by_amount_by_utf8_bytes_and_by_unsigned_bytes(less: Value, more: Value) -> None:
    item: Item = {"a": less, "b": more}

    answers = [
        evaluate(Compare("<", A, B), item),
        evaluate(Compare("<=", A, B), item),
        evaluate(Compare(">", B, A), item),
        evaluate(Compare(">=", A, of(less)), item),
        evaluate(Between(A, of(less), B), item),
        evaluate(Compare(">=", A, B), item),
        evaluate(Between(B, A, of(less)), item),
    ]

    assert answers == [True] * 5 + [False] * 2


@pytest.mark.parametrize("stored", [True, None, [1], {"x": 1}, frozenset({1}), "1", b"1"])
def test_order_between_different_or_unordered_types_is_false(stored: Value) -> None:
    item: Item = {"a": stored, "b": stored}

    answers = [
        evaluate(Compare("<", A, of(2)), item),
        evaluate(Compare(">", A, of(0)), item),
        evaluate(Between(A, of(0), of(2)), item),
        evaluate(Between(of(1), A, B), item),
    ]

    assert answers == [False] * 4


@pytest.mark.parametrize(
    ("stored", "part", "holds"),
    [
        ("hello", "ell", True),
        ("hello", "", True),
        ("hello", "ELL", False),
        ("12", 1, False),
        (b"hello", b"ell", True),
        (b"hello", "ell", False),
        (frozenset({"a", "b"}), "a", True),
        (frozenset({"ab"}), "a", False),
        (frozenset({1, 2}), Decimal("2.0"), True),
        (frozenset({1}), True, False),
        (frozenset({"a"}), frozenset({"a"}), False),
        ([1, [2], {"x": 3}], [2], True),
        ([1, [2], {"x": 3}], {"x": Decimal(3)}, True),
        ([1], True, False),
        ([None], None, True),
        ([frozenset({1})], frozenset({1}), True),
        ({"x": 1}, "x", False),
        (7, 7, False),
        (None, None, False),
    ],
)
def test_contains_is_a_substring_a_member_or_an_element(
    *, stored: Value, part: Value, holds: bool
) -> None:
    condition = Contains(A, of(part))

    answer = evaluate(condition, {"a": stored})

    assert answer is holds


@pytest.mark.parametrize(
    ("value", "prefix", "holds"),
    [
        ("hello", "he", True),
        ("hello", "", True),
        ("hello", "hello!", False),
        (b"hello", b"he", True),
        ("hello", b"he", False),
        (b"hello", "he", False),
        (5, "5", False),
        (["he"], "he", False),
    ],
)
def test_begins_with_takes_text_or_bytes(*, value: Value, prefix: Value, holds: bool) -> None:
    item: Item = {"a": value, "b": prefix}

    answers = [evaluate(BeginsWith(A, of(prefix)), item), evaluate(BeginsWith(A, B), item)]

    assert answers == [holds, holds]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("", 0),
        ("hello", 5),
        ("é", 1),
        ("é\U0001d11e", 3),
        (b"\x00\x01", 2),
        ([1, [2, 3]], 2),
        ({"x": {"y": 1, "z": 2}}, 1),
        (frozenset({1, 2, 3}), 3),
        ([], 0),
    ],
)
def test_size_counts_utf16_units_bytes_or_elements(value: Value, size: int) -> None:
    item: Item = {"a": value}

    answers = [
        evaluate(Compare("=", Size(A), of(size)), item),
        evaluate(Compare("=", Size(of(value)), of(size)), None),
        evaluate(Between(Size(A), of(size), of(size)), item),
    ]

    assert answers == [True, True, True]


@pytest.mark.parametrize("stored", [5, True, None])
def test_what_has_no_size_equals_no_number(stored: Value) -> None:
    item: Item = {"a": stored}

    answers = [
        evaluate(Compare("=", Size(A), of(1)), item),
        evaluate(Compare(">=", Size(A), of(0)), item),
        evaluate(In(Size(A), (of(1), of(0))), item),
        evaluate(Compare("<>", Size(A), of(1)), item),
    ]

    assert answers == [False, False, False, True]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("", "S"),
        (1, "N"),
        (Decimal("1.5"), "N"),
        (b"", "B"),
        (True, "BOOL"),
        (None, "NULL"),
        ([], "L"),
        ({}, "M"),
        (frozenset({"a"}), "SS"),
        (frozenset({1}), "NS"),
        (frozenset({b"a"}), "BS"),
    ],
)
def test_each_value_is_of_one_type_only(value: Value, code: str) -> None:
    codes = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]

    held = [name for name in codes if evaluate(TypeIs(A, of(name)), {"a": value})]

    assert held == [code]


@pytest.mark.parametrize(
    ("path", "there"),
    [
        (at("a"), True),
        (at("a", "b", 0), True),
        (at("a", "b", 1, "c"), True),
        (at("a", "b", 2), False),
        (at("a", 0), False),
        (at("a", "b", "c"), False),
        (at("a", "z", "z"), False),
        (at("n"), True),
        (at("n", "b"), False),
        (at("dotted.name"), True),
    ],
)
def test_a_path_is_there_only_when_every_step_is(*, path: Path, there: bool) -> None:
    item: Item = {"a": {"b": [1, {"c": 2}]}, "n": None, "dotted.name": 1}

    answers = [evaluate(Exists(path), item), evaluate(Missing(path), item)]

    assert answers == [there, not there]


def test_an_absent_item_has_no_attributes() -> None:
    answers = [evaluate(Missing(A), None), evaluate(Exists(A), None)]

    assert answers == [True, False]


def test_junctions_stop_at_the_first_answer() -> None:
    yes, no = Compare("=", of(1), of(1)), Compare("=", of(1), of(2))

    answers = [
        evaluate(condition, None)
        for condition in (And(yes, no), And(yes, yes), Or(no, yes), Or(no, no), Not(no))
    ]

    assert answers == [False, True, True, False, True]


def test_a_long_chain_does_not_exhaust_the_stack() -> None:
    chain: Condition = Exists(A)
    for _ in range(5000):
        chain = And(chain, Exists(A))

    holds = evaluate(chain, {"a": 1})

    assert holds is True


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        (Compare("<", A, of(True)), "operator or function: <, operand type: BOOL"),
        (Compare("=", A, A), "operator: =, first operand: [a]"),
        (Compare("=", Size(of(1)), of(1)), "operator or function: size, operand type: N"),
        (BeginsWith(A, of(1)), "operator or function: begins_with, operand type: N"),
        (Between(A, of(2), of(1)), "requires upper bound to be greater than or equal"),
        (TypeIs(A, of("TEXT")), "Invalid attribute type name found; type: TEXT"),
        (In(A, tuple(of(n) for n in range(101))), "number of operands: 101"),
    ],
)
def test_what_dynamodb_refuses_is_refused_before_any_item_is_looked_at(
    condition: Condition, sentence: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        compile_condition(Or(Exists(B), condition), "FilterExpression")

    assert str(refused.value).startswith("Invalid FilterExpression: ")
    assert sentence in str(refused.value)


@given(conditions, conditions, items)
def test_the_junctions_are_those_of_logic(one: Condition, two: Condition, item: Item) -> None:
    left, right = evaluate(one, item), evaluate(two, item)

    answers = [
        evaluate(And(one, two), item),
        evaluate(Or(one, two), item),
        evaluate(Not(one), item),
    ]

    assert answers == [left and right, left or right, not left]


@given(conditions, items)
def test_a_compiled_condition_answers_the_same_twice_and_leaves_the_item_alone(
    condition: Condition, item: Item
) -> None:
    before, test = repr(item), compile_condition(condition)

    answers = [test(item), test(item), evaluate(condition, item)]

    assert len(set(answers)) == 1
    assert repr(item) == before
