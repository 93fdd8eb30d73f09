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
from grandstand.apps.cricket.model import LeagueFacts, StandingFacts, TeamFacts
from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.service import Cricket, Means, Phones
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import HeardFixture, Parsed
from grandstand.apps.cricket.store import TABLES, ActiveMatch, LiveActivity
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.house import HOUSE_TABLES
from grandstand.wire.web import SourceStatus

_BATCH = 1_000


@dataclass
class _Feed:
    """Says of one match what it was last told, and nothing else; implements Feed."""

    said: tuple[HeardFixture, ...] = ()

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        del balls, since
        return Parsed(self.said)

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[HeardFixture]:
        del since
        raise MatchUnknown(match_id)

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        del first, last, league_id
        return Parsed(())

    async def leagues(self) -> Parsed[tuple[LeagueFacts, ...]]:
        return Parsed(())

    async def teams(self) -> Parsed[tuple[TeamFacts, ...]]:
        return Parsed(())

    async def standings(self, season_id: str) -> Parsed[tuple[StandingFacts, ...]]:
        del season_id
        return Parsed(())

    async def status(self) -> tuple[SourceStatus, ...]:
        return ()

    async def pace(self, every_seconds: float) -> float:
        return every_seconds


class _Nobody:
    """Whoever is told the news of pages: nobody has one open."""

    def tell(self, topic: str, news: dict[str, Any]) -> None:
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
        self.feed.said = (HeardFixture(look.fixture, dict(words)),)
        polled = await self.cricket.poll()
        await self.cricket.settle()
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
        now = self.cricket.now()
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
async def ground(match_id: str, phones: Phones | None = None) -> AsyncIterator[Ground]:
    """A ground on which a match is polled; its store ends with it."""
    clock, random = SystemClock(), Random(1)
    feed, teller = _Feed(), _Nobody()
    with tempfile.TemporaryDirectory() as folder:
        engine = SqliteEngine.open(Path(folder, "store.db"), clock=clock)
        naming = Naming(prefix="bench", environment="test")
        with Store(engine, naming=naming, clock=clock) as opened:
            opened.create((*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *HOUSE_TABLES))
            store = AsyncStore(opened)
            means = Means(
                store=store,
                outbox=Outbox(store, clock),
                clock=clock,
                random=random,
                teller=teller,
                events=Events(store, clock=clock, random=random, teller=teller),
                cursors=Cursors(b"secret"),
                metrics=Metrics(),
                feed=feed,
                instance="bench",
                phones=phones,
                settings=CricketSettings.model_validate({"feed_token": "k"}),
            )
            fresh = ActiveMatch(match_id=match_id, status="active", cooldowns={}, epoch=1)
            await store(fresh.register())
            yield Ground(Cricket(means), store, match_id, feed)
