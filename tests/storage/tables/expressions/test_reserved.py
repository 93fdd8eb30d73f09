"""That the words DynamoDB reserves are all known, in any case."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.expressions.syntax import RESERVED, is_reserved


def test_there_are_as_many_as_dynamodb_publishes() -> None:
    assert len(RESERVED) == 573


@pytest.mark.parametrize("name", ["name", "NAME", "Status", "ttl", "zone", "abort", "size"])
def test_a_reserved_word_is_reserved_in_any_case(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["names_", "pk", "sk", "id", "price", "#name", ""])
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)
