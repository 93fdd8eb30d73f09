"""That single items are written and read at the service by our requests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.errors import ConditionFailed, InvalidRequest, TableNotFound
from grandstand.storage.tables.expressions.nodes import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    IfMissing,
    In,
    Joined,
    KeyCondition,
    Literal,
    Missing,
    Not,
    Or,
    Path,
    Range,
    Size,
    Sum,
    TypeIs,
    UpdateNode,
)
from grandstand.storage.tables.requests import (
    DeleteItem,
    GetItem,
    PutItem,
    QueryRequest,
    ScanRequest,
    UpdateItem,
)

KEY: Item = {"pk": "a", "sk": 1}
ITEM: Item = {
    **KEY,
    "text": "héllo",
    "empty": "",
    "amount": Decimal("12.345"),
    "huge": 10**30,
    "raw": b"\x00\xff",
    "yes": True,
    "nothing": None,
    "list": ["x", 1, [b"y"]],
    "map": {"userId#deviceId": "u#d", "inner": {"deep": [1]}},
    "texts": frozenset({"a", "b"}),
    "numbers": frozenset({1, Decimal("2.5")}),
    "raws": frozenset({b"a", b"b"}),
}


def path(*steps: str | int) -> Path:
    return Path(steps)


def test_an_item_of_every_type_comes_back_as_it_was_put(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, ITEM))

    found = cloud.get(GetItem(table, KEY, consistent=True))

    assert found.item == ITEM


def test_an_item_that_is_not_there_is_none(cloud: DynamoEngine, table: str) -> None:
    found = cloud.get(GetItem(table, KEY))

    assert found.item is None


def test_a_projection_brings_only_the_paths_asked_for(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, ITEM))
    paths = (path("map", "userId#deviceId"), path("list", 1), path("absent"))

    found = cloud.get(GetItem(table, KEY, projection=paths))

    assert found.item == {"map": {"userId#deviceId": "u#d"}, "list": [1]}


def test_a_put_returns_what_it_replaced(cloud: DynamoEngine, table: str) -> None:
    first = cloud.put(PutItem(table, {**KEY, "n": 1}, returning="ALL_OLD"))

    second = cloud.put(PutItem(table, {**KEY, "n": 2}, returning="ALL_OLD"))

    assert first.attributes is None
    assert second.attributes == {**KEY, "n": 1}


@pytest.mark.parametrize(
    "condition",
    [
        Compare("=", path("text"), Literal("héllo")),
        Compare("<>", path("absent"), Literal(1)),
        Between(path("amount"), Literal(12), Literal(13)),
        In(path("text"), (Literal("x"), Literal("héllo"))),
        Exists(path("map", "inner", "deep", 0)),
        Missing(path("list", 9)),
        TypeIs(path("numbers"), Literal("NS")),
        BeginsWith(path("text"), Literal("hé")),
        Contains(path("texts"), Literal("a")),
        Compare(">", Size(path("list")), Literal(2)),
        Not(And(Exists(path("text")), Exists(path("absent")))),
        And(
            Or(Exists(path("absent")), Exists(path("text"))),
            Or(Exists(path("yes")), Exists(path("absent"))),
        ),
    ],
)
def test_a_condition_that_holds_lets_the_write_through(
    cloud: DynamoEngine, table: str, condition: Condition
) -> None:
    cloud.put(PutItem(table, ITEM))

    cloud.put(PutItem(table, {**KEY, "new": 1}, condition))

    assert cloud.get(GetItem(table, KEY, consistent=True)).item == {**KEY, "new": 1}


def test_a_failed_condition_shows_the_item_it_found(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, ITEM))
    request = PutItem(table, KEY, Missing(path("pk")), show_conflict=True)

    with pytest.raises(ConditionFailed) as refused:
        cloud.put(request)

    assert refused.value.item == ITEM


def test_a_failed_condition_shows_nothing_unless_asked(cloud: DynamoEngine, table: str) -> None:
    request = DeleteItem(table, KEY, Exists(path("pk")))

    with pytest.raises(ConditionFailed, match="The conditional request failed") as refused:
        cloud.delete(request)

    assert refused.value.item is None


def test_an_update_does_all_it_says_at_once(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, {**KEY, "a": 1, "b": 2, "l": [1], "s": frozenset({"x", "y"}), "z": 0}))
    update = UpdateNode(
        sets=(
            (path("a"), path("b")),
            (path("b"), Sum(path("a"), Literal(10), subtract=True)),
            (path("l"), Joined(path("l"), Literal([2]))),
            (path("c"), IfMissing(path("c"), Literal("new"))),
        ),
        removes=(path("z"),),
        adds=((path("count"), Literal(5)),),
        deletes=((path("s"), Literal(frozenset({"x"}))),),
    )

    written = cloud.update(UpdateItem(table, KEY, update, returning="ALL_NEW"))

    assert written.attributes == {
        **KEY,
        "a": 2,
        "b": -9,
        "l": [1, 2],
        "c": "new",
        "count": 5,
        "s": frozenset({"y"}),
    }


def test_an_update_that_says_nothing_makes_the_bare_item(cloud: DynamoEngine, table: str) -> None:
    cloud.update(UpdateItem(table, KEY))

    assert cloud.get(GetItem(table, KEY, consistent=True)).item == KEY


def test_a_delete_returns_what_it_removed(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, ITEM))

    written = cloud.delete(DeleteItem(table, KEY, returning="ALL_OLD"))

    assert written.attributes == ITEM
    assert cloud.get(GetItem(table, KEY, consistent=True)).item is None


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (None, [1, 2, 3, 4]),
        (Range("sk", "=", 2), [2]),
        (Range("sk", ">", 2), [3, 4]),
        (Range("sk", "<=", 2), [1, 2]),
        (Range("sk", "between", 2, 3), [2, 3]),
    ],
)
def test_a_query_reads_a_partition_by_its_sort_key(
    cloud: DynamoEngine, table: str, where: Range | None, found: list[Value]
) -> None:
    for number in (3, 1, 4, 2):
        cloud.put(PutItem(table, {"pk": "a", "sk": number}))
    cloud.put(PutItem(table, {"pk": "b", "sk": 9}))

    page = cloud.query(QueryRequest(table, KeyCondition((("pk", "a"),), where)))

    assert [item["sk"] for item in page.items] == found
    assert page.last_key is None


def test_pages_follow_one_another_and_count_what_the_filter_took_out(
    cloud: DynamoEngine, table: str
) -> None:
    for number in range(4):
        cloud.put(PutItem(table, {"pk": "a", "sk": number, "odd": number % 2}))
    where = KeyCondition((("pk", "a"),))
    odd = Compare("=", path("odd"), Literal(1))

    first = cloud.query(QueryRequest(table, where, filter=odd, forward=False, limit=3))
    second = cloud.query(
        QueryRequest(table, where, filter=odd, forward=False, limit=3, start=first.last_key)
    )

    assert [item["sk"] for item in first.items] == [3, 1]
    assert (first.scanned, first.last_key) == (3, {"pk": "a", "sk": 1})
    assert (second.items, second.scanned, second.last_key) == ((), 1, None)


def test_the_segments_of_a_scan_hold_every_item_once(cloud: DynamoEngine, table: str) -> None:
    for number in range(20):
        cloud.put(PutItem(table, {"pk": str(number), "sk": number}))

    pages = [cloud.scan(ScanRequest(table, segment=segment, segments=3)) for segment in range(3)]

    assert sorted(int(str(item["sk"])) for page in pages for item in page.items) == list(range(20))


def test_a_wrong_request_is_refused_in_the_services_words(cloud: DynamoEngine, table: str) -> None:
    request = UpdateItem(table, KEY, UpdateNode(sets=((path("pk"), Literal("b")),)))

    with pytest.raises(InvalidRequest, match="This attribute is part of the key"):
        cloud.update(request)


def test_a_limit_below_one_is_refused_by_the_service_itself(
    cloud: DynamoEngine, table: str
) -> None:
    with pytest.raises(InvalidRequest, match=r"(?i)limit"):
        cloud.scan(ScanRequest(table, limit=0))


def test_a_table_that_is_not_there_is_not_found(cloud: DynamoEngine) -> None:
    with pytest.raises(TableNotFound):
        cloud.put(PutItem("no-such-table", KEY))


def test_threads_can_share_an_engine(cloud: DynamoEngine, table: str) -> None:
    count = UpdateItem(table, KEY, UpdateNode(adds=((path("n"), Literal(1)),)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(cloud.update, [count] * 80))

    assert cloud.get(GetItem(table, KEY, consistent=True)).item == {**KEY, "n": 80}
