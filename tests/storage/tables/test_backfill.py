"""A backfill brings every older item to the present form and loses nobody's write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import Entity, Index, Naming, Query, Store, Table, key, ttl, version
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import CursorInvalid, DeclarationFault
from grandstand.storage.tables.maintenance import BackfillFailure, Progress, Report, backfill
from grandstand.storage.tables.operations.item_ops import MAX_WRITE, split_batches
from grandstand.storage.tables.requests import (
    DeleteItem,
    GetItem,
    PutItem,
    UpdateItem,
    Written,
)

club = Table(
    "club",
    partition="pk",
    sort="sk",
    ttl="ttl",
    indexes=(Index("ByTown", "town_pk", "sk"),),
)


class Member(Entity, table=club, schema_version="2"):
    """Version 1 had one name, a fee in dollars as text and no town."""

    number: int
    first: str
    last: str
    fee_cents: int
    town: str = "unknown"
    rev: int = version()
    expires: datetime | None = ttl()

    row = key("CLUB", "MEMBER#{number:05d}")
    by_town = key("TOWN#{town}", "MEMBER#{number:05d}", index="ByTown")

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Split the name and count the fee in cents."""
        old = dict(item)
        first, last = str(old.pop("name")).split(" ")
        cents = int(str(old.pop("fee"))) * 100
        return {**old, "first": first, "last": last, "fee_cents": cents}


class Trophy(Entity, table=club):
    title: str

    row = key("CLUB", "TROPHY#{title}")


coins = Table("coins", partition="id")


class Coin(Entity, table=coins, schema_version="1"):
    """Nothing but its key, so that only its being there can be compared."""

    id: str

    row = key("{id}")


class Plain(Entity, table=Table("plain-club", partition="id")):
    id: str

    row = key("{id}")


