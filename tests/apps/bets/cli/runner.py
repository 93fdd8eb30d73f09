"""Runs commands of bets, each on the tables the previous ones wrote."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner, Result

from grandstand.apps.bets.cli.commands import commands
from grandstand.apps.bets.services import Bets
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.bets.scene import BEGUN, SPORTS, played
from tests.apps.bets.stage import ALL_TABLES, ScriptedOdds, Stage, staged


@dataclass
class CommandRunner:
    """Runs a command; `odds` is the feed, `clock` the time."""

    file: Path
    clock: ManualClock
    odds: ScriptedOdds
    opened_before: int = 0

    def __call__(self, *words: str, typed: str = "", width: int = 140) -> Result:
        env = {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "dumb"}
        group = commands(self.opened)
        return CliRunner().invoke(group, [*words], input=typed, env=env)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Bets]:
        """Open the service."""
        async with self.staged() as stage:
            yield stage.bets

    @asynccontextmanager
    async def staged(self) -> AsyncIterator[Stage]:
        """Open the services with their store and feed."""
        engine = SqliteEngine.open(self.file, clock=self.clock)
        with Store(engine, naming=Naming(), clock=self.clock) as store:
            store.create(ALL_TABLES)
            self.opened_before += 1
            stage = staged(store, self.clock, seed=self.opened_before, sports=SPORTS)
            stage.odds.games, stage.odds.scores = self.odds.games, self.odds.scores
            stage.odds.down = self.odds.down
            yield stage


def command_runner(folder: Path) -> CommandRunner:
    """Return a runner after the two days of the scene."""
    created = CommandRunner(folder / "tables.db", ManualClock(BEGUN), ScriptedOdds())

    async def begun() -> None:
        async with created.staged() as stage:
            await played(stage.bets, stage.odds, created.clock)
            created.odds = stage.odds

    asyncio.run(begun())
    return created
