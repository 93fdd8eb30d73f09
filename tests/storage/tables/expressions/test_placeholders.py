"""That the placeholders of a request are well formed, and each of them used."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
    parse_update,
)


def test_what_several_expressions_use_between_them_is_used() -> None:
    shared = Placeholders({"#a": "a", "#b": "b"}, {":a": 1, ":b": 2})
    parse_update("SET #a = :a", shared)
    parse_condition("c = :b", shared)
    parse_projection("#b", shared)

    shared.check_used()

    assert shared.used == {"#a", "#b", ":a", ":b"}


def test_unused_names_are_told_before_unused_values() -> None:
    shared = Placeholders({"#a": "a", "#z": "z", "#y": "y"}, {":a": 1, ":z": 2})
    parse_condition("#a = :a", shared)

    with pytest.raises(InvalidRequest) as refused:
        shared.check_used()

    assert str(refused.value) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#y, #z}"
    )


def test_unused_values_are_told() -> None:
    shared = Placeholders(None, {":a": 1, ":z": 2})
    parse_condition("a = :a", shared)

    with pytest.raises(InvalidRequest) as refused:
        shared.check_used()

    assert str(refused.value) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:z}"
    )


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({}, "ExpressionAttributeNames must not be empty"),
        ({"a": "x"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
        ({":a": "x"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: ":a"'),
        ({"#": "x"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#"'),
        ({"#a-": "x"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-"'),
        ({"#a\n": "x"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a\n"'),
        (
            {"#" + "a" * 255: "x"},
            (
                "ExpressionAttributeNames contains invalid key: The expression attribute map "
                "contains a key that is too long; size of key: 256"
            ),
        ),
        (
            {"#a": ""},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            {"#a": "é" * 32768},
            (
                "ExpressionAttributeNames contains invalid value: Attribute name is too large, "
                "must be less than 65536 bytes for key #a"
            ),
        ),
    ],
)
def test_malformed_names_are_refused(names: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Placeholders(names)

    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (None, "ExpressionAttributeValues must not be empty"),
        ("a", 'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"'),
        ("#a", 'ExpressionAttributeValues contains invalid key: Syntax error; key: "#a"'),
        (":", 'ExpressionAttributeValues contains invalid key: Syntax error; key: ":"'),
    ],
)
def test_malformed_keys_of_values_are_refused(key: str | None, sentence: str) -> None:
    values = {name: 1 for name in (key,) if name is not None}

    with pytest.raises(InvalidRequest) as refused:
        Placeholders(None, values)

    assert str(refused.value) == sentence


def test_keys_and_names_at_the_limit_are_accepted() -> None:
    names = {"#" + "a" * 254: "a" * 65_535}

    placeholders = Placeholders(names)

    assert dict(placeholders.names) == names
