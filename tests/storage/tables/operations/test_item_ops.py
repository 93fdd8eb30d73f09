"""What a batch leaves undone is tried again, and in the end told."""

from datetime import UTC, datetime

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.errors import Unprocessed
from tests.storage.tables.library import Book, shelf
from tests.storage.tables.unprocessed import leaving_unprocessed


def book(number: int) -> Book:
    at = datetime(2026, 2, 11, tzinfo=UTC)
    return Book(series="cities", number=number, author="vance", published_at=at)


def test_writes_that_stay_undone_are_told_after_eight_tries_and_seven_pauses() -> None:
    clock = ManualClock()
    engine = leaving_unprocessed(1, clock)
    store = Store(engine, naming=Naming(), clock=clock)
    store.create([shelf])

    with store, pytest.raises(Unprocessed, match=r"2 items .* after 8 attempts") as told:
        store.write_many([book(1).put(), book(2).put()])

    assert len(told.value.left) == 2
    assert clock.elapsed == pytest.approx(0.02 * (2**7 - 1))


def test_reads_that_were_left_are_answered_in_the_order_of_the_questions() -> None:
    clock = ManualClock()
    engine = leaving_unprocessed(3, clock)
    store = Store(engine, naming=Naming(), clock=clock)
    store.create([shelf])
    store.write_many([book(number).put() for number in range(1, 8)])

    with store:
        found = store.get_many(Book.get(series="cities", number=number) for number in (5, 9, 2, 7))

    assert [one and one.number for one in found] == [5, None, 2, 7]
