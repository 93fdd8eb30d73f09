"""What one of several processes does when all want the same entry at once."""

import asyncio
from pathlib import Path
from random import Random
from typing import Any

from grandstand.core.clock import SystemClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.cache import AsyncCache, CacheSettings
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.cache.races import HORSES


def race(file: Path, log: Path, owner: str) -> tuple[dict[str, Any] | None, str]:
    """Ask for an entry, noting in the log when it comes to fetching; answer what was got."""
    clock = SystemClock()
    engine = SqliteEngine.open(file, clock=clock)
    store = Store(engine, naming=Naming(), clock=clock)
    settings = CacheSettings(wait_seconds=20, poll_seconds=0.05)
    cache = AsyncCache(AsyncStore(store), owner=owner, random=Random(owner), settings=settings)

    async def fetch() -> dict[str, Any]:
        with log.open("a") as lines:
            lines.write(f"{owner}\n")
        await asyncio.sleep(1)
        return {"from": owner}

    answer = asyncio.run(cache.get_or_fetch(HORSES.key(horse_id="7"), fetch))
    engine.close()
    return answer.value, answer.state
