"""Retries: which errors, after which waits, and how many."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.circuit_breaker import BreakerPolicy
from grandstand.net.client import Source, SourceRegistry
from grandstand.net.errors import (
    CircuitOpen,
    RateLimited,
    RateLimitTimeout,
    SourceRefused,
    SourceServerError,
    SourceTimeout,
    SourceUnreachable,
)
from grandstand.net.rate_limits import RateLimit
from grandstand.net.retry import RetryPolicy, parse_retry_after
from tests.net.outsider import Outsider, Reply, answers, says, waits

pytestmark = pytest.mark.anyio

FAST = RateLimit(per_second=1000, burst=1000)
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Sleeper:
    """A clock that only sleeps advance, and the recorded sleeps."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOW)
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)

    @property
    def naps(self) -> list[float]:
        return [each for each in self.slept if each > 0]


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


@pytest.fixture
async def slow_web(sleeper: Sleeper) -> AsyncIterator[SourceRegistry]:
    made = SourceRegistry(
        clock=sleeper.clock, random=Random(1), metrics=Metrics(), sleep=sleeper.sleep
    )
    async with made:
        yield made


def _source(
    web: SourceRegistry, outsider: Outsider, retries: RetryPolicy, **more: object
) -> Source:
    made = {"base_url": outsider.url, "rate": FAST, "retries": retries, "timeout_seconds": 1.0}
    return web.source("feed", **(made | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "reply", [answers(500), answers(429), says(b""), says(b"?\r\n\r\n"), waits(2.5, answers())]
)
async def test_what_passes_is_tried_again(
    slow_web: SourceRegistry, outsider: Outsider, reply: Reply
) -> None:
    outsider.script = [reply, reply]
    source = _source(slow_web, outsider, RetryPolicy(tries=3))

    answer = await source.get("/")

    assert answer.status == 200
    assert len(outsider.heard) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_is_refused_is_not_tried_again(
    slow_web: SourceRegistry, outsider: Outsider, status: int
) -> None:
    outsider.usual = answers(status)
    source = _source(slow_web, outsider, RetryPolicy(tries=3))

    with pytest.raises(SourceRefused):
        await source.get("/")

    assert len(outsider.heard) == 1


async def test_waits_double_within_their_jitter_and_tries_end(
    slow_web: SourceRegistry, outsider: Outsider, sleeper: Sleeper
) -> None:
    outsider.usual = answers(500)
    source = _source(slow_web, outsider, RetryPolicy(tries=5, first_seconds=1.0, most_seconds=3.0))

    with pytest.raises(SourceServerError):
        await source.get("/")

    waits = sleeper.naps
    assert len(outsider.heard) == 5
    bounds = [(0.5, 1.0), (1.0, 2.0), (1.5, 3.0), (1.5, 3.0)]
    assert [low <= wait <= high for wait, (low, high) in zip(waits, bounds, strict=True)] == (
        [True] * 4
    )


async def test_a_post_is_sent_again_only_where_it_cannot_have_been_taken(
    slow_web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [answers(429), answers(201), answers(500), says(b"")]
    source = _source(slow_web, outsider, RetryPolicy(tries=3))

    made = await source.post("/a", json=1)
    with pytest.raises(SourceServerError):
        await source.post("/b", json=1)
    with pytest.raises(SourceUnreachable):
        await source.post("/c", json=1)

    assert made.status == 201
    assert [at.target for at in outsider.heard] == ["/a", "/a", "/b", "/c"]


async def test_a_post_said_to_be_repeatable_is_sent_again(
    slow_web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [answers(500)]
    source = _source(slow_web, outsider, RetryPolicy(tries=2))

    answer = await source.post("/a", json=1, repeatable=True)

    assert answer.status == 200


@pytest.mark.parametrize("said", ["7", format_datetime(NOW + timedelta(seconds=7), usegmt=True)])
async def test_retry_after_is_kept_to_in_both_forms(
    slow_web: SourceRegistry, outsider: Outsider, sleeper: Sleeper, said: str
) -> None:
    outsider.script = [answers(429, Retry_After=said)]
    source = _source(slow_web, outsider, RetryPolicy(tries=2))

    await source.get("/")

    assert sleeper.naps == [7.0]


async def test_nobody_else_asks_a_host_that_wishes_to_rest(
    slow_web: SourceRegistry, outsider: Outsider, sleeper: Sleeper
) -> None:
    outsider.script = [answers(503, Retry_After="20")]
    source = _source(slow_web, outsider, RetryPolicy(tries=1))
    second = slow_web.source("second", base_url=outsider.url, rate=FAST)
    with pytest.raises(SourceServerError):
        await source.get("/")

    status = await source.current()
    await second.get("/")

    assert status.next_at == NOW + timedelta(seconds=20)
    assert sleeper.naps == [20.0]


async def test_a_wait_longer_than_our_patience_is_an_error_that_says_when(
    slow_web: SourceRegistry, outsider: Outsider, sleeper: Sleeper
) -> None:
    outsider.script = [answers(429, Retry_After="3600")]
    source = _source(slow_web, outsider, RetryPolicy(tries=3, within_seconds=60))

    with pytest.raises(RateLimited, match="again in 3600 s") as limited:
        await source.get("/")
    with pytest.raises(RateLimitTimeout, match="may be sent in 3600"):
        await source.get("/")

    assert limited.value.retry_after_seconds == 3600
    assert sleeper.naps == []
    assert len(outsider.heard) == 1


async def test_the_budget_bounds_what_is_sent_again(
    slow_web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(500)
    retries = RetryPolicy(tries=4, budget=0.1, spare=5)
    source = _source(slow_web, outsider, retries, breaker=BreakerPolicy(failures=10_000))

    for _ in range(50):
        with pytest.raises(SourceServerError):
            await source.get("/")

    assert 55 <= len(outsider.heard) <= 61


async def test_a_breaker_opens_lets_one_try_and_closes(
    slow_web: SourceRegistry, outsider: Outsider, sleeper: Sleeper
) -> None:
    outsider.script = [answers(500), answers(500)]
    breaker = BreakerPolicy(failures=2, rest_seconds=10)
    source = _source(slow_web, outsider, RetryPolicy(tries=1), breaker=breaker)
    for _ in range(2):
        with pytest.raises(SourceServerError):
            await source.get("/")

    with pytest.raises(CircuitOpen, match="next attempt in 10 s"):
        await source.get("/")
    opened = source.status().breaker
    sleeper.clock.advance(10)
    guard = source.status().breaker
    await source.get("/")

    assert (opened, guard, source.status().breaker) == ("open", "half-open", "closed")
    assert len(outsider.heard) == 3


async def test_an_open_breaker_ends_the_tries_of_a_request(
    slow_web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(500)
    source = _source(slow_web, outsider, RetryPolicy(tries=5), breaker=BreakerPolicy(failures=2))

    with pytest.raises(CircuitOpen):
        await source.get("/")

    assert len(outsider.heard) == 2


async def test_a_real_retry_takes_its_time(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.script = [answers(503, Retry_After="1")]
    source = _source(web, outsider, RetryPolicy(tries=2))
    begin = SystemClock().monotonic()

    await source.get("/")

    assert SystemClock().monotonic() - begin >= 1.0


async def test_time_for_all_tries_is_bounded(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.usual = waits(2, answers())
    retries = RetryPolicy(tries=100, first_seconds=0.01, most_seconds=0.01, within_seconds=1.0)
    source = _source(
        web, outsider, retries, timeout_seconds=0.2, breaker=BreakerPolicy(failures=99)
    )
    begin = SystemClock().monotonic()

    with pytest.raises(SourceTimeout):
        await source.get("/")

    assert 0.9 <= SystemClock().monotonic() - begin < 5.0


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("99999999999", 86_400.0),
        ("Mon, 16 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 16 Nov 2026 12:00:30 -0000", 30.0),
        ("Mon, 16 Nov 2026 11:00:00 GMT", 0.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("١٢", None),
        ("Mon, 99 Nov 2026 12:00:30 GMT", None),
    ],
)
def test_every_form_of_retry_after_is_read_or_ignored(said: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": said}, NOW) == seconds
