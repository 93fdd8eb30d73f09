"""That a write is known to be repeatable or not, and recognised in the item it left."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.engines.dynamodb.items import (
    is_applied,
    is_repeatable,
    new_attributes,
)
from grandstand.storage.tables.expressions.nodes import (
    IfMissing,
    Joined,
    Literal,
    Path,
    Sum,
    UpdateNode,
)
from grandstand.storage.tables.requests import DeleteItem, PutItem, UpdateItem

KEY: Key = {"pk": "a"}
A, B = Path(("a",)), Path(("b",))
SET = UpdateNode(sets=((A, Literal(1)),))


@pytest.mark.parametrize(
    "request_",
    [
        PutItem("t", {"pk": "a"}),
        DeleteItem("t", KEY),
        UpdateItem("t", KEY),
        UpdateItem("t", KEY, SET),
        UpdateItem("t", KEY, UpdateNode(sets=((A, IfMissing(A, Literal(1))),), removes=(B,))),
        UpdateItem("t", KEY, UpdateNode(adds=((A, Literal(frozenset({"x"}))),))),
        UpdateItem("t", KEY, UpdateNode(deletes=((A, Literal(frozenset({"x"}))),))),
    ],
)
def test_a_write_that_says_what_shall_be_is_repeatable(
    request_: PutItem | DeleteItem | UpdateItem,
) -> None:
    assert is_repeatable(request_)


@pytest.mark.parametrize(
    "update",
    [
        UpdateNode(adds=((A, Literal(1)),)),
        UpdateNode(sets=((A, Sum(A, Literal(1))),)),
        UpdateNode(sets=((A, Joined(A, Literal([1]))),)),
        UpdateNode(sets=((A, B), (B, A))),
        UpdateNode(sets=((A, IfMissing(A, Sum(B, Literal(1)))),)),
        UpdateNode(sets=((Path(("list", 9)), Literal(1)),)),
        UpdateNode(removes=(Path(("list", 0)),)),
    ],
)
def test_a_write_that_builds_on_what_it_finds_is_not_repeatable(update: UpdateNode) -> None:
    assert not is_repeatable(UpdateItem("t", KEY, update))


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (PutItem("t", {"pk": "a", "n": 1}), {"pk": "a", "n": 1}),
        (DeleteItem("t", KEY), None),
        (UpdateItem("t", KEY, SET), {"pk": "a", "a": 1, "other": 2}),
        (UpdateItem("t", KEY, UpdateNode(removes=(B,))), None),
    ],
)
def test_the_item_a_write_wanted_is_recognised(
    request_: PutItem | DeleteItem | UpdateItem, found: Item | None
) -> None:
    assert is_applied(request_, found)


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (PutItem("t", {"pk": "a", "n": 1}), {"pk": "a", "n": 2}),
        (PutItem("t", {"pk": "a", "n": 1}), {"pk": "a", "n": 1, "more": 1}),
        (PutItem("t", {"pk": "a", "yes": True}), {"pk": "a", "yes": 1}),
        (PutItem("t", {"pk": "a"}), None),
        (DeleteItem("t", KEY), {"pk": "a"}),
        (UpdateItem("t", KEY, SET), {"pk": "a", "a": 2}),
        (UpdateItem("t", KEY, SET), None),
    ],
)
def test_another_item_is_not_taken_for_it(
    request_: PutItem | DeleteItem | UpdateItem, found: Item | None
) -> None:
    assert not is_applied(request_, found)


@pytest.mark.parametrize(
    ("returning", "answered"),
    [
        ("ALL_NEW", {"pk": "a", "a": 1, "b": 2}),
        ("UPDATED_NEW", {"a": 1}),
        ("ALL_OLD", {}),
        ("NONE", {}),
    ],
)
def test_an_update_found_done_returns_what_is_known(returning: str, answered: Item) -> None:
    request = UpdateItem("t", KEY, SET, returning=returning)  # type: ignore[arg-type]

    assert new_attributes(request, {"pk": "a", "a": 1, "b": 2}) == answered
