"""A site on loopback with a few pages and scripted replies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.core.clock import Clock, ManualClock
from grandstand.core.metrics import Metrics
from grandstand.kit.shared_limits import LIMIT_TABLES
from grandstand.net.client import SourceRegistry
from grandstand.simulators.asgi import Message, Receive, Send
from grandstand.simulators.serving import serve
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine


@dataclass(frozen=True)
class Reply:
    """One reply."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass
class ScriptedSite:
    """Pages by path, replies to give first, and the requests with their times."""

    clock: ManualClock
    pages: dict[str, bytes] = field(default_factory=dict)
    first: list[Reply] = field(default_factory=list)
    robots: list[Reply] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    agents: set[bytes] = field(default_factory=set)
    under_way: int = 0
    most_under_way: int = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply to a request."""
        del receive
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        self.agents.add(dict(scope["headers"])[b"user-agent"])
        reply = self._reply(scope["path"], scope["query_string"].decode())
        length = (b"content-length", str(len(reply.body)).encode())
        headers = [*reply.headers, length]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})
        self.under_way -= 1

    def _reply(self, path: str, query: str) -> Reply:
        if path == "/robots.txt":
            return self.robots.pop(0) if self.robots else Reply(404)
        self.requested.append(f"{path}?{query}" if query else path)
        self.moments.append(self.clock.monotonic())
        if self.first:
            return self.first.pop(0)
        found = self.pages.get(path)
        return Reply(404) if found is None else Reply(200, found)

    @property
    def gaps(self) -> list[float]:
        """The seconds between two requests for pages."""
        return [
            after - before for before, after in zip(self.moments, self.moments[1:], strict=False)
        ]


@asynccontextmanager
async def memory_store(clock: Clock) -> AsyncIterator[AsyncStore]:
    """An empty store for cooldowns."""
    engine = SqliteEngine.open(None, clock=clock)
    with Store(engine, naming=Naming(), clock=clock) as store:
        store.create(LIMIT_TABLES)
        yield AsyncStore(store)


@asynccontextmanager
async def open_site(scripted: ScriptedSite, **settings: float) -> AsyncIterator[Netkeiba]:
    """Yield a client of the site; sleeping advances the clock."""

    async def sleep(seconds: float) -> None:
        scripted.clock.advance(seconds)

    async with memory_store(scripted.clock) as store, serve(scripted) as address:
        chosen = KeibaSettings.model_validate(
            {
                "race_url": f"http://{address}",
                "nar_url": f"http://localhost:{address.rpartition(':')[2]}",
                "db_url": f"http://{address}/db",
                **settings,
            }
        )
        web = SourceRegistry(clock=scripted.clock, random=Random(1), metrics=Metrics(), sleep=sleep)
        async with web:
            yield Netkeiba(web, chosen, store=store, clock=scripted.clock, sleep=sleep)
