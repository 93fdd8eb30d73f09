"""From a wicket in the feed to the last lock screen: through the store, the service and TLS."""

import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import uvloop

from benchmarks.cricket.ground import Ground, ground
from benchmarks.cricket.matches import TEST_MATCH, Look, looks_at, wickets_of
from benchmarks.cricket.pace import BUNDLE, KEY, Sunk, sinking
from benchmarks.harness.rows import Limit, Row
from grandstand.apps.cricket.sources.apns import ApnsClient, ProviderToken
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.http2_push.client import PushClient, PushConfig

_CHANNEL = "Y2hhbm5lbA=="


def rows(*, full: bool) -> list[Row]:
    """Ten thousand sessions, a hundred thousand, and phones that listen to a channel."""
    looks = looks_at(TEST_MATCH)
    wickets = wickets_of(looks)
    with sinking("0") as sink:
        many = uvloop.run(_told(sink, wickets[:5], 10_000))
        most = uvloop.run(_told(sink, wickets[: 3 if full else 1], 100_000))
        listening = [
            uvloop.run(delivered_by(sink, wickets[0], count, _CHANNEL)) for count in (100, 10_000)
        ]
    growth = uvloop.run(_growth(looks))
    return [
        *_fan_out(10_000, many, 1.0),
        *_fan_out(100_000, most, 8.0),
        Row(
            "pushes of one tick to 10,000 phones on a broadcast channel",
            "pushes",
            listening[-1],
            {"to 100 phones": listening[0]},
            Limit(1),
            higher_is_better=False,
        ),
        Row(
            "a whole tick in the last innings of a Test beside one in the first, written",
            "× the CPU",
            growth,
            aim=Limit(1.5),
            higher_is_better=False,
        ),
    ]


def _fan_out(count: int, times: tuple[float, float], limit: float) -> list[Row]:
    taken, spent = times
    return [
        Row(
            f"one tick to {count:,} sessions, all alerted: from the feed's word to the last push",
            "s",
            taken,
            aim=Limit(limit),
            higher_is_better=False,
        ),
        Row("the same by CPU time", "s", spent, aim=Limit(limit), higher_is_better=False),
    ]


async def _told(sink: Sunk, wickets: list[tuple[Look, Look]], count: int) -> tuple[float, float]:
    """How long a wicket takes to reach everybody, by the clock and by the CPU.

    What was before it is told as well, which warms up.
    """
    taken, spent = [], []
    async with _playing(sink, wickets[0][0]) as (played, metrics):
        await played.follow(count)
        for before, after in wickets:
            await played.tick(before)
            pushes = _delivered(metrics)
            began, used = time.perf_counter(), time.process_time()
            news = await played.tick(after)
            taken.append(time.perf_counter() - began)
            spent.append(time.process_time() - used)
            assert news is not None
            assert news.startswith("wicket")
            assert _delivered(metrics) - pushes == count
    return statistics.median(taken), statistics.median(spent)


async def delivered_by(
    sink: Sunk, wicket: tuple[Look, Look], count: int, channel_id: str | None = None
) -> int:
    """How many pushes a wicket is to so many phones, with tokens or on a channel."""
    before, after = wicket
    async with _playing(sink, wicket[0]) as (played, metrics):
        await played.follow(count, channel_id)
        await played.tick(before)
        pushes = _delivered(metrics)
        await played.tick(after)
        return _delivered(metrics) - pushes


async def _growth(looks: list[Look], count: int = 60) -> float:
    """What ticks cost with all they write, nobody following: late ones beside early ones."""
    innings = looks[-1].fixture.innings[-1].inning
    first = [look for look in looks if look.fixture.innings[-1:] and _inning(look) == 1]
    last = [look for look in looks if look.fixture.innings[-1:] and _inning(look) == innings]
    ratios = []
    for _ in range(3):
        early, late = [await _ticked(each[10 : 10 + count]) for each in (first, last)]
        ratios.append(late / early)
    return statistics.median(ratios)


def _inning(look: Look) -> int:
    return look.fixture.innings[-1].inning


async def _ticked(looks: list[Look]) -> float:
    """The CPU time of some ticks in a row, after one that makes the match known."""
    async with ground(str(TEST_MATCH)) as played:
        await played.tick(looks[0])
        used = time.process_time()
        for look in looks[1:]:
            await played.tick(look)
        return time.process_time() - used


def _delivered(metrics: Metrics) -> int:
    """How many pushes were taken."""
    return int(metrics.value("pushes", outcome="delivered"))


@asynccontextmanager
async def _playing(sink: Sunk, look: Look) -> AsyncIterator[tuple[Ground, Metrics]]:
    """A ground for the match looked at, whose phones are reached through a sink."""
    clock, metrics = SystemClock(), Metrics()
    client = PushClient(
        f"127.0.0.1:{sink.port}",
        clock=clock,
        random=Random(1),
        context=sink.trusting(),
        config=PushConfig(connections=2, stagger_seconds=0),
    )
    token = ProviderToken(key=KEY.pem, key_id=KEY.key_id, team_id=KEY.team_id, clock=clock)
    phones = ApnsClient(client, token, bundle_id=BUNDLE, metrics=metrics)
    async with client, ground(look.fixture.match_id, phones) as played:
        yield played, metrics
