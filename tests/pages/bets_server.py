"""A platform whose bets read the simulated odds feed, some days into a season."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from grandstand.apps.bets.domain.ledger import BetLimits
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.user_models import UserModelRequest
from grandstand.apps.bets.services.wagers import WagerRequest
from grandstand.apps.bets.settings import BetsSettings
from grandstand.core.clock import SystemClock
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.simulators.odds.season import simulate_season
from grandstand.simulators.odds.server import KEY, OddsApiSimulator
from grandstand.simulators.serving import serve
from tests.pages.app_server import OpenApp
from tests.simulators.odds.football_data_csv import football_data_csv

T = TypeVar("T")

NBA, EPL = "basketball_nba", "soccer_epl"
OPENING = datetime(2026, 1, 5, 10, tzinfo=UTC)
DAYS = 2
# Days are played through in some seconds of work, on a busy machine in more.
_TIMEOUT_SECONDS = 300


class SeasonClock(SystemClock):
    """The machine's clock, moved to the opening of a season and on from there."""

    def __init__(self) -> None:
        self._ahead = OPENING - super().now()

    def go(self, moment: datetime) -> None:
        """Let it be a later moment."""
        self._ahead += moment - self.now()

    def now(self) -> datetime:
        return super().now() + self._ahead

    def epoch(self) -> float:
        return self.now().timestamp()


@dataclass
class BetsServer:
    """How the platform is opened, the feed it asks, and what of it is known there, by name."""

    folder: Path
    clock: SeasonClock = field(default_factory=SeasonClock)
    ids: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[OpenApp]:
        seasons = (
            simulate_season(7, NBA, 14, starts_at=OPENING, changes=4),
            simulate_season(8, EPL, 10, starts_at=OPENING, changes=4),
        )
        self.feed = OddsApiSimulator(seasons, self.clock)
        async with serve(self.feed.application) as address:
            bets = BetsSettings.model_validate(
                {
                    "odds_url": f"http://{address}",
                    "odds_key": KEY,
                    "espn_url": f"http://{address}",
                    "sports": (NBA, EPL, "icehockey_nhl"),
                    "prop_sports": (),
                    "benny_threshold": 0.5,
                    "benny_edge": 0,
                    "benny_min_stake_cents": 10,
                }
            )
            async with Platform.open(
                Settings(home=self.folder, bets=bets), clock=self.clock
            ) as platform:
                self.bets: Bets = platform.services["bets"]
                self._loop = asyncio.get_running_loop()
                yield OpenApp(build_application(platform)[0], platform.hub)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the platform's event loop."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(_TIMEOUT_SECONDS)

    async def play(self) -> None:
        """Let some days go by, with a look in the morning and one before the evening's games."""
        past = simulate_season(9, EPL, 40, starts_at=OPENING - timedelta(days=90), changes=2)
        await self.bets.file_importer.import_season(EPL, "E0.csv", football_data_csv(past, "2019"))
        for day in range(DAYS):
            for hour in (10, 17):
                self.clock.go(OPENING.replace(hour=hour) + timedelta(days=day))
                await self._look()
            await self.bets.benny_trader.trade()
            if not self.ids:
                await self._bet()

    async def _look(self) -> None:
        for sport in (NBA, EPL):
            await self.bets.outcome_collector.collect(sport)
            await self.bets.odds_collector.collect(sport)
        await self.bets.stats_collector.collect_injuries(NBA)
        await self.bets.analysis_generator.run(NBA)

    async def _bet(self) -> None:
        """Have the owner bet on the first games, build a model and like a team."""
        bets = self.bets
        games = (await bets.games.upcoming(NBA, limit=4)).items
        for at, game in enumerate(games):
            await bets.wagers.record(
                LOCAL_OWNER,
                WagerRequest(game.game_id, "h2h", ("home", "away")[at % 2], -110, 1000 + 500 * at),
            )
        await bets.limits.update(LOCAL_OWNER, BetLimits(5000, 20_000, 30_000))
        await bets.favorites.add(LOCAL_OWNER, NBA, games[0].home_team)
        model = await bets.user_models.create(
            LOCAL_OWNER,
            UserModelRequest(
                "Rest is best",
                NBA,
                ("h2h",),
                {"recent_form": Decimal("0.6"), "odds_movement": Decimal("0.4")},
                Decimal("0.5"),
                "Tired teams lose, whatever the books say.",
            ),
        )
        self.ids = {"over": games[0].game_id, "model": model.model_id}
