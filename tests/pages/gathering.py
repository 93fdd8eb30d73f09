"""A house whose gatherer records an exchange that trades, in a folder of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from grandstand.apps.gatherer.service import Gatherer
from grandstand.host.house import House
from grandstand.host.server.application import application
from grandstand.host.settings import Settings
from tests.apps.gatherer.housed import gatherer_of, has_recorded, settings_at
from tests.apps.gatherer.stage import until
from tests.pages.serving import Opened

T = TypeVar("T")


@dataclass
class Gathering:
    """How the house is opened, and, once it is, the market of which most was traded.

    Without an exchange nothing is recorded, for nobody answers.
    """

    folder: Path
    address: str
    records: bool = True
    names: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Opened]:
        settings = Settings(home=self.folder, gatherer=settings_at(self.address))
        async with House.open(settings) as house:
            self.gatherer: Gatherer = gatherer_of(house)
            self._loop = asyncio.get_running_loop()
            async with house.background.running():
                if self.records:
                    await self._record()
                yield Opened(application(house)[0], house.hub)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Have something done where the house runs."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(20)

    async def _record(self) -> None:
        gatherer = self.gatherer
        await gatherer.ask_for(recording=True)
        await until(lambda: has_recorded(gatherer))
        (busiest,) = await gatherer.asking.volumes(gatherer.now_us(), 1)
        self.names["ticker"] = busiest.ticker
