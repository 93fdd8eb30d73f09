"""What tests of recording share: an exchange's markets to follow, and a recorder's surroundings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from grandstand.apps.gatherer.model.messages import EventTold, Lifecycle
from grandstand.apps.gatherer.service.recording.plan import Plan
from grandstand.apps.gatherer.service.recording.recorder import Recorder
from grandstand.apps.gatherer.service.recording.surroundings import Surroundings
from grandstand.apps.gatherer.sources.kalshi.frames import FrameDecoder
from grandstand.apps.gatherer.sources.kalshi.rest import Exchange
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Terms
from grandstand.base.clock import Clock, SystemClock
from grandstand.base.metrics import Metrics
from grandstand.storage.series.engines.chunks import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.wire.web import Web


class OpenMarkets:
    """Chooses every market that is open when it asks."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.tickers: frozenset[str] = frozenset()
        self.heard: list[Lifecycle | EventTold] = []

    def attach(self, put: Callable[[Any], None], stamp: Callable[[], int]) -> None:
        """Keep nothing of what becomes known."""

    async def sync(self) -> None:
        pages = [page async for page in self._exchange.markets(status="open")]
        self.tickers = frozenset(market.ticker for page in pages for market in page.items)

    def told(self, message: Lifecycle | EventTold, at: int, conn: int) -> None:  # noqa: ARG002
        self.heard.append(message)

    def turn(self, at: int) -> None:
        """Nothing opens or closes by itself."""

    async def choose(self) -> frozenset[str]:
        return self.tickers

    def wants(self, ticker: str) -> bool:
        return bool(ticker)


def surroundings(
    web: Web, address: str, engine: SeriesEngine, *, clock: Clock, random: Random, **more: Any
) -> Surroundings:
    exchange = Exchange(web, f"http://{address}/trade-api/v2", signer=None, clock=clock)
    parts: dict[str, Any] = {
        "exchange": exchange,
        "choosing": OpenMarkets(exchange),
        "engine": engine,
        "signer": None,
        "parse": FrameDecoder().parse,
        "clock": clock,
        "random": random,
        "metrics": Metrics(),
        "alarm": _silent,
    }
    return Surroundings(**(parts | more))


async def _silent(title: str, text: str) -> None:
    """Tell nobody."""


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
    parts: dict[str, Any] = {
        "gatherer": "east",
        "ws_url": f"ws://{address}/trade-api/ws/v2",
        "folder": folder,
        "connections": 1,
        "terms": Terms(batch=50, per_subscription=100),
        "reconcile_seconds": 3600.0,
        "audit_seconds": 3600.0,
        "snapshots_seconds": 3600.0,
    }
    async with Web(clock=clock, random=random, metrics=Metrics()) as web:
        around = surroundings(web, address, engine, clock=clock, random=random, **more)
        async with Recorder.opened(Plan(**(parts | (plan or {}))), around) as recorder:
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
