"""A platform whose cricket reads the simulated score feed: one match on, one over, one to come."""

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

from grandstand.apps.cricket.app import APP
from grandstand.apps.cricket.domain.live_activities import DeviceRegistration
from grandstand.apps.cricket.services import Cricket, build
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.core.clock import SystemClock
from grandstand.host.registry import APPS
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from grandstand.kit.app import App, AppResources, AppServices
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.outbox import Outbox
from grandstand.simulators.push.service import Addresses, PushService
from grandstand.simulators.push.validation import SigningKey
from grandstand.simulators.scores.feed import BASE, TOKEN, ScoreFeed
from grandstand.simulators.scores.matches import find_match
from grandstand.simulators.serving import serve
from tests.pages.app_server import OpenApp

T = TypeVar("T")

LIVE, DONE, COMING = 1001349, 1178424, 7
_LOOKS = (0, 1, 20, 60, 90, 121, 150, 176)
_DEVICE = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"


@dataclass
class CricketServer:
    """How the platform is opened, and the feed it asks; its matches stand where they are put."""

    folder: Path

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[OpenApp]:
        clock = SystemClock()
        self.feed, self.pushes = ScoreFeed(clock), PushService(clock, Random(7))
        async with (
            serve(self.feed.application) as address,
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
            async with Platform.open(settings, apps=_trusting(pushing)) as platform:
                self.cricket: Cricket = platform.services["cricket"]
                self._outbox = Outbox(platform.store, clock)
                self._loop = asyncio.get_running_loop()
                await self._play()
                yield OpenApp(build_application(platform)[0], platform.hub)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the platform's event loop."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(60)

    async def bowl(self, ball: int) -> None:
        """Let the match that is on stand at a ball, and look at it."""
        on_air = self.feed.find(LIVE)
        assert on_air is not None
        on_air.seek_ball(ball)
        self.cricket.clear_caches()
        await self.cricket.poller.poll()

    async def push_to_browsers(self) -> None:
        """Push what waits to be pushed to browsers."""
        await self.cricket.coordinator.drain()
        for row in await self._outbox.waiting("cricket.webpush"):
            await self.cricket.outbox_handlers()["cricket.webpush"](row)

    async def _play(self) -> None:
        feed, cricket = self.feed, self.cricket
        on = feed.play(find_match(str(LIVE)), starts_in=timedelta(hours=-2))
        over = feed.play(find_match(str(DONE)), starts_in=timedelta(days=-2))
        feed.play(find_match("generated:7:ODI"), starts_in=timedelta(hours=20), match_id=COMING)
        for replay in (on, over):
            replay.pause()
        over.seek(over.timeline.ends_at)
        on.seek(-600)
        await cricket.league_sync.run()
        await cricket.team_sync.run()
        for league in await cricket.leagues.all():
            await cricket.leagues.update(league.league_id, active=True)
        await cricket.fixture_sync.run()
        await cricket.ticker.fetch_and_tick(str(DONE))
        await cricket.follows.follow(LOCAL_OWNER.user_id, str(LIVE))
        await cricket.devices.register(
            LOCAL_OWNER.user_id,
            DeviceRegistration(_DEVICE, "owners-phone", os_version="18.2", app_version="1.4"),
        )
        for ball in _LOOKS:
            await self.bowl(ball)
        await cricket.live_activities.register(
            LOCAL_OWNER.user_id, str(LIVE), "owners-phone", "aa" * 80
        )


def _trusting(pushing: Addresses) -> tuple[App[Any], ...]:
    """The applications, of which cricket trusts the simulated push service of browsers."""

    def trusting(resources: AppResources) -> AppServices[Cricket]:
        hosts = (urlsplit(pushing.webpush).netloc,)
        return build(replace(resources, apns_context=pushing.trusting, webpush_hosts=hosts))

    return tuple(replace(app, build=trusting) if app is APP else app for app in APPS)
