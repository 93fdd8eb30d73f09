"""The cache of an event loop keeps the same promises without holding the loop up."""

from __future__ import annotations

import asyncio
import dataclasses
from random import Random
from typing import Any

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import SourceFailed
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.cache import AsyncCache, CacheForm, CacheSettings
from grandstand.storage.tables.platform_tables import Flight
from tests.storage.tables.cache.races import (
    HORSES,
    RACES,
    Failing,
    HorseItem,
    incompressible,
    keiba,
    on_engine,
)

pytestmark = pytest.mark.anyio

KEY = HORSES.key(horse_id="7")
STALE: CacheForm[dict[str, Any]] = CacheForm(HorseItem, 100, stale_seconds=50, revalidates=True)


def cache_on(store: Store, owner: str = "ada", **settings: Any) -> AsyncCache:
    chosen = dataclasses.replace(CacheSettings(wait_seconds=20, poll_seconds=0.05), **settings)
    return AsyncCache(AsyncStore(store), owner=owner, random=Random(owner), settings=chosen)


@pytest.fixture
def ticking(store: Store) -> Store:
    """The same tables by the machine's own clock."""
    session = store.session
    return Store(session.engine, naming=session.naming, clock=SystemClock())


class Source:
    """A slow source that counts how often it is asked."""

    def __init__(self, seconds: float = 0.3) -> None:
        self.asked = 0
        self.seconds = seconds
        self.begun = asyncio.Event()

    async def __call__(self) -> dict[str, Any]:
        self.asked += 1
        self.begun.set()
        await asyncio.sleep(self.seconds)
        return {"answer": self.asked}


async def test_what_is_put_is_got_also_in_parts(store: Store) -> None:
    cache = cache_on(store)
    large = {"page": incompressible(800_000)}

    await cache.put(KEY, large)

    assert (await cache.get(KEY)).value == large
    assert await cache.forget(KEY)
    assert [one.state for one in await cache.get_many([KEY])] == ["miss"]


async def test_tasks_fetch_once(ticking: Store) -> None:
    cache, source = cache_on(ticking), Source()

    answers = await asyncio.gather(*(cache.get_or_fetch(KEY, source) for _ in range(8)))

    assert source.asked == 1
    assert {str(answer.value) for answer in answers} == {"{'answer': 1}"}
    assert cache.statistics().total.shared == 7


async def test_loops_that_share_only_a_table_fetch_once(ticking: Store) -> None:
    caches = [cache_on(ticking, f"process-{n}") for n in range(4)]
    source = Source(0.6)

    answers = await asyncio.gather(*(cache.get_or_fetch(KEY, source) for cache in caches))

    assert source.asked == 1
    assert sorted(answer.state for answer in answers) == ["fresh", "fresh", "fresh", "miss"]


async def test_a_task_that_waits_too_long_fetches_for_itself(ticking: Store) -> None:
    cache, quick = cache_on(ticking, wait_seconds=0.1), Source(0.0)
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow() -> dict[str, Any]:
        begun.set()
        await may_end.wait()
        return {"answer": "late"}

    leader = asyncio.create_task(cache.get_or_fetch(KEY, slow))
    await begun.wait()

    answer = await cache.get_or_fetch(KEY, quick)
    may_end.set()

    assert answer.value == {"answer": 1}
    assert quick.asked == 1
    assert (await leader).value == {"answer": "late"}


async def test_a_cancelled_leader_gives_its_flight_back_and_the_next_leads(ticking: Store) -> None:
    cache, stuck, source = cache_on(ticking), Source(60), Source(0.0)
    leader = asyncio.create_task(cache.get_or_fetch(KEY, stuck))
    await stuck.begun.wait()
    follower = asyncio.create_task(cache.get_or_fetch(KEY, source))
    await asyncio.sleep(0.05)

    leader.cancel()
    answer = await follower

    assert leader.cancelled()
    assert (answer.value, source.asked) == ({"answer": 1}, 1)
    name = f"{ticking.session.name(keiba)}{KEY.values!r}"
    assert ticking(Flight.one(name)) is None


async def test_the_error_of_a_fetch_is_everybodys_who_waited(ticking: Store) -> None:
    cache, asked = cache_on(ticking), []

    async def fail() -> dict[str, Any]:
        asked.append(1)
        await asyncio.sleep(0.2)
        raise SourceFailed("down")

    ended = await asyncio.gather(
        *(cache.get_or_fetch(KEY, fail) for _ in range(3)), return_exceptions=True
    )

    assert [type(one) for one in ended] == [SourceFailed] * 3
    assert len(asked) == 1


async def test_a_stale_entry_is_answered_while_a_task_fetches(
    store: Store, clock: ManualClock
) -> None:
    cache, source = cache_on(store), Source(0.05)
    key = STALE.key(horse_id="7")
    await cache.put(key, {"answer": 0})
    clock.advance(120)

    answer = await cache.get_or_fetch(key, source)
    await cache.settle()

    assert (answer.value, answer.state) == ({"answer": 0}, "stale")
    assert (await cache.get(key)).value == {"answer": 1}


async def test_a_store_that_is_down_costs_nothing_but_hits(store: Store) -> None:
    failing = Failing(store.session.engine)
    cache = cache_on(on_engine(store, failing))
    source = Source(0.0)

    answers = [
        await cache.get_or_fetch(HORSES.key(horse_id=str(number)), source) for number in range(20)
    ]

    assert {answer.state for answer in answers} == {"miss"}
    assert source.asked == 20
    assert failing.asked <= 4


async def test_nothing_is_kept_as_such(store: Store) -> None:
    cache = cache_on(store)

    async def nothing() -> None:
        return None

    first = await cache.get_or_fetch(RACES.key(race_id="none"), nothing)
    second = await cache.get_or_fetch(RACES.key(race_id="none"), nothing)

    assert (first.state, second.state) == ("negative", "negative")
    assert cache.statistics().total.fetches == 1
