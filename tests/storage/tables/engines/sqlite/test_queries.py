"""Queries and scans: order, bounds, pages, start keys, indexes and segments."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from zlib import crc32

import pytest

from grandstand.storage.tables.attribute_values import Item, Key, Number, item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    KeyCondition,
    Literal,
    Range,
    RangeOperator,
)
from grandstand.storage.tables.requests import QueryRequest, RawPage, ScanRequest
from tests.storage.tables.engines.sqlite.plays import (
    PLACES,
    PLAYS,
    TEAMS,
    numbers,
    of_game,
    of_team,
    path,
    play,
    put,
)

EVEN = Compare("=", path("even"), Literal(value=True))


@pytest.fixture(autouse=True)
def _tables(engine: SqliteEngine) -> None:
    for schema in (PLAYS, PLACES, TEAMS):
        engine.create_table(schema)


def pages(ask: Callable[[Key | None], RawPage]) -> Iterator[RawPage]:
    """Every page of a question, each from where the one before ended."""
    page = ask(None)
    yield page
    while page.last_key is not None:
        page = ask(page.last_key)
        yield page


def one_by_one(engine: SqliteEngine, where: KeyCondition, *, forward: bool) -> list[int]:
    """The numbers a query finds when each page has one item."""
    found = pages(
        lambda start: engine.query(
            QueryRequest("plays", where, forward=forward, limit=1, start=start)
        )
    )
    return [number for page in found for number in numbers(page.items)]


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(InvalidRequest) as refused:
        work()
    return str(refused.value)


@pytest.mark.parametrize(
    ("op", "low", "high", "found"),
    [
        ("=", "p0003", None, [3]),
        ("<", "p0003", None, [1, 2]),
        ("<=", "p0003", None, [1, 2, 3]),
        (">", "p0003", None, [4, 5]),
        (">=", "p0003", None, [3, 4, 5]),
        ("between", "p0002", "p0004", [2, 3, 4]),
        ("begins_with", "p000", None, [1, 2, 3, 4, 5]),
        ("begins_with", "p0004", None, [4]),
    ],
)
def test_a_range_finds_what_lies_in_it_either_way_and_page_by_page(
    engine: SqliteEngine, op: RangeOperator, low: str, high: str | None, found: list[int]
) -> None:
    put(engine, *(play(n) for n in (4, 2, 5, 1, 3)), play(3, "g2"))
    where = of_game(given=Range("play", op, low, high))

    forward = engine.query(QueryRequest("plays", where)).items
    backward = engine.query(QueryRequest("plays", where, forward=False)).items
    paged = [one_by_one(engine, where, forward=way) for way in (True, False)]

    assert numbers(forward) == found
    assert numbers(backward) == found[::-1]
    assert paged == [found, found[::-1]]


def test_text_keys_sort_by_utf_8_and_number_keys_by_amount(engine: SqliteEngine) -> None:
    names = ["A", "B", "Z", "a", "aa", "z", "é", "\uffff", "\U0001d11e"]
    amounts: list[Number] = [
        Decimal("-1E+100"),
        -2,
        Decimal("-1.5"),
        0,
        Decimal("0.001"),
        9,
        10,
        2**62,
    ]
    items: list[Item] = [{"game": "g", "play": name} for name in reversed(names)]
    put(engine, *items)
    put(engine, *(play(n, team="t", points=amount) for n, amount in enumerate(amounts[::-1])))

    by_name = engine.query(QueryRequest("plays", of_game("g"))).items
    by_amount = engine.query(of_team("t")).items

    assert [item["play"] for item in by_name] == names
    assert [item["points"] for item in by_amount] == amounts


def test_a_limit_counts_before_the_filter_and_leaves_a_key_even_at_the_end(
    engine: SqliteEngine,
) -> None:
    put(engine, *(play(n, even=n % 2 == 0) for n in range(1, 10)))
    where = of_game()

    exact = engine.query(QueryRequest("plays", where, filter=EVEN, limit=9))
    beyond = engine.query(QueryRequest("plays", where, filter=EVEN, limit=10))
    after = engine.query(QueryRequest("plays", where, filter=EVEN, limit=9, start=exact.last_key))

    assert (numbers(exact.items), exact.scanned) == ([2, 4, 6, 8], 9)
    assert exact.last_key == {"game": "g1", "play": "p0009"}
    assert (numbers(beyond.items), beyond.last_key) == ([2, 4, 6, 8], None)
    assert after == RawPage((), 0)


def test_a_page_of_which_nothing_passes_the_filter_is_empty_and_goes_on(
    engine: SqliteEngine,
) -> None:
    put(engine, *(play(n, even=n == 4) for n in range(1, 5)))

    found = list(
        pages(
            lambda start: engine.query(
                QueryRequest("plays", of_game(), filter=EVEN, limit=2, start=start)
            )
        )
    )

    assert [numbers(page.items) for page in found] == [[], [4], []]


def test_a_page_ends_with_the_item_that_crosses_one_megabyte(engine: SqliteEngine) -> None:
    big = 300_000
    put(engine, *(play(n, note="x" * big) for n in range(6)))

    found = list(pages(lambda start: engine.query(QueryRequest("plays", of_game(), start=start))))

    assert [numbers(page.items) for page in found] == [[0, 1, 2, 3], [4, 5]]
    assert found[0].read_bytes == 4 * item_size(play(0, note="x" * big))


def test_a_start_key_need_not_be_an_item(engine: SqliteEngine) -> None:
    put(engine, play(1), play(5))
    start: Key = {"game": "g1", "play": "p0003"}

    after = engine.query(QueryRequest("plays", of_game(), start=start)).items
    before = engine.query(QueryRequest("plays", of_game(), start=start, forward=False)).items

    assert (numbers(after), numbers(before)) == ([5], [1])


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"game": "g1"}, "The provided starting key is invalid"),
        ({"game": "g1", "play": "p", "more": 1}, "The provided starting key is invalid"),
        ({"game": "g1", "play": 1}, "The provided key element does not match the schema"),
        (
            {"game": "g1", "play": ""},
            (
                "The provided starting key is invalid: One or more parameter values are not valid. "
                "The AttributeValue for a key attribute cannot contain an empty string value. "
                "Key: play"
            ),
        ),
        (
            {"game": "g2", "play": "p"},
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
    ],
)
def test_a_start_key_that_does_not_fit_the_query_is_refused(
    engine: SqliteEngine, start: Key, message: str
) -> None:
    told = refusal(lambda: engine.query(QueryRequest("plays", of_game(), start=start)))

    assert told == message


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (
            {"game": "g1", "play": "p0002"},
            "The provided starting key does not match the range key predicate",
        ),
        (
            {"game": "g2", "play": "p0005"},
            "The query can return at most one row and cannot be restarted",
        ),
    ],
)
def test_a_start_key_outside_the_range_is_refused(
    engine: SqliteEngine, start: Key, message: str
) -> None:
    where = of_game(given=Range("play", ">", "p0002"))

    told = refusal(lambda: engine.query(QueryRequest("plays", where, start=start)))

    assert told == message


def test_an_index_holds_only_items_with_its_whole_key(engine: SqliteEngine) -> None:
    put(
        engine,
        play(1, team="reds", points=1),
        play(2, team="reds"),
        play(3, points=3),
        play(4, team="reds", points=Decimal("0.5")),
    )

    queried = engine.query(of_team("reds")).items
    scanned = engine.scan(ScanRequest("plays", index="by-team")).items

    assert numbers(queried) == [4, 1]
    assert sorted(numbers(scanned)) == [1, 4]


def test_an_index_follows_its_item(engine: SqliteEngine) -> None:
    put(engine, play(1, team="reds", points=1))
    put(engine, play(1, team="blues", points=1), play(2, team="reds", points=2))
    put(engine, play(2))

    assert engine.query(of_team("reds")).items == ()
    assert numbers(engine.query(of_team("blues")).items) == [1]


@pytest.mark.parametrize("forward", [True, False])
def test_equal_index_keys_are_paged_without_loss_or_repeat(
    engine: SqliteEngine, *, forward: bool
) -> None:
    put(engine, *(play(n, f"g{n % 3}", team="reds", points=n // 8) for n in range(24)))

    found = list(
        pages(
            lambda start: engine.query(
                QueryRequest(
                    "plays",
                    of_team("reds").where,
                    index="by-team",
                    limit=5,
                    start=start,
                    forward=forward,
                )
            )
        )
    )
    items = [item for page in found for item in page.items]
    points = [int(str(item["points"])) for item in items]

    assert sorted(numbers(tuple(items))) == list(range(24))
    assert points == sorted(points, reverse=not forward)
    assert set(found[0].last_key or {}) == {"game", "play", "team", "points"}


def test_a_query_of_an_index_takes_a_range_and_a_start_key_together(engine: SqliteEngine) -> None:
    put(engine, *(play(n, team="reds", points=n) for n in range(10)))
    where = of_team("reds", Range("points", "between", 2, 7)).where
    start: Key = {**play(4), "team": "reds", "points": 4}

    up = QueryRequest("plays", where, index="by-team", start=start)
    down = QueryRequest("plays", where, index="by-team", start=start, forward=False)

    assert numbers(engine.query(up).items) == [5, 6, 7]
    assert numbers(engine.query(down).items) == [3, 2]


def test_a_local_index_shows_its_keys_and_fetches_the_rest_when_asked(
    engine: SqliteEngine,
) -> None:
    put(engine, play(1, day="d2", note="a"), play(2, day="d1", note="b"), play(3, note="c"))
    shown = QueryRequest("plays", of_game(), index="by-day", consistent=True)
    asked = QueryRequest("plays", of_game(), index="by-day", projection=(path("note"),))

    page = engine.query(shown)

    assert page.items == (play(2, day="d1"), play(1, day="d2"))
    assert page.read_bytes == sum(map(item_size, page.items))
    assert engine.query(asked).items == ({"note": "b"}, {"note": "a"})
    assert engine.query(replace(shown, whole=True)).items[0] == play(2, day="d1", note="b")


def test_an_index_of_many_attributes_orders_by_each_in_turn(engine: SqliteEngine) -> None:
    halls: list[tuple[int, str]] = [(2020, "b"), (2020, "a"), (2019, "c"), (2021, "a")]
    for n, (year, hall) in enumerate(halls):
        item = play(n, country="it", city="rome", year=year, hall=hall, note=n, hidden=1)
        put(engine, item, play(n + 10, country="it", city="pisa", year=year, hall=hall))
        put(engine, item, table="places")
    rome = (("country", "it"), ("city", "rome"))
    asked = [
        KeyCondition(rome),
        KeyCondition(rome, Range("year", ">=", 2020)),
        KeyCondition((*rome, ("year", 2020)), Range("hall", "begins_with", "a")),
        KeyCondition((*rome, ("year", 2020))),
    ]

    found = [engine.query(QueryRequest("places", where, index="by-place")).items for where in asked]

    assert [numbers(items) for items in found] == [[2, 1, 0, 3], [1, 0, 3], [1], [1, 0]]
    assert "hidden" not in found[0][0]
    assert found[0][0]["note"] == 2


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            QueryRequest("plays", of_game(), index="nope"),
            "The table does not have the specified index: nope",
        ),
        (
            QueryRequest("plays", of_team("r").where, index="by-team", consistent=True),
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            QueryRequest("plays", of_game(), filter=Compare("=", path("play"), Literal("p"))),
            (
                "Filter Expression can only contain non-primary key attributes: "
                "Primary key attribute: play"
            ),
        ),
        (
            QueryRequest("plays", of_game(), index="by-day", filter=EVEN),
            (
                "One or more parameter values were invalid: Secondary index by-day does not "
                "project one or more filter attributes: [even]"
            ),
        ),
        (
            QueryRequest(
                "places",
                KeyCondition((("country", "it"), ("city", "rome"))),
                index="by-place",
                projection=(path("hidden"), path("note")),
            ),
            (
                "One or more parameter values were invalid: Global secondary index by-place does "
                "not project [hidden]"
            ),
        ),
        (
            QueryRequest("plays", of_game(), limit=0),
            (
                "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
                "Member must have value greater than or equal to 1"
            ),
        ),
    ],
)
def test_a_question_dynamodb_would_refuse_is_refused(
    engine: SqliteEngine, question: QueryRequest, message: str
) -> None:
    told = refusal(lambda: engine.query(question))

    assert told == message


def segment_numbers(
    engine: SqliteEngine, index: str | None, segment: int, segments: int
) -> list[int]:
    """The numbers of all plays in one segment."""
    found = pages(
        lambda start: engine.scan(
            ScanRequest("plays", index, limit=3, start=start, segment=segment, segments=segments)
        )
    )
    return [number for page in found for number in numbers(page.items)]


@pytest.mark.parametrize("index", [None, "by-team"])
@pytest.mark.parametrize("segments", [1, 2, 7])
def test_segments_share_a_table_out_with_nothing_twice(
    engine: SqliteEngine, index: str | None, segments: int
) -> None:
    put(engine, *(play(n, f"g{n}", team="reds", points=n) for n in range(40)))

    shares = [segment_numbers(engine, index, at, segments) for at in range(segments)]

    assert sorted(chain.from_iterable(shares)) == list(range(40))


def test_with_more_segments_than_buckets_every_item_is_still_in_one(engine: SqliteEngine) -> None:
    segments = 1_000_000
    buckets = [crc32(f"g{n}".encode()) & 0xFFFF for n in range(40)]
    put(engine, *(play(n, f"g{n}") for n in range(40)))

    shares = [
        segment_numbers(engine, None, bucket * segments // 65536, segments) for bucket in buckets
    ]

    assert all(n in share for n, share in enumerate(shares))


def test_a_start_key_of_another_segment_is_refused(engine: SqliteEngine) -> None:
    put(engine, *(play(1, f"g{n}") for n in range(20)))
    first = engine.scan(ScanRequest("plays", segment=0, segments=2, limit=1)).last_key

    told = refusal(lambda: engine.scan(ScanRequest("plays", segment=1, segments=2, start=first)))

    assert told == (
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
        "ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: 1"
    )


@pytest.mark.parametrize(
    ("index", "start", "message"),
    [
        (
            None,
            {"game": "g"},
            (
                "The provided starting key is invalid: "
                "The provided key element does not match the schema"
            ),
        ),
        (
            None,
            {"game": "g", "play": 1},
            (
                "The provided starting key is invalid: "
                "The provided key element does not match the schema"
            ),
        ),
        ("by-team", {"game": "g", "play": "p"}, "The provided starting key is invalid"),
        (
            "by-team",
            {"game": "g", "play": "p", "team": "t", "points": "1"},
            "The provided key element does not match the schema",
        ),
        (
            "by-team",
            {"game": 1, "play": "p", "team": "t", "points": 1},
            (
                "The provided starting key is invalid: "
                "The provided key element does not match the schema"
            ),
        ),
    ],
)
def test_a_start_key_that_does_not_fit_the_scan_is_refused(
    engine: SqliteEngine, index: str | None, start: Key, message: str
) -> None:
    told = refusal(lambda: engine.scan(ScanRequest("plays", index, start=start)))

    assert told == message


def test_a_scan_filters_what_it_reads(engine: SqliteEngine) -> None:
    items: list[Item] = [{"team": f"t{n}", "even": n % 2 == 0} for n in range(6)]
    put(engine, *items, table="teams")

    page = engine.scan(ScanRequest("teams", filter=EVEN, projection=(path("team"),)))

    assert sorted(str(item["team"]) for item in page.items) == ["t0", "t2", "t4"]
    assert page.scanned == 6


def test_a_scan_keeps_its_order(engine: SqliteEngine) -> None:
    items: list[Item] = [{"team": f"t{n}"} for n in range(50)]
    put(engine, *items, table="teams")

    first = engine.scan(ScanRequest("teams")).items
    put(engine, *items[::-1], table="teams")

    assert engine.scan(ScanRequest("teams")).items == first
