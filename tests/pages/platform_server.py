"""The whole platform behind its server, as `grandstand up` opens it, in a folder of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from tests.pages.app_server import OpenApp

ADA = "ada"
PASSWORD = "a stand with a view"

# Nobody listens on the port of `discard`: no test asks a race site or the exchange by mistake.
_NOBODY = "127.0.0.1:9"
_SITE = f"http://{_NOBODY}"
RACING = KeibaSettings(race_url=_SITE, nar_url=_SITE, db_url=_SITE, tries=1)
EXCHANGE = GathererSettings(rest_url=_SITE, stream_url=f"ws://{_NOBODY}")


@dataclass(frozen=True)
class PlatformServer:
    """How a platform is opened: where it keeps everything, and whether there is an account."""

    folder: Path
    accounts: bool

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[OpenApp]:
        async with Platform.open(
            Settings(home=self.folder, keiba=RACING, gatherer=EXCHANGE)
        ) as platform:
            if self.accounts and not await platform.people.any():
                await platform.people.add(ADA, PASSWORD, admin=True)
            await platform.events.record("bets", "settled", "Settled 4 bets: 3 won.", "/bets")
            await platform.events.record("cricket", "wicket", "Wicket: Northfield 142 for 4.")
            async with platform.background.running():
                yield OpenApp(build_application(platform)[0], platform.hub)
