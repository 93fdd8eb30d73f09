"""A keiba on a real store, in front of the simulated race site."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from random import Random
from typing import Any

from grandstand.apps.keiba.service import Keiba, Means, TablePauses
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.apps.keiba.store import TABLES
from grandstand.base.clock import ManualClock
from grandstand.base.metrics import Metrics
from grandstand.kit.allowances import ALLOWANCE_TABLES
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.llm.offline import OfflineLlm
from grandstand.kit.llm.port import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.kit.who.caller import Caller
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.simulators.serving import served
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.house import HOUSE_TABLES
from grandstand.storage.tables.requests import GetItem, Scan
from grandstand.wire.web import Web

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *ALLOWANCE_TABLES, *HOUSE_TABLES)

ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")

SUNDAY = date(2026, 11, 15)
NOON = datetime(2026, 11, 15, 3, tzinfo=UTC)
"""Noon of a Sunday in Japan: the morning's races are run, the afternoon's are not."""
SMALL = "202603030211"


class Listener:
    """Whoever is told the news, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def tell(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class Stage:
    """A keiba, the site it asks, and all it stands on."""

    keiba: Keiba
    means: Means
    site: Site
    clock: ManualClock
    listener: Listener = field(default_factory=Listener)

    @property
    def world(self) -> World:
        return self.site.world

    @property
    def small(self) -> str:
        """A race of few runners in the afternoon, whose odds are sold."""
        return SMALL

    def stored(self, partition: str, sort: str) -> dict[str, Any]:
        """An item as it is stored; nothing when there is none."""
        session = self.means.store.store.session
        where = GetItem(session.name(TABLES[0]), {"PK": partition, "SK": sort})
        return dict(session.engine.get(where).item or {})

    def held(self) -> list[tuple[str, str]]:
        """The keys of everything in the table."""
        session = self.means.store.store.session
        items = session.engine.scan(Scan(session.name(TABLES[0]))).items
        return [(str(item["PK"]), str(item["SK"])) for item in items]

    def race_ids(self, circuit: Any = "jra") -> list[str]:
        """The races of the Sunday."""
        return self.world.race_ids(circuit, SUNDAY)

    def asked(self) -> list[str]:
        """The pages asked for so far, without what robots are told."""
        return [
            f"{one.host}{one.path}"
            for one in self.site.arrivals.kept
            if not one.path.startswith("/robots")
        ]


@asynccontextmanager
async def staged(
    store: Store,
    site: Site,
    clock: ManualClock,
    *,
    llm: Llm | None = None,
    owner: str = "stage",
    **settings: Any,
) -> AsyncIterator[Stage]:
    """Set a keiba up before a site; waiting for one's turn moves the clock and costs no time."""
    kept, listener, random = AsyncStore(store), Listener(), Random(1)

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with served(site.application) as address:
        chosen = KeibaSettings.model_validate(
            {
                "race_url": f"http://{address}/race",
                "nar_url": f"http://{address}/nar",
                "db_url": f"http://{address}/db",
                "gap_seconds": 0,
                "jitter_seconds": 0,
                **settings,
            }
        )
        web = Web(clock=clock, random=random, metrics=Metrics(), sleep=sleep)
        async with web:
            outbox = Outbox(kept, clock)
            pauses = TablePauses(kept, clock)
            means = Means(
                store=kept,
                site=Netkeiba(web, chosen, clock=clock, sleep=sleep, pauses=pauses),
                llm=llm or OfflineLlm(),
                outbox=outbox,
                notifier=Notifier(outbox, (), web=web),
                events=Events(kept, clock=clock, random=random, teller=listener),
                teller=listener,
                cursors=Cursors(b"secret"),
                clock=clock,
                random=random,
                owner=owner,
                settings=chosen,
            )
            yield Stage(Keiba(means), means, site, clock, listener)
