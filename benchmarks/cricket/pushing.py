"""How many pushes a second leave one process, beside other clients and against one sink."""

from random import Random

import uvloop

from benchmarks.cricket.blast import blast
from benchmarks.cricket.pace import BUNDLE, KEY, PAYLOAD, Pace, Sunk, paced, sinking
from benchmarks.cricket.peers import by_aioapns, by_pycurl
from benchmarks.harness.rows import Limit, Row, Times
from grandstand.apps.cricket.domain.live_activities import PushTarget, make_push_id
from grandstand.apps.cricket.sources.apns import ApnsClient, ApnsPayload, ProviderToken
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.http2_push.client import PushClient, PushConfig


def rows(*, full: bool) -> list[Row]:
    """Measure ours, the peers and the sink, one after the other in one run."""
    count = 20_000 if full else 10_000
    with sinking("0") as plain, sinking("0", "echo") as echoing:
        ours = uvloop.run(_ours(plain, count, connections=2))
        peers = {
            "aioapns": uvloop.run(by_aioapns(echoing, count // 5)),
            "pycurl multi": by_pycurl(plain, count),
        }
        sink = max(uvloop.run(blast(plain.port, plain.trusting(), PAYLOAD)) for _ in range(3))
    fastest = max(pace.per_second for pace in (ours, *peers.values()))
    sinks = Row(
        "what the sink answers when requests cost nothing",
        "requests/s",
        sink,
        {"the fastest client": fastest},
        Times(2, "the fastest client"),
    )
    return [*_beside(ours, peers, count), sinks, *_alone(count)]


def _beside(ours: Pace, peers: dict[str, Pace], count: int) -> list[Row]:
    """Ours beside the peers: by the clock, and by what it costs the process."""
    return [
        Row(
            f"pushes of {len(PAYLOAD)} bytes to {count:,} tokens, two connections over TLS",
            "pushes/s",
            ours.per_second,
            {name: pace.per_second for name, pace in peers.items()},
            Times(10, "aioapns"),
        ),
        Row(
            "what a push costs the process that sends it",
            "µs of CPU",
            ours.cpu_micros,
            {name: pace.cpu_micros for name, pace in peers.items()},
            Times(10, "aioapns"),
            higher_is_better=False,
        ),
    ]


def _alone(count: int) -> list[Row]:
    """Very many pushes, and a service that takes its time."""
    with sinking("0") as plain:
        many = uvloop.run(_ours(plain, 100_000, connections=2, repeats=1))
    with sinking("50") as slow:
        delayed = uvloop.run(_ours(slow, count, connections=4))
    return [
        Row(
            "all of 100,000 pushes answered",
            "s",
            100_000 / many.per_second,
            aim=Limit(8),
            higher_is_better=False,
        ),
        Row(
            "pushes, four connections, 50 ms until the service answers",
            "pushes/s",
            delayed.per_second,
        ),
    ]


async def _ours(sink: Sunk, count: int, *, connections: int, repeats: int = 5) -> Pace:
    """From a payload and tokens to results, push ids included."""
    clock, tokens = SystemClock(), [f"{at:064x}" for at in range(count)]
    chosen = PushConfig(connections=connections, stagger_seconds=0)
    client = PushClient(
        f"127.0.0.1:{sink.port}",
        clock=clock,
        random=Random(1),
        context=sink.trusting(),
        config=chosen,
    )
    token = ProviderToken(key=KEY.pem, key_id=KEY.key_id, team_id=KEY.team_id, clock=clock)
    apns = ApnsClient(client, token, bundle_id=BUNDLE, metrics=Metrics())

    async def send() -> None:
        targets = [PushTarget(each, make_push_id("match", each)) for each in tokens]
        results = await apns.push(ApnsPayload(PAYLOAD), targets)
        assert all(result.outcome == "delivered" for result in results)

    async with client:
        return await paced(send, count, repeats)
