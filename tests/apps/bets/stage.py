"""Bets on a real store, with feeds that say what a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

from grandstand.apps.bets.domain.records import (
    FeedGame,
    FeedGames,
    FeedPrice,
    FeedScore,
    FeedScores,
    FeedStats,
    PricedOutcome,
    QuotaUsage,
)
from grandstand.apps.bets.services import Bets, build_bets
from grandstand.apps.bets.services.benny import BennyBankroll
from grandstand.apps.bets.services.database import Database
from grandstand.apps.bets.services.ingest.stats_collector import StatsFeed
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store import TABLES
from grandstand.core.clock import ManualClock
from grandstand.core.errors import SourceFailed
from grandstand.core.metrics import Metrics
from grandstand.kit.app import ExchangePrices
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.llm import Llm, OfflineLlm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.net.client import SourceRegistry
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *PLATFORM_TABLES)

ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")

NBA = "basketball_nba"
EPL = "soccer_epl"
LAKERS = "Los Angeles Lakers"
CELTICS = "Boston Celtics"
# A Wednesday.
NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)


class Listener:
    """Records what is published."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class ScriptedOdds:
    """Returns scripted games and scores; can be taken down."""

    games: list[FeedGame] = field(default_factory=list)
    props: list[FeedGame] = field(default_factory=list)
    scores: list[FeedScore] = field(default_factory=list)
    down: bool = False
    asked: list[str] = field(default_factory=list)

    async def fetch_odds(self, sport: str, markets: Sequence[str]) -> FeedGames:
        del markets
        self._ask(f"odds {sport}")
        return FeedGames(
            tuple(each for each in self.games if each.sport == sport), (), QuotaUsage(3)
        )

    async def fetch_props(self, sport: str, game_id: str, markets: Sequence[str]) -> FeedGames:
        del sport, markets
        self._ask(f"props {game_id}")
        return FeedGames(
            tuple(each for each in self.props if each.game_id == game_id), (), QuotaUsage(4)
        )

    async def fetch_scores(self, sport: str, days: int) -> FeedScores:
        self._ask(f"scores {sport} {days}")
        return FeedScores(
            tuple(each for each in self.scores if each.sport == sport), (), QuotaUsage(2)
        )

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise SourceFailed("The feed is at lunch")


@dataclass
class ScriptedStats:
    """Tells the figures and old results it was given."""

    stats: FeedStats = field(default_factory=FeedStats)
    results: list[FeedScore] = field(default_factory=list)
    name: str = "scripted"
    asked: list[tuple[date, date]] = field(default_factory=list)

    async def fetch_stats(self, sport: str, on: date) -> FeedStats:
        del sport, on
        return self.stats

    async def fetch_injuries(self, sport: str, on: date) -> FeedStats:
        del sport, on
        return self.stats

    async def fetch_schedules(self, sport: str, on: date) -> FeedStats:
        del sport, on
        return self.stats

    async def fetch_results(self, sport: str, first: date, last: date) -> FeedScores:
        self.asked.append((first, last))
        return FeedScores(
            tuple(
                each
                for each in self.results
                if each.sport == sport and first <= each.commence_time.date() <= last
            )
        )


@dataclass
class Stage:
    """Bets, and all it stands on."""

    bets: Bets
    db: Database
    odds: ScriptedOdds
    stats: ScriptedStats
    clock: ManualClock
    listener: Listener
    outbox: Outbox
    events: Events

    @property
    def store(self) -> Store:
        return self.db.store.store

    def bankroll(self) -> BennyBankroll:
        """Benny's bankroll, as the trader of this instance has it."""
        bets = self.bets
        return BennyBankroll(
            db=self.db, settings=bets.settings, ledger=bets.ledger, events=self.events
        )

    def to(self, moment: datetime) -> None:
        """Move the clock to a moment."""
        self.clock.advance((moment - self.clock.now()).total_seconds())


def staged(
    store: Store | AsyncStore,
    clock: ManualClock,
    *,
    llm: Llm | None = None,
    seed: int = 1,
    exchange: ExchangePrices | None = None,
    **settings: Any,
) -> Stage:
    """Set bets up; sleeping costs no time."""
    kept = store if isinstance(store, AsyncStore) else AsyncStore(store)
    listener, random = Listener(), Random(seed)
    outbox = Outbox(kept, clock)
    odds, stats = ScriptedOdds(), ScriptedStats()
    feeds: tuple[StatsFeed, ...] = (stats,)

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    events = Events(kept, clock=clock, random=random, publisher=listener)
    db = Database(store=kept, clock=clock, random=random, sleep=sleep)
    bets = build_bets(
        db=db,
        settings=BetsSettings(**settings),
        llm=llm or OfflineLlm(),
        outbox=outbox,
        notifier=Notifier(
            outbox,
            (),
            web=SourceRegistry(clock=clock, random=random, metrics=Metrics(), sleep=sleep),
        ),
        events=events,
        publisher=listener,
        cursors=Cursors(b"secret"),
        owner=f"test-{seed}",
        odds_feed=odds,
        stats_feeds=feeds,
        exchange_prices=exchange,
    )
    return Stage(bets, db, odds, stats, clock, listener, outbox, events)


def embedded(clock: ManualClock) -> Store:
    """A store in memory, with all tables."""
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)
    return store


def h2h(bookmaker: str, home: int, away: int, *teams: str) -> FeedPrice:
    """A price of who wins, the away side first as feeds may have it."""
    names = teams or (LAKERS, CELTICS)
    outcomes = (PricedOutcome(names[1], away), PricedOutcome(names[0], home))
    return FeedPrice(bookmaker, "h2h", outcomes)


def spread(bookmaker: str, point: str, home: int = -110, away: int = -110) -> FeedPrice:
    """A price of the margin; the point is the home side's."""
    line = Decimal(point)
    outcomes = (PricedOutcome(CELTICS, away, -line), PricedOutcome(LAKERS, home, line))
    return FeedPrice(bookmaker, "spreads", outcomes)


def total(bookmaker: str, point: str, over: int = -110, under: int = -110) -> FeedPrice:
    """A price of the sum of both scores."""
    line = Decimal(point)
    outcomes = (PricedOutcome("Over", over, line), PricedOutcome("Under", under, line))
    return FeedPrice(bookmaker, "totals", outcomes)


def game(
    *prices: FeedPrice,
    game_id: str = "g1",
    starts: datetime = datetime(2026, 2, 12, 0, tzinfo=UTC),
    home: str = LAKERS,
    away: str = CELTICS,
    sport: str = NBA,
) -> FeedGame:
    """A game to come."""
    return FeedGame(game_id, sport, home, away, starts, prices)


def score(fed: FeedGame, home: int, away: int, *, updated: datetime | None = None) -> FeedScore:
    """How a game ended."""
    return FeedScore(
        fed.game_id,
        fed.sport,
        fed.home_team,
        fed.away_team,
        fed.commence_time,
        completed=True,
        home_score=Decimal(home),
        away_score=Decimal(away),
        updated_at=updated,
    )
