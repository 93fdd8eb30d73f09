"""Consumers of changes go on at the target, or know that they must rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.tables import Entity, Naming, Store, Table, key
from grandstand.storage.tables.changes import follow
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import ChangesLost
from grandstand.storage.tables.maintenance import CopyPlan, CopyProgress, copy_items, move_consumers
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES

letters = Table("letters", partition="id", stream="NEW_AND_OLD_IMAGES")


class Letter(Entity, table=letters):
    id: str

    row = key("{id}")


@pytest.fixture(params=["to the cloud", "from the cloud"])
def ends(
    request: pytest.FixtureRequest, tmp_path: Path, naming: Naming, local_engine: Engine
) -> Iterator[tuple[Store, Store]]:
    """A source with three letters and a target without any; each engine is each in turn."""
    with closing(SqliteEngine.open(tmp_path / "one.db", clock=SystemClock())) as engine:
        both = [Store(each, naming=naming, clock=SystemClock()) for each in (engine, local_engine)]
        source, target = both if request.param == "to the cloud" else both[::-1]
        source.create((letters, *PLATFORM_TABLES))
        target.create((letters, *PLATFORM_TABLES))
        source.write_many([Letter(id=name).put() for name in "abc"])
        yield source, target


def heard(store: Store, name: str) -> list[str]:
    """Let a consumer work through all that waits, and answer what it heard of."""
    feed = follow(store, Letter, name=name)
    found = []
    for batch in feed.batches():
        found += [change.new.id for change in batch.changes if change.new is not None]
        feed.done(batch)
    return found


def move(ends: tuple[Store, Store]) -> list[tuple[str, bool]]:
    source, target = ends
    name = source.session.name(letters)
    way = CopyPlan(source.session, target.session, letters, source.session.clock.epoch())
    copy_items(way, None, CopyProgress(), lambda _done, _place: None)
    return [(each.name, each.rebuilds) for each in move_consumers(source, target, [name])]


def test_who_had_heard_everything_hears_of_what_comes_and_not_of_the_copy(
    ends: tuple[Store, Store],
) -> None:
    source, target = ends
    before = heard(source, "reader")

    moved = move(ends)
    at_once = heard(target, "reader")
    target(Letter(id="d").put())
    later = heard(target, "reader")
    again = move(ends)

    assert sorted(before) == ["a", "b", "c"]
    assert moved == [("reader", False)]
    assert (at_once, later) == ([], ["d"])
    assert again == []


def test_who_had_not_heard_everything_is_told_that_changes_are_lost(
    ends: tuple[Store, Store],
) -> None:
    source, target = ends
    heard(source, "slow")
    source(Letter(id="unheard").put())

    moved = move(ends)

    assert moved == [("slow", True)]
    with pytest.raises(ChangesLost):
        heard(target, "slow")
