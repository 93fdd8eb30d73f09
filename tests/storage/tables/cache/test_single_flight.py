"""Of all who want the same entry at once, one fetches it and nobody waits for ever."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import SourceFailed
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.cache import CacheSettings
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.leases import FLIGHTS, Leases
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES, Flight
from tests.storage.tables.cache.fetch_process import race
from tests.storage.tables.cache.races import (
    HORSES,
    RACES,
    Interrupted,
    cache_on,
    keiba,
    on_engine,
    returning,
    run_in_thread,
)

pytestmark = pytest.mark.anyio

KEY = HORSES.key(horse_id="7")


async def unexpected() -> dict[str, Any]:
    pytest.fail("fetched twice")


def sleeping(clock: ManualClock) -> Callable[[float], Awaitable[None]]:
    """Return a sleep that moves the clock instead of waiting."""

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    return sleep


def flight_name(store: Store) -> str:
    return f"{store.session.name(keiba)}{KEY.values!r}"


def test_processes_fetch_once(tmp_path: Path) -> None:
    file, log = tmp_path / "shared.db", tmp_path / "fetches.txt"
    engine = SqliteEngine.open(file, clock=SystemClock())
    Store(engine, naming=Naming(), clock=SystemClock()).create((*PLATFORM_TABLES, keiba))
    engine.close()

    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as processes:
        running = [processes.submit(race, file, log, f"process-{n}") for n in range(3)]
        answers = [one.result() for one in running]

    [fetcher] = log.read_text().split()
    assert [value for value, _ in answers] == [{"from": fetcher}] * 3


async def test_a_flight_is_given_back_when_the_fetch_is_over(store: Store) -> None:
    await cache_on(store).get_or_fetch(KEY, returning({"n": 1}))

    assert store(Flight.one(flight_name(store))) is None


async def test_a_flight_is_given_back_when_the_fetch_fails(store: Store) -> None:
    async def fail() -> dict[str, Any]:
        raise SourceFailed("nothing")

    with pytest.raises(SourceFailed):
        await cache_on(store).get_or_fetch(KEY, fail)

    assert store(Flight.one(flight_name(store))) is None


async def test_one_who_waits_gets_what_the_other_fetched(store: Store, clock: ManualClock) -> None:
    lease = store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()
    naps = itertools.count(1)

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)
        if next(naps) == 3:
            await cache_on(store).put(KEY, {"from": "ada"})

    answer = await cache_on(store, "bob", sleep=sleep).get_or_fetch(KEY, unexpected)

    assert lease is not None
    assert (answer.value, answer.state) == ({"from": "ada"}, "fresh")
    assert clock.monotonic() - started < 1


async def test_what_another_kept_before_the_flight_began_is_not_fetched_again(store: Store) -> None:
    def put() -> None:
        run_in_thread(cache_on(store).put(KEY, {"from": "ada"}))

    engine = Interrupted(store.session.engine, "put", put)
    cache = cache_on(on_engine(store, engine), "bob")

    answer = await cache.get_or_fetch(KEY, unexpected)

    assert engine.happened
    assert (answer.value, answer.state) == ({"from": "ada"}, "fresh")
    assert store(Flight.one(flight_name(store))) is None


async def test_a_wait_is_bounded_and_ends_in_a_fetch(store: Store, clock: ManualClock) -> None:
    settings = CacheSettings(wait_seconds=5, poll_seconds=0.5)
    cache = cache_on(store, "bob", settings=settings, sleep=sleeping(clock))
    store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()

    answer = await cache.get_or_fetch(KEY, returning({"from": "bob"}))

    assert answer.value == {"from": "bob"}
    assert 5 <= clock.monotonic() - started < 6


async def test_a_flight_whose_pilot_died_is_taken_over(store: Store, clock: ManualClock) -> None:
    settings = CacheSettings(wait_seconds=60, poll_seconds=0.5)
    cache = cache_on(store, "bob", settings=settings, sleep=sleeping(clock))
    store(Leases(FLIGHTS, "ada", seconds=10).acquire(flight_name(store)))
    started = clock.monotonic()

    answer = await cache.get_or_fetch(KEY, returning({"from": "bob"}))

    assert answer.value == {"from": "bob"}
    assert 11 <= clock.monotonic() - started < 13


async def test_different_entries_do_not_wait_for_each_other(
    store: Store, clock: ManualClock
) -> None:
    store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()

    await cache_on(store, "bob").get_or_fetch(HORSES.key(horse_id="8"), returning({"n": 8}))

    assert clock.monotonic() == started


async def test_each_may_fetch_for_himself(store: Store, clock: ManualClock) -> None:
    settings = CacheSettings(flight_seconds=None)
    store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()

    answer = await cache_on(store, "bob", settings=settings).get_or_fetch(KEY, returning({"n": 1}))

    assert answer.value == {"n": 1}
    assert clock.monotonic() == started


async def test_a_very_long_key_has_a_flight_too(store: Store) -> None:
    key = RACES.key(race_id="x" * 2_000)

    answer = await cache_on(store).get_or_fetch(key, returning(None))

    assert answer.state == "negative"
    assert (await cache_on(store, "bob").get(key)).state == "negative"
