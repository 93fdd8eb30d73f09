"""A consumer sees every change to its entities at least once, an item's changes in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import AsyncStore, Entity, Naming, Store, Table, key, ttl
from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.changes import (
    Changed,
    ChangeFeed,
    PositionStale,
    follow,
    follow_async,
)
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import ChangesLost, DeclarationFault, StoredItemInvalid
from grandstand.storage.tables.maintenance import sweep
from grandstand.storage.tables.platform_tables import Consumer, consumers
from grandstand.storage.tables.requests import Change, PutItem

wagers = Table("wagers", partition="pk", sort="sk", ttl="ttl", stream="NEW_AND_OLD_IMAGES")
news = Table("news", partition="id", stream="NEW_IMAGE")
marks = Table("marks", partition="id", stream="KEYS_ONLY")
quiet = Table("quiet", partition="id")


class Wager(Entity, table=wagers):
    owner: str
    number: int
    status: str = "pending"
    expires: datetime | None = ttl()

    row = key("OWNER#{owner}", "WAGER#{number:04d}")


class Purse(Entity, table=wagers):
    owner: str
    cents: int

    row = key("OWNER#{owner}", "PURSE")


class Article(Entity, table=news):
    id: str
    text: str

    row = key("{id}")


class Mark(Entity, table=marks):
    id: str

    row = key("{id}")


class Silent(Entity, table=quiet):
    id: str

    row = key("{id}")


@pytest.fixture
def store(store: Store) -> Store:
    store.create((consumers, wagers))
    return store


@dataclass
class Embedded:
    """A store on a file whose time the test decides."""

    clock: ManualClock
    store: Store


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Embedded]:
    clock = ManualClock(SystemClock().now())
    engine = SqliteEngine.open(tmp_path / "held.db", clock=clock)
    store = Store(engine, naming=Naming(), clock=clock)
    store.create((consumers, wagers))
    yield Embedded(clock, store)
    engine.close()


def wager(number: int, status: str = "pending", owner: str = "ada") -> Wager:
    return Wager(owner=owner, number=number, status=status, expires=None)


def drain(feed: ChangeFeed[Wager]) -> list[Changed[Wager]]:
    """Work everything that waits through, and acknowledge it."""
    seen: list[Changed[Wager]] = []
    for batch in feed.batches():
        seen += batch.changes
        feed.done(batch)
    return seen


def test_a_change_has_what_was_and_what_is(store: Store) -> None:
    store(wager(1).put())
    store(wager(1, "won").put())
    store(Wager.delete(owner="ada", number=1))

    changes = drain(follow(store, Wager, name="settler"))

    assert [change.kind for change in changes] == ["INSERT", "MODIFY", "REMOVE"]
    assert [change.old for change in changes] == [None, wager(1), wager(1, "won")]
    assert [change.new for change in changes] == [wager(1), wager(1, "won"), None]
    assert [change.expired for change in changes] == [False, False, False]
    assert len({change.sequence for change in changes}) == 3
    assert abs(changes[0].at - SystemClock().now()) < timedelta(minutes=5)


def test_items_of_other_entities_are_passed_over(store: Store) -> None:
    store(Purse(owner="ada", cents=500).put())
    store(wager(1).put())
    store(Purse(owner="ada", cents=400).put())

    changes = drain(follow(store, Wager, name="settler"))

    assert [change.new for change in changes] == [wager(1)]


def test_several_entities_of_a_table_come_each_as_itself(store: Store) -> None:
    feed: ChangeFeed[Wager | Purse] = follow(store, Wager, Purse, name="auditor")
    store(wager(1).put())
    store(Purse(owner="ada", cents=400).put())

    changes = [change for batch in feed.batches() for change in batch.changes]

    found = {change.entity: change.new for change in changes}
    assert found == {Wager: wager(1), Purse: Purse(owner="ada", cents=400)}


def test_the_changes_of_an_item_come_in_their_order(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    order = [f"step {number}" for number in range(30)]
    for status in order:
        store(wager(1, status).put())
        store(wager(2, status).put())

    changes = drain(feed)

    firsts = [change.new.status for change in changes if change.new and change.new.number == 1]
    seconds = [change.new.status for change in changes if change.new and change.new.number == 2]
    assert firsts == order
    assert seconds == order


def test_what_was_not_done_is_delivered_again(store: Store) -> None:
    store(wager(1).put())
    store(wager(2).put())
    crashed = [batch.changes for batch in follow(store, Wager, name="settler").batches()]

    again = [batch.changes for batch in follow(store, Wager, name="settler").batches()]

    assert sum(map(len, crashed)) == 2
    assert again == crashed


def test_the_same_feed_delivers_again_what_failed(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    store(wager(1).put())
    failed = next(iter(feed.batches()))

    again = next(iter(feed.batches()))
    feed.done(again)

    assert again.changes == failed.changes
    assert drain(feed) == []


def test_a_batch_of_a_reading_that_was_given_up_is_not_taken(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    store(wager(1).put())
    failed = next(iter(feed.batches()))
    next(iter(feed.batches()))

    with pytest.raises(PositionStale, match="already acknowledged"):
        feed.done(failed)


def test_what_was_done_is_not_delivered_again(store: Store) -> None:
    store(wager(1).put())
    drain(follow(store, Wager, name="settler"))
    store(wager(2).put())

    changes = drain(follow(store, Wager, name="settler"))

    assert [change.new for change in changes] == [wager(2)]


def test_a_batch_done_covers_those_before_it(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    for number in range(4):
        store(wager(number).put())

    batches = list(feed.batches(limit=2))
    feed.done(batches[-1])

    assert len(batches) > 1
    assert drain(follow(store, Wager, name="settler")) == []


def test_consumers_of_different_names_do_not_disturb_each_other(store: Store) -> None:
    store(wager(1).put())
    drain(follow(store, Wager, name="settler"))

    others = drain(follow(store, Wager, name="auditor"))

    assert [change.new for change in others] == [wager(1)]


def test_a_limit_bounds_a_batch_and_loses_nothing(store: Store) -> None:
    for number in range(7):
        store(wager(number).put())

    batches = list(follow(store, Wager, name="settler").batches(limit=3))

    assert max(len(batch.changes) for batch in batches) <= 3
    numbers = [change.new.number for batch in batches for change in batch.changes if change.new]
    assert sorted(numbers) == list(range(7))


def test_a_consumer_that_found_nothing_at_first_sees_what_comes(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    nothing = drain(feed)
    store(wager(1).put())

    changes = drain(feed)

    assert nothing == []
    assert [change.new for change in changes] == [wager(1)]


def test_a_new_consumer_may_start_with_what_comes_next(store: Store) -> None:
    store(wager(1).put())
    feed = follow(store, Wager, name="settler", start="latest")
    before = drain(feed)
    store(wager(2).put())

    after = drain(feed)

    assert before == []
    assert [change.new for change in after] == [wager(2)]


def test_reading_on_elsewhere_overtakes_the_reader_before(store: Store) -> None:
    store(wager(1).put())
    slow = follow(store, Wager, name="settler")
    held = next(iter(slow.batches()))
    overtaking = follow(store, Wager, name="settler")
    store(wager(2).put())
    drain(overtaking)

    with pytest.raises(PositionStale, match="took over the consumer"):
        slow.done(held)

    assert drain(follow(store, Wager, name="settler")) == []


def test_an_older_batch_cannot_move_the_position_back(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    for number in range(4):
        store(wager(number).put())
    batches = list(feed.batches(limit=2))
    feed.done(batches[-1])

    with pytest.raises(PositionStale, match="already acknowledged"):
        feed.done(batches[0])

    assert drain(follow(store, Wager, name="settler")) == []


def test_changes_of_other_entities_move_the_position_on(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    store(wager(1).put())
    drain(feed)
    name = store.session.name(wagers)
    before = store.read(Consumer.one("settler", name)).position
    store(Purse(owner="ada", cents=500).put())

    list(feed.batches())

    assert store.read(Consumer.one("settler", name)).position != before


def test_the_position_is_kept_under_the_consumer_and_the_table(store: Store) -> None:
    drain(follow(store, Wager, name="settler"))
    drain(follow(store, Wager, name="settler"))

    kept = store(Consumer.row(name="settler"))

    assert [(one.source, one.epoch) for one in kept] == [(store.session.name(wagers), 2)]


def test_a_stream_of_new_images_has_no_old_ones(store: Store) -> None:
    store.create((news,))
    feed = follow(store, Article, name="reader")
    store(Article(id="a", text="one").put())
    store(Article(id="a", text="two").put())
    store(Article.delete(id="a"))

    changes = [change for batch in feed.batches() for change in batch.changes]

    assert [change.old for change in changes] == [None, None, None]
    assert [change.new and change.new.text for change in changes] == ["one", "two", None]
    assert [change.key for change in changes] == [{"id": "a"}] * 3


def test_a_stream_of_keys_still_tells_which_item_it_was(store: Store) -> None:
    store.create((marks,))
    feed = follow(store, Mark, name="reader")
    store(Mark(id="a").put())

    [change] = [change for batch in feed.batches() for change in batch.changes]

    assert (change.kind, change.old, change.new) == ("INSERT", None, None)
    assert change.key == {"id": "a"}


def _broken(store: Store) -> None:
    item: dict[str, Value] = {"pk": "OWNER#ada", "sk": "WAGER#0007", "number": 7}
    store.session.engine.put(PutItem(store.session.name(wagers), item))


def test_an_item_that_is_not_its_entity_stops_the_feed(store: Store) -> None:
    _broken(store)

    with pytest.raises(StoredItemInvalid, match="A stored Wager has no owner"):
        drain(follow(store, Wager, name="settler"))


def test_a_feed_told_what_to_do_with_invalid_items_goes_on(store: Store) -> None:
    refused: list[Change] = []
    _broken(store)
    store(wager(1).put())
    feed = follow(
        store, Wager, name="settler", invalid=lambda change, _fault: refused.append(change)
    )

    changes = drain(feed)

    assert [change.new for change in changes] == [wager(1)]
    assert [change.keys["sk"] for change in refused] == ["WAGER#0007"]


def test_a_forgotten_consumer_starts_anew(store: Store) -> None:
    store(wager(1).put())
    feed = follow(store, Wager, name="settler")
    drain(feed)

    feed.forget()

    assert store(Consumer.row(name="settler")) == []
    assert [change.new for change in drain(feed)] == [wager(1)]


@pytest.mark.anyio
async def test_an_event_loop_reads_the_same_feed(store: Store) -> None:
    feed = follow_async(AsyncStore(store), Wager, name="settler")
    store(wager(1).put())
    seen: list[Changed[Wager]] = []

    async for batch in feed.batches():
        seen += batch.changes
        await feed.done(batch)

    assert [change.new for change in seen] == [wager(1)]
    assert drain(follow(store, Wager, name="settler")) == []


def test_a_restart_delivers_what_happens_while_the_table_is_read(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    store(wager(1).put())
    drain(feed)

    feed.restart(lambda: store(wager(2).put()))

    assert [change.new for change in drain(feed)][-1:] == [wager(2)]


def test_a_restart_whose_rebuilding_fails_leaves_the_position(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    store(wager(1).put())

    with pytest.raises(ZeroDivisionError):
        feed.restart(lambda: 1 / 0)

    assert [change.new for change in drain(feed)] == [wager(1)]


@pytest.mark.anyio
async def test_an_event_loop_restarts_after_its_own_rebuilding(store: Store) -> None:
    feed = follow_async(AsyncStore(store), Wager, name="settler")
    store(wager(1).put())

    async def rebuild() -> None:
        store(wager(2).put())

    await feed.restart(rebuild)

    seen = [change.new async for batch in feed.batches() for change in batch.changes]
    assert seen[-1:] == [wager(2)]


def test_what_a_consumer_has_not_read_outlives_the_day(embedded: Embedded) -> None:
    feed = follow(embedded.store, Wager, name="settler")
    list(feed.batches())
    embedded.store(wager(1).put())

    embedded.clock.advance(29 * 24 * 3600)
    sweep(embedded.store, (wagers,), 100)

    assert [change.new for change in drain(feed)] == [wager(1)]


def test_what_waited_too_long_is_lost_and_said_to_be(embedded: Embedded) -> None:
    feed = follow(embedded.store, Wager, name="settler")
    list(feed.batches())
    embedded.store(wager(1).put())
    embedded.clock.advance(31 * 24 * 3600)
    sweep(embedded.store, (wagers,), 100)

    with pytest.raises(ChangesLost, match="Rebuild"):
        drain(feed)

    feed.restart()
    embedded.store(wager(2).put())
    assert [change.new for change in drain(feed)] == [wager(2)]


def test_a_batch_that_was_read_but_not_done_is_held(embedded: Embedded) -> None:
    embedded.store(wager(1).put())
    crashed = list(follow(embedded.store, Wager, name="settler").batches())

    embedded.clock.advance(2 * 24 * 3600)
    sweep(embedded.store, (wagers,), 100)

    again = list(follow(embedded.store, Wager, name="settler").batches())
    assert [batch.changes for batch in again] == [batch.changes for batch in crashed]


def test_an_expired_item_leaves_as_a_change_that_says_so(embedded: Embedded) -> None:
    feed = follow(embedded.store, Wager, name="settler")
    soon = embedded.clock.now() + timedelta(minutes=1)
    embedded.store(wager(1).replace(expires=soon).put())
    embedded.clock.advance(120)
    sweep(embedded.store, (wagers,), 100)

    changes = drain(feed)

    assert [(change.kind, change.expired) for change in changes] == [
        ("INSERT", False),
        ("REMOVE", True),
    ]


def test_a_table_made_anew_has_lost_what_the_old_one_changed(store: Store) -> None:
    feed = follow(store, Wager, name="settler")
    for number in range(3):
        store(wager(number).put())
    drain(feed)
    store.session.engine.delete_table(store.session.name(wagers))
    store.create((wagers,))

    with pytest.raises(ChangesLost):
        drain(follow(_reopened(store), Wager, name="settler"))


def _reopened(store: Store) -> Store:
    return Store(store.session.engine, naming=store.session.naming, clock=SystemClock())


def test_a_table_without_a_stream_cannot_be_followed(store: Store) -> None:
    with pytest.raises(DeclarationFault, match="has no stream"):
        follow(store, Silent, name="settler")


def test_a_feed_reads_one_table_only(store: Store) -> None:
    with pytest.raises(DeclarationFault, match="one table"):
        follow(store, Wager, Article, name="settler")
