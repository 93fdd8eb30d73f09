"""Expired items go when swept, and not before."""

from dataclasses import replace
from decimal import Decimal

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.requests import ScanRequest
from tests.storage.tables.engines.sqlite.plays import PLAYS, find, numbers, play, put

EXPIRING = replace(PLAYS, ttl="until", stream="NEW_AND_OLD_IMAGES")
FIVE_YEARS = 5 * 365 * 24 * 3600


def left(engine: SqliteEngine) -> list[int]:
    return numbers(engine.scan(ScanRequest("plays")).items)


def test_an_expired_item_is_read_until_it_is_swept(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    engine.create_table(EXPIRING)
    now = int(clock.epoch())
    put(engine, play(1, until=now + 10), play(2, until=now + 20), play(3))
    clock.advance(11)

    before = left(engine)
    swept = engine.sweep("plays", 100)

    assert (before, swept, left(engine)) == ([1, 2, 3], 1, [2, 3])


def test_a_sweep_is_recorded_as_an_expiry(engine: SqliteEngine, clock: ManualClock) -> None:
    engine.create_table(EXPIRING)
    item = play(1, until=int(clock.epoch()) - 1)
    put(engine, item)

    engine.sweep("plays", 100)

    change = engine.changes("plays", None, 10).changes[1]
    assert (change.kind, change.old, change.expired) == ("REMOVE", item, True)


def test_only_numbers_of_the_last_five_years_expire(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    engine.create_table(EXPIRING)
    now = int(clock.epoch())
    put(
        engine,
        play(1, until=str(now - 5)),
        play(2, until=True),
        play(3, until=now - FIVE_YEARS - 1),
        play(4, until=Decimal("1E+100")),
        play(5, until=Decimal(now) - Decimal("5.5")),
        play(6, until=now - FIVE_YEARS + 10),
    )

    swept = engine.sweep("plays", 100)

    assert (swept, left(engine)) == (2, [1, 2, 3, 4])


def test_a_sweep_stops_at_its_limit(engine: SqliteEngine, clock: ManualClock) -> None:
    engine.create_table(EXPIRING)
    put(engine, *(play(n, until=int(clock.epoch()) - 1) for n in range(250)))

    swept = [engine.sweep("plays", 220), engine.sweep("plays", 220)]

    assert swept == [220, 30]
    assert left(engine) == []


def test_an_item_given_more_time_is_not_swept(engine: SqliteEngine, clock: ManualClock) -> None:
    engine.create_table(EXPIRING)
    now = int(clock.epoch())
    put(engine, play(1, until=now - 1), play(1, until=now + 50))

    assert engine.sweep("plays", 100) == 0
    assert left(engine) == [1]


def test_expiry_can_be_turned_on_for_items_that_are_there_and_off_again(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    engine.create_table(PLAYS)
    now = int(clock.epoch())
    put(engine, play(1, until=now - 1), play(2, until=now - 1))
    off_at_first = engine.sweep("plays", 1)

    engine.alter_table(replace(PLAYS, ttl="until"))
    on = engine.sweep("plays", 1)
    engine.alter_table(PLAYS)
    off_again = engine.sweep("plays", 1)

    assert (off_at_first, on, off_again) == (0, 1, 0)
    assert left(engine) == [2]


@pytest.mark.parametrize("ttl", ["until", "later"])
def test_another_attribute_can_be_taken_for_expiry(
    engine: SqliteEngine, clock: ManualClock, ttl: str
) -> None:
    engine.create_table(EXPIRING)
    now = int(clock.epoch())
    put(engine, play(1, until=now - 1, later=now + 9), play(2, until=now + 9, later=now - 1))

    engine.alter_table(replace(EXPIRING, ttl=ttl))
    engine.sweep("plays", 100)

    gone = {"until": 1, "later": 2}[ttl]
    assert find(engine, play(gone)) is None
    assert len(left(engine)) == 1
