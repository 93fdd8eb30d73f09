"""That a write is known to be repeatable or not, and recognised in the item it left."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.engines.dynamodb.doubt import holds, new_attributes, repeatable
from grandstand.storage.tables.expressions.nodes import (
    IfMissing,
    Joined,
    Literal,
    Path,
    Sum,
    Update,
)
from grandstand.storage.tables.requests import DeleteItem, PutItem, UpdateItem
from grandstand.storage.tables.values import Item, Key

KEY: Key = {"pk": "a"}
A, B = Path(("a",)), Path(("b",))
SET = Update(sets=((A, Literal(1)),))


@pytest.mark.parametrize(
    "request_",
    [
        PutItem("t", {"pk": "a"}),
        DeleteItem("t", KEY),
        UpdateItem("t", KEY),
        UpdateItem("t", KEY, SET),
        UpdateItem("t", KEY, Update(sets=((A, IfMissing(A, Literal(1))),), removes=(B,))),
        UpdateItem("t", KEY, Update(adds=((A, Literal(frozenset({"x"}))),))),
        UpdateItem("t", KEY, Update(deletes=((A, Literal(frozenset({"x"}))),))),
    ],
)
def test_a_write_that_says_what_shall_be_is_repeatable(
    request_: PutItem | DeleteItem | UpdateItem,
) -> None:
    assert repeatable(request_)


@pytest.mark.parametrize(
    "update",
    [
        Update(adds=((A, Literal(1)),)),
        Update(sets=((A, Sum(A, Literal(1))),)),
        Update(sets=((A, Joined(A, Literal([1]))),)),
        Update(sets=((A, B), (B, A))),
        Update(sets=((A, IfMissing(A, Sum(B, Literal(1)))),)),
        Update(sets=((Path(("list", 9)), Literal(1)),)),
        Update(removes=(Path(("list", 0)),)),
    ],
)
def test_a_write_that_builds_on_what_it_finds_is_not_repeatable(update: Update) -> None:
    assert not repeatable(UpdateItem("t", KEY, update))


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (PutItem("t", {"pk": "a", "n": 1}), {"pk": "a", "n": 1}),
        (DeleteItem("t", KEY), None),
        (UpdateItem("t", KEY, SET), {"pk": "a", "a": 1, "other": 2}),
        (UpdateItem("t", KEY, Update(removes=(B,))), None),
    ],
)
def test_the_item_a_write_wanted_is_recognised(
    request_: PutItem | DeleteItem | UpdateItem, found: Item | None
) -> None:
    assert holds(request_, found)


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
    assert not holds(request_, found)


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
