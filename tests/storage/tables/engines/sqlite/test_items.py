"""Single items: what is written is there, and what was asked for is shown."""

from decimal import Decimal

import pytest

from grandstand.storage.tables.attribute_values import Item, item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import ConditionFailed, InvalidRequest, TableNotFound
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Exists,
    Literal,
    Missing,
    Sum,
    UpdateNode,
)
from grandstand.storage.tables.requests import (
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    Returning,
    UpdateItem,
    Written,
)
from tests.storage.tables.engines.sqlite.plays import KEY, PLAYS, TEAMS, find, path, play, put

ADD_ONE = UpdateNode(sets=((path("n"), Sum(path("n"), Literal(1))),))
ABSENT = Missing(path("game"))


@pytest.fixture(autouse=True)
def _tables(engine: SqliteEngine) -> None:
    engine.create_table(PLAYS)
    engine.create_table(TEAMS)


def test_an_item_of_every_type_comes_back_as_it_was(engine: SqliteEngine) -> None:
    item: Item = {
        **KEY,
        "text": "ö€𝄞",
        "whole": 2**63 - 1,
        "long": Decimal(12345678901234567890123456789012345678),
        "small": Decimal("-1E-130"),
        "bytes": b"\x00\xff",
        "yes": True,
        "null": None,
        "list": [1, "a", [None]],
        "map": {"a": {"b": Decimal("1.5")}},
        "texts": frozenset({"a", ""}),
        "numbers": frozenset({1, Decimal("2.5")}),
        "binaries": frozenset({b"x"}),
    }

    engine.put(PutItem("plays", item))

    assert find(engine, item) == item


def test_a_read_tells_the_size_of_the_whole_item_whatever_it_shows(engine: SqliteEngine) -> None:
    item = play(1, note="x" * 500)
    put(engine, item)

    found = engine.get(GetItem("plays", KEY, projection=(path("play"),)))

    assert found == Found({"play": "p0001"}, item_size(item))


def test_a_table_without_sort_key_keeps_one_item_a_partition(engine: SqliteEngine) -> None:
    put(engine, {"team": "reds", "n": 1}, {"team": "reds", "n": 2}, table="teams")

    found = engine.get(GetItem("teams", {"team": "reds"})).item

    assert found == {"team": "reds", "n": 2}


@pytest.mark.parametrize("show", [False, True])
def test_a_put_if_absent_is_refused_when_something_is_there(
    engine: SqliteEngine, *, show: bool
) -> None:
    first, second = play(1, n=1), play(1, n=2)
    engine.put(PutItem("plays", first, condition=ABSENT))

    with pytest.raises(ConditionFailed, match="The conditional request failed") as refused:
        engine.put(PutItem("plays", second, condition=ABSENT, show_conflict=show))

    assert refused.value.item == (first if show else None)
    assert find(engine, first) == first


def test_a_condition_looks_at_the_item_as_it_is(engine: SqliteEngine) -> None:
    put(engine, play(1, n=1))
    if_one = Compare("=", path("n"), Literal(1))

    engine.put(PutItem("plays", play(1, n=2), condition=if_one))
    with pytest.raises(ConditionFailed):
        engine.delete(DeleteItem("plays", KEY, condition=if_one))

    assert find(engine, play(1)) == play(1, n=2)


@pytest.mark.parametrize(
    ("returning", "shown"),
    [
        ("NONE", None),
        ("ALL_OLD", play(1, n=1, note="a")),
        ("ALL_NEW", play(1, n=2, note="a")),
        ("UPDATED_OLD", {"n": 1}),
        ("UPDATED_NEW", {"n": 2}),
    ],
)
def test_an_update_shows_what_it_was_asked_for(
    engine: SqliteEngine, returning: Returning, shown: Item | None
) -> None:
    put(engine, play(1, n=1, note="a"))

    written = engine.update(UpdateItem("plays", KEY, ADD_ONE, returning=returning))

    assert written.attributes == shown
    assert find(engine, play(1)) == play(1, n=2, note="a")


def test_what_was_not_there_is_not_shown(engine: SqliteEngine) -> None:
    change = UpdateNode(sets=((path("n"), Literal(1)),))

    shown = [
        engine.update(UpdateItem("plays", KEY, change, returning="UPDATED_OLD")).attributes,
        engine.put(PutItem("plays", play(2), returning="ALL_OLD")).attributes,
        engine.delete(DeleteItem("plays", {**KEY, "play": "p3"}, returning="ALL_OLD")).attributes,
    ]

    assert shown == [None, None, None]


def test_an_update_of_nothing_makes_the_bare_item(engine: SqliteEngine) -> None:
    engine.update(UpdateItem("plays", KEY))

    assert find(engine, play(1)) == play(1)


def test_an_update_that_only_removes_makes_no_item(engine: SqliteEngine) -> None:
    written = engine.update(UpdateItem("plays", KEY, UpdateNode(removes=(path("n"),))))

    assert written == Written()
    assert find(engine, play(1)) is None


def test_a_delete_shows_what_went(engine: SqliteEngine) -> None:
    put(engine, play(1, n=1))

    written = engine.delete(
        DeleteItem("plays", KEY, condition=Exists(path("n")), returning="ALL_OLD")
    )

    assert written.attributes == play(1, n=1)
    assert find(engine, play(1)) is None


def test_deleting_nothing_is_no_error(engine: SqliteEngine) -> None:
    engine.delete(DeleteItem("plays", KEY))

    assert find(engine, play(1)) is None


def test_the_largest_item_fits_and_one_byte_more_does_not(engine: SqliteEngine) -> None:
    room = 409_600 - item_size(play(1, note=""))
    put(engine, play(1, note="x" * room))

    with pytest.raises(InvalidRequest, match="Item size has exceeded"):
        put(engine, play(1, note="x" * (room + 1)))

    assert engine.get(GetItem("plays", KEY)).read_bytes == 409_600


def test_an_update_is_measured_with_the_cost_of_its_actions(engine: SqliteEngine) -> None:
    ceiling = 409_600 - 22 - len("n")
    fits = UpdateNode(sets=((path("n"), Literal("x" * ceiling)),))
    too_large = UpdateNode(sets=((path("n"), Literal("x" * (ceiling + 1))),))

    engine.update(UpdateItem("plays", KEY, fits))
    with pytest.raises(InvalidRequest, match="Item size to update has exceeded"):
        engine.update(UpdateItem("plays", KEY, too_large))

    found = find(engine, play(1))
    assert found is not None
    assert found["n"] == "x" * ceiling


def test_a_table_that_is_not_there_is_not_found(engine: SqliteEngine) -> None:
    with pytest.raises(TableNotFound, match="Requested resource not found"):
        engine.get(GetItem("nothing", KEY))
