"""What one of several processes does when all want the same race at once."""

import asyncio
from pathlib import Path
from random import Random
from typing import Any

from grandstand.apps.keiba.service import TablePauses
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.llm.offline import OfflineLlm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.wire.web import Web


class _Nobody:
    """Hears no news."""

    def tell(self, topic: str, news: dict[str, Any]) -> None:
        del topic, news


def fly(file: Path, address: str, race_id: str, owner: str) -> tuple[str, int]:
    """Ask for a race; answer its state and how many runners it has."""
    return asyncio.run(_fly(file, address, race_id, owner))


async def _fly(file: Path, address: str, race_id: str, owner: str) -> tuple[str, int]:
    clock, random, listener = SystemClock(), Random(owner), _Nobody()
    settings = KeibaSettings(
        race_url=f"http://{address}/race",
        nar_url=f"http://{address}/nar",
        db_url=f"http://{address}/db",
        gap_seconds=0,
        jitter_seconds=0,
    )
    with Store(SqliteEngine.open(file, clock=clock), naming=Naming(), clock=clock) as opened:
        store = AsyncStore(opened)
        async with Web(clock=clock, random=random, metrics=Metrics()) as web:
            outbox = Outbox(store, clock)
            means = Means(
                store=store,
                site=Netkeiba(web, settings, clock=clock, pauses=TablePauses(store, clock)),
                llm=OfflineLlm(),
                outbox=outbox,
                notifier=Notifier(outbox, (), web=web),
                events=Events(store, clock=clock, random=random, teller=listener),
                teller=listener,
                cursors=Cursors(b"secret"),
                clock=clock,
                random=random,
                owner=owner,
                settings=settings,
            )
            found = await Library(means).race(race_id)
    return found.state, len(found.value.horses)
