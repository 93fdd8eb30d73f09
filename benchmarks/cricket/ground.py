"""Cricket's service on an embedded store in a file, with a feed that says what it is told to."""

import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.cricket.matches import Look
from grandstand.apps.cricket.app import APP
from grandstand.apps.cricket.domain.errors import MatchNotFound
from grandstand.apps.cricket.domain.matches import LeagueRecord, StandingRecord, TeamRecord
from grandstand.apps.cricket.services import Cricket, Gateways, create_services
from grandstand.apps.cricket.services.interfaces import Database, PushGateway
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import FeedMatch, Parsed
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.apps.cricket.store.users import LiveActivity
from grandstand.core.clock import SystemClock
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.net.client import SourceStatus
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES

_BATCH = 1_000


@dataclass
class _Feed:
    """Says of one match what it was last told, and nothing else; implements Feed."""

    said: tuple[FeedMatch, ...] = ()

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]:
        del balls, since
        return Parsed(self.said)

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[FeedMatch]:
        del since
        raise MatchNotFound(match_id)

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]:
        del first, last, league_id
        return Parsed(())

    async def leagues(self) -> Parsed[tuple[LeagueRecord, ...]]:
        return Parsed(())

    async def teams(self) -> Parsed[tuple[TeamRecord, ...]]:
        return Parsed(())

    async def standings(self, season_id: str) -> Parsed[tuple[StandingRecord, ...]]:
        del season_id
        return Parsed(())

    async def status(self) -> tuple[SourceStatus, ...]:
        return ()

    async def next_poll_seconds(self, interval_seconds: float) -> float:
        return interval_seconds


class _Nobody:
    """Whoever is told the news of pages: nobody has one open."""

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        del topic, news


@dataclass
class Ground:
    """A match that is polled, and whoever follows it."""

    cricket: Cricket
    store: AsyncStore
    match_id: str
    feed: _Feed = field(default_factory=_Feed)

    async def tick(self, look: Look) -> str | None:
        """Hear what the feed says, and tell everybody; answers the key of the news."""
        words = {"id": int(self.match_id), "status": look.fixture.status}
        self.feed.said = (FeedMatch(look.fixture, dict(words)),)
        polled = await self.cricket.poller.poll()
        await self.cricket.coordinator.drain()
        (ticked,) = polled.ticks
        return ticked.key_event

    async def follow(self, count: int, channel_id: str | None = None) -> None:
        """Let so many phones show the match; over a channel they have no tokens for updates."""
        for first in range(0, count, _BATCH):
            batch = range(first, min(first + _BATCH, count))
            await self.store.write_many(self._sessions(batch, channel_id))
        if channel_id is not None:
            await self.store(ActiveMatch.open_channel(self.match_id, channel_id))

    def _sessions(self, numbers: Iterable[int], channel_id: str | None) -> Iterable[Any]:
        now = self.cricket.store.now()
        for number in numbers:
            yield LiveActivity(
                match_id=self.match_id,
                user_id=f"user-{number:08x}",
                device_id=f"phone-{number:032x}",
                update_token=None if channel_id else f"{number:064x}",
                token_registered_at=now,
                status="active",
                session_started_at=now,
                channel_id=channel_id,
            ).put()


@asynccontextmanager
async def ground(match_id: str, phones: PushGateway | None = None) -> AsyncIterator[Ground]:
    """A ground on which a match is polled; its store ends with it."""
    clock, random = SystemClock(), Random(1)
    feed, publisher = _Feed(), _Nobody()
    with tempfile.TemporaryDirectory() as folder:
        engine = SqliteEngine.open(Path(folder, "store.db"), clock=clock)
        naming = Naming(prefix="bench", environment="test")
        with Store(engine, naming=naming, clock=clock) as opened:
            opened.create((*APP.tables, *OUTBOX_TABLES, *EVENT_TABLES, *PLATFORM_TABLES))
            store = AsyncStore(opened)
            cricket = create_services(
                store=Database(store, clock=clock, random=random),
                settings=CricketSettings.model_validate({"feed_token": "k"}),
                gateways=Gateways(feed=feed, push=phones),
                outbox=Outbox(store, clock),
                publisher=publisher,
                activity_log=Events(store, clock=clock, random=random, publisher=publisher),
                cursors=Cursors(b"secret"),
                instance="bench",
            )
            fresh = ActiveMatch(match_id=match_id, status="active", cooldowns={}, epoch=1)
            await store(fresh.register())
            yield Ground(cricket, store, match_id, feed)
