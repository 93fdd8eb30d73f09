"""The keiba services on a real store, with the simulated race site."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from random import Random
from typing import Any

from grandstand.apps.keiba.services import Keiba, create
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.apps.keiba.store import TABLES
from grandstand.core.clock import ManualClock
from grandstand.core.metrics import Metrics
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.llm import Llm, OfflineLlm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.kit.shared_limits import LIMIT_TABLES
from grandstand.net.client import SourceRegistry
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.simulators.serving import serve
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from grandstand.storage.tables.requests import GetItem, ScanRequest

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *LIMIT_TABLES, *PLATFORM_TABLES)

ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")

SUNDAY = date(2026, 11, 15)
NOON = datetime(2026, 11, 15, 3, tzinfo=UTC)
"""Noon of a Sunday in Japan: the morning's races are run, the afternoon's are not."""
SMALL = "202603030211"


class RecordingPublisher:
    """A publisher that records its messages."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict[str, Any]]] = []

    def publish(self, topic: str, message: dict[str, Any]) -> None:
        self.messages.append((topic, message))


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What the services are created from."""

    store: AsyncStore
    site: Netkeiba
    llm: Llm
    outbox: Outbox
    notifier: Notifier
    events: Events
    publisher: RecordingPublisher
    cursors: Cursors
    clock: ManualClock
    random: Random
    owner: str
    settings: KeibaSettings

    def create(self) -> Keiba:
        """Create the services."""
        return create(**{each.name: getattr(self, each.name) for each in fields(self)})


@dataclass
class Stage:
    """The services, the simulated site, and what they were created from."""

    keiba: Keiba
    resources: Resources
    site: Site
    clock: ManualClock
    publisher: RecordingPublisher = field(default_factory=RecordingPublisher)

    @property
    def world(self) -> World:
        return self.site.world

    @property
    def small(self) -> str:
        """A race of few runners in the afternoon, whose odds are sold."""
        return SMALL

    def stored(self, partition: str, sort: str) -> dict[str, Any]:
        """An item as it is stored; empty if there is none."""
        session = self.resources.store.store.session
        where = GetItem(session.name(TABLES[0]), {"PK": partition, "SK": sort})
        return dict(session.engine.get(where).item or {})

    def stored_keys(self) -> list[tuple[str, str]]:
        """The keys of all items in the table."""
        session = self.resources.store.store.session
        items = session.engine.scan(ScanRequest(session.name(TABLES[0]))).items
        return [(str(item["PK"]), str(item["SK"])) for item in items]

    def race_ids(self, circuit: Any = "jra") -> list[str]:
        """The races of the Sunday."""
        return self.world.race_ids(circuit, SUNDAY)

    def requested(self) -> list[str]:
        """The pages requested so far, without robots.txt."""
        return [
            f"{request.host}{request.path}"
            for request in self.site.access_log.requests
            if not request.path.startswith("/robots")
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
    """Create the services against a site; waiting moves the clock instead of taking time."""
    async_store, publisher, random = AsyncStore(store), RecordingPublisher(), Random(1)

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with serve(site.application) as address:
        keiba_settings = KeibaSettings.model_validate(
            {
                "race_url": f"http://{address}/race",
                "nar_url": f"http://{address}/nar",
                "db_url": f"http://{address}/db",
                "gap_seconds": 0,
                "jitter_seconds": 0,
                **settings,
            }
        )
        web = SourceRegistry(clock=clock, random=random, metrics=Metrics(), sleep=sleep)
        async with web:
            outbox = Outbox(async_store, clock)
            resources = Resources(
                store=async_store,
                site=Netkeiba(web, keiba_settings, store=async_store, clock=clock, sleep=sleep),
                llm=llm or OfflineLlm(),
                outbox=outbox,
                notifier=Notifier(outbox, (), web=web),
                events=Events(async_store, clock=clock, random=random, publisher=publisher),
                publisher=publisher,
                cursors=Cursors(b"secret"),
                clock=clock,
                random=random,
                owner=owner,
                settings=keiba_settings,
            )
            yield Stage(resources.create(), resources, site, clock, publisher)
