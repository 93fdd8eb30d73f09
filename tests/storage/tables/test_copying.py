"""Tables brought from engine to engine hold the same items, however often it is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.tables import Naming, Store, Table
from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.encoding import ItemSum
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.maintenance import (
    CopyPlan,
    CopyProgress,
    TableKeyMismatch,
    check_table,
    checksum,
    copy_items,
    remove_extra,
    table_exists,
)
from grandstand.storage.tables.requests import PutItem
from tests.storage.tables.library import Book, Loan, Reader, readers, shelf

NOW = datetime(2026, 5, 1, tzinfo=UTC)
EXACT: Item = {
    "pk": "SERIES#odd",
    "sk": "BOOK#0001",
    "whole": 2**70,
    "part": Decimal("0.10"),
    "raw": b"\x00\xff",
    "none": None,
    "yes": True,
    "map": {"b": [1, {"c": Decimal("-1.50")}], "a": ""},
    "texts": frozenset({"a", "b"}),
    "numbers": frozenset({1, Decimal("2.5")}),
    "bytes": frozenset({b"x"}),
}


@pytest.fixture
def embedded(tmp_path: Path, naming: Naming) -> Iterator[Store]:
    """A store in a file."""
    with closing(SqliteEngine.open(tmp_path / "one.db", clock=SystemClock())) as engine:
        yield Store(engine, naming=naming, clock=SystemClock())


@pytest.fixture
def elsewhere(local_engine: Engine, naming: Naming) -> Store:
    """A store on DynamoDB Local."""
    return Store(local_engine, naming=naming, clock=SystemClock())


@pytest.fixture(params=["to the cloud", "from the cloud"])
def ends(request: pytest.FixtureRequest, embedded: Store, elsewhere: Store) -> tuple[Store, Store]:
    """A source that holds items, and an empty target; each engine is each in turn."""
    both = (embedded, elsewhere)
    source, target = both if request.param == "to the cloud" else both[::-1]
    source.create((shelf, readers))
    target.create((shelf, readers))
    source.write_many(
        [
            Book(series="s", number=n, author="a", published_at=NOW, on_sale=True).put()
            for n in range(40)
        ]
    )
    source(Loan(series="s", reader="r", since=NOW).put())
    source.session.engine.put(PutItem(source.session.name(shelf), EXACT))
    return source, target


def way(ends: tuple[Store, Store], table: Table, *, mirror: bool = False) -> CopyPlan:
    source, target = ends
    return CopyPlan(
        source.session, target.session, table, source.session.clock.epoch(), mirror=mirror
    )


def copy(chosen: CopyPlan) -> CopyProgress:
    return copy_items(chosen, None, CopyProgress(), lambda _done, _place: None)


def sums(chosen: CopyPlan) -> tuple[ItemSum, ItemSum]:
    return checksum(chosen.source, chosen), checksum(chosen.target, chosen)


def test_every_kind_of_value_arrives_and_a_second_copy_changes_nothing(
    ends: tuple[Store, Store],
) -> None:
    chosen = way(ends, shelf)

    first = copy(chosen)
    position = chosen.target.engine.changes(chosen.name, None, 1_000).position
    second = copy(chosen)
    after = chosen.target.engine.changes(chosen.name, position, 1_000)

    left, right = sums(chosen)
    assert (first.read, first.written) == (42, 42)
    assert (second.read, second.written, second.same) == (42, 0, 42)
    assert left == right
    assert left.items == 42
    assert after.changes == ()
    # The version and the sparse index are there as they were.
    target = ends[1]
    assert len([*target.each(Book.by_author("a", NOW))]) == 40
    [loan] = target.each(Loan.of_reader("s", "r"))
    assert loan.rev == 1


def test_what_has_expired_stays_behind_and_what_will_keeps_its_moment(
    ends: tuple[Store, Store],
) -> None:
    source, target = ends
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    gone = Reader(reader_id="r", place="gone", expires=soon - timedelta(days=2))
    source.write_many([gone.put(), Reader(reader_id="r", place="kept", expires=soon).put()])

    copied = copy(way(ends, readers))

    left, right = sums(way(ends, readers))
    [kept] = target.each(Reader.everyone())
    assert copied.written == 1
    assert left == right
    assert kept.expires == soon


def test_what_differs_at_the_target_is_left_alone_unless_it_is_to_mirror(
    ends: tuple[Store, Store],
) -> None:
    _, target = ends
    copy(way(ends, shelf))
    newer = Book(series="s", number=1, author="b", published_at=NOW)
    target.write_many([newer.put(), Book(series="t", number=9, author="c", published_at=NOW).put()])

    added = copy(way(ends, shelf))
    untouched = target(Book.one("s", 1))
    mirrored = way(ends, shelf, mirror=True)
    replaced = copy(mirrored)
    removed = remove_extra(mirrored, replaced, lambda _: None)

    left, right = sums(mirrored)
    assert (added.written, added.other) == (0, 1)
    assert untouched == newer
    assert (replaced.written, replaced.other, removed.removed) == (0, 1, 1)
    assert left == right


def test_a_copy_goes_on_after_the_place_it_stopped_at(embedded: Store, tmp_path: Path) -> None:
    naming = embedded.session.naming
    embedded.create((shelf,))
    embedded.write_many(
        [Book(series="s", number=n, author="a", published_at=NOW).put() for n in range(700)]
    )
    told: list[tuple[CopyProgress, Key | None]] = []
    with closing(SqliteEngine.open(tmp_path / "two.db", clock=SystemClock())) as engine:
        target = Store(engine, naming=naming, clock=SystemClock())
        target.create((shelf,))
        chosen = way((embedded, target), shelf)

        copy_items(chosen, None, CopyProgress(), lambda done, place: told.append((done, place)))
        done, place = told[0]
        target.write_many([Book.delete(series="s", number=n) for n in range(500, 700)])
        again = copy_items(chosen, place, done, lambda _done, _place: None)

        assert (done.read, done.written) == (500, 500)
        assert place is not None
        assert (again.read, again.written) == (700, 700)
        assert checksum(chosen.target, chosen).items == 700


def test_a_target_without_the_table_or_with_another_key_is_refused(embedded: Store) -> None:
    other = Table("shelf-{environment}", partition="isbn")

    with pytest.raises(TableNotFound):
        check_table(embedded.session, shelf)
    absent = table_exists(embedded.session, shelf)
    embedded.create((other,))

    assert not absent
    with pytest.raises(TableKeyMismatch, match=r"has the key isbn \(S\).*pk \(S\) and sk \(S\)"):
        check_table(embedded.session, shelf)


def test_sums_tell_items_apart_that_differ_in_anything_and_no_others() -> None:
    item: Item = {"a": 1, "b": [Decimal("1.50"), "x"], "c": frozenset({1, 2})}
    same: Item = {
        "c": frozenset({2, Decimal("1.0")}),
        "b": [Decimal("1.5"), "x"],
        "a": Decimal(1),
    }
    others: list[Item] = [
        {**item, "a": "1"},
        {**item, "a": True},
        {**item, "b": ["x", Decimal("1.5")]},
        {**item, "c": [1, 2]},
        {**item, "d": None},
    ]

    total = ItemSum().plus([item])

    assert total == ItemSum().plus([same])
    assert total.checksum not in [ItemSum().plus([other]).checksum for other in others]
    assert ItemSum().plus([item, *others]) == ItemSum().plus([*others, same])
