"""Gatherers in processes of their own against an exchange where everything goes wrong, and merged.

`python -m tests.apps.gatherer.soak` does the same for as long as one likes.
"""

import asyncio
import itertools
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from select import select
from typing import Any, Final

import psycopg

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.subscriptions import CLOCK_SLACK_US
from grandstand.apps.gatherer.services.deduplicator import Merger
from grandstand.apps.gatherer.services.merge_sources import MergeConfig, MergeSource
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_connections import FaultHit, StreamFault
from grandstand.simulators.faults import Fault
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.gatherer.frames import Script, Told
from tests.apps.gatherer.recording_process import ProcessConfig, open_engine
from tests.storage.series.engines.postgres.opening import timescale_database

CLOCK: Final = SystemClock()
EVER: Final = 2**62
NAMES: Final = ("east", "west", "north")
MARKETS: Final = 24
_MANY: Final = 8
_LATER_SECONDS: Final = 180.0
_PATIENCE_SECONDS: Final = 60.0
_numbers = itertools.count(1)
# Each kind once for certain, and then by chance.
STREAM_FAULTS: Final = (
    StreamFault("drop", times=1, channel="orderbook_delta"),
    StreamFault("duplicate", times=1, channel="orderbook_delta"),
    StreamFault("reorder", times=1, channel="orderbook_delta"),
    StreamFault("malformed", times=1, channel="orderbook_delta"),
    StreamFault("stall", times=1, seconds=0.3),
    StreamFault("disconnect", times=1, code=0),
)
ERRORS: Final = (
    StreamFault("error", times=1, code=26),
    StreamFault("error", times=1, code=27),
)
CHANCE: Final = (
    StreamFault("drop", share=0.003),
    StreamFault("duplicate", share=0.01),
    StreamFault("reorder", share=0.003),
    StreamFault("malformed", share=0.004),
    StreamFault("stall", share=0.0005, seconds=0.3),
    StreamFault("disconnect", share=0.0003, code=0),
    StreamFault("disconnect", share=0.0002, code=1001),
    StreamFault("error", share=0.0004, code=25),
    StreamFault("error", share=0.0002, code=10),
    StreamFault("error", share=0.03, code=26),
    StreamFault("error", share=0.03, code=27),
)
REST_FAULTS: Final = (
    Fault("delay", share=0.05, seconds=0.05),
    Fault("drop", share=0.03),
    Fault("too many", share=0.03, seconds=0.1),
    Fault("failing", share=0.03, seconds=0.1),
    Fault("garbage", share=0.03),
    Fault("disconnect", share=0.03),
)
# Where a name's rows are to be kept; each is empty at first and gone afterwards.
Ordering = Callable[[str, Path], ProcessConfig]


class Gatherer:
    """A gatherer in a process of its own."""

    def __init__(self, order: ProcessConfig, address: str) -> None:
        self.order = order
        self.name = order.gatherer
        self._told = json.dumps(_plain(order) | {"address": address})
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.apps.gatherer.recording_process", self._told]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert select([self._process.stdout], [], [], _PATIENCE_SECONDS)[0], "it does not begin"
        assert self._process.stdout.readline() == b"recording\n"

    def end(self, how: signal.Signals) -> int:
        process = self._process
        if process is None:
            return 0
        process.send_signal(how)
        code = process.wait(_PATIENCE_SECONDS)
        self._process = None
        if process.stdout is not None:
            process.stdout.close()
        return code


@dataclass(frozen=True)
class Phase:
    """How long and how fast: seconds before, between and after what is done to gatherers."""

    seconds: float = 1.0
    events_per_second: float = 250.0
    kills: int = 1
    seed: int = 1


@dataclass
class Gathered:
    """What happened, what each gatherer has of it, and what they have together."""

    world: World
    begun: int
    calm_until: int
    ended: int
    struck: Sequence[FaultHit]
    codes: list[int]
    sources: list[MergeSource]
    told: list[Told]
    script: Script
    merged: SeriesEngine
    failed: dict[str, str]


@contextmanager
def gathered(
    ordering: Ordering, count: int, folder: Path, phase: Phase | None = None
) -> Iterator[Gathered]:
    """So many gatherers recorded, each was killed once, and what they kept is merged."""
    orders = [ordering(name, folder / name) for name in NAMES[:count]]
    world, moments, struck, codes = asyncio.run(_recorded(orders, phase or Phase()))
    with ExitStack() as opened:

        def engine(order: ProcessConfig) -> SeriesEngine:
            return opened.enter_context(closing(open_engine(order)))

        sources = [MergeSource(order.gatherer, engine(order)) for order in orders]
        merged = engine(ordering("merged", folder / "merged"))
        failed = merge(sources, merged)
        script = Script(world.truth)
        told = [
            script.heard(
                Path(order.folder) / "gatherer" / "raw", rows(source.engine, store.SESSIONS)
            )
            for order, source in zip(orders, sources, strict=True)
        ]
        yield Gathered(world, *moments, struck, codes, sources, told, script, merged, failed)


async def _recorded(
    orders: list[ProcessConfig], phase: Phase
) -> tuple[World, tuple[int, int, int], Sequence[FaultHit], list[int]]:
    world = World(CLOCK, WorldConfig(phase.seed, markets=MARKETS, depth=8))
    rules = ExchangeRules(unstamped_every=50, budget=RequestBudget(read_per_second=5000))
    world.skew_seconds = 0.4
    exchange = Exchange(world, CLOCK, rules, pace=Pace(), seed=phase.seed)
    async with exchange.serve() as address:
        gatherers = [Gatherer(order, address) for order in orders]
        try:
            await asyncio.gather(*(asyncio.to_thread(each.start) for each in gatherers))
            await _listening(exchange, len(gatherers) * (MARKETS - 2))
            begun = world.now_us()
            calm_until = await _calm(exchange, orders, phase)
            codes = await _troubled(exchange, gatherers, phase)
            ended = world.now_us()
            await _proven(orders, ended)
            for each in gatherers:
                codes.append(await asyncio.to_thread(each.end, signal.SIGTERM))
        finally:
            for each in gatherers:
                each.end(signal.SIGKILL)
    return world, (begun, calm_until, ended), exchange.stream_faults.struck, codes


