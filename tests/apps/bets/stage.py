"""Bets on a real store, with feeds that say what a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.feeds import (
    FedGame,
    FedGames,
    FedPrice,
    FedScore,
    FedScores,
    FedStats,
    Spent,
)
from grandstand.apps.bets.service import Bets, Means
from grandstand.apps.bets.service.ports import ExchangePrices, StatsFeed
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store import TABLES
from grandstand.base.clock import ManualClock
from grandstand.base.errors import SourceFailed
from grandstand.base.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.llm.offline import OfflineLlm
from grandstand.kit.llm.port import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.kit.who.caller import Caller
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.house import HOUSE_TABLES
from grandstand.wire.web import Web

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *HOUSE_TABLES)

ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")

NBA = "basketball_nba"
EPL = "soccer_epl"
LAKERS = "Los Angeles Lakers"
CELTICS = "Boston Celtics"
# A Wednesday.
NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)


class Listener:
    """Whoever is told the news, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def tell(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class ScriptedOdds:
    """Tells the games and scores it was given; down when told to."""

    games: list[FedGame] = field(default_factory=list)
    props: list[FedGame] = field(default_factory=list)
    scores: list[FedScore] = field(default_factory=list)
    down: bool = False
    asked: list[str] = field(default_factory=list)

    async def fetch_odds(self, sport: str, markets: Sequence[str]) -> FedGames:
        del markets
        self._ask(f"odds {sport}")
        return FedGames(tuple(each for each in self.games if each.sport == sport), (), Spent(3))

    async def fetch_props(self, sport: str, game_id: str, markets: Sequence[str]) -> FedGames:
        del sport, markets
        self._ask(f"props {game_id}")
        return FedGames(tuple(each for each in self.props if each.game_id == game_id), (), Spent(4))

    async def fetch_scores(self, sport: str, days: int) -> FedScores:
        self._ask(f"scores {sport} {days}")
        return FedScores(tuple(each for each in self.scores if each.sport == sport), (), Spent(2))

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise SourceFailed("The feed is at lunch")


@dataclass
class ScriptedStats:
    """Tells the figures and old results it was given."""

    stats: FedStats = field(default_factory=FedStats)
    results: list[FedScore] = field(default_factory=list)
    name: str = "scripted"
    asked: list[tuple[date, date]] = field(default_factory=list)

    async def fetch_stats(self, sport: str, on: date) -> FedStats:
        del sport, on
        return self.stats

    async def fetch_injuries(self, sport: str, on: date) -> FedStats:
        del sport, on
        return self.stats

    async def fetch_schedules(self, sport: str, on: date) -> FedStats:
        del sport, on
        return self.stats

    async def fetch_results(self, sport: str, first: date, last: date) -> FedScores:
        self.asked.append((first, last))
        return FedScores(
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
    means: Means
    odds: ScriptedOdds
    stats: ScriptedStats
    clock: ManualClock
    listener: Listener

    @property
    def store(self) -> Store:
        return self.means.store.store

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

    means = Means(
        store=kept,
        llm=llm or OfflineLlm(),
        outbox=outbox,
        notifier=Notifier(
            outbox, (), web=Web(clock=clock, random=random, metrics=Metrics(), sleep=sleep)
        ),
        events=Events(kept, clock=clock, random=random, teller=listener),
        teller=listener,
        cursors=Cursors(b"secret"),
        clock=clock,
        random=random,
        owner=f"test-{seed}",
        odds=odds,
        stats=feeds,
        exchange=exchange,
        settings=BetsSettings(**settings),
        sleep=sleep,
    )
    return Stage(Bets(means), means, odds, stats, clock, listener)


def embedded(clock: ManualClock) -> Store:
    """A store in memory, with all tables."""
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)
    return store


def h2h(bookmaker: str, home: int, away: int, *teams: str) -> FedPrice:
    """A price of who wins, the away side first as feeds may have it."""
    names = teams or (LAKERS, CELTICS)
    outcomes = (PricedOutcome(names[1], away), PricedOutcome(names[0], home))
    return FedPrice(bookmaker, "h2h", outcomes)


def spread(bookmaker: str, point: str, home: int = -110, away: int = -110) -> FedPrice:
    """A price of the margin; the point is the home side's."""
    line = Decimal(point)
    outcomes = (PricedOutcome(CELTICS, away, -line), PricedOutcome(LAKERS, home, line))
    return FedPrice(bookmaker, "spreads", outcomes)


def total(bookmaker: str, point: str, over: int = -110, under: int = -110) -> FedPrice:
    """A price of the sum of both scores."""
    line = Decimal(point)
    outcomes = (PricedOutcome("Over", over, line), PricedOutcome("Under", under, line))
    return FedPrice(bookmaker, "totals", outcomes)


def game(
    *prices: FedPrice,
    game_id: str = "g1",
    starts: datetime = datetime(2026, 2, 12, 0, tzinfo=UTC),
    home: str = LAKERS,
    away: str = CELTICS,
    sport: str = NBA,
) -> FedGame:
    """A game to come."""
    return FedGame(game_id, sport, home, away, starts, prices)


def score(fed: FedGame, home: int, away: int, *, updated: datetime | None = None) -> FedScore:
    """How a game ended."""
    return FedScore(
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
