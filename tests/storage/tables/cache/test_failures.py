"""A store that fails costs its cache hits, never its callers."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.cache import CacheSettings, CircuitBreaker
from grandstand.storage.tables.engines.protocol import Engine
from tests.storage.tables.cache.races import (
    DERBY,
    HORSES,
    RACES,
    Events,
    Failing,
    cache_on,
    keiba,
    on_engine,
    returning,
)

pytestmark = pytest.mark.anyio

KEY = HORSES.key(horse_id="7")


@pytest.fixture
def failing(store: Store) -> Failing:
    return Failing(store.session.engine)


async def test_every_question_to_a_store_that_is_down_is_answered(
    store: Store, failing: Failing
) -> None:
    events = Events()
    cache = cache_on(on_engine(store, failing), on_event=events)

    answers = (
        (await cache.get(KEY)).state,
        (await cache.get_many([KEY, HORSES.key(horse_id="8")]))[1].state,
        await cache.put(KEY, {"n": 1}),
        await cache.forget(KEY),
    )

    assert answers == ("miss", "miss", False, False)
    assert events.kinds().count("error") == 3
    assert cache.statistics().total.errors == 3


async def test_a_fetch_goes_through_while_the_store_is_down(store: Store, failing: Failing) -> None:
    cache = cache_on(on_engine(store, failing))

    answer = await cache.get_or_fetch(KEY, returning({"n": 1}))

    assert (answer.value, answer.state) == ({"n": 1}, "miss")


async def test_after_some_failures_the_store_is_left_alone(store: Store, failing: Failing) -> None:
    events = Events()
    settings = CacheSettings(breaker_errors=3, breaker_seconds=30)
    cache = cache_on(on_engine(store, failing), settings=settings, on_event=events)

    for number in range(60):
        await cache.get_or_fetch(HORSES.key(horse_id=str(number)), returning({"n": 1}))

    assert failing.asked == 3
    assert events.kinds().count("paused") == 1
    assert cache.statistics().total.skipped > 60
    assert cache.statistics().total.misses == 60


async def test_after_the_rest_one_call_tries_and_all_go_on(
    store: Store, failing: Failing, clock: ManualClock
) -> None:
    settings = CacheSettings(breaker_errors=1, breaker_seconds=30)
    cache = cache_on(on_engine(store, failing), settings=settings)
    await cache.get(KEY)
    failing.down = False

    clock.advance(29)
    resting = await cache.put(KEY, {"n": 1})
    clock.advance(2)
    awake = await cache.put(KEY, {"n": 1})

    assert (resting, awake) == (False, True)
    assert (await cache.get(KEY)).state == "fresh"


async def test_a_failed_trial_begins_another_rest(
    store: Store, failing: Failing, clock: ManualClock
) -> None:
    settings = CacheSettings(breaker_errors=2, breaker_seconds=30)
    cache = cache_on(on_engine(store, failing), settings=settings)
    await cache.get(KEY)
    await cache.get(KEY)

    clock.advance(31)
    for _ in range(5):
        await cache.get(KEY)

    assert failing.asked == 3


async def test_failures_that_are_not_in_a_row_do_not_add_up(store: Store, failing: Failing) -> None:
    settings = CacheSettings(breaker_errors=2, breaker_seconds=30)
    cache = cache_on(on_engine(store, failing), settings=settings)

    for down in (True, False, True, False):
        failing.down = down
        await cache.get(KEY)

    assert failing.asked == 4
    assert cache.statistics().total.skipped == 0


def test_only_one_of_many_tries_after_a_rest() -> None:
    clock = ManualClock()
    breaker = CircuitBreaker(clock, max_errors=1, pause_seconds=30)
    breaker.record_failure()
    clock.advance(31)

    allowed = [breaker.allows_call() for _ in range(5)]

    assert allowed == [True, False, False, False, False]


async def test_a_table_that_does_not_exist_is_a_miss_and_no_reason_to_rest(
    engine: Engine, naming: Naming, clock: ManualClock
) -> None:
    events = Events()
    cache = cache_on(Store(engine, naming=naming, clock=clock), on_event=events)

    answers = [(await cache.get_or_fetch(KEY, returning({"n": 1}))).value for _ in range(3)]

    assert answers == [{"n": 1}] * 3
    assert "paused" not in events.kinds()
    assert cache.statistics().total.skipped == 0


async def test_without_the_table_of_leases_everybody_fetches_for_himself(
    engine: Engine, naming: Naming, clock: ManualClock
) -> None:
    store = Store(engine, naming=naming, clock=clock)
    store.create((keiba,))
    cache = cache_on(store)

    first = await cache.get_or_fetch(KEY, returning({"n": 1}))

    assert first.state == "miss"
    assert (await cache.get(KEY)).value == {"n": 1}


async def test_the_error_of_a_fetch_is_its_callers(store: Store) -> None:
    cache = cache_on(store)

    async def fail() -> dict[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await cache.get_or_fetch(KEY, fail)

    assert (await cache.get_or_fetch(KEY, returning({"n": 1}))).value == {"n": 1}
    assert cache.statistics().total.fetches == 1


async def test_the_numbers_are_kept_altogether_and_by_kind(store: Store) -> None:
    cache = cache_on(store)
    race, horse = RACES.key(race_id="1"), KEY
    await cache.get_or_fetch(race, returning(DERBY))
    await cache.get_or_fetch(race, returning(DERBY))
    await cache.get(horse)
    await cache.get_or_fetch(RACES.key(race_id="none"), returning(None))
    await cache.get(RACES.key(race_id="none"))

    statistics = cache.statistics()

    races, horses = statistics.by_kind["RaceItem"], statistics.by_kind["HorseItem"]
    assert (races.hits, races.misses, races.negatives, races.fetches) == (1, 2, 1, 2)
    assert (horses.hits, horses.misses, horses.fetches) == (0, 1, 0)
    assert statistics.total.misses == 3
    assert races.writes == 2
    assert races.bytes_written > 100
    assert races.bytes_read > 100
    assert statistics == cache.statistics()


async def test_as_many_bytes_are_read_as_were_written(store: Store) -> None:
    cache = cache_on(store)
    keys = [RACES.key(race_id=name) for name in ("1", "2")]
    await cache.get_or_fetch(keys[0], returning(DERBY))
    await cache.get_or_fetch(keys[1], returning(DERBY))

    await cache.get_many(keys)
    await cache.get(keys[0])

    races = cache.statistics().by_kind["RaceItem"]
    assert races.bytes_written > 100
    assert races.bytes_read == races.bytes_written + races.bytes_written // 2


async def test_hits_and_misses_are_told_with_their_key(store: Store) -> None:
    events = Events()
    cache = cache_on(store, on_event=events)

    await cache.get(KEY)
    await cache.put(KEY, {"n": 1})
    await cache.get(KEY)

    assert [(one.kind, one.key) for one in events.events] == [
        ("miss", "HORSE#7/RESULTS#7"),
        ("hit", "HORSE#7/RESULTS#7"),
    ]


async def test_notices_go_to_the_log_unless_told_otherwise(
    store: Store, failing: Failing, caplog: pytest.LogCaptureFixture
) -> None:
    cache = cache_on(on_engine(store, failing))

    with caplog.at_level("DEBUG", "grandstand.cache"):
        await cache.get(KEY)

    assert [(record.levelname, record.args[0]) for record in caplog.records if record.args] == [  # type: ignore[index]
        ("WARNING", "error"),
        ("DEBUG", "miss"),
    ]
