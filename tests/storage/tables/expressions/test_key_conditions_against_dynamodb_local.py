"""That key conditions are accepted or refused as Amazon's own DynamoDB Local does it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.encoding import item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.key_conditions import check_filter
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
)
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from tests.storage.tables.expressions.expression_texts import parse_key_condition

WIDE = IndexSchema("wide", ("h1", "h2"), ("r1", "r2", "r3"))
PAIR = IndexSchema("pair", ("h1",), ("r3",))
ONE = IndexSchema("one", ("h1",))
TABLE = TableSchema(
    "key_conditions",
    "pk",
    "sk",
    {"pk": "S", "sk": "S", "h1": "S", "h2": "S", "r1": "S", "r2": "S", "r3": "N"},
    (WIDE, PAIR, ONE),
)
VALUES: dict[str, Value] = {":s": "x", ":t": "y", ":n": 1, ":m": 2, ":e": "", ":l": [1]}

_ATTRIBUTES = {None: ("pk", "sk"), WIDE: WIDE.key_names, PAIR: PAIR.key_names, ONE: ONE.key_names}
_values = st.sampled_from([":s", ":s", ":t", ":n", ":m", ":e", ":l"])
_filters = st.sampled_from([None, None, "zz = :s", "sk = :s", "h1 = :s", "r3 = :n"])


def _terms(attributes: tuple[str, ...]) -> st.SearchStrategy[str]:
    name = st.sampled_from([*attributes, *attributes, *attributes, "zz"])
    order = st.sampled_from(["=", "=", "=", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds("{} {} {}".format, name, order, _values),
        st.builds("{} {} {}".format, _values, order, name),
        st.builds("{} BETWEEN {} AND {}".format, name, _values, _values),
        st.builds("begins_with({}, {})".format, name, _values),
        st.builds("{} <> {}".format, name, _values),
        st.builds("attribute_exists({})".format, name),
        st.builds("{} = {}".format, name, name),
        st.builds("NOT {} = {}".format, name, _values),
    )


def _sound(attributes: tuple[str, ...], last: str) -> str:
    """Equalities on some leading attributes of a key, and one term more."""
    equalities = [f"{name} = {':n' if name == 'r3' else ':s'}" for name in attributes]
    return " AND ".join([*equalities, last])


@st.composite
def _questions(draw: st.DrawFn) -> tuple[str, IndexSchema | None, str | None]:
    index = draw(st.sampled_from(list(_ATTRIBUTES)))
    attributes = _ATTRIBUTES[index]
    leading = draw(st.integers(0, len(attributes) - 1))
    last = draw(st.lists(_terms(attributes), min_size=1, max_size=2).map(" AND ".join))
    return _sound(attributes[:leading], last), index, draw(_filters)


@pytest.fixture(scope="module")
def local(dynamodb_local: str) -> Iterator[Any]:
    client = boto3.client(
        "dynamodb",
        endpoint_url=dynamodb_local,
        region_name="eu-west-1",
        aws_access_key_id="keyconditions",
        aws_secret_access_key="secret",
    )
    client.create_table(
        TableName=TABLE.name,
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": code} for name, code in TABLE.types.items()
        ],
        KeySchema=_schema(("pk",), ("sk",)),
        GlobalSecondaryIndexes=[
            {
                "IndexName": index.name,
                "KeySchema": _schema(index.partition, index.sort),
                "Projection": {"ProjectionType": "ALL"},
            }
            for index in TABLE.indexes
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    yield client
    client.delete_table(TableName=TABLE.name)


def _schema(partition: tuple[str, ...], sort: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": "HASH"} for name in partition] + [
        {"AttributeName": name, "KeyType": "RANGE"} for name in sort
    ]


def _used(*texts: str | None) -> dict[str, Value]:
    keys = set(re.findall(r":\w+", " ".join(text or "" for text in texts)))
    return {key: value for key, value in VALUES.items() if key in keys}


def _theirs(local: Any, text: str, index: IndexSchema | None, condition: str | None) -> str:
    shape: dict[str, Any] = {"TableName": TABLE.name, "KeyConditionExpression": text}
    shape |= {} if index is None else {"IndexName": index.name}
    shape |= {} if condition is None else {"FilterExpression": condition}
    values = _used(text, condition)
    shape |= {"ExpressionAttributeValues": item_to_wire(values)} if values else {}
    try:
        local.query(**shape)
    except ClientError as error:
        return str(error.response["Error"]["Message"])
    return "accepted"


def _ours(text: str, index: IndexSchema | None, condition: str | None) -> str:
    placeholders = Placeholders(None, _used(text, condition) or None)
    try:
        parse_key_condition(text, placeholders, TABLE, index)
        if condition is not None:
            check_filter(parse_condition(condition, placeholders, "FilterExpression"), TABLE, index)
    except InvalidRequest as refused:
        # DynamoDB names the element; DynamoDB Local does not.
        return re.sub(r"(missed key schema element): \w+", r"\1", str(refused))
    return "accepted"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(question=_questions())
@example(question=("pk = :s AND begins_with(sk, :t)", None, None))
@example(question=("sk = :s", None, None))
@example(question=("h1 = :s AND h2 = :s AND r1 > :s AND r2 = :s AND r3 = :n", WIDE, None))
@example(question=("h1 = :s AND h2 = :s AND r3 = :n", WIDE, "sk = :s"))
@example(question=("h1 = :s", ONE, "h1 = :s"))
def test_a_key_condition_is_accepted_or_refused_as_there(
    local: Any,
    question: tuple[str, IndexSchema | None, str | None],
) -> None:
    text, index, condition = question

    theirs = _theirs(local, text, index, condition)
    ours = _ours(text, index, condition)

    assert ours == theirs