async def _calm(exchange: Exchange, orders: list[ProcessConfig], phase: Phase) -> int:
    """Let all go well for a while; answer until when, once everyone has proven to have it."""
    exchange.pace.events_per_second = phase.events_per_second
    await asyncio.sleep(phase.seconds)
    until = exchange.source.now_us()
    await _proven(orders, until)
    return until


async def _proven(orders: list[ProcessConfig], until: int) -> None:
    """Return when everyone has proven to have all that happened until then, or a gap."""
    notes = [Path(order.folder) / "gatherer" / "whole" for order in orders]
    async with asyncio.timeout(60):
        while min(map(_whole, notes)) < until + CLOCK_SLACK_US:  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(0.05)


def _whole(note: Path) -> int:
    return int(note.read_text("ascii")) if note.exists() else 0


async def _troubled(exchange: Exchange, gatherers: list[Gatherer], phase: Phase) -> list[int]:
    """Let everything go wrong, and kill one gatherer after the other; answer how they ended."""
    codes = []
    exchange.rest_faults.ask_for(*REST_FAULTS)
    exchange.stream_faults.ask_for(*STREAM_FAULTS, *CHANCE)
    exchange.pace.events_per_second = phase.events_per_second
    exchange.pace.lifecycle_every_seconds = 1.0
    for number in range(phase.kills):
        each = gatherers[number % len(gatherers)]
        await asyncio.sleep(phase.seconds)
        made = exchange.connections_made
        codes.append(await asyncio.to_thread(each.end, signal.SIGKILL))
        # However long it takes to come back, not too much is to be missed meanwhile.
        exchange.pace.events_per_second = phase.events_per_second / 4
        await asyncio.to_thread(each.start)
        await _back(exchange, made)
        exchange.pace.events_per_second = phase.events_per_second
    # Two errors that end subscriptions at one moment would be one.
    for code in (25, 10):
        fatal = StreamFault("error", times=1, code=code, channel="orderbook_delta")
        exchange.stream_faults.ask_for(fatal, *ERRORS, *CHANCE)
        await asyncio.sleep(phase.seconds / 2)
    exchange.stream_faults.ask_for()
    exchange.rest_faults.ask_for()
    await _listening(exchange, len(gatherers) * (MARKETS - 2))
    await asyncio.sleep(phase.seconds)
    exchange.pace.events_per_second = exchange.pace.lifecycle_every_seconds = 0.0
    await asyncio.sleep(0.5)
    return codes


async def _back(exchange: Exchange, made: int) -> None:
    """Return when somebody who connected anew listens to books again."""
    async with asyncio.timeout(60):
        while _listened_to(exchange, made) < _MANY:  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(0.05)


async def _listening(exchange: Exchange, markets: int) -> None:
    """Return when books of so many markets are listened to, over all connections."""
    async with asyncio.timeout(60):
        while _listened_to(exchange) < markets:  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(0.05)


def _listened_to(exchange: Exchange, since: int = 0) -> int:
    return sum(
        len(subscription.markets or ())
        for connection in exchange.hub.connections.values()
        if connection.number > since
        for subscription in connection.subscriptions.values()
    )


def rows(engine: SeriesEngine, series: Series[Any]) -> list[Any]:
    """Return all rows of a series."""
    return [*engine.read(Window(series, 0, EVER))]


def merge(sources: list[MergeSource], merged: SeriesEngine) -> dict[str, str]:
    """Merge everything there is, some minutes later; answer which gatherers could not be read."""
    later = ManualClock(CLOCK.now() + timedelta(seconds=_LATER_SECONDS))
    tables = Store(SqliteEngine.open(None, clock=CLOCK), naming=Naming(), clock=CLOCK)
    tables.create(store.TABLES)
    merger = Merger(sources, merged, tables, clock=later, config=MergeConfig(overlap_us=0))
    merger.prepare()
    tally = merger.run_round(recount=True)
    while tally.more:
        tally = merger.run_round(recount=True)
    tables.close()
    return tally.failed


@contextmanager
def in_folders() -> Iterator[Ordering]:
    """Every store is a folder of chunks."""
    yield lambda name, folder: ProcessConfig(name, str(folder), "")


@contextmanager
def in_schemas(dsn: str) -> Iterator[Ordering]:
    """Every store is a schema of one PostgreSQL."""
    number, made = next(_numbers), list[str]()

    def order(name: str, folder: Path) -> ProcessConfig:
        made.append(schema := f"gathered_{number}_{name}")
        return ProcessConfig(name, str(folder), "", place=dsn, schema=schema, edition="plain")

    yield order
    with psycopg.connect(dsn, autocommit=True) as connection:
        for schema in made:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@contextmanager
def in_databases(dsn: str) -> Iterator[Ordering]:
    """Every store is a database with TimescaleDB."""
    with ExitStack() as opened:

        def order(name: str, folder: Path) -> ProcessConfig:
            own = opened.enter_context(timescale_database(dsn, "timescale"))
            return ProcessConfig(name, str(folder), "", place=own, edition="timescale")

        yield order


def _plain(order: ProcessConfig) -> dict[str, Any]:
    return {name: getattr(order, name) for name in order.__struct_fields__}
