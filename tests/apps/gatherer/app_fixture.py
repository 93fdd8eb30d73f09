"""A platform with the gatherer in it: how it is set, and how it records for a while."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from grandstand.apps.gatherer.app import APP
from grandstand.apps.gatherer.services import Gatherer
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.host.runtime import Platform
from grandstand.host.settings import Settings
from tests.apps.gatherer.exchange_fixture import until

# Nobody listens on the port for discarding, so whoever asks there is refused at once.
NOWHERE = "127.0.0.1:9"


def settings_at(address: str, **chosen: Any) -> GathererSettings:
    """Settings of a gatherer that asks this exchange, and keeps what it hears soon."""
    usual: dict[str, Any] = {
        "rest_url": f"http://{address}/trade-api/v2",
        "stream_url": f"ws://{address}/trade-api/ws/v2",
        "connections": 2,
        "free_gigabytes": 0.001,
        "flush_seconds": 0.05,
    }
    return GathererSettings(**(usual | chosen))


@asynccontextmanager
async def opened(folder: Path, address: str, **chosen: Any) -> AsyncIterator[Platform]:
    """Open a platform with the gatherer alone."""
    settings = Settings(home=folder, gatherer=settings_at(address, **chosen))
    async with Platform.open(settings, apps=(APP,)) as platform:
        yield platform


def gatherer_of(platform: Platform) -> Gatherer:
    """Return the gatherer of a platform."""
    found: Gatherer = platform.services["gatherer"]
    return found


@asynccontextmanager
async def recording(gatherer: Gatherer, deltas: int = 200) -> AsyncIterator[None]:
    """Record; the block begins when so many changes and some trades are kept."""
    await gatherer.recording.request(recording=True)
    running = asyncio.create_task(gatherer.recording.run())
    try:
        await until(lambda: has_recorded(gatherer, deltas))
        yield
    finally:
        gatherer.recording.stop()
        await running


async def has_recorded(gatherer: Gatherer, deltas: int = 200) -> bool:
    """Return whether every book is there, and enough has happened since."""
    ingest = await gatherer.recording.status()
    seeded = bool(ingest.markets) and not ingest.stale
    seeded = seeded and not sum(line.waiting for line in ingest.connections)
    kept = ingest.rows.get("orderbook_deltas", 0) >= deltas and ingest.rows.get("trades", 0) > 5
    return seeded and kept and not ingest.gaps_open
