"""That a projection takes out of an item what DynamoDB would."""

from __future__ import annotations

import pytest
from hypothesis import given

from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.expressions.evaluate import evaluate, project
from grandstand.storage.tables.expressions.nodes import Exists, Path
from tests.storage.tables.expressions.strategies import items, projections


def at(*steps: str | int) -> Path:
    return Path(steps)


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ((at("a"),), {"a": None}),
        ((at("zz"),), {}),
        ((at("a"), at("l")), {"a": None, "l": [10, 20, {"x": 1, "y": [5]}]}),
        ((at("m", "b"),), {"m": {"b": 1}}),
        ((at("m", "b"), at("m", "c", "d")), {"m": {"b": 1, "c": {"d": None}}}),
        ((at("m", "zz"),), {}),
        ((at("m", "c", "zz"), at("m", "b")), {"m": {"b": 1}}),
        ((at("l", 1),), {"l": [20]}),
        ((at("l", 2, "x"), at("l", 0)), {"l": [10, {"x": 1}]}),
        ((at("l", 2, "x"), at("l", 2, "y", 0)), {"l": [{"x": 1, "y": [5]}]}),
        ((at("l", 9), at("l", 1)), {"l": [20]}),
        ((at("l", 9),), {}),
        ((at("l", "x"),), {}),
        ((at("m", 0),), {}),
        ((at("a", "b"),), {}),
        ((at("s", 0),), {}),
    ],
)
def test_a_projection_keeps_the_way_to_what_it_takes(paths: tuple[Path, ...], found: Item) -> None:
    item: Item = {
        "a": None,
        "m": {"b": 1, "c": {"d": None, "e": 2}},
        "l": [10, 20, {"x": 1, "y": [5]}],
        "s": frozenset({"a"}),
    }

    answer = project(paths, item)

    assert answer == found


@given(projections, items)
def test_nothing_is_found_exactly_when_no_path_is_there(
    paths: tuple[Path, ...], item: Item
) -> None:
    there = any(evaluate(Exists(path), item) for path in paths)

    found = project(paths, item)

    assert bool(found) is there


@given(projections, items)
def test_an_item_is_not_changed_by_projecting_it(paths: tuple[Path, ...], item: Item) -> None:
    before = repr(item)

    project(paths, item)

    assert repr(item) == before
