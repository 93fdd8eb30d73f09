"""That the text of a condition is read, and refused, as DynamoDB does."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.errors import InvalidRequest
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
from grandstand.storage.tables.expressions.parse import Placeholders, parse_condition

NAMES = {"#a": "a", "#odd": "odd.name[0]", "#size": "size"}
VALUES: dict[str, Value] = {
    ":one": 1,
    ":two": 2,
    ":text": "x",
    ":list": [1],
    ":yes": True,
    ":set": frozenset({"x"}),
    ":N": "N",
    ":0_a": None,
}
A, B, C = Path(("a",)), Path(("b",)), Path(("c",))
ONE, TWO, TEXT = Literal(1), Literal(2), Literal("x")


def parsed(text: str) -> Condition:
    return parse_condition(text, Placeholders(NAMES, VALUES))


def refusal(text: str) -> str:
    with pytest.raises(InvalidRequest) as refused:
        parse_condition(text, Placeholders(NAMES, VALUES), "FilterExpression")
    return str(refused.value).removeprefix("Invalid FilterExpression: ")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("a = :one", Compare("=", A, ONE)),
        ("a<>:one", Compare("<>", A, ONE)),
        (":one <= a", Compare("<=", ONE, A)),
        ("\ta >\r\n b ", Compare(">", A, B)),
        ("a = :0_a", Compare("=", A, Literal(None))),
        ("#odd = #a", Compare("=", Path(("odd.name[0]",)), A)),
        ("a . b[ 1 ] [0].#size >= :one", Compare(">=", Path(("a", "b", 1, 0, "size")), ONE)),
        ("A_1.b2 < :one", Compare("<", Path(("A_1", "b2")), ONE)),
        ("a BETWEEN :one AND :two", Between(A, ONE, TWO)),
        ("size(a) between b and size(c)", Between(Size(A), B, Size(C))),
        ("a IN(:one)", In(A, (ONE,))),
        ("a in (:one, b,:text)", In(A, (ONE, B, TEXT))),
        ("attribute_exists (a)", Exists(A)),
        ("attribute_not_exists(a[0])", Missing(Path(("a", 0)))),
        ("attribute_type(a, :N)", TypeIs(A, Literal("N"))),
        ("begins_with(:text, a)", BeginsWith(TEXT, A)),
        ("contains(a, :list)", Contains(A, Literal([1]))),
        ("size(:text) = size(a)", Compare("=", Size(TEXT), Size(A))),
        ("NOT a = :one AND b = :one", And(Not(Compare("=", A, ONE)), Compare("=", B, ONE))),
        ("not NOT attribute_exists(a)", Not(Not(Exists(A)))),
    ],
)
def test_a_condition_means_what_it_says(text: str, condition: Condition) -> None:
    answer = parsed(text)

    assert answer == condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("{a} OR {b} AND {c}", Or(Exists(A), And(Exists(B), Exists(C)))),
        ("{a} AND {b} OR {c}", Or(And(Exists(A), Exists(B)), Exists(C))),
        ("{a} AND {b} AND {c}", And(And(Exists(A), Exists(B)), Exists(C))),
        ("{a} AND ({b} AND {c})", And(Exists(A), And(Exists(B), Exists(C)))),
        ("({a} OR {b}) and {c}", And(Or(Exists(A), Exists(B)), Exists(C))),
        ("NOT ({a} or {b})", Not(Or(Exists(A), Exists(B)))),
        ("(({a}) AND ({b}))", And(Exists(A), Exists(B))),
    ],
)
def test_not_binds_closest_then_and_then_or(text: str, condition: Condition) -> None:
    calls = {name: f"attribute_exists({name})" for name in "abc"}

    answer = parsed(text.format(**calls))

    assert answer == condition


@pytest.mark.parametrize(
    "text",
    ["(a) = :one", "a = (:one)", "(a = :one)", "((a) = (:one))", "a = :one"],
)
def test_one_pair_of_parentheses_changes_nothing(text: str) -> None:
    answer = parsed(text)

    assert answer == Compare("=", A, ONE)


@pytest.mark.parametrize(
    "text",
    [
        "((a = :one))",
        "((a)) = :one",
        "a = ((:one))",
        "a = :one AND ((b = :one OR c = :one))",
        "size(((a))) = :one",
        "a IN (((:one)))",
        "((a = :one)) =",
    ],
)
def test_a_second_pair_is_redundant(text: str) -> None:
    sentence = refusal(text)

    assert sentence == "The expression has redundant parentheses;"


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("attribute_type(:one, :N)", Compare("=", Literal("N"), Literal("N"))),
        ("attribute_type(:text, :N)", Compare("=", Literal("S"), Literal("N"))),
        ("attribute_type(size(a), :N)", Compare(">=", Size(A), Literal(0))),
    ],
)
def test_the_type_of_what_is_no_path_is_settled_while_reading(
    text: str, condition: Condition
) -> None:
    answer = parsed(text)

    assert answer == condition


def test_an_expression_has_at_most_4096_characters() -> None:
    room = 4096 - len("attribute_exists()")

    accepted = parsed(f"attribute_exists({'a' * room})")
    sentence = refusal(f"attribute_exists({'a' * (room + 1)})")

    assert accepted == Exists(Path(("a" * room,)))
    assert sentence == (
        "Expression size has exceeded the maximum allowed size; expression size: 4097"
    )


@pytest.mark.parametrize(
    "text",
    [
        " AND ".join(["a=:one"] * 151),
        "NOT " * 300 + "a=:one",
        " OR ".join(["size(a)=:one"] * 101),
        " AND ".join(["contains(a,b)"] * 151),
        "NOT (" * 300 + "a=:one" + ")" * 300,
        "(" * 2000,
    ],
)
def test_an_expression_has_at_most_300_operators(text: str) -> None:
    sentence = refusal(text)

    assert sentence == "The expression contains too many operators; operator count: 301"


@pytest.mark.parametrize(
    "text",
    [
        " AND ".join(["a=:one"] * 150),
        "NOT " * 299 + "a=:one",
        "(a=:one AND " * 149 + "a=:one" + ")" * 149,
        "NOT (" * 140 + "a=:one" + ")" * 140,
    ],
)
def test_300_operators_are_read(text: str) -> None:
    condition = parsed(text)

    assert condition is not None


def test_in_has_at_most_100_options() -> None:
    values: dict[str, Value] = {f":v{n}": n for n in range(101)}

    with pytest.raises(InvalidRequest) as refused:
        parse_condition(f"a IN ({', '.join(values)})", Placeholders(None, values))

    assert str(refused.value) == (
        "Invalid ConditionExpression: The IN operator is provided with too many operands; "
        "number of operands: 101"
    )


def test_the_same_text_is_read_anew_for_other_names_and_values() -> None:
    text = "#x = :x"

    answers = [
        parse_condition(text, Placeholders({"#x": "a"}, {":x": 1})),
        parse_condition(text, Placeholders({"#x": "b"}, {":x": "x"})),
    ]

    assert answers == [Compare("=", A, ONE), Compare("=", B, TEXT)]
