"""That expressions are read, refused and carried out as Amazon's own DynamoDB Local does it.

Where DynamoDB itself is known to answer otherwise, both answers are asserted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import example, given, settings

from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.encoding import item_from_wire, item_to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import (
    apply,
    compile_condition,
    makes_item,
    project,
    touched,
)
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
    parse_update,
)
from grandstand.storage.tables.expressions.syntax import RESERVED
from tests.storage.tables.expressions.expression_texts import (
    ITEMS,
    NAMES,
    VALUES,
    condition_texts,
    projection_texts,
    update_texts,
)

TABLE = "expressions"
STORED = {f"i{number}": {**item, "pk": f"i{number}"} for number, item in enumerate(ITEMS)}
RUN_TIME = (
    "The provided expression refers to",
    "An operand in the update",
    "The document path provided",
)

Answer = object
often = settings(max_examples=120, deadline=None, derandomize=True)
# Each of these writes every item twice.
less_often = settings(max_examples=50, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def local(dynamodb_local: str) -> Any:
    client = boto3.client(
        "dynamodb",
        endpoint_url=dynamodb_local,
        region_name="eu-west-1",
        aws_access_key_id="expressions",
        aws_secret_access_key="secret",
        config=Config(parameter_validation=False, retries={"max_attempts": 0}),
    )
    client.create_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for item in STORED.values():
        client.put_item(TableName=TABLE, Item=item_to_wire(item))
    yield client
    client.delete_table(TableName=TABLE)


def _used(text: str, given_all: Mapping[str, Any]) -> dict[str, Any]:
    keys = set(re.findall(r"[#:]\w+", text))
    return {key: value for key, value in given_all.items() if key in keys}


def _asked(text: str) -> dict[str, Any]:
    """The placeholders a text uses, as a request carries them."""
    names, values = _used(text, NAMES), _used(text, VALUES)
    shape: dict[str, Any] = {"ExpressionAttributeNames": names} if names else {}
    return {**shape, "ExpressionAttributeValues": item_to_wire(values)} if values else shape


def _theirs(call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except ClientError as error:
        return _common(error.response["Error"]["Message"])


def _ours(text: str, work: Callable[[Placeholders], Answer]) -> Answer:
    try:
        placeholders = Placeholders(_used(text, NAMES) or None, _used(text, VALUES) or None)
        return work(placeholders)
    except InvalidRequest as refused:
        return _common(str(refused))


def _common(sentence: str) -> str:
    """Leave out what DynamoDB Local says at random: the order of types, and a second path."""
    sentence = re.sub(r"valid types: \{.*\}", "valid types", sentence)
    sentence = re.sub(r"operand type: \{.*\}", "operand type", sentence)
    return re.sub(r"path two: .*", "path two", sentence)


def _wire(item: Item) -> Item:
    return item_from_wire(item_to_wire(item))


@often
@given(text=condition_texts)
@example(text="((a)) b")
@example(text="((a = :n)) b")
@example(text="NOT a = :n AND b <> :n OR size(c) > :m")
@example(text="a BETWEEN :m AND :n")
@example(text="attribute_type(size(a), :N) OR attribute_type(:s, :S)")
def test_a_condition_is_refused_or_holds_as_there(local: Any, text: str) -> None:
    theirs = _theirs(lambda: _scan(local, text))
    ours = _ours(text, lambda placeholders: _filtered(text, placeholders))

    assert ours == theirs


def _scan(local: Any, text: str) -> list[str]:
    reply = local.scan(TableName=TABLE, FilterExpression=text, **_asked(text))
    return sorted(item["pk"]["S"] for item in reply["Items"] if item["pk"]["S"] in STORED)


def _filtered(text: str, placeholders: Placeholders) -> list[str]:
    condition = parse_condition(text, placeholders, "FilterExpression")
    placeholders.check_used()
    test = compile_condition(condition, "FilterExpression")
    return sorted(key for key, item in STORED.items() if test(item))


@less_often
@given(text=update_texts)
@example(text="SET b[7] = :n, b[5] = :m REMOVE b[0]")
@example(text="SET a = b, b = a")
@example(text="ADD a :n DELETE b :ns")
@example(text="SET d = list_append(b, c), a = if_not_exists(z, :n) + :m")
def test_an_update_is_refused_or_carried_out_as_there(local: Any, text: str) -> None:
    theirs = [_theirs(lambda item=item: _updated(local, text, item)) for item in ITEMS]  # type: ignore[misc]
    ours = [_ours(text, lambda p, item=item: _applied(text, p, item)) for item in ITEMS]  # type: ignore[misc]

    assert list(map(_any_run_time, ours)) == list(map(_any_run_time, theirs))


def _any_run_time(answer: Answer) -> Answer:
    """Of several faults found in one item, DynamoDB promises no order."""
    return "at run time" if isinstance(answer, str) and answer.startswith(RUN_TIME) else answer


def _updated(local: Any, text: str, item: Item) -> Item:
    key = {"pk": {"S": "updated"}}
    local.put_item(TableName=TABLE, Item={**item_to_wire(item), **key})
    reply = local.update_item(
        TableName=TABLE, Key=key, UpdateExpression=text, ReturnValues="ALL_NEW", **_asked(text)
    )
    return item_from_wire(reply["Attributes"])


def _applied(text: str, placeholders: Placeholders, item: Item) -> Item:
    update = parse_update(text, placeholders)
    placeholders.check_used()
    return _wire(apply(update, {**item, "pk": "updated"}))


@often
@given(text=projection_texts)
@example(text="b[2], b[0], a.c.d[2].e, a.b")
def test_a_projection_is_refused_or_takes_as_there(local: Any, text: str) -> None:
    theirs = _theirs(lambda: _projected_there(local, text))
    ours = _ours(text, lambda placeholders: _projected(text, placeholders))

    assert ours == theirs


def _projected_there(local: Any, text: str) -> list[Item]:
    asked = _asked(text)
    asked.pop("ExpressionAttributeValues", None)
    return [
        item_from_wire(
            local.get_item(
                TableName=TABLE, Key={"pk": {"S": key}}, ProjectionExpression=text, **asked
            )["Item"]
        )
        for key in STORED
    ]


def _projected(text: str, placeholders: Placeholders) -> list[Item]:
    paths = parse_projection(text, placeholders)
    return [project(paths, item) for item in STORED.values()]


def test_every_reserved_word_but_two_is_reserved_there(local: Any) -> None:
    answers = {word: str(_theirs(lambda w=word: _projected_there(local, w))) for word in RESERVED}  # type: ignore[misc]

    free = {
        word
        for word, answer in answers.items()
        if not re.search("reserved keyword|Syntax error", answer)
    }

    assert free == {"SIZE", "CONVERT"}


@pytest.mark.parametrize("text", ["size = :n", "convert = :n"])
def test_words_dynamodb_publishes_as_reserved_are_refused_here(text: str) -> None:
    answer = _ours(text, lambda placeholders: _filtered(text, placeholders))

    assert str(answer).startswith("Invalid FilterExpression: Attribute name is a reserved keyword")


@pytest.mark.parametrize(
    ("text", "dynamodb", "there"),
    [
        ("SET a.b = :n", {"a": {"b": 1}}, {"a": {"b": 1, "c": [1, 2, 3]}}),
        ("REMOVE a.c[1]", {"a": {"c": [3]}}, {"a": {"b": "dog", "c": [1, 3]}}),
        ("SET a.b = :n, d = :n", {"a": {"b": 1}, "d": 1}, {"a": {"b": 1, "c": [1, 2, 3]}, "d": 1}),
    ],
)
def test_dynamodb_returns_the_paths_touched_and_local_whole_attributes(
    local: Any,
    text: str,
    dynamodb: Item,
    there: Item,
) -> None:
    item: Item = {"pk": "touched", "a": {"b": "dog", "c": [1, 2, 3]}}
    update = parse_update(text, Placeholders(None, _used(text, VALUES) or None))
    local.put_item(TableName=TABLE, Item=item_to_wire(item))

    reply = local.update_item(
        TableName=TABLE,
        Key={"pk": {"S": "touched"}},
        UpdateExpression=text,
        ReturnValues="UPDATED_NEW",
        **_asked(text),
    )

    assert touched(update, apply(update, item)) == dynamodb
    assert item_from_wire(reply["Attributes"]) == there


def test_dynamodb_makes_no_item_by_a_removal_and_local_does(local: Any) -> None:
    key = {"pk": {"S": "removed from"}}
    update = parse_update("REMOVE a", Placeholders())

    local.update_item(TableName=TABLE, Key=key, UpdateExpression="REMOVE a")

    assert not makes_item(update)
    assert local.get_item(TableName=TABLE, Key=key)["Item"] == key


def test_dynamodb_lets_a_removal_go_into_nothing_and_local_does_not(local: Any) -> None:
    key = {"pk": {"S": "not there"}}
    update = parse_update("REMOVE a.b", Placeholders())

    there = _theirs(
        lambda: local.update_item(TableName=TABLE, Key=key, UpdateExpression="REMOVE a.b")
    )

    assert apply(update, {"pk": "not there"}, exists=False) == {"pk": "not there"}
    assert str(there).startswith("The document path provided")


@pytest.mark.parametrize(
    ("value", "size"), [("é", 1), ("\U0001d11e", 2), ("é\U0001d11e", 3), ("\uffff", 1)]
)
def test_the_size_of_a_text_is_counted_as_there(local: Any, value: str, size: int) -> None:
    values: dict[str, Value] = {":v": value, ":n": size}
    condition = parse_condition("size(:v) = :n", Placeholders(None, values))

    reply = local.scan(
        TableName=TABLE,
        FilterExpression="size(:v) = :n",
        ExpressionAttributeValues=item_to_wire(values),
    )

    assert compile_condition(condition)({}) is True
    assert reply["Count"] >= len(STORED)
