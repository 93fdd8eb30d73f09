"""What tests of recording share: an exchange's markets to follow, and a recorder's surroundings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from grandstand.apps.gatherer.domain.messages import EventMessage, LifecycleMessage
from grandstand.apps.gatherer.services.recording.recorder import (
    Recorder,
    open_buffer,
)
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.core.clock import Clock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.storage.series.buffer import Limits
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine


class OpenMarkets:
    """Follows every market that is open at the time of `sync`."""

    def __init__(self, exchange: KalshiClient) -> None:
        self._exchange = exchange
        self.tickers: frozenset[str] = frozenset()
        self.heard: list[LifecycleMessage | EventMessage] = []

    def attach(self, append: Callable[[Any], None], stamp: Callable[[], int]) -> None:
        """Keep nothing of what becomes known."""

    async def sync(self) -> None:
        pages = [page async for page in self._exchange.markets(status="open")]
        self.tickers = frozenset(market.ticker for page in pages for market in page.items)

    def on_lifecycle(self, message: LifecycleMessage | EventMessage, at: int, conn: int) -> None:  # noqa: ARG002
        self.heard.append(message)

    def advance(self, at: int) -> None:
        """Nothing opens or closes by itself."""

    async def followed(self) -> frozenset[str]:
        return self.tickers

    def is_wanted(self, ticker: str) -> bool:
        return bool(ticker)


def recorder_options(
    web: SourceRegistry,
    address: str,
    engine: SeriesEngine,
    *,
    clock: Clock,
    random: Random,
    **more: Any,
) -> dict[str, Any]:
    """Return the keyword arguments of a Recorder."""
    client = KalshiClient(web, f"http://{address}/trade-api/v2", signer=None, clock=clock)
    options: dict[str, Any] = {
        "client": client,
        "selection": OpenMarkets(client),
        "engine": engine,
        "signer": None,
        "clock": clock,
        "random": random,
        "metrics": Metrics(),
        "alert": _silent,
        "audit_seconds": 3600.0,
    }
    return options | more


async def _silent(title: str, text: str) -> None:
    """Tell nobody."""


def recorder_settings(address: str, **more: Any) -> GathererSettings:
    """Return settings for a simulated exchange, which is listed and polled only at the start."""
    options: dict[str, Any] = {
        "stream_url": f"ws://{address}/trade-api/ws/v2",
        "silence_seconds": 60.0,
        "reconnect_seconds": 0.5,
        "max_reconnect_seconds": 30.0,
        "reconcile_seconds": 3600.0,
        "snapshot_seconds": 3600.0,
        "audits_per_minute": 20,
    }
    return GathererSettings(**(options | more))


def open_chunks(folder: Path) -> ChunkEngine:
    folder.mkdir(parents=True, exist_ok=True)
    return ChunkEngine.open(folder, clock=SystemClock())


@asynccontextmanager
async def recording(
    address: str,
    folder: Path,
    engine: SeriesEngine,
    plan: dict[str, Any] | None = None,
    **more: Any,
) -> AsyncIterator[Recorder]:
    """A recorder at work in this process; it is stopped cleanly with the block."""
    clock, random = SystemClock(), Random(1)
    changes = dict(plan or {})
    limits = changes.pop("buffer", Limits(age_seconds=0.1))
    settings = recorder_settings(
        address,
        name="east",
        connections=1,
        markets_per_command=50,
        markets_per_subscription=100,
    ).model_copy(update=changes)
    async with SourceRegistry(clock=clock, random=random, metrics=Metrics()) as web:
        options = recorder_options(web, address, engine, clock=clock, random=random, **more)
        async with open_buffer(
            settings.name, folder, limits, engine, clock=clock, random=random
        ) as opened:
            recorder = Recorder(settings, folder, *opened, **options)
            running = asyncio.create_task(recorder.run())
            try:
                yield recorder
            finally:
                recorder.stop()
                await running


async def until(
    told: Callable[[], bool] | Callable[[], Awaitable[bool]], seconds: float = 60
) -> None:
    """Return when something is so; raise TimeoutError when it does not come."""
    async with asyncio.timeout(seconds):
        while not await _answer(told):  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.02)


async def _answer(told: Callable[[], bool] | Callable[[], Awaitable[bool]]) -> bool:
    found = told()
    return found if isinstance(found, bool) else await found


def seeded(recorder: Recorder) -> bool:
    """Whether every market the recorder follows has its book."""
    followed = recorder.pool.followed
    return bool(followed) and all(recorder.pool.book(ticker) is not None for ticker in followed)
