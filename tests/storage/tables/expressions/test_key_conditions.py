"""That a query's key condition fits its key, and other expressions leave keys alone."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.key_conditions import (
    check_filter,
    check_key_paths,
    check_key_update,
    condition_paths,
    update_paths,
)
from grandstand.storage.tables.expressions.nodes import KeyCondition, Path, Range
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_update,
)
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from tests.storage.tables.expressions.expression_texts import parse_key_condition

VALUES: dict[str, Value] = {
    ":s": "x",
    ":t": "y",
    ":n": 1,
    ":m": 2,
    ":b": b"x",
    ":e": "",
    ":l": [1],
}
GAMES = IndexSchema("games", ("g",), ("h",))
ONE = IndexSchema("one", ("g",))
WIDE = IndexSchema("wide", ("h1", "h2"), ("r1", "r2", "r3"))
TABLE = TableSchema(
    "bets",
    "pk",
    "sk",
    {
        "pk": "S",
        "sk": "N",
        "g": "S",
        "h": "S",
        "h1": "S",
        "h2": "S",
        "r1": "S",
        "r2": "S",
        "r3": "N",
    },
    (GAMES, ONE, WIDE),
)
HASH_ONLY = TableSchema("flags", "pk", None, {"pk": "S"})
BOTH = "h1 = :s AND h2 = :s"


def split(text: str, index: IndexSchema | None = None, table: TableSchema = TABLE) -> KeyCondition:
    return parse_key_condition(text, Placeholders(None, VALUES), table, index)


def refusal(text: str, index: IndexSchema | None = None, table: TableSchema = TABLE) -> str:
    with pytest.raises(InvalidRequest) as refused:
        split(text, index, table)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("pk = :s", None),
        ("(:s = pk)", None),
        ("pk = :s AND sk = :n", Range("sk", "=", 1)),
        ("sk < :n AND pk = :s", Range("sk", "<", 1)),
        ("pk = :s AND :n < sk", Range("sk", ">", 1)),
        ("pk = :s AND :n <= sk", Range("sk", ">=", 1)),
        ("pk = :s AND :n > sk", Range("sk", "<", 1)),
        ("pk = :s AND :n >= sk", Range("sk", "<=", 1)),
        ("pk = :s AND :n = sk", Range("sk", "=", 1)),
        ("((pk = :s) AND (sk BETWEEN :n AND :m))", Range("sk", "between", 1, 2)),
    ],
)
def test_a_key_condition_splits_into_the_partition_and_a_range(
    text: str, sort: Range | None
) -> None:
    condition = split(text)

    assert condition == KeyCondition((("pk", "x"),), sort)


def test_a_key_condition_on_an_index_goes_by_its_key() -> None:
    condition = split("begins_with(h, :t) AND g = :s", GAMES)

    assert condition == KeyCondition((("g", "x"),), Range("h", "begins_with", "y"))


@pytest.mark.parametrize(
    ("text", "leading", "sort"),
    [
        ("", (), None),
        (" AND r1 = :t", (), Range("r1", "=", "y")),
        (" AND r2 > :s AND r1 = :t", (("r1", "y"),), Range("r2", ">", "x")),
        (
            " AND r1 = :t AND r2 = :s AND r3 BETWEEN :n AND :m",
            (("r1", "y"), ("r2", "x")),
            Range("r3", "between", 1, 2),
        ),
    ],
)
def test_many_attributes_are_equalities_up_to_the_last_one_named(
    text: str, leading: tuple[tuple[str, Value], ...], sort: Range | None
) -> None:
    condition = split(BOTH + text, WIDE)

    assert condition == KeyCondition((("h1", "x"), ("h2", "x"), *leading), sort)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sk = :n", "Query condition missed key schema element: pk"),
        ("zz = :s", "Query condition missed key schema element: pk"),
        ("pk = :s AND zz = :n", "Query condition missed key schema element: sk"),
        ("pk < :s", "Query key condition not supported"),
        ("pk BETWEEN :s AND :t", "Query key condition not supported"),
        ("begins_with(pk, :s) AND sk = :n", "Query key condition not supported"),
        ("pk = :s AND sk = :n AND zz = :n", "Conditions can be of length 1 or 2 only"),
        (
            "pk = :s AND pk = :s",
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :s AND sk > :n AND sk < :m",
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :n",
            (
                "One or more parameter values were invalid: "
                "Condition parameter type does not match schema type"
            ),
        ),
        (
            "pk = :s AND sk BETWEEN :s AND :t",
            (
                "One or more parameter values were invalid: "
                "Condition parameter type does not match schema type"
            ),
        ),
        (
            "pk = :s AND begins_with(sk, :s)",
            (
                "One or more parameter values were invalid: "
                "Condition parameter type does not match schema type"
            ),
        ),
        (
            "pk = :e",
            (
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty string value. Key: pk"
            ),
        ),
        ("pk <> :s", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk IN (:s)", "Invalid operator used in KeyConditionExpression: IN"),
        ("pk = :s OR sk = :n", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :s", "Invalid operator used in KeyConditionExpression: NOT"),
        (
            "pk = :s AND attribute_exists(sk)",
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        (
            "pk = :s AND contains(sk, :n)",
            "Invalid operator used in KeyConditionExpression: contains",
        ),
        ("size(pk) = :n", "KeyConditionExpressions cannot contain nested operations"),
        (
            "pk = :s AND sk.x = :n",
            "KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (
            "pk = sk",
            (
                "Invalid condition in KeyConditionExpression: "
                "Multiple attribute names used in one condition"
            ),
        ),
        (":s = :s", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        (
            "pk = :s AND :n BETWEEN sk AND :m",
            (
                "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key "
                "attribute as its first operand"
            ),
        ),
        (
            "pk = :s AND begins_with(:s, sk)",
            (
                "Invalid condition in KeyConditionExpression: begins_with operator must have the "
                "key attribute as its first operand"
            ),
        ),
        (
            "pk = :s AND begins_with(sk, :n)",
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
        ("", "Invalid KeyConditionExpression: The expression can not be empty;"),
    ],
)
def test_a_key_condition_that_does_not_fit_is_refused_in_dynamodbs_words(
    text: str, sentence: str
) -> None:
    answer = refusal(text)

    assert answer == sentence


@pytest.mark.parametrize("text", ["pk = :s AND sk = :n", "pk = :s AND zz = :n"])
def test_a_table_without_a_sort_key_takes_one_condition(text: str) -> None:
    answer = refusal(text, table=HASH_ONLY)

    assert answer == "Query key condition not supported"


def test_an_empty_value_names_the_index_whose_key_it_is_for() -> None:
    answer = refusal("g = :e", ONE)

    assert answer == (
        "One or more parameter values are not valid. A value specified for a secondary index key "
        "is not supported. The AttributeValue for a key attribute cannot contain an empty string "
        "value. IndexName: one, IndexKey: g"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "r1 = :s",
            "HASH key attributes h1, h2 must have equality conditions specified in the query",
        ),
        (
            "h1 = :s AND h2 > :s",
            "HASH key attributes h2 must have equality conditions specified in the query",
        ),
        (
            "h1 > :s AND r1 = :s",
            "HASH key attributes h2 must have equality conditions specified in the query",
        ),
        (
            f"{BOTH} AND r2 = :s",
            (
                "RANGE key attributes r1 must have equality conditions specified in the query "
                "because a condition is present on key attribute r2"
            ),
        ),
        (
            f"{BOTH} AND r3 = :n",
            (
                "RANGE key attributes r1, r2 must have equality conditions specified in the query "
                "because a condition is present on key attribute r3"
            ),
        ),
        (
            f"{BOTH} AND r1 > :s AND r2 = :s AND r3 = :n",
            (
                "RANGE key attributes r1 must have equality conditions specified in the query "
                "because a condition is present on key attribute r3"
            ),
        ),
        (
            f"{BOTH} AND r1 = :n",
            (
                "One or more parameter values were invalid: "
                "Condition parameter type does not match schema type"
            ),
        ),
        (f"{BOTH} AND pk = :s", "Query condition missed key schema element: r1"),
    ],
)
def test_many_attributes_are_named_from_the_left_without_a_gap(text: str, sentence: str) -> None:
    answer = refusal(text, WIDE)

    assert answer == sentence


@pytest.mark.parametrize(
    ("text", "index", "name"),
    [
        ("pk = :s", None, "pk"),
        ("a = :s OR NOT size(sk) = :n", None, "sk"),
        ("contains(a, sk) AND a IN (pk)", None, "pk"),
        ("a BETWEEN :s AND h", GAMES, "h"),
        ("attribute_exists(r3)", WIDE, "r3"),
    ],
)
def test_a_filter_may_not_look_at_the_key_queried_by(
    text: str, index: IndexSchema | None, name: str
) -> None:
    condition = parse_condition(text, Placeholders(None, VALUES), "FilterExpression")

    with pytest.raises(InvalidRequest) as refused:
        check_filter(condition, TABLE, index)

    assert str(refused.value) == (
        "Filter Expression can only contain non-primary key attributes: "
        f"Primary key attribute: {name}"
    )


def test_a_filter_on_an_index_may_look_at_the_tables_key() -> None:
    condition = parse_condition("pk = :s", Placeholders(None, VALUES), "FilterExpression")

    check_filter(condition, TABLE, GAMES)

    assert [path.root for path in condition_paths(condition)] == ["pk"]


@pytest.mark.parametrize("text", ["SET sk = :n", "REMOVE sk", "ADD sk :n", "SET sk.x = :n"])
def test_an_update_may_not_write_to_the_key(text: str) -> None:
    update = parse_update(text, Placeholders(None, VALUES))

    with pytest.raises(InvalidRequest) as refused:
        check_key_update(update, TABLE)

    assert str(refused.value) == (
        "One or more parameter values were invalid: Cannot update attribute sk. "
        "This attribute is part of the key"
    )


@pytest.mark.parametrize(("path", "where"), [(("sk", "x"), "Key: sk"), (("h1", 0), "IndexKey: h1")])
def test_no_path_goes_into_a_key_attribute(path: tuple[str | int, ...], where: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check_key_paths([Path(("a", "b")), Path(path)], TABLE)

    assert str(refused.value) == (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
        f"allowed: {where}"
    )


def test_key_attributes_themselves_may_be_named() -> None:
    paths = [Path(("sk",)), Path(("a", "sk"))]

    check_key_paths(paths, TABLE)

    assert [path.root for path in paths] == ["sk", "a"]


def test_every_path_of_a_condition_is_found() -> None:
    condition = parse_condition(
        "a = b AND NOT (c IN (d, :s) OR size(e) BETWEEN f AND g) AND attribute_type(h, :s) "
        "AND begins_with(i, j) AND contains(:s, k) AND attribute_not_exists(l.m[0])",
        Placeholders(None, {":s": "S"}),
    )

    paths = [path.root for path in condition_paths(condition)]

    assert paths == list("abcdefghijkl")


def test_every_path_of_an_update_is_found() -> None:
    update = parse_update(
        "SET a = b + c, d = list_append(if_not_exists(e, f), :l), g = :s REMOVE h ADD i :n",
        Placeholders(None, VALUES),
    )

    paths = {path.root for path in update_paths(update)}

    assert paths == set("abcdefghi")