@dataclass
class Interfering:
    """An engine where somebody else acts just before an update, a few times."""

    engine: Engine
    act: Callable[[int], object]
    times: int = 1
    acted: int = 0

    def update(self, request: UpdateItem) -> Written:
        if self.acted < self.times:
            self.acted += 1
            self.act(self.acted)
        return self.engine.update(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def store(engine: Engine, naming: Naming, clock: ManualClock) -> Store:
    made = Store(engine, naming=naming, clock=clock)
    made.create((club,))
    return made


def old(number: int, **others: Any) -> Item:
    """An item as version 1 wrote it."""
    return {
        "pk": "CLUB",
        "sk": f"MEMBER#{number:05d}",
        "number": number,
        "name": "Ada Lovelace",
        "fee": "12",
        "rev": 3,
        **others,
    }


def put(store: Store, *items: Item) -> None:
    for item in items:
        store.session.engine.put(PutItem(store.session.name(club), item))


def fill(store: Store, count: int) -> None:
    """Put so many items, every tenth as version 1 wrote it and the others in the present form."""
    present = Member(number=0, first="Ada", last="Lovelace", fee_cents=1_200)
    encode, name = Member.__plan__.encode, store.session.name(club)
    items = [old(at) if at % 10 == 0 else encode(present.replace(number=at)) for at in range(count)]
    for some in split_batches(tuple(PutItem(name, item) for item in items), MAX_WRITE):
        store.session.engine.batch_write(some)


def raw(store: Store, number: int) -> Item | None:
    where: Item = {"pk": "CLUB", "sk": f"MEMBER#{number:05d}"}
    found = store.session.engine.get(GetItem(store.session.name(club), where, consistent=True))
    return found.item


def run(store: Store, **others: Any) -> Report:
    return backfill(
        store, Member, progress=others.pop("progress", lambda _progress: None), **others
    )


def interfered(store: Store, act: Callable[[int], object], times: int = 1) -> Store:
    """Return the same store where somebody else acts before each of the first updates."""
    session = store.session
    engine = cast("Engine", Interfering(session.engine, act, times))
    return Store(engine, naming=session.naming, clock=session.clock)


def test_an_older_item_is_stored_in_the_present_form(store: Store) -> None:
    put(store, old(1))

    report = run(store)

    assert report.progress.upgraded == 1
    assert raw(store, 1) == {
        "pk": "CLUB",
        "sk": "MEMBER#00001",
        "number": 1,
        "first": "Ada",
        "last": "Lovelace",
        "fee_cents": 1200,
        "town": "unknown",
        "town_pk": "TOWN#unknown",
        "rev": 3,
        "schemaVersion": "2",
    }


def test_a_backfilled_item_reads_as_it_read_before(store: Store) -> None:
    put(store, old(1))
    before = store.read(Member.get(number=1))

    run(store)

    assert store.read(Member.get(number=1)) == before


def test_a_backfilled_item_is_found_by_indexes_it_was_not_in(store: Store) -> None:
    put(store, old(1))
    question: Query[Member] = Member.by_town(town="unknown")

    before = store(question)
    run(store)
    after = store(question)

    assert before == []
    assert [member.number for member in after] == [1]


def test_everything_else_stays_as_it_is(store: Store) -> None:
    present = Member(number=1, first="Ada", last="L", fee_cents=5, town="Rome", rev=0, expires=None)
    store(present.put())
    store(Trophy(title="Cup").put())
    put(store, old(2, schemaVersion="10", name="From Tomorrow"))
    before = [raw(store, 1), raw(store, 2)]

    report = run(store)

    counted = report.progress
    assert (counted.current, counted.others, counted.newer) == (1, 1, 1)
    assert (counted.scanned, counted.upgraded) == (3, 0)
    assert [raw(store, 1), raw(store, 2)] == before


def test_attributes_the_entity_does_not_know_are_kept(store: Store) -> None:
    put(store, old(1, nickname="The Countess", tags=frozenset({"a", "b"}), note=None))

    run(store)

    item = raw(store, 1) or {}
    assert (item["nickname"], item["tags"], item["note"]) == (
        "The Countess",
        frozenset({"a", "b"}),
        None,
    )


def test_a_dry_run_counts_and_writes_nothing(store: Store) -> None:
    put(store, old(1), old(2, name="Nobody"))

    report = run(store, dry_run=True)

    assert report.dry_run
    assert (report.progress.upgraded, report.progress.failed) == (1, 1)
    assert raw(store, 1) == old(1)


def test_an_item_that_cannot_be_upgraded_is_told_and_left(store: Store) -> None:
    put(store, old(1), old(2, name="Nobody"), old(3))

    report = run(store)

    assert (report.progress.upgraded, report.progress.failed) == (2, 1)
    [failure] = report.failures
    assert failure == BackfillFailure(
        {"pk": "CLUB", "sk": "MEMBER#00002"},
        "ValueError: not enough values to unpack (expected 2, got 1)",
    )
    assert raw(store, 2) == old(2, name="Nobody")


def test_an_expired_item_is_left_to_its_end(store: Store, clock: ManualClock) -> None:
    put(store, old(1, ttl=int(clock.epoch()) + 10))
    clock.advance(60)

    report = run(store)

    assert (report.progress.expired, report.progress.upgraded) == (1, 0)


def test_a_change_made_meanwhile_by_an_old_writer_is_upgraded_too(store: Store) -> None:
    put(store, old(1))

    report = run(interfered(store, lambda _: put(store, old(1, fee="99", rev=4))))

    assert report.progress.upgraded == 1
    item = raw(store, 1) or {}
    assert (item["fee_cents"], item["rev"], item["schemaVersion"]) == (9900, 4, "2")


def test_a_change_made_meanwhile_by_a_new_writer_stands(store: Store) -> None:
    put(store, old(1))

    def write(_: int) -> None:
        store(
            Member(number=1, first="Grace", last="Hopper", fee_cents=7, rev=3, expires=None).put()
        )

    report = run(interfered(store, write))

    assert (report.progress.current, report.progress.upgraded) == (1, 0)
    assert store.read(Member.get(number=1)).first == "Grace"


def test_an_attribute_added_meanwhile_is_not_lost(store: Store) -> None:
    put(store, old(1))

    run(interfered(store, lambda _: put(store, old(1, medal="gold"))))

    item = raw(store, 1) or {}
    assert (item["medal"], item["schemaVersion"]) == ("gold", "2")


def test_an_attribute_that_the_upgrade_would_set_and_another_sets_first_stands(
    store: Store,
) -> None:
    put(store, old(1))

    run(interfered(store, lambda _: put(store, old(1, town="Rome"))))

    assert (raw(store, 1) or {})["town"] == "Rome"


def test_an_item_deleted_meanwhile_stays_deleted(store: Store) -> None:
    put(store, old(1))
    where: Item = {"pk": "CLUB", "sk": "MEMBER#00001"}
    name = store.session.name(club)

    report = run(interfered(store, lambda _: store.session.engine.delete(DeleteItem(name, where))))

    assert (report.progress.gone, report.progress.upgraded) == (1, 0)
    assert raw(store, 1) is None


def test_an_item_of_nothing_but_its_key_stays_deleted_too(store: Store) -> None:
    store.create((coins,))
    name, engine = store.session.name(coins), store.session.engine
    engine.put(PutItem(name, {"id": "a"}))
    deleting = interfered(store, lambda _: engine.delete(DeleteItem(name, {"id": "a"})))

    report = backfill(deleting, Coin, progress=lambda _: None)

    assert report.progress.gone == 1
    assert store(Coin.scan()) == []


def test_an_item_that_never_rests_is_told_and_left(store: Store) -> None:
    put(store, old(1))

    report = run(interfered(store, lambda n: put(store, old(1, rev=n + 10)), times=100))

    assert report.progress.failed == 1
    assert "changed during each of" in report.failures[0].reason
    assert (raw(store, 1) or {})["name"] == "Ada Lovelace"


def test_progress_is_told_after_every_page_and_counts_up(store: Store) -> None:
    fill(store, 210)
    told: list[Progress] = []

    report = run(store, progress=told.append)

    assert [one.scanned for one in told] == sorted(one.scanned for one in told)
    assert len(told) >= 3
    assert told[-1] == report.progress
    assert (report.progress.upgraded, report.progress.current) == (21, 189)
    assert report.progress.resume is None


def test_a_backfill_that_was_stopped_goes_on_where_it_was(store: Store) -> None:
    fill(store, 210)
    told: list[Progress] = []

    def stop(progress: Progress) -> None:
        told.append(progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(store, progress=stop)
    report = run(store, resume=told[0].resume)

    assert (told[0].scanned, told[0].upgraded) == (100, 10)
    assert (report.progress.scanned, report.progress.upgraded) == (110, 11)
    assert run(store).progress.current == 210


def test_running_again_finds_nothing_to_do(store: Store) -> None:
    put(store, old(1), old(2))
    run(store)

    again = run(store)

    assert (again.progress.current, again.progress.upgraded) == (2, 0)


def test_segments_together_cover_every_item_once(store: Store) -> None:
    fill(store, 60)

    report = run(store, segments=4)

    assert (report.progress.scanned, report.progress.upgraded) == (60, 6)
    assert report.progress.resume is None


def test_a_place_is_good_only_for_the_same_work(store: Store) -> None:
    fill(store, 150)
    told: list[Progress] = []
    run(store, progress=told.append, dry_run=True)
    place = told[0].resume or ""

    with pytest.raises(CursorInvalid, match="segments"):
        run(store, resume=place, segments=2)
    with pytest.raises(CursorInvalid):
        run(store, resume=place[:-4])


def test_an_entity_without_a_schema_version_has_nothing_to_backfill(store: Store) -> None:
    with pytest.raises(DeclarationFault, match="has no schema_version"):
        backfill(store, Plain, progress=lambda _: None)


def test_an_item_with_too_many_attributes_to_compare_is_told_and_left(store: Store) -> None:
    many = {f"extra{number}": number for number in range(150)}
    put(store, old(1, **many))

    report = run(store)

    assert "too many for one condition" in report.failures[0].reason
    assert raw(store, 1) == old(1, **many)
