"""A table of races to cache in, and engines that fail in a chosen way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, TypeVar, cast

from grandstand.storage.tables import AsyncStore, Entity, Store, Table, attribute, key, ttl
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.cache import AsyncCache, CacheEvent, CacheForm, CacheSettings
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import StoreUnavailable
from grandstand.storage.tables.requests import ScanRequest

DAY = 24 * 3600.0
T = TypeVar("T")

keiba = Table("keiba_data", partition="PK", sort="SK", ttl="ttl")
pages = Table("raw-pages", partition="url", ttl="gone")


@dataclass(frozen=True)
class Runner:
    """One horse of a race."""

    name: str
    weight: Decimal


@dataclass(frozen=True)
class Race:
    """A race as a source tells it."""

    title: str
    distance: int
    runners: tuple[Runner, ...] = ()


class RaceItem(Entity, table=keiba, times="epoch"):
    race_id: str
    data: Race | None = None
    fetched_at: datetime
    expires: datetime | None = ttl()

    row = key("RACE#{race_id}", "METADATA")


class HorseItem(Entity, table=keiba, times="epoch_ms", schema_version="2"):
    horse_id: str
    data: dict[str, Any] | None = None
    fetched_at: datetime
    expires: datetime | None = ttl()

    row = key("HORSE#{horse_id}", "RESULTS#{horse_id}")

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Version 1 had the runs bare."""
        return {**item, "data": {"runs": cast("dict[str, Any]", item["data"])["old_runs"]}}


@dataclass(frozen=True)
class Jockey:
    """A jockey, who knows his own id."""

    jockey_id: str
    notes: str


class JockeyItem(Entity, table=keiba, times="epoch"):
    """An item that cannot be without its payload, and whose key is made from it."""

    data: Jockey
    fetched_at: datetime
    expires: datetime | None = ttl()

    row = key("JOCKEY#{jockey_id}", "STATS")

    @property
    def jockey_id(self) -> str:
        """The jockey's id, from his data."""
        return self.data.jockey_id


class Page(Entity, table=pages):
    url: str
    body: bytes | None = attribute(default=None)
    taken_at: datetime
    expires: datetime | None = ttl()

    row = key("{url}")


RACES: CacheForm[Race] = CacheForm(RaceItem, 7 * DAY, negative_seconds=600)
HORSES: CacheForm[dict[str, Any]] = CacheForm(HorseItem, 7 * DAY)
JOCKEYS: CacheForm[Jockey] = CacheForm(JockeyItem, 7 * DAY, negative_seconds=600)
PAGES: CacheForm[bytes] = CacheForm(Page, DAY, data="body", fetched_at="taken_at")
DERBY = Race("Derby", 2400, (Runner("Arima", Decimal("57.5")), Runner("Tosho", Decimal(55))))


@dataclass
class Events:
    """Collects the events of a cache."""

    events: list[CacheEvent] = field(default_factory=list)

    def __call__(self, event: CacheEvent) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


def cache_on(store: Store, owner: str = "ada", **others: Any) -> AsyncCache:
    """Create a cache that does not wait long."""
    given = {"settings": CacheSettings(wait_seconds=2, poll_seconds=0.05), **others}
    return AsyncCache(AsyncStore(store), owner=owner, random=Random(owner), **given)


def returning(value: T) -> Callable[[], Awaitable[T]]:
    """Create a source that returns the value."""

    async def fetch() -> T:
        return value

    return fetch


def run_in_thread(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine to its end while this thread, and its event loop, wait."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, work).result()


def incompressible(size: int, seed: int = 1) -> bytes:
    """Make bytes that do not get fewer."""
    return Random(seed).randbytes(size)


@dataclass
class Failing:
    """An engine that answers nothing while it is down."""

    engine: Engine
    down: bool = True
    asked: int = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.engine, name)
        return self._call(found) if callable(found) else found

    def _call(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.asked += 1
            if self.down:
                raise StoreUnavailable("The store does not answer")
            return method(*arguments)

        return call


@dataclass
class Interrupted:
    """An engine where something happens just before it is asked a certain thing, once."""

    engine: Engine
    before: str
    happen: Callable[[], object]
    happened: bool = False

    def __getattr__(self, name: str) -> Any:
        if name == self.before and not self.happened:
            self.happened = True
            self.happen()
        return getattr(self.engine, name)


def on_engine(store: Store, engine: object) -> Store:
    """Return the same store on another engine."""
    session = store.session
    return Store(cast("Engine", engine), naming=session.naming, clock=session.clock)


def stored(store: Store, table: Table) -> list[Item]:
    """Return every raw item of a table."""
    page = store.session.engine.scan(ScanRequest(store.session.name(table), consistent=True))
    return list(page.items)
