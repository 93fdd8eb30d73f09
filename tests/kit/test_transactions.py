"""Several writes happen together or not at all, and reading many lets others have their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from grandstand.kit.transactions import iterate_yielding, truncate_to_ms, try_transaction
from grandstand.storage.tables import AsyncStore, Entity, Put, Query, Table, key
from tests.kit.stores import fresh_prefix, open_at, place_of

pytestmark = pytest.mark.anyio

shelf = Table("shelf", partition="pk", sort="sk", purpose="Books on a shelf.")


class Book(Entity, table=shelf):
    """A book at its place."""

    place: int
    title: str

    row = key("SHELF", "BOOK#{place:05d}")

    def stand(self) -> Put[Book]:
        """Put a book where none stands."""
        return self.put().if_absent()

    @classmethod
    def all(cls) -> Query[Book]:
        """Every book."""
        return cls.row()


@pytest.fixture(params=["sqlite", "dynamodb-local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AsyncStore]:
    opened = open_at(place_of(request, tmp_path), fresh_prefix())
    opened.store.create((shelf,))
    yield opened
    opened.store.close()


async def _stand(store: AsyncStore, *places: int) -> bool:
    books = [Book(place=place, title=f"Volume {place}").stand() for place in places]
    return await try_transaction(store, *books, random=Random(1), sleep=asyncio.sleep)


async def test_what_is_refused_in_part_is_not_written_at_all(store: AsyncStore) -> None:
    first = await _stand(store, 1, 2)

    second = await _stand(store, 2, 3)

    read = [book.place async for book in iterate_yielding(store, Book.all(), asyncio.sleep)]
    assert (first, second) == (True, False)
    assert read == [1, 2]


async def test_reading_many_lets_others_have_a_turn_now_and_then(store: AsyncStore) -> None:
    for start in range(0, 120, 20):
        await _stand(store, *range(start, start + 20))
    rests: list[float] = []

    async def sleep(seconds: float) -> None:
        rests.append(seconds)

    read = [book.place async for book in iterate_yielding(store, Book.all(), sleep)]

    assert read == list(range(120))
    assert rests == [0, 0]


def test_a_moment_is_cut_and_not_rounded_to_the_millisecond() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC)

    cut = truncate_to_ms(moment)

    assert cut == datetime(2026, 1, 2, 3, 4, 5, 999_000, tzinfo=UTC)
