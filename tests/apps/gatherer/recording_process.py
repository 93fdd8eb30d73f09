"""A gatherer as a process of its own, which a test can kill: it records until it is terminated."""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path
from random import Random

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services.market_registry import MarketRegistry
from grandstand.apps.gatherer.services.recording.recorder import (
    Recorder,
    open_buffer,
)
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.storage.series.buffer import Limits
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.schema import Edition
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.gatherer.exchange_fixture import recorder_options, recorder_settings


class ProcessConfig(msgspec.Struct):
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


def open_engine(config: ProcessConfig) -> SeriesEngine:
    """Open where a gatherer keeps its rows: its folder, or a server's schema."""
    clock = SystemClock()
    if config.place != "chunks":
        return PostgresEngine.open(
            config.place,
            clock=clock,
            schema=config.schema,
            edition=config.edition,
            ahead=timedelta(hours=2),
        )
    folder = Path(config.folder) / "series"
    folder.mkdir(parents=True, exist_ok=True)
    return ChunkEngine.open(folder, clock=clock)


def open_tables() -> AsyncStore:
    """Open the tables people's choices are in: there are none."""
    clock = SystemClock()
    tables = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    tables.create(store.TABLES)
    return AsyncStore(tables)


async def record(config: ProcessConfig) -> None:
    clock, random, metrics = SystemClock(), Random(config.gatherer), Metrics()
    engine = open_engine(config)
    for series in store.SERIES:
        engine.prepare(series)
    async with SourceRegistry(clock=clock, random=random, metrics=metrics) as web:
        options = recorder_options(
            web,
            config.address,
            engine,
            clock=clock,
            random=random,
            audit_seconds=1.0,
            audit_recheck_seconds=0.5,
        )
        settings = recorder_settings(
            config.address,
            name=config.gatherer,
            connections=config.connections,
            markets_per_command=config.batch,
            markets_per_subscription=config.per_subscription,
            raw_log=True,
        )
        registry = MarketRegistry(options["client"], open_tables(), settings, clock)
        options["selection"] = registry
        folder, limits = Path(config.folder) / "gatherer", Limits(age_seconds=0.1)
        async with open_buffer(
            settings.name, folder, limits, engine, clock=clock, random=random
        ) as opened:
            recorder = Recorder(settings, folder, *opened, **options)
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, recorder.stop)
            sys.stdout.write("recording\n")
            sys.stdout.flush()
            await recorder.run()
    engine.close()


if __name__ == "__main__":
    asyncio.run(record(msgspec.json.decode(sys.argv[1], type=ProcessConfig)))
