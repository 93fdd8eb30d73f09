"""That the texts of updates and projections are read, and refused, as DynamoDB does."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import (
    IfMissing,
    Joined,
    Literal,
    Path,
    Sum,
    UpdateNode,
)
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_projection,
    parse_update,
)

NAMES = {"#a": "a", "#r": "name"}
VALUES: dict[str, Value] = {
    ":one": 1,
    ":text": "x",
    ":list": [1],
    ":set": frozenset({"x"}),
    ":yes": True,
}
A, B, C = Path(("a",)), Path(("b",)), Path(("c",))
ONE, LIST = Literal(1), Literal([1])


def parsed(text: str) -> UpdateNode:
    return parse_update(text, Placeholders(NAMES, VALUES))


def refusal(text: str) -> str:
    with pytest.raises(InvalidRequest) as refused:
        parsed(text)
    return str(refused.value).removeprefix("Invalid UpdateExpression: ")


def projection_refusal(text: str) -> str:
    with pytest.raises(InvalidRequest) as refused:
        parse_projection(text, Placeholders(NAMES))
    return str(refused.value).removeprefix("Invalid ProjectionExpression: ")


@pytest.mark.parametrize(
    ("text", "update"),
    [
        ("SET a = :one", UpdateNode(sets=((A, ONE),))),
        ("set #a=b", UpdateNode(sets=((A, B),))),
        ("SET a = b + :one", UpdateNode(sets=((A, Sum(B, ONE)),))),
        ("SET a = (b - :one)", UpdateNode(sets=((A, Sum(B, ONE, subtract=True)),))),
        ("SET a = (b) + (:one)", UpdateNode(sets=((A, Sum(B, ONE)),))),
        ("SET a = ((b) + :one)", UpdateNode(sets=((A, Sum(B, ONE)),))),
        ("SET a = if_not_exists(a, :one)", UpdateNode(sets=((A, IfMissing(A, ONE)),))),
        (
            "SET a = if_not_exists(a, :one) + :one",
            UpdateNode(sets=((A, Sum(IfMissing(A, ONE), ONE)),)),
        ),
        (
            "SET a = list_append(if_not_exists(b, :list), (c))",
            UpdateNode(sets=((A, Joined(IfMissing(B, LIST), C)),)),
        ),
        ("SET a[0].#r = :one, b=:one", UpdateNode(sets=((Path(("a", 0, "name")), ONE), (B, ONE)))),
        ("REMOVE a, b[1]", UpdateNode(removes=(A, Path(("b", 1))))),
        ("ADD a :one, b :set", UpdateNode(adds=((A, ONE), (B, Literal(frozenset({"x"})))))),
        ("Delete a.b :set", UpdateNode(deletes=((Path(("a", "b")), Literal(frozenset({"x"}))),))),
        (
            "ADD c :one REMOVE b SET a = :one",
            UpdateNode(sets=((A, ONE),), removes=(B,), adds=((C, ONE),)),
        ),
    ],
)
def test_an_update_means_what_it_says(text: str, update: UpdateNode) -> None:
    answer = parsed(text)

    assert answer == update


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("SET", "<EOF>", "SET"),
        ("SET a", "<EOF>", "a"),
        ("SET a = :one,", "<EOF>", ","),
        ("SET a = :one b = :one", "b", ":one b ="),
        ("SET a = :one, REMOVE b", "REMOVE", ", REMOVE b"),
        ("SET a = b + :one + :one", "+", ":one + :one"),
        ("SET a = (b + :one) - c", "-", ") - c"),
        ("SET a = b - (c + :one)", "+", "c + :one"),
        ("SET a = if_not_exists(b, :one + :one)", "+", ":one + :one"),
        ("SET a = -:one", "-", "= -:one"),
        ("SET :one = :one", ":one", "SET :one ="),
        ("SET if_not_exists(a, :one) = :one", "(", "if_not_exists(a"),
        ("REMOVE a b", "b", "a b"),
        ("ADD a b", "b", "a b"),
        ("ADD a (:one)", "(", "a (:one"),
        ("HELLO a = :one", "HELLO", "HELLO a"),
        ("SET set = :one", "set", "SET set ="),
        (" ", "<EOF>", " "),
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
        ("SET a = ((b))", "The expression has redundant parentheses;"),
        ("SET a = ((b + :one))", "The expression has redundant parentheses;"),
        (
            "SET a = :one SET b = :one",
            'The "SET" section can only be used once in an update expression;',
        ),
        ("SET a = name", "Attribute name is a reserved keyword; reserved keyword: name"),
        ("REMOVE a.name", "Attribute name is a reserved keyword; reserved keyword: name"),
        ("SET a = LIST_APPEND(b, c)", "Invalid function name; function: LIST_APPEND"),
        (
            "SET a = size(b)",
            "The function is not allowed in an update expression; function: size",
        ),
        (
            "SET a = list_append(list_append(b, c), :list)",
            (
                "The function is not allowed to be used this way in an expression; "
                "function: list_append"
            ),
        ),
        (
            "SET a = (list_append(b, c)) + :one",
            (
                "The function is not allowed to be used this way in an expression; "
                "function: list_append"
            ),
        ),
        (
            "SET a = if_not_exists(:one, :one)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET a = if_not_exists(b)",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: if_not_exists, number of operands: 1"
            ),
        ),
        (
            "SET a = if_not_exists(b, b)",
            (
                "The first operand must be distinct from the remaining operands for this operator "
                "or function; operator: if_not_exists, first operand: [b]"
            ),
        ),
        (
            "SET a = :text - :one",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: -, operand type: S"
            ),
        ),
        (
            "SET a = list_append(b, :one)",
            (
                "Incorrect operand type for operator or function; "
                "operator or function: list_append, operand type: N"
            ),
        ),
        (
            "ADD a :yes",
            (
                "Incorrect operand type for operator or function; operator: ADD, "
                "operand type: BOOLEAN, typeSet: ALLOWED_FOR_ADD_OPERAND"
            ),
        ),
        (
            "DELETE a :list",
            (
                "Incorrect operand type for operator or function; operator: DELETE, "
                "operand type: LIST, typeSet: ALLOWED_FOR_DELETE_OPERAND"
            ),
        ),
        (
            "SET a = :one REMOVE #a",
            (
                "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [a], path two: [a]"
            ),
        ),
        (
            "REMOVE a.b SET a = :one",
            (
                "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [a, b], path two: [a]"
            ),
        ),
        (
            "REMOVE a[0], a.b",
            (
                "Two document paths conflict with each other; must remove or rewrite one of these "
                "paths; path one: [a, [0]], path two: [a, b]"
            ),
        ),
        (
            f"SET a = {'b' * 4090}",
            "Expression size has exceeded the maximum allowed size;",
        ),
    ],
)
def test_a_broken_rule_is_said_in_dynamodbs_words(text: str, sentence: str) -> None:
    answer = refusal(text)

    assert answer == sentence


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("SET a = foo(b), c = ((b))", "The expression has redundant"),
        ("SET a = :zz, name = :one", "Attribute name is a reserved"),
        ("REMOVE a REMOVE name", 'The "REMOVE" section'),
        ("SET a = :zz, b = :one, #a = :one", "Two document paths overlap"),
        ("SET #zz = :one, b = :zz", "An expression attribute name"),
        ("SET a = :zz, b = :text + :one", "Incorrect operand type"),
        ("SET a = :text + :one, b = :zz", "An expression attribute value"),
    ],
)
def test_faults_are_found_in_dynamodbs_order(text: str, start: str) -> None:
    answer = refusal(text)

    assert answer.startswith(start)


def test_a_projection_names_its_paths_in_order() -> None:
    paths = parse_projection("b[2].#r, #a,c", Placeholders(NAMES))

    assert paths == (Path(("b", 2, "name")), A, C)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The expression can not be empty;"),
        ("a,", 'Syntax error; token: "<EOF>", near: ","'),
        ("a b", 'Syntax error; token: "b", near: "a b"'),
        ("(a)", 'Syntax error; token: "(", near: "(a"'),
        ("size(a)", 'Syntax error; token: "(", near: "size(a"'),
        (":v", 'Syntax error; token: ":v", near: ":v"'),
        ("a, status", "Attribute name is a reserved keyword; reserved keyword: status"),
        (
            "#zz",
            (
                "An expression attribute name used in the document path is not defined; "
                "attribute name: #zz"
            ),
        ),
        (
            "a, b, #a",
            (
                "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [a], path two: [a]"
            ),
        ),
        (
            "a.b, a[1]",
            (
                "Two document paths conflict with each other; must remove or rewrite one of these "
                "paths; path one: [a, b], path two: [a, [1]]"
            ),
        ),
    ],
)
def test_a_broken_projection_is_refused_in_dynamodbs_words(text: str, sentence: str) -> None:
    answer = projection_refusal(text)

    assert answer == sentence
