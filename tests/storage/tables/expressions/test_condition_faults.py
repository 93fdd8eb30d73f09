"""That a condition DynamoDB would not read is refused, in its words and in its order."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.parse import Placeholders, parse_condition

NAMES = {"#a": "a"}
VALUES: dict[str, Value] = {
    ":one": 1,
    ":two": 2,
    ":text": "x",
    ":list": [1],
    ":yes": True,
    ":set": frozenset({"x"}),
}


def refusal(text: str) -> str:
    with pytest.raises(InvalidRequest) as refused:
        parse_condition(text, Placeholders(NAMES, VALUES), "FilterExpression")
    return str(refused.value).removeprefix("Invalid FilterExpression: ")


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("a", "<EOF>", "a"),
        ("a = ", "<EOF>", "= "),
        (" ", "<EOF>", " "),
        ("= a", "=", "= a"),
        ("a = :one b", "b", ":one b"),
        ("a == :one", "=", "== :one"),
        ("a = 1", "1", "= 1"),
        ("a = 'x'", "'", "= 'x"),
        ("a ! :one", "!", "a ! :one"),
        ("_a = :one", "_", "_a"),
        ("a-b = :one", "-", "a-b"),
        ("é = :one", "é", "é ="),
        ("# = :one", "#", "# ="),
        ("a[01] = :one", "1", "01]"),
        ("a[:one] = :one", ":one", "[:one]"),
        ("a[-1] = :one", "-", "[-1"),
        ("a..b = :one", ".", "..b"),
        ("a. = :one", "=", ". = :one"),
        ("a = :one AND", "<EOF>", "AND"),
        ("AND", "AND", "AND"),
        ("set = :one", "set", "set ="),
        ("a.in = :one", "in", ".in ="),
        ("(a = :one", "<EOF>", ":one"),
        ("a = :one)", ")", ":one)"),
        ("(a = :one) = :one", "=", ") = :one"),
        ("((a)) b", "b", ") b"),
        ("a in :one", ":one", "in :one"),
        ("a in ()", ")", "()"),
        ("a between :one", "<EOF>", ":one"),
        ("a = b + :one", "+", "b + :one"),
        ("foo()", ")", "()"),
        ("attribute_exists a", "a", "attribute_exists a"),
        ("a < b < c", "<", "b < c"),
    ],
)
def test_a_syntax_error_names_the_token_and_its_neighbours(
    text: str, token: str, near: str
) -> None:
    sentence = refusal(text)

    assert sentence == f'Syntax error; token: "{token}", near: "{near}"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The expression can not be empty;"),
        ("name = :one", "Attribute name is a reserved keyword; reserved keyword: name"),
        ("a.TABLE = :one", "Attribute name is a reserved keyword; reserved keyword: TABLE"),
        ("foo(a)", "Invalid function name; function: foo"),
        ("SIZE(a) = :one", "Invalid function name; function: SIZE"),
        (
            "if_not_exists(a, :one) = :one",
            "The function is not allowed in a condition expression; function: if_not_exists",
        ),
        (
            "size(a)",
            "The function is not allowed to be used this way in an expression; function: size",
        ),
        (
            "contains(attribute_exists(a), :one)",
            (
                "The function is not allowed to be used this way in an expression; "
                "function: attribute_exists"
            ),
        ),
        (
            "a[2147483648] = :one",
            "List index is not within the allowable range; index: [2147483648]",
        ),
        (
            "#zz = :one",
            (
                "An expression attribute name used in the document path is not defined; "
                "attribute name: #zz"
            ),
        ),
        (
            "a = :zz",
            (
                "An expression attribute value used in expression is not defined; "
                "attribute value: :zz"
            ),
        ),
        (
            "a.:one = :one",
            (
                "An expression attribute name used in the document path is not defined; "
                "attribute name: :one"
            ),
        ),
        (
            "contains(a)",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: contains, number of operands: 1"
            ),
        ),
        (
            "size(a, b) = :one",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: size, number of operands: 2"
            ),
        ),
        (
            "attribute_exists(:one)",
            (
                "Operator or function requires a document path; "
                "operator or function: attribute_exists"
            ),
        ),
        (
            "a = #a",
            (
                "The first operand must be distinct from the remaining operands for this operator "
                "or function; operator: =, first operand: [a]"
            ),
        ),
        (
            "a.b[1] in (:one, a.b[1])",
            (
                "The first operand must be distinct from the remaining operands for this operator "
                "or function; operator: IN, first operand: [a, b, [1]]"
            ),
        ),
        (
            "attribute_type(a, a)",
            (
                "The first operand must be distinct from the remaining operands for this operator "
                "or function; operator: attribute_type, first operand: [a]"
            ),
        ),
        (
            "a > :list",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: >, operand type: L"
            ),
        ),
        (
            "a between :set and b",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: BETWEEN, operand type: SS"
            ),
        ),
        (
            "begins_with(a, :one)",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
        (
            "begins_with(size(a), :text)",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
        (
            "size(:yes) = :one",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: size, operand type: BOOL"
            ),
        ),
        (
            "size(size(a)) = :one",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: size, operand type: N"
            ),
        ),
        (
            "attribute_type(a, :one)",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: attribute_type, operand type: N"
            ),
        ),
        (
            "attribute_type(a, b)",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
            ),
        ),
        (
            "attribute_type(a, :text)",
            (
                "Invalid attribute type name found; type: x, "
                "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
            ),
        ),
        (
            "a between :two and :one",
            (
                "The BETWEEN operator requires upper bound to be greater than or equal to lower "
                "bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: "
                "AttributeValue: {N:1}"
            ),
        ),
        (
            "a between :one and :text",
            (
                "The BETWEEN operator requires same data type for lower and upper bounds; lower "
                "bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:x}"
            ),
        ),
        (
            f"a{'.a' * 32} = :one",
            "The document path has too many nesting levels; nesting levels: 33",
        ),
    ],
)
def test_a_broken_rule_is_said_in_dynamodbs_words(text: str, sentence: str) -> None:
    answer = refusal(text)

    assert answer == sentence


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("foo(a) AND ((b = :one))", "The expression has redundant"),
        ("a = :zz AND foo(b)", "Invalid function name"),
        ("a = a AND name = :one", "Attribute name is a reserved"),
        ("size(a) AND foo(b)", "The function is not allowed"),
        ("name = :one AND foo(b)", "Attribute name is a reserved"),
        ("a = a AND #zz = :one", "The first operand must be distinct"),
        ("#zz = :one AND a = a", "An expression attribute name"),
        ("contains(#zz)", "An expression attribute name"),
        ("a between :list and a", "Incorrect operand type"),
        ("foo(a) AND a =", "Syntax error"),
    ],
)
def test_faults_are_found_in_dynamodbs_order(text: str, start: str) -> None:
    answer = refusal(text)

    assert answer.startswith(start)
