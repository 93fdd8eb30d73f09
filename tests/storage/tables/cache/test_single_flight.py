"""Of all who want the same entry at once, one fetches it and nobody waits for ever."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from grandstand.base.clock import ManualClock, SystemClock
from grandstand.base.errors import SourceFailed
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.cache import Cache, CacheSettings
from grandstand.storage.tables.cache.flight import Flights
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.house import HOUSE_TABLES, Flight
from grandstand.storage.tables.leases import FLIGHTS, Leases
from tests.storage.tables.cache.races import HORSES, RACES, Interrupted, cache_on, keiba, on_engine
from tests.storage.tables.cache.racing import race

KEY = HORSES.key(horse_id="7")


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
        self.lock = threading.Lock()

    def __call__(self) -> dict[str, Any]:
        with self.lock:
            self.asked += 1
        time.sleep(self.seconds)
        return {"answer": self.asked}


def ask_together(caches: list[Cache], source: Source) -> list[Any]:
    """Let each cache ask at the same moment; answer what they got."""
    start = threading.Barrier(len(caches))

    def ask(cache: Cache) -> Any:
        start.wait()
        return cache.get_or_fetch(KEY, source)

    with ThreadPoolExecutor(len(caches)) as threads:
        return list(threads.map(ask, caches))


def flight_name(store: Store) -> str:
    return f"{store.session.name(keiba)}{KEY.values!r}"


def test_threads_that_share_a_cache_fetch_once(ticking: Store) -> None:
    cache, source = cache_on(ticking), Source()

    answers = ask_together([cache] * 8, source)

    assert source.asked == 1
    assert [answer.value for answer in answers] == [{"answer": 1}] * 8
    counted = cache.statistics().total
    assert (counted.fetches, counted.shared + counted.hits) == (1, 7)


def test_caches_that_share_only_a_table_fetch_once(ticking: Store) -> None:
    settings = CacheSettings(wait_seconds=20, poll_seconds=0.1)
    caches = [cache_on(ticking, f"process-{n}", settings=settings) for n in range(4)]
    source = Source(0.6)

    answers = ask_together(caches, source)

    assert source.asked == 1
    assert [answer.value for answer in answers] == [{"answer": 1}] * 4
    assert sorted(answer.state for answer in answers) == ["fresh", "fresh", "fresh", "miss"]


def test_processes_fetch_once(tmp_path: Path) -> None:
    file, log = tmp_path / "shared.db", tmp_path / "fetches.txt"
    engine = SqliteEngine.open(file, clock=SystemClock())
    Store(engine, naming=Naming(), clock=SystemClock()).create((*HOUSE_TABLES, keiba))
    engine.close()

    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as processes:
        running = [processes.submit(race, file, log, f"process-{n}") for n in range(3)]
        answers = [one.result() for one in running]

    [fetcher] = log.read_text().split()
    assert [value for value, _ in answers] == [{"from": fetcher}] * 3


def test_a_flight_is_given_back_when_the_fetch_is_over(store: Store) -> None:
    cache_on(store).get_or_fetch(KEY, lambda: {"n": 1})

    assert store(Flight.one(flight_name(store))) is None


def test_a_flight_is_given_back_when_the_fetch_fails(store: Store) -> None:
    def fail() -> dict[str, Any]:
        raise SourceFailed("nothing")

    with pytest.raises(SourceFailed):
        cache_on(store).get_or_fetch(KEY, fail)

    assert store(Flight.one(flight_name(store))) is None


def test_one_who_waits_gets_what_the_other_fetched(store: Store, clock: ManualClock) -> None:
    lease = store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()
    asleep = itertools.count(1)

    class WhileAsleep(ManualClock):
        def sleep(self, seconds: float) -> None:
            clock.advance(seconds)
            self.advance(seconds)
            if next(asleep) == 3:
                cache_on(store).put(KEY, {"from": "ada"})

    session = store.session
    waiting = Store(session.engine, naming=session.naming, clock=WhileAsleep(clock.moment))

    answer = cache_on(waiting, "bob").get_or_fetch(KEY, lambda: pytest.fail("fetched twice"))

    assert lease is not None
    assert (answer.value, answer.state) == ({"from": "ada"}, "fresh")
    assert clock.monotonic() - started < 1


def test_what_another_kept_before_the_flight_began_is_not_fetched_again(store: Store) -> None:
    engine = Interrupted(
        store.session.engine, "put", lambda: cache_on(store).put(KEY, {"from": "ada"})
    )
    cache = cache_on(on_engine(store, engine), "bob")

    answer = cache.get_or_fetch(KEY, lambda: pytest.fail("fetched twice"))

    assert engine.happened
    assert (answer.value, answer.state) == ({"from": "ada"}, "fresh")
    assert store(Flight.one(flight_name(store))) is None


def test_a_wait_is_bounded_and_ends_in_a_fetch(store: Store, clock: ManualClock) -> None:
    settings = CacheSettings(wait_seconds=5, poll_seconds=0.5)
    cache = cache_on(store, "bob", settings=settings)
    store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()

    answer = cache.get_or_fetch(KEY, lambda: {"from": "bob"})

    assert answer.value == {"from": "bob"}
    assert 5 <= clock.monotonic() - started < 6


def test_a_flight_whose_pilot_died_is_taken_over(store: Store, clock: ManualClock) -> None:
    settings = CacheSettings(wait_seconds=60, poll_seconds=0.5)
    cache = cache_on(store, "bob", settings=settings)
    store(Leases(FLIGHTS, "ada", seconds=10).acquire(flight_name(store)))
    started = clock.monotonic()

    answer = cache.get_or_fetch(KEY, lambda: {"from": "bob"})

    assert answer.value == {"from": "bob"}
    assert 11 <= clock.monotonic() - started < 13


def test_different_entries_do_not_wait_for_each_other(store: Store, clock: ManualClock) -> None:
    store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()

    cache_on(store, "bob").get_or_fetch(HORSES.key(horse_id="8"), lambda: {"n": 8})

    assert clock.monotonic() == started


def test_each_may_fetch_for_himself(store: Store, clock: ManualClock) -> None:
    settings = CacheSettings(flight_seconds=None)
    store(Leases(FLIGHTS, "ada", seconds=30).acquire(flight_name(store)))
    started = clock.monotonic()

    answer = cache_on(store, "bob", settings=settings).get_or_fetch(KEY, lambda: {"n": 1})

    assert answer.value == {"n": 1}
    assert clock.monotonic() == started


def test_a_very_long_key_has_a_flight_too(store: Store) -> None:
    key = RACES.key(race_id="x" * 2_000)

    answer = cache_on(store).get_or_fetch(key, lambda: None)

    assert answer.state == "negative"
    assert cache_on(store, "bob").get(key).state == "negative"


def test_a_fetch_that_fails_fails_for_all_who_waited_for_it() -> None:
    flights, start, asked = Flights(), threading.Barrier(4), []

    def fail() -> str:
        asked.append(1)
        time.sleep(2)
        raise SourceFailed("down")

    def fly(_: int) -> str:
        start.wait()
        with pytest.raises(SourceFailed):
            flights.fly("key", fail, fail, 5)
        return "failed"

    with ThreadPoolExecutor(4) as threads:
        ended = list(threads.map(fly, range(4)))

    assert ended == ["failed"] * 4
    assert len(asked) == 1


def test_a_thread_that_waits_too_long_goes_alone() -> None:
    flights, leading, landed = Flights(), threading.Event(), threading.Event()

    def lead() -> str:
        leading.set()
        landed.wait(60)
        return "led"

    with ThreadPoolExecutor(1) as threads:
        leader = threads.submit(flights.fly, "key", lead, lead, 1)
        leading.wait(60)
        follower = flights.fly("key", lead, lambda: "alone", 0.1)
        landed.set()

    assert follower == ("alone", False)
    assert leader.result() == ("led", False)


def test_an_interrupted_leader_is_followed_by_the_next() -> None:
    flights, leading, interrupt = Flights(), threading.Event(), threading.Event()

    def lead() -> str:
        leading.set()
        interrupt.wait(60)
        raise KeyboardInterrupt

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            flights.fly("key", lead, lead, 5)

    with ThreadPoolExecutor(2) as threads:
        threads.submit(interrupted)
        leading.wait(60)
        follower = threads.submit(flights.fly, "key", lambda: "led", lambda: "alone", 5)
        interrupt.set()

    assert follower.result()[0] == "led"
