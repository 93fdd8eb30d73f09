"""What is past its time is used only where a form says so, and then it is said."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from grandstand.base.clock import ManualClock
from grandstand.base.errors import SourceFailed
from grandstand.storage.tables import Store
from grandstand.storage.tables.cache import CacheForm
from grandstand.storage.tables.errors import DeclarationFault
from tests.storage.tables.cache.races import HorseItem, Told, cache_on

PLAIN: CacheForm[dict[str, Any]] = CacheForm(HorseItem, 100)
OUTLIVING = dataclasses.replace(PLAIN, stale_seconds=50, outlives_errors=True)
REVALIDATING = dataclasses.replace(PLAIN, stale_seconds=50, revalidates=True)
Form = CacheForm[dict[str, Any]]


class Behind:
    """Runs what is to run later when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, act: Callable[[], None]) -> None:
        self.waiting.append(act)

    def run(self) -> None:
        waiting, self.waiting = self.waiting, []
        for act in waiting:
            act()


def fail() -> dict[str, Any]:
    raise SourceFailed("The source answers with 503")


@pytest.mark.parametrize("form", [PLAIN, OUTLIVING, REVALIDATING])
def test_an_expired_entry_is_a_miss_by_default(
    store: Store, clock: ManualClock, form: Form
) -> None:
    cache = cache_on(store)
    cache.put(form.key(horse_id="7"), {"n": 1})
    clock.advance(110)

    assert cache.get(form.key(horse_id="7")).state == "miss"


def test_a_stale_entry_is_answered_to_whoever_asks_for_it_and_says_so(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    cache.put(key, {"n": 1})

    clock.advance(140)
    within = cache.get(key, stale=True)
    clock.advance(15)
    beyond = cache.get(key, stale=True)

    assert (within.value, within.state) == ({"n": 1}, "stale")
    assert within.age_seconds == pytest.approx(140, abs=1)
    assert beyond.state == "miss"
    assert cache.statistics().total.stale == 1


def test_a_form_without_staleness_has_none_even_when_asked(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    cache.put(PLAIN.key(horse_id="7"), {"n": 1})
    clock.advance(101)

    assert cache.get(PLAIN.key(horse_id="7"), stale=True).state == "miss"


def test_a_failing_source_is_outlived_by_what_was_fetched_before(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(120)

    answer = cache.get_or_fetch(key, fail)

    assert (answer.value, answer.state) == ({"n": 1}, "stale")
    assert str(answer.error) == "The source answers with 503"


def test_a_failing_source_is_not_outlived_for_ever(store: Store, clock: ManualClock) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(160)

    with pytest.raises(SourceFailed):
        cache.get_or_fetch(key, fail)


def test_a_form_that_does_not_outlive_errors_passes_them_on(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store, later=Behind())
    key = PLAIN.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(120)

    with pytest.raises(SourceFailed):
        cache.get_or_fetch(key, fail)


def test_an_error_that_is_not_the_sources_is_never_outlived(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(120)

    with pytest.raises(ZeroDivisionError):
        cache.get_or_fetch(key, lambda: {"n": 1 // 0})


def test_a_source_that_answers_again_replaces_the_stale_entry(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = OUTLIVING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(120)

    answer = cache.get_or_fetch(key, lambda: {"n": 2})

    assert (answer.value, answer.state) == ({"n": 2}, "miss")
    assert cache.get(key).value == {"n": 2}


def test_a_stale_entry_is_answered_at_once_while_a_fresh_one_is_fetched(
    store: Store, clock: ManualClock
) -> None:
    behind = Behind()
    cache = cache_on(store, later=behind)
    key = REVALIDATING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(120)

    answer = cache.get_or_fetch(key, lambda: {"n": 2})
    before = cache.get(key, stale=True)
    behind.run()
    after = cache.get(key)

    assert (answer.value, answer.state) == ({"n": 1}, "stale")
    assert before.value == {"n": 1}
    assert (after.value, after.state) == ({"n": 2}, "fresh")


def test_of_many_stale_answers_one_refresh_fetches(store: Store, clock: ManualClock) -> None:
    behind, fetched = Behind(), []
    cache = cache_on(store, later=behind)
    key = REVALIDATING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(120)

    def fetch() -> dict[str, Any]:
        fetched.append(1)
        return {"n": 2}

    for _ in range(5):
        cache.get_or_fetch(key, fetch)
    behind.run()

    assert len(fetched) == 1


def test_a_failed_refresh_is_told_and_pauses_the_next(store: Store, clock: ManualClock) -> None:
    behind, told = Behind(), Told()
    cache = cache_on(store, later=behind, notice=told)
    key = REVALIDATING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(105)
    cache.get_or_fetch(key, fail)
    behind.run()

    clock.advance(5)
    cache.get_or_fetch(key, lambda: {"n": 2})
    behind.run()
    paused = cache.get(key, stale=True)
    clock.advance(30)
    cache.get_or_fetch(key, lambda: {"n": 3})
    behind.run()

    assert any("refresh failed" in one.detail for one in told.notices)
    assert (paused.value, paused.state) == ({"n": 1}, "stale")
    assert cache.get(key).value == {"n": 3}


def test_too_stale_an_entry_is_waited_for(store: Store, clock: ManualClock) -> None:
    cache = cache_on(store, later=Behind())
    key = REVALIDATING.key(horse_id="7")
    cache.put(key, {"n": 1})
    clock.advance(200)

    answer = cache.get_or_fetch(key, lambda: {"n": 2})

    assert (answer.value, answer.state) == ({"n": 2}, "miss")


def test_revalidating_without_a_place_to_run_is_refused(store: Store) -> None:
    cache = cache_on(store)

    with pytest.raises(DeclarationFault, match="give the cache `later`"):
        cache.get_or_fetch(REVALIDATING.key(horse_id="7"), lambda: {"n": 1})
