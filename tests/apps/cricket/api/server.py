"""A platform with cricket in it on a real socket, three people, a simulated feed and no phones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from grandstand.apps.cricket.app import APP
from grandstand.apps.cricket.services import Cricket
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.core.clock import SystemClock
from grandstand.simulators.scores.feed import BASE, TOKEN, ScoreFeed
from grandstand.simulators.scores.matches import find_match
from grandstand.simulators.serving import serve as simulator
from tests.host.server.serving import Served, serving, settings_in

LIVE, COMING, DONE = 1001349, 7, 8
_LOOKS = (0, 1, 12, 60)


@dataclass
class Housed:
    """A served platform; each person has a client."""

    served: Served
    cricket: Cricket
    feed: ScoreFeed
    ada: httpx2.Client
    bob: httpx2.Client
    root: httpx2.Client

    def bowl(self, ball: int) -> None:
        """Let the match that is on stand at a ball, and look at it."""
        on_air = self.feed.find(LIVE)
        assert on_air is not None
        on_air.seek_ball(ball)
        self.served.do(self.cricket.poller.poll())


@contextmanager
def housed(folder: Path, **chosen: Any) -> Iterator[Housed]:
    """Serve cricket for the length of a block, with one match on, one over and one to come."""
    feed = ScoreFeed(SystemClock())
    with _on_air(feed) as address:
        cricket = CricketSettings.model_validate(
            {
                "feed_url": f"http://{address}{BASE}",
                "feed_token": TOKEN,
                "replay_url": f"http://{address}/simulator",
                **chosen,
            }
        )
        settings = settings_in(folder, requests_per_minute=1_000_000)
        settings = settings.model_copy(update={"cricket": cricket})
        with serving(settings, apps=(APP,)) as served:
            service: Cricket = served.platform.services["cricket"]
            on = feed.play(find_match(str(LIVE)), starts_in=timedelta(hours=-1))
            on.pause()
            over = feed.play(
                find_match("generated:3:T20"), starts_in=timedelta(days=-1), match_id=DONE
            )
            over.seek(over.timeline.ends_at + 1)
            feed.play(find_match("generated:7:T20"), starts_in=timedelta(days=2), match_id=COMING)
            served.do(_known(service))
            people = {
                "ada": _client(served, "ada"),
                "bob": _client(served, "bob"),
                "root": _client(served, "root", admin=True),
            }
            platform = Housed(served, service, feed, **people)
            for ball in _LOOKS:
                platform.bowl(ball)
            try:
                yield platform
            finally:
                for client in people.values():
                    client.close()


@contextmanager
def _on_air(feed: ScoreFeed) -> Iterator[str]:
    """Serve the feed from a thread of its own, as an outsider is."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    serving_it = simulator(feed.application)
    try:
        yield asyncio.run_coroutine_threadsafe(serving_it.__aenter__(), loop).result(30)
        asyncio.run_coroutine_threadsafe(serving_it.__aexit__(None, None, None), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


async def _known(cricket: Cricket) -> None:
    await cricket.league_sync.run()
    await cricket.team_sync.run()
    for league in await cricket.leagues.all():
        await cricket.leagues.update(league.league_id, active=True)
    await cricket.fixture_sync.run()


def _client(served: Served, name: str, *, admin: bool = False) -> httpx2.Client:
    async def keyed() -> str:
        people = served.platform.people
        account = await people.add(name, "a stand with a view", admin=admin)
        made = await people.keys.issue(account.user_id, "test", admin=admin)
        return str(made.text)

    return served.client(authorization=f"Bearer {served.do(keyed())}")
