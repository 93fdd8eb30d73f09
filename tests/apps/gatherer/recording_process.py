"""A gatherer as a process of its own, which a test can kill: it records until it is terminated."""

import asyncio
import signal
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.service.recording.plan import Plan
from grandstand.apps.gatherer.service.recording.recorder import Recorder
from grandstand.apps.gatherer.service.registry import Markets
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Terms
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.storage.series.engines.chunks import ChunkEngine
from grandstand.storage.series.engines.postgres import Edition, PostgresEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.wire.web import Web
from tests.apps.gatherer.stage import surroundings


class Told(msgspec.Struct):
    """What the process is to do: for which gatherer, where, and of which exchange."""

    gatherer: str
    folder: str
    address: str
    place: str = "chunks"
    schema: str | None = None
    edition: Edition | None = None
    connections: int = 2
    batch: int = 20
    per_subscription: int = 40


def open_engine(told: Told) -> SeriesEngine:
    """Open where a gatherer keeps its rows: its folder, or a server's schema."""
    clock = SystemClock()
    if told.place != "chunks":
        return PostgresEngine.open(
            told.place,
            clock=clock,
            schema=told.schema,
            edition=told.edition,
            ahead=timedelta(hours=2),
        )
    folder = Path(told.folder) / "series"
    folder.mkdir(parents=True, exist_ok=True)
    return ChunkEngine.open(folder, clock=clock)


def open_tables() -> AsyncStore:
    """Open the tables people's choices are in: there are none."""
    clock = SystemClock()
    tables = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    tables.create(store.TABLES)
    return AsyncStore(tables)


def plan_of(told: Told) -> Plan:
    return Plan(
        gatherer=told.gatherer,
        ws_url=f"ws://{told.address}/trade-api/ws/v2",
        folder=Path(told.folder) / "gatherer",
        connections=told.connections,
        terms=Terms(batch=told.batch, per_subscription=told.per_subscription),
        tape=True,
        reconcile_seconds=3600.0,
        audit_seconds=1.0,
        audit_again_seconds=0.5,
        snapshots_seconds=3600.0,
    )


async def record(told: Told) -> None:
    clock, random, metrics = SystemClock(), Random(told.gatherer), Metrics()
    engine = open_engine(told)
    for series in store.SERIES:
        engine.prepare(series)
    async with Web(clock=clock, random=random, metrics=metrics) as web:
        around = surroundings(web, told.address, engine, clock=clock, random=random)
        settings = GathererSettings(name=told.gatherer)
        markets = Markets(around.exchange, open_tables(), settings, clock)
        around = replace(around, choosing=markets)
        async with Recorder.opened(plan_of(told), around) as recorder:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, recorder.stop)
            sys.stdout.write("recording\n")
            sys.stdout.flush()
            await recorder.run()
    engine.close()


if __name__ == "__main__":
    asyncio.run(record(msgspec.json.decode(sys.argv[1], type=Told)))
