"""A whole recorder on the sockets of the exchange's simulator, which has a process of its own."""

import asyncio
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.harness.machine import resident_mb
from benchmarks.harness.rows import Limit, Row
from grandstand.apps.gatherer.services.recording.recorder import Recorder, buffer_limits
from grandstand.apps.gatherer.services.recording.status import LatencyTracker
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.core.clock import SystemClock
from grandstand.host.server.serving import loop_factory
from grandstand.simulators.exchange.process import ExchangeOptions, exchange_process
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.world import WorldConfig
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.apps.gatherer.exchange_fixture import recording, seeded, until

_MARKETS = 500
_MANY = 20_000
_OFFERED = 24_000
_SETTLING_SECONDS = 2.0
_SECONDS = 8.0
_PATIENCE_SECONDS = 300.0


@dataclass(frozen=True)
class Seen:
    """What a recorder did in a while: messages, its CPU time, and how long rows waited."""

    messages: int
    seconds: float
    cpu_seconds: float
    lag_seconds: float
    gaps: int
    seeded_seconds: float
    memory_mb: float


def rows(folder: Path) -> list[Row]:
    """Record a busy exchange, with the settings a recorder has by default."""
    seen = record(folder, markets=_MARKETS, offered=_OFFERED)
    told = f"{_MARKETS} markets"
    return [
        Row(
            measure=f"messages recorded from sockets, {told}, {_OFFERED:,} a second offered",
            unit="messages/s",
            ours=seen.messages / seen.seconds,
            aim=Limit(20_000),
        ),
        Row(
            measure="from receipt to durable meanwhile, 99 of 100 batches",
            unit="ms",
            ours=seen.lag_seconds * 1000,
            aim=Limit(500),
            higher_is_better=False,
        ),
        Row(
            measure="CPU of the recorder for a message meanwhile",
            unit="µs",
            ours=seen.cpu_seconds / seen.messages * 1e6,
            higher_is_better=False,
        ),
        Row(
            measure="gaps found meanwhile, of an exchange that leaves none",
            unit="gaps",
            ours=seen.gaps,
            aim=Limit(0),
            higher_is_better=False,
        ),
    ]


def many(folder: Path) -> list[Row]:
    """Record an exchange with very many markets in one process."""
    seen = record(folder, markets=_MANY, offered=_OFFERED)
    return [
        Row(
            f"books of {_MANY:,} markets in one process, all there after", "s", seen.seeded_seconds
        ),
        Row(
            measure=f"messages recorded from sockets, {_MANY:,} markets",
            unit="messages/s",
            ours=seen.messages / seen.seconds,
        ),
        Row(f"memory with {_MANY:,} markets", "MB", seen.memory_mb),
        Row(
            measure=f"gaps found meanwhile with {_MANY:,} markets",
            unit="gaps",
            ours=seen.gaps,
            aim=Limit(0),
            higher_is_better=False,
        ),
    ]


def record(folder: Path, *, markets: int, offered: int) -> Seen:
    """Record all markets of an exchange of which so much is to happen in a second."""
    world = WorldConfig(markets=markets, truth_most=0)
    budget = RequestBudget(read_per_second=100_000)
    with (
        exchange_process(ExchangeOptions(world=world, budget=budget)) as address,
        closing(ChunkEngine.open(folder / "series", clock=SystemClock())) as engine,
        asyncio.Runner(loop_factory=loop_factory()) as loop,
    ):
        return loop.run(_recorded(address, folder, engine, offered))


async def _recorded(address: str, folder: Path, engine: ChunkEngine, offered: int) -> Seen:
    plan = _plan_of(GathererSettings())
    begun = time.monotonic()
    async with recording(address, folder / "waiting", engine, plan) as recorder:
        await until(lambda: seeded(recorder), _PATIENCE_SECONDS)
        taken = time.monotonic() - begun
        await _pace(address, offered)
        await asyncio.sleep(_SETTLING_SECONDS)
        seen = await _watched(recorder, taken)
        await _pace(address, 0)
    return seen


async def _watched(recorder: Recorder, seeded_seconds: float) -> Seen:
    recorder.writer.latency = LatencyTracker()
    frames, began, cpu = _frames(recorder), time.monotonic(), time.process_time()
    await asyncio.sleep(_SECONDS)
    return Seen(
        messages=_frames(recorder) - frames,
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time() - cpu,
        lag_seconds=recorder.writer.latency.quantile(0.99) or 0.0,
        gaps=sum(recorder.counters.gaps_opened.values()),
        seeded_seconds=seeded_seconds,
        memory_mb=resident_mb(),
    )


def _plan_of(settings: GathererSettings) -> dict[str, object]:
    return {
        "connections": settings.connections,
        "markets_per_command": settings.markets_per_command,
        "markets_per_subscription": settings.markets_per_subscription,
        "buffer": buffer_limits(settings),
    }


def _frames(recorder: Recorder) -> int:
    return sum(each.frames for each in recorder.pool.connections)


async def _pace(address: str, events_per_second: int) -> None:
    """Say how much is to happen in a second."""
    body = msgspec.json.encode({"events_per_second": events_per_second})
    reader, writer = await asyncio.open_connection(*address.split(":"))
    head = f"PUT /simulator/pace HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    assert b" 200 " in await reader.readline()
    writer.close()
