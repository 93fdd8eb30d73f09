"""A platform whose gatherer records an exchange that trades, in a folder of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from grandstand.apps.gatherer.services import Gatherer
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from tests.apps.gatherer.app_fixture import gatherer_of, has_recorded, settings_at
from tests.apps.gatherer.exchange_fixture import until
from tests.pages.app_server import OpenApp

T = TypeVar("T")


@dataclass
class GathererServer:
    """How the platform is opened, and, once it is, the market of which most was traded.

    Without an exchange nothing is recorded, for nobody answers.
    """

    folder: Path
    address: str
    records: bool = True
    names: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[OpenApp]:
        settings = Settings(home=self.folder, gatherer=settings_at(self.address))
        async with Platform.open(settings) as platform:
            self.gatherer: Gatherer = gatherer_of(platform)
            self._loop = asyncio.get_running_loop()
            async with platform.background.running():
                if self.records:
                    await self._record()
                yield OpenApp(build_application(platform)[0], platform.hub)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the platform's event loop."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(20)

    async def _record(self) -> None:
        gatherer = self.gatherer
        await gatherer.recording.request(recording=True)
        await until(lambda: has_recorded(gatherer))
        (busiest,) = await gatherer.recordings.history.volumes(gatherer.now_us(), 1)
        self.names["ticker"] = busiest.ticker
