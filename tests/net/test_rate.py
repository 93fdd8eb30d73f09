"""Rate limits: requests per second and in flight."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import RateLimitTimeout
from grandstand.net.rate_limits import MemoryRateLimiter, RateLimit, next_slot
from grandstand.net.retry import RetryPolicy
from tests.net.outsider import Outsider, answers, waits

pytestmark = pytest.mark.anyio

START = datetime(2026, 1, 1, tzinfo=UTC)


class Runway:
    """A rate limiter whose clock only sleeps advance, and when its slots began."""

    def __init__(self) -> None:
        self.clock = ManualClock(START)
        self.rate_limiter = MemoryRateLimiter(self.clock, Random(1), self._sleep)
        self.turns: list[float] = []

    async def _sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)

    async def take(self, rate: RateLimit, within_seconds: float = 60.0) -> None:
        turn = self.rate_limiter.acquire("x", rate, within_seconds=within_seconds, hold_seconds=1.0)
        async with turn:
            self.turns.append(self.clock.monotonic())

    @property
    def gaps(self) -> list[float]:
        return [round(after - before, 6) for before, after in itertools.pairwise(self.turns)]


async def test_turns_are_spread_by_the_rate() -> None:
    runway = Runway()

    for _ in range(4):
        await runway.take(RateLimit(per_second=2))

    assert runway.turns == pytest.approx([0, 0.5, 1.0, 1.5])


async def test_a_burst_goes_at_once_and_is_saved_up_again() -> None:
    runway, rate = Runway(), RateLimit(per_second=1, burst=3)

    for _ in range(4):
        await runway.take(rate)
    runway.clock.advance(10)
    for _ in range(4):
        await runway.take(rate)

    assert runway.turns == pytest.approx([0, 0, 0, 1, 11, 11, 11, 12])


async def test_jitter_only_makes_gaps_longer() -> None:
    runway = Runway()

    for _ in range(50):
        await runway.take(RateLimit(per_second=1, jitter_seconds=0.5))

    assert min(runway.gaps) >= 1.0
    assert max(runway.gaps) <= 1.5
    assert len(set(runway.gaps)) > 10


async def test_a_turn_too_far_away_is_refused_and_not_taken() -> None:
    runway, rate = Runway(), RateLimit(per_second=0.1)
    await runway.take(rate)

    with pytest.raises(RateLimitTimeout, match=r"sent in 10\.0 s") as busy:
        await runway.take(rate, within_seconds=5)
    next_at = await runway.rate_limiter.next_at("x", rate)

    assert busy.value.retry_after_seconds == pytest.approx(10)
    assert next_at == START + timedelta(seconds=10)


async def test_hosts_do_not_wait_for_each_other() -> None:
    runway, rate = Runway(), RateLimit(per_second=0.1)
    await runway.take(rate)

    async with runway.rate_limiter.acquire("y", rate, within_seconds=0, hold_seconds=1):
        pass

    assert runway.clock.monotonic() == 0


@given(
    st.lists(st.floats(0, 3), min_size=1, max_size=40),
    st.floats(0.5, 20),
    st.integers(1, 5),
)
def test_no_window_has_more_than_its_burst_and_rate(
    pauses: list[float], per_second: float, burst: int
) -> None:
    rate, paced_to, now = RateLimit(per_second, burst), 0.0, 1000.0
    turns = []

    for pause in pauses:
        slot = next_slot(paced_to, now, rate, 1 / per_second)
        paced_to = slot.paced_to
        turns.append(now + slot.wait_seconds)
        now += pause

    for first, start in enumerate(turns):
        for last in range(first, len(turns)):
            allowed = burst + (turns[last] - start) * per_second + 1e-6
            assert last - first + 1 <= allowed


async def test_one_at_a_time_means_one_at_a_time(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.usual = waits(0.03, answers())
    rate = RateLimit(per_second=1000, burst=100, concurrent=1)
    source = web.source("site", base_url=outsider.url, rate=rate)

    await asyncio.gather(*(source.get(f"/{at}") for at in range(8)))

    assert len(outsider.heard) == 8
    assert outsider.most_under_way == 1


async def test_without_a_bound_requests_go_side_by_side(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = waits(0.1, answers())
    source = web.source("site", base_url=outsider.url, rate=RateLimit(per_second=1000, burst=100))

    await asyncio.gather(*(source.get(f"/{at}") for at in range(8)))

    assert outsider.most_under_way > 1


async def test_whoever_waits_too_long_for_the_one_place_is_told(
    web: SourceRegistry, outsider: Outsider
) -> None:
    rate = RateLimit(per_second=1000, burst=100, concurrent=1)
    retries = RetryPolicy(within_seconds=0.3)
    source = web.source("site", base_url=outsider.url, rate=rate, retries=retries)
    await source.get("/")
    outsider.usual = waits(1.5, answers())

    first, second = await asyncio.gather(source.get("/a"), source.get("/b"), return_exceptions=True)

    assert not isinstance(first, BaseException)
    assert isinstance(second, RateLimitTimeout)


async def test_a_cancelled_request_gives_its_place_back(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [waits(30, answers())]
    rate = RateLimit(per_second=1000, burst=100, concurrent=1)
    source = web.source("site", base_url=outsider.url, rate=rate, timeout_seconds=60)
    stuck = asyncio.create_task(source.get("/stuck"))
    await outsider.asked.wait()

    stuck.cancel()
    answer = await asyncio.wait_for(source.get("/next"), 2)

    assert answer.status == 200


async def test_the_real_rate_is_seen_by_the_host(web: SourceRegistry, outsider: Outsider) -> None:
    source = web.source("site", base_url=outsider.url, rate=RateLimit(per_second=20))
    begin = asyncio.get_running_loop().time()

    await asyncio.gather(*(source.get("/") for _ in range(7)))

    assert max(at.at for at in outsider.heard) - begin >= 0.29


@pytest.mark.parametrize(
    "wrong",
    [{"per_second": 0}, {"burst": 0}, {"jitter_seconds": -1}, {"concurrent": 0}],
)
def test_a_rate_that_cannot_be_kept_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInput):
        RateLimit(**({"per_second": 1} | wrong))
