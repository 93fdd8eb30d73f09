"""All processes on one store keep one rate and one quota."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.kit.shared_limits import LIMIT_TABLES, TableQuotas, TableRateLimiter
from grandstand.net.errors import QuotaExceeded, RateLimitTimeout
from grandstand.net.rate_limits import Quota, QuotaReading, QuotaUsage, RateLimit
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from tests.architecture.tree import ROOT
from tests.kit.stores import fresh_prefix, open_at, place_of
from tests.net.outsider import Outsider, answers, listening, waits

pytestmark = pytest.mark.anyio

ONE = RateLimit(per_second=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now().replace(microsecond=0))


@pytest.fixture(params=["sqlite", "dynamodb-local"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> Iterator[AsyncStore]:
    opened = open_at(place_of(request, tmp_path), fresh_prefix(), clock)
    opened.store.create((*LIMIT_TABLES, *PLATFORM_TABLES))
    yield opened
    opened.store.close()


@pytest.fixture
async def outsider() -> AsyncIterator[Outsider]:
    async with listening(Outsider(waits(0.02, answers()))) as made:
        yield made


class Party:
    """One of those who share a rate, in time that passes only in sleep."""

    def __init__(self, store: AsyncStore, clock: ManualClock, owner: str) -> None:
        self._clock = clock
        self.rate_limiter = TableRateLimiter(
            store, owner=owner, clock=clock, random=Random(owner), sleep=self._sleep
        )

    async def _sleep(self, seconds: float) -> None:
        self._clock.advance(seconds)

    async def take(self, rate: RateLimit, within_seconds: float = 60) -> float:
        turn = self.rate_limiter.acquire("x", rate, within_seconds=within_seconds, hold_seconds=5)
        async with turn:
            return self._clock.monotonic()


def _quotas(store: AsyncStore, clock: ManualClock) -> TableQuotas:
    return TableQuotas(store, clock=clock, random=Random(1))


async def test_two_parties_share_the_turns_of_one_host(
    store: AsyncStore, clock: ManualClock
) -> None:
    ada, bob = Party(store, clock, "ada"), Party(store, clock, "bob")

    turns = [await party.take(ONE) for party in (ada, bob, ada, bob)]

    assert turns == pytest.approx([0, 1, 2, 3], abs=1e-3)


async def test_a_burst_is_shared_too(store: AsyncStore, clock: ManualClock) -> None:
    ada, bob = Party(store, clock, "ada"), Party(store, clock, "bob")
    rate = RateLimit(per_second=1, burst=3)

    turns = [await party.take(rate) for party in (ada, bob, ada, bob)]

    assert turns == pytest.approx([0, 0, 0, 1], abs=1e-3)


async def test_a_rest_one_was_told_of_is_kept_by_all(store: AsyncStore, clock: ManualClock) -> None:
    ada, bob = Party(store, clock, "ada"), Party(store, clock, "bob")
    begin = clock.now()

    await ada.rate_limiter.pause("x", 30)
    await ada.rate_limiter.pause("x", 10)
    next_at = await bob.rate_limiter.next_at("x", ONE)
    with pytest.raises(RateLimitTimeout):
        await bob.take(ONE, within_seconds=5)
    turn = await bob.take(ONE)

    assert next_at == begin + timedelta(seconds=30)
    assert turn == pytest.approx(30, abs=1e-3)


async def test_a_rest_told_while_one_waits_is_kept_as_well(
    store: AsyncStore, clock: ManualClock
) -> None:
    ada = Party(store, clock, "ada")
    rate = RateLimit(per_second=0.1)

    async def hear_of_a_rest(seconds: float) -> None:
        clock.advance(seconds)
        await (ada.rate_limiter.pause("x", 7) if clock.monotonic() <= 10 else asyncio.sleep(0))

    bob = TableRateLimiter(store, owner="bob", clock=clock, random=Random(2), sleep=hear_of_a_rest)
    await ada.take(rate)

    async with bob.acquire("x", rate, within_seconds=60, hold_seconds=5):
        turn = clock.monotonic()

    assert turn == pytest.approx(17, abs=1e-3)


async def test_a_turn_refused_is_left_to_others(store: AsyncStore, clock: ManualClock) -> None:
    ada, bob = Party(store, clock, "ada"), Party(store, clock, "bob")
    rate = RateLimit(per_second=0.1, concurrent=1)
    await ada.take(rate)

    with pytest.raises(RateLimitTimeout, match=r"sent in 10\.0 s"):
        await ada.take(rate, within_seconds=5)

    assert await bob.take(rate) == pytest.approx(10, abs=1e-3)


async def test_the_one_place_of_a_host_is_held_until_the_block_ends(
    store: AsyncStore, clock: ManualClock
) -> None:
    ada, bob = Party(store, clock, "ada"), Party(store, clock, "bob")
    rate = RateLimit(per_second=1000, burst=1000, concurrent=1)

    async with ada.rate_limiter.acquire("x", rate, within_seconds=1, hold_seconds=60):
        with pytest.raises(RateLimitTimeout):
            await bob.take(rate, within_seconds=3)

    await bob.take(rate, within_seconds=3)


async def test_the_place_of_a_party_that_died_is_free_after_its_time(
    store: AsyncStore, clock: ManualClock
) -> None:
    ada, bob = Party(store, clock, "ada"), Party(store, clock, "bob")
    rate = RateLimit(per_second=1000, burst=1000, concurrent=1)
    dead = ada.rate_limiter.acquire("x", rate, within_seconds=1, hold_seconds=5)
    await dead.__aenter__()

    begin = clock.monotonic()
    turn = await bob.take(rate)

    assert 5 <= turn - begin <= 10


async def test_a_quota_is_counted_for_all(store: AsyncStore, clock: ManualClock) -> None:
    ada, bob, quota = _quotas(store, clock), _quotas(store, clock), Quota(3)

    await ada.spend("odds", quota, 1)
    spent = await bob.spend("odds", quota, 2)
    with pytest.raises(QuotaExceeded, match=r"odds is used up \(3 this day"):
        await ada.spend("odds", quota, 1)

    assert spent == QuotaUsage(f"{clock.now():%Y-%m-%d}", 3, 0)
    assert await ada.spent("odds", quota) == spent


async def test_what_the_source_says_is_known_to_all_until_it_resets(
    store: AsyncStore, clock: ManualClock
) -> None:
    ada, bob, quota = _quotas(store, clock), _quotas(store, clock), Quota()
    reading = QuotaReading(0, 60, clock.now() + timedelta(seconds=60))
    await ada.record_reading("odds", quota, reading)

    with pytest.raises(QuotaExceeded) as refused:
        await bob.spend("odds", quota, 1)
    clock.advance(61)
    spent = await bob.spend("odds", quota, 1)

    assert refused.value.retry_after_seconds == 60
    assert (spent.used, spent.left) == (1, None)


async def test_a_new_day_begins_with_nothing_used_even_much_later(
    store: AsyncStore, clock: ManualClock
) -> None:
    quotas, quota = _quotas(store, clock), Quota(3)
    await quotas.spend("odds", quota, 3)

    clock.advance(86_400)
    fresh = await quotas.spent("odds", quota)
    clock.advance(100 * 86_400)
    spent = await quotas.spend("odds", quota, 1)

    assert (fresh.used, fresh.left) == (0, 3)
    assert (spent.used, spent.left) == (1, 2)


async def _start(*words: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.kit.asking",
        *words,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def test_two_processes_keep_one_rate_one_place_and_one_quota(
    tmp_path: Path, outsider: Outsider
) -> None:
    place = str(tmp_path / "tables.db")
    made = open_at(place, "")
    made.store.create((*LIMIT_TABLES, *PLATFORM_TABLES))
    names = ("ada", "bob")
    processes = [await _start(place, name, outsider.url, "10") for name in names]

    begin = asyncio.get_running_loop().time()
    said = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    made.store.close()

    heard = [at.at for at in outsider.heard]
    gaps = [after - before for before, after in itertools.pairwise(heard)]
    askers = {at.target.split("/")[1] for at in outsider.heard}
    assert [process.returncode for process in processes] == [0, 0]
    assert (len(heard), askers) == (15, {"ada", "bob"})
    assert sum(out.splitlines().count(b"spent") for out, _ in said) == 5
    assert outsider.most_under_way == 1
    assert heard[-1] - begin >= 14 * 0.05 - 0.01
    assert min(gaps) >= 0.02
