"""A house whose cricket reads the simulated score feed: one match on, one over, one to come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar
from urllib.parse import urlsplit

from grandstand.apps.cricket.app import CARD
from grandstand.apps.cricket.service import Cricket, DeviceGiven
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.base.clock import SystemClock
from grandstand.host.catalogue import APPS
from grandstand.host.house import House
from grandstand.host.server.application import application
from grandstand.host.settings import Settings
from grandstand.kit.app import App, Resources
from grandstand.kit.outbox import Outbox
from grandstand.kit.who.caller import LOCAL_OWNER
from grandstand.simulators.push import Addresses, PushService, SigningKey
from grandstand.simulators.scores.feed import BASE, TOKEN, ScoreFeed
from grandstand.simulators.scores.library import find_tape
from grandstand.simulators.serving import served
from tests.pages.serving import Opened

T = TypeVar("T")

LIVE, DONE, COMING = 1001349, 1178424, 7
_LOOKS = (0, 1, 20, 60, 90, 121, 150, 176)
_DEVICE = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"


@dataclass
class Cricketing:
    """How the house is opened, and the feed it asks; its matches stand where they are put."""

    folder: Path

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Opened]:
        clock = SystemClock()
        self.feed, self.pushes = ScoreFeed(clock), PushService(clock, Random(7))
        async with (
            served(self.feed.application) as address,
            self.pushes.serving() as pushing,
        ):
            cricket = CricketSettings.model_validate(
                {
                    "feed_url": f"http://{address}{BASE}",
                    "feed_token": TOKEN,
                    "replay_url": f"http://{address}/simulator",
                    "webpush": True,
                    "webpush_key": SigningKey.make().pem,
                    "webpush_contact": "mailto:owner@example.org",
                }
            )
            settings = Settings(home=self.folder, cricket=cricket)
            async with House.open(settings, apps=_trusting(pushing)) as house:
                self.cricket: Cricket = house.services["cricket"]
                self._outbox = Outbox(house.store, clock)
                self._loop = asyncio.get_running_loop()
                await self._play()
                yield Opened(application(house)[0], house.hub)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Have something done where the house runs."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(60)

    async def bowl(self, ball: int) -> None:
        """Let the match that is on stand at a ball, and look at it."""
        on_air = self.feed.find(LIVE)
        assert on_air is not None
        on_air.seek_ball(ball)
        self.cricket.clear_caches()
        await self.cricket.poll()

    async def tell_browsers(self) -> None:
        """Push what waits to be pushed to browsers."""
        await self.cricket.settle()
        for row in await self._outbox.waiting("cricket.webpush"):
            await self.cricket.ways()["cricket.webpush"](row)

    async def _play(self) -> None:
        feed, cricket = self.feed, self.cricket
        on = feed.play(find_tape(str(LIVE)), starts_in=timedelta(hours=-2))
        over = feed.play(find_tape(str(DONE)), starts_in=timedelta(days=-2))
        feed.play(find_tape("generated:7:ODI"), starts_in=timedelta(hours=20), match_id=COMING)
        for replay in (on, over):
            replay.pause()
        over.seek(over.timeline.ends_at)
        on.seek(-600)
        await cricket.sync_reference()
        for league in await cricket.leagues():
            await cricket.amend_league(league.league_id, active=True)
        await cricket.sync_fixtures()
        await cricket.tick(str(DONE))
        await cricket.follow(LOCAL_OWNER, str(LIVE))
        await cricket.register_device(
            LOCAL_OWNER, DeviceGiven(_DEVICE, "owners-phone", os_version="18.2", app_version="1.4")
        )
        for ball in _LOOKS:
            await self.bowl(ball)
        await cricket.register_activity(LOCAL_OWNER, str(LIVE), "owners-phone", "aa" * 80)


def _trusting(pushing: Addresses) -> tuple[App[Any], ...]:
    """The applications, of which cricket trusts the simulated push service of browsers."""
    lent = {"apns_context": pushing.trusting, "webpush_hosts": (urlsplit(pushing.webpush).netloc,)}

    def service(resources: Resources) -> Cricket:
        assert CARD.service is not None
        return CARD.service(replace(resources, lent={**resources.lent, **lent}))

    return tuple(replace(app, service=service) if app is CARD else app for app in APPS)
