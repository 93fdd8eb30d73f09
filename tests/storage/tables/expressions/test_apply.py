"""That an update changes an item exactly as DynamoDB does."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given

from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import apply, makes_item, touched
from grandstand.storage.tables.expressions.nodes import (
    Assigned,
    IfMissing,
    Joined,
    Literal,
    Path,
    Sum,
    UpdateNode,
)
from tests.storage.tables.expressions.strategies import items, updates

ABSENT = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
WRONG_PATH = "The document path provided in the update expression is invalid for update"


def at(*steps: str | int) -> Path:
    return Path(steps)


def of(value: Value) -> Literal:
    return Literal(value)


def setting(*pairs: tuple[Path, Assigned]) -> UpdateNode:
    return UpdateNode(sets=pairs)


def adding(path: Path, value: Value) -> UpdateNode:
    return UpdateNode(adds=((path, of(value)),))


def deleting(path: Path, value: Value) -> UpdateNode:
    return UpdateNode(deletes=((path, of(value)),))


def test_right_sides_read_the_item_as_it_was() -> None:
    swap = setting((at("a"), at("b")), (at("b"), at("a")))

    after = apply(swap, {"a": 1, "b": 2})

    assert after == {"a": 2, "b": 1}


def test_a_removed_attribute_can_still_be_read() -> None:
    move = UpdateNode(sets=((at("b"), at("a")),), removes=(at("a"),))

    after = apply(move, {"a": 1})

    assert after == {"b": 1}


@pytest.mark.parametrize(
    ("assigned", "value"),
    [
        (of("x"), "x"),
        (at("m", "l", 1), 8),
        (Sum(at("n"), of(3)), 8),
        (Sum(of(3), at("n"), subtract=True), -2),
        (Sum(at("d"), of(Decimal("0.5"))), 2),
        (Sum(IfMissing(at("zz"), of(0)), of(1)), 1),
        (IfMissing(at("n"), of(9)), 5),
        (IfMissing(at("zz"), of(9)), 9),
        (IfMissing(at("zz"), IfMissing(at("yy"), at("n"))), 5),
        (IfMissing(at("none"), of(9)), None),
        (Joined(at("m", "l"), of([1])), [7, 8, 1]),
        (Joined(of([1]), at("m", "l")), [1, 7, 8]),
        (Joined(IfMissing(at("zz"), of([])), of([1])), [1]),
    ],
)
def test_a_set_takes_what_its_right_side_works_out(assigned: Assigned, value: Value) -> None:
    item: Item = {"n": 5, "d": Decimal("1.5"), "none": None, "m": {"l": [7, 8]}}

    after = apply(setting((at("new"), assigned)), item)

    assert after == {**item, "new": value}


@pytest.mark.parametrize(
    ("assigned", "sentence"),
    [
        (at("zz"), ABSENT),
        (at("m", "zz"), ABSENT),
        (at("l", 9), ABSENT),
        (at("n", "x"), ABSENT),
        (Sum(at("zz"), of(1)), ABSENT),
        (Sum(at("s"), of(1)), WRONG_TYPE),
        (Sum(of(1), at("flag")), WRONG_TYPE),
        (Sum(IfMissing(at("zz"), of("x")), of(1)), WRONG_TYPE),
        (Joined(at("n"), of([1])), WRONG_TYPE),
        (Joined(at("zz"), of([1])), ABSENT),
        (IfMissing(at("zz"), at("yy")), ABSENT),
        (IfMissing(at("n"), at("yy")), ABSENT),
    ],
)
def test_a_right_side_that_cannot_be_worked_out_is_refused(
    assigned: Assigned, sentence: str
) -> None:
    item: Item = {"n": 5, "s": "x", "flag": True, "m": {}, "l": []}

    with pytest.raises(InvalidRequest) as refused:
        apply(setting((at("new"), assigned)), item)

    assert str(refused.value) == sentence


def test_arithmetic_beyond_38_digits_is_refused_and_never_rounded() -> None:
    item: Item = {"n": 10**37}

    with pytest.raises(InvalidRequest, match="38 significant digits"):
        apply(adding(at("n"), Decimal("0.1")), item)


def test_arithmetic_of_38_digits_is_exact() -> None:
    item: Item = {"n": Decimal(12345678901234567890123456789012345678)}

    after = apply(setting((at("n"), Sum(at("n"), of(1)))), item)

    assert after == {"n": Decimal(12345678901234567890123456789012345679)}


def test_whole_numbers_past_64_bits_stay_exact() -> None:
    item: Item = {"n": 2**63 - 1}

    after = apply(adding(at("n"), 1), item)

    assert after == {"n": Decimal(2**63)}


@pytest.mark.parametrize(
    ("update", "after"),
    [
        (setting((at("l", 1), of("x"))), [10, "x", 30]),
        (setting((at("l", 9), of("x"))), [10, 20, 30, "x"]),
        (setting((at("l", 9), of("x")), (at("l", 5), of("y"))), [10, 20, 30, "y", "x"]),
        (UpdateNode(removes=(at("l", 0), at("l", 2))), [20]),
        (UpdateNode(removes=(at("l", 9),)), [10, 20, 30]),
        (UpdateNode(sets=((at("l", 2), of("x")),), removes=(at("l", 0),)), [20, "x"]),
        (UpdateNode(sets=((at("l", 3), of("x")),), removes=(at("l", 0),)), [20, 30, "x"]),
        (UpdateNode(removes=(at("l", 0), at("l", 1), at("l", 2))), []),
        (adding(at("l", 0), 1), [11, 20, 30]),
        (adding(at("l", 7), 1), [10, 20, 30, 1]),
        (deleting(at("l", 7), frozenset({1})), [10, 20, 30]),
        (setting((at("l", 0), at("l", 2)), (at("l", 2), at("l", 0))), [30, 20, 10]),
    ],
)
def test_list_positions_are_those_before_the_update(update: UpdateNode, after: Value) -> None:
    item: Item = {"l": [10, 20, 30]}

    changed = apply(update, item)

    assert changed == {"l": after}


def test_taking_the_last_member_of_a_set_within_a_list_takes_the_element() -> None:
    item: Item = {"l": [frozenset({"a"}), frozenset({"b"})]}

    after = apply(deleting(at("l", 0), frozenset({"a"})), item)

    assert after == {"l": [frozenset({"b"})]}


@pytest.mark.parametrize(
    ("update", "after"),
    [
        (adding(at("n"), 2), {"n": 3}),
        (adding(at("new"), Decimal("2.50")), {"new": Decimal("2.5")}),
        (adding(at("m", "n"), -1), {"m": {"n": 6}}),
        (adding(at("m", "new"), 1), {"m": {"n": 7, "new": 1}}),
        (adding(at("s"), frozenset({"b", "c"})), {"s": frozenset({"a", "b", "c"})}),
        (adding(at("new"), frozenset({1})), {"new": frozenset({1})}),
        (adding(at("ns"), frozenset({Decimal(1), 2})), {"ns": frozenset({1, 2})}),
        (deleting(at("s"), frozenset({"a", "z"})), {"s": frozenset({"b"})}),
        (deleting(at("ns"), frozenset({Decimal(1)})), {"ns": None}),
        (deleting(at("new"), frozenset({"a"})), {}),
        (deleting(at("m", "new"), frozenset({"a"})), {}),
        (UpdateNode(removes=(at("m", "n"),)), {"m": {}}),
        (UpdateNode(removes=(at("m", "new"), at("new"))), {}),
        (UpdateNode(), {}),
    ],
)
def test_add_delete_and_remove_change_only_what_they_name(update: UpdateNode, after: Item) -> None:
    item: Item = {"n": 1, "s": frozenset({"a", "b"}), "ns": frozenset({1}), "m": {"n": 7}}
    expected = {name: value for name, value in {**item, **after}.items() if value is not None}

    changed = apply(update, item)

    assert changed == expected


@pytest.mark.parametrize(
    "update",
    [
        adding(at("n"), frozenset({1})),
        adding(at("s"), 1),
        adding(at("s"), frozenset({1})),
        adding(at("text"), 1),
        adding(at("flag"), 1),
        deleting(at("s"), frozenset({1})),
        deleting(at("n"), frozenset({1})),
    ],
)
def test_adding_to_or_taking_from_another_type_is_refused(update: UpdateNode) -> None:
    item: Item = {"n": 1, "s": frozenset({"a"}), "text": "1", "flag": True}

    with pytest.raises(InvalidRequest) as refused:
        apply(update, item)

    assert str(refused.value) == WRONG_TYPE


@pytest.mark.parametrize(
    "path",
    [
        at("zz", "x"),
        at("text", "x"),
        at("text", 0),
        at("l", "x"),
        at("m", 0),
        at("m", "zz", "x"),
        at("l", 5, "x"),
        at("l", 0, "x"),
    ],
)
@pytest.mark.parametrize("kind", ["set", "remove", "add", "delete"])
def test_the_parent_of_a_path_must_be_there_and_of_its_kind(path: Path, kind: str) -> None:
    item: Item = {"text": "x", "l": [1], "m": {"y": 1}}
    update = {
        "set": setting((path, of(1))),
        "remove": UpdateNode(removes=(path,)),
        "add": adding(path, 1),
        "delete": deleting(path, frozenset({1})),
    }[kind]

    with pytest.raises(InvalidRequest) as refused:
        apply(update, item)

    assert str(refused.value) == WRONG_PATH


@pytest.mark.parametrize(
    ("update", "sentence"),
    [
        (
            setting((at("a"), of(1)), (at("a", "b"), of(1))),
            (
                "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [a], path two: [a, b]"
            ),
        ),
        (
            UpdateNode(sets=((at("a", "b"), of(1)),), removes=(at("a", 0),)),
            (
                "Two document paths conflict with each other; must remove or rewrite one of these "
                "paths; path one: [a, b], path two: [a, [0]]"
            ),
        ),
        (
            adding(at("a"), "x"),
            (
                "Incorrect operand type for operator or function; operator: ADD, operand type: "
                "STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"
            ),
        ),
        (
            deleting(at("a"), 1),
            (
                "Incorrect operand type for operator or function; operator: DELETE, operand type: "
                "NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND"
            ),
        ),
        (
            setting((at("a"), Sum(of("x"), of(1)))),
            (
                "Incorrect operand type for operator or function; operator or function: +, operand "
                "type: S"
            ),
        ),
        (
            setting((at("a"), Joined(of([]), of(1)))),
            (
                "Incorrect operand type for operator or function; "
                "operator or function: list_append, operand type: N"
            ),
        ),
        (
            setting((at("a"), IfMissing(at("b"), Joined(of([]), of([]))))),
            (
                "The function is not allowed to be used this way in an expression; function: "
                "list_append"
            ),
        ),
        (
            setting((at("a"), IfMissing(at("b"), at("b")))),
            (
                "The first operand must be distinct from the remaining operands for this operator "
                "or function; operator: if_not_exists, first operand: [b]"
            ),
        ),
    ],
)
def test_what_dynamodb_refuses_is_refused_whatever_the_item_holds(
    update: UpdateNode, sentence: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        apply(update, {})

    assert str(refused.value) == f"Invalid UpdateExpression: {sentence}"


def test_removals_within_an_item_still_to_be_made_mean_nothing() -> None:
    update = UpdateNode(
        sets=((at("b"), of(1)),),
        removes=(at("a"), at("m", "x")),
        deletes=((at("s", "t"), of(frozenset({"x"}))),),
    )

    after = apply(update, {"pk": "k"}, exists=False)

    assert after == {"pk": "k", "b": 1}


@pytest.mark.parametrize(
    ("update", "makes"),
    [
        (UpdateNode(), True),
        (setting((at("a"), of(1))), True),
        (adding(at("a"), 1), True),
        (UpdateNode(removes=(at("a"),)), False),
        (deleting(at("a"), frozenset({1})), False),
        (UpdateNode(sets=((at("a"), of(1)),), removes=(at("b"),)), True),
    ],
)
def test_an_update_that_only_takes_away_makes_no_item(*, update: UpdateNode, makes: bool) -> None:
    answer = makes_item(update)

    assert answer is makes


@pytest.mark.parametrize(
    ("update", "old", "new"),
    [
        (setting((at("m", "b"), of("hi"))), {"m": {"b": "dog"}}, {"m": {"b": "hi"}}),
        (setting((at("m", "c", 1), of(7))), {"m": {"c": [2]}}, {"m": {"c": [7]}}),
        (setting((at("m", "new"), of(7))), {}, {"m": {"new": 7}}),
        (setting((at("m", "c", 100), of(7))), {}, {}),
        (UpdateNode(removes=(at("m", "c", 1),)), {"m": {"c": [2]}}, {"m": {"c": [3]}}),
        (UpdateNode(removes=(at("top"),)), {"top": 1}, {}),
        (adding(at("top"), 1), {"top": 1}, {"top": 2}),
    ],
)
def test_what_was_touched_is_only_the_paths_written(
    update: UpdateNode, old: Item, new: Item
) -> None:
    item: Item = {"top": 1, "m": {"b": "dog", "c": [1, 2, 3]}}

    answers = touched(update, item), touched(update, apply(update, item))

    assert answers == (old, new)


@given(updates, items)
def test_the_item_given_is_never_changed(update: UpdateNode, item: Item) -> None:
    before = repr(item)

    _outcome(update, item)

    assert repr(item) == before


@given(updates, items)
def test_attributes_no_path_names_stay_as_they_are(update: UpdateNode, item: Item) -> None:
    named = {path.root for path in update.paths}

    after = _outcome(update, item)

    assert {k: v for k, v in after.items() if k not in named} == {
        k: v for k, v in item.items() if k not in named
    }


def _outcome(update: UpdateNode, item: Item) -> Item:
    try:
        return apply(update, item)
    except InvalidRequest:
        return item
