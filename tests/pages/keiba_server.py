"""A platform whose keiba reads the simulated race site, on a Sunday noon in Japan."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from grandstand.apps.keiba.services import Keiba
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.core.clock import SystemClock
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.simulators.serving import serve
from tests.pages.app_server import OpenApp

T = TypeVar("T")

SUNDAY = date(2026, 11, 15)
NOON = datetime(2026, 11, 15, 3, tzinfo=UTC)


class SundayClock(SystemClock):
    """The machine's clock, moved so that it begins at noon of a Sunday in Japan."""

    def __init__(self) -> None:
        self._ahead = NOON - super().now()
        self._skipped = 0.0

    def skip(self, seconds: float) -> None:
        """Let so much time be over."""
        self._skipped += seconds

    def now(self) -> datetime:
        return super().now() + self._ahead + timedelta(seconds=self._skipped)

    def epoch(self) -> float:
        return self.now().timestamp()

    def monotonic(self) -> float:
        return super().monotonic() + self._skipped


@dataclass
class KeibaServer:
    """How the platform is opened, the site it asks, and what of it is known there, by name."""

    folder: Path
    clock: SundayClock = field(default_factory=SundayClock)
    ids: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[OpenApp]:
        self.site = Site(World.at(7, NOON, seasons_before=1), self.clock, SystemClock())
        async with serve(self.site.application) as address:
            keiba = KeibaSettings(
                race_url=f"http://{address}/race",
                nar_url=f"http://{address}/nar",
                db_url=f"http://{address}/db",
                gap_seconds=0,
                jitter_seconds=0,
                refresh_seconds=10,
                pause_seconds=60,
                daily_requests=100_000,
            )
            async with Platform.open(
                Settings(home=self.folder, keiba=keiba), clock=self.clock
            ) as platform:
                self.keiba: Keiba = platform.services["keiba"]
                self._loop = asyncio.get_running_loop()
                await self._look()
                async with platform.background.running():
                    yield OpenApp(build_application(platform)[0], platform.hub)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the platform's event loop."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(60)

    def asked(self) -> list[str]:
        """The pages asked for so far, without what robots are told."""
        kept = self.site.access_log.requests
        return [one.path for one in kept if not one.path.startswith("/robots")]

    async def _look(self) -> None:
        """Gather one card of the afternoon; the morning's races are run."""
        await self.keiba.days.day(SUNDAY)
        races = self.site.world.race_ids("jra", SUNDAY)
        card = await self.keiba.cards.assemble(races[10])
        runner = next(each for each in card.runners if len(runs_of(each)) > 2)
        self.ids = {
            "race": races[10],
            "cold": races[11],
            "run": races[0],
            "slow": self.site.world.race_ids("jra", SUNDAY)[22],
            "spoilt": self.site.world.race_ids("jra", SUNDAY)[23],
            "local": self.site.world.race_ids("nar", SUNDAY)[-1],
            "horse": runner.runner.horse_id,
            "jockey": runner.runner.jockey_id or "",
        }


def runs_of(each: Any) -> tuple[Any, ...]:
    """The runs known of a runner."""
    return () if each.form is None else each.form.value.recent_results
