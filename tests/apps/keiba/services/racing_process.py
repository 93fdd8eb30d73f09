"""One of several processes that request the same race at once."""

import asyncio
from pathlib import Path
from random import Random

from grandstand.apps.keiba.services.page_cache import PageCache
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine


def request_race(file: Path, address: str, race_id: str, owner: str) -> tuple[str, int]:
    """Request a race; return its cache state and its number of runners."""
    return asyncio.run(_request_race(file, address, race_id, owner))


async def _request_race(file: Path, address: str, race_id: str, owner: str) -> tuple[str, int]:
    clock, random = SystemClock(), Random(owner)
    settings = KeibaSettings(
        race_url=f"http://{address}/race",
        nar_url=f"http://{address}/nar",
        db_url=f"http://{address}/db",
        gap_seconds=0,
        jitter_seconds=0,
    )
    with Store(SqliteEngine.open(file, clock=clock), naming=Naming(), clock=clock) as opened:
        store = AsyncStore(opened)
        async with SourceRegistry(clock=clock, random=random, metrics=Metrics()) as web:
            pages = PageCache(
                store=store,
                site=Netkeiba(web, settings, store=store, clock=clock),
                clock=clock,
                random=random,
                owner=owner,
                settings=settings,
            )
            race = await pages.race(race_id)
    return race.state, len(race.value.horses)
