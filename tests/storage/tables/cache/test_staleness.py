"""What is past its time is used only where a form says so, and then it is said."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.core.errors import SourceFailed
from grandstand.storage.tables import Store
from grandstand.storage.tables.cache import CacheForm
from tests.storage.tables.cache.races import Events, HorseItem, cache_on, returning

pytestmark = pytest.mark.anyio

PLAIN: CacheForm[dict[str, Any]] = CacheForm(HorseItem, 100)
OUTLIVING = dataclasses.replace(PLAIN, stale_seconds=50, outlives_errors=True)
REVALIDATING = dataclasses.replace(PLAIN, stale_seconds=50, revalidates=True)
Form = CacheForm[dict[str, Any]]


async def fail() -> dict[str, Any]:
    raise SourceFailed("The source answers with 503")


@pytest.mark.parametrize("form", [PLAIN, OUTLIVING, REVALIDATING])
async def test_an_expired_entry_is_a_miss_by_default(
    store: Store, clock: ManualClock, form: Form
) -> None:
    cache = cache_on(store)
    await cache.put(form.key(horse_id="7"), {"n": 1})
    clock.advance(110)

    assert (await cache.get(form.key(horse_id="7"))).state == "miss"


async def test_a_stale_entry_is_answered_to_whoever_asks_for_it_and_says_so(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    await cache.put(key, {"n": 1})

    clock.advance(140)
    within = await cache.get(key, stale=True)
    clock.advance(15)
    beyond = await cache.get(key, stale=True)

    assert (within.value, within.state) == ({"n": 1}, "stale")
    assert within.age_seconds == pytest.approx(140, abs=1)
    assert beyond.state == "miss"
    assert cache.statistics().total.stale == 1


async def test_a_form_without_staleness_has_none_even_when_asked(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    await cache.put(PLAIN.key(horse_id="7"), {"n": 1})
    clock.advance(101)

    assert (await cache.get(PLAIN.key(horse_id="7"), stale=True)).state == "miss"


async def test_a_failing_source_is_outlived_by_what_was_fetched_before(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(120)

    answer = await cache.get_or_fetch(key, fail)

    assert (answer.value, answer.state) == ({"n": 1}, "stale")
    assert str(answer.error) == "The source answers with 503"


async def test_a_failing_source_is_not_outlived_for_ever(store: Store, clock: ManualClock) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(160)

    with pytest.raises(SourceFailed):
        await cache.get_or_fetch(key, fail)


async def test_a_form_that_does_not_outlive_errors_passes_them_on(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = PLAIN.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(120)

    with pytest.raises(SourceFailed):
        await cache.get_or_fetch(key, fail)


async def test_an_error_that_is_not_the_sources_is_never_outlived(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(120)

    async def divide() -> dict[str, Any]:
        return {"n": 1 // 0}

    with pytest.raises(ZeroDivisionError):
        await cache.get_or_fetch(key, divide)


async def test_a_source_that_answers_again_replaces_the_stale_entry(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(120)

    answer = await cache.get_or_fetch(key, returning({"n": 2}))

    assert (answer.value, answer.state) == ({"n": 2}, "miss")
    assert (await cache.get(key)).value == {"n": 2}


async def test_a_stale_entry_is_answered_at_once_while_a_fresh_one_is_fetched(
    store: Store, clock: ManualClock
) -> None:
    cache, may_end = cache_on(store), asyncio.Event()
    key = REVALIDATING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(120)

    async def fetch() -> dict[str, Any]:
        await may_end.wait()
        return {"n": 2}

    answer = await cache.get_or_fetch(key, fetch)
    before = await cache.get(key, stale=True)
    may_end.set()
    await cache.settle()
    after = await cache.get(key)

    assert (answer.value, answer.state) == ({"n": 1}, "stale")
    assert before.value == {"n": 1}
    assert (after.value, after.state) == ({"n": 2}, "fresh")


async def test_of_many_stale_answers_one_refresh_fetches(store: Store, clock: ManualClock) -> None:
    cache, fetched = cache_on(store), []
    key = REVALIDATING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(120)

    async def fetch() -> dict[str, Any]:
        fetched.append(1)
        return {"n": 2}

    for _ in range(5):
        await cache.get_or_fetch(key, fetch)
    await cache.settle()

    assert len(fetched) == 1


async def test_a_failed_refresh_is_told_and_pauses_the_next(
    store: Store, clock: ManualClock
) -> None:
    events = Events()
    cache = cache_on(store, on_event=events)
    key = REVALIDATING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(105)
    await cache.get_or_fetch(key, fail)
    await cache.settle()

    clock.advance(5)
    await cache.get_or_fetch(key, returning({"n": 2}))
    await cache.settle()
    paused = await cache.get(key, stale=True)
    clock.advance(30)
    await cache.get_or_fetch(key, returning({"n": 3}))
    await cache.settle()

    assert any("refresh failed" in one.detail for one in events.events)
    assert (paused.value, paused.state) == ({"n": 1}, "stale")
    assert (await cache.get(key)).value == {"n": 3}


async def test_too_stale_an_entry_is_waited_for(store: Store, clock: ManualClock) -> None:
    cache = cache_on(store)
    key = REVALIDATING.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(200)

    answer = await cache.get_or_fetch(key, returning({"n": 2}))

    assert (answer.value, answer.state) == ({"n": 2}, "miss")
