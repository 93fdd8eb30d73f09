"""Whatever the feed sends in place of an answer, the match goes on and nothing is told twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random
from typing import get_args

import pytest

from grandstand.apps.cricket.services import Cricket
from grandstand.apps.cricket.services.polling.score_poller import PollResult
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import SportMonksClient
from grandstand.apps.cricket.store.matches import ActiveMatch, LoggedEvent
from grandstand.core.clock import ManualClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.scores.control import Malformation
from grandstand.simulators.scores.feed import BASE, TOKEN, ScoreFeed
from grandstand.simulators.scores.matches import read_recorded_match
from grandstand.simulators.scores.timeline import Replay
from grandstand.simulators.serving import serve
from tests.apps.cricket.services.stage import Stage
from tests.apps.cricket.tapes.tape_reader import telling

pytestmark = pytest.mark.anyio

TAPE = 1370353


@dataclass
class OnAir:
    """Cricket, asking the simulated feed over a real socket for one match."""

    feed: ScoreFeed
    replay: Replay
    cricket: Cricket
    stage: Stage

    async def look(self, ball: int) -> PollResult:
        """Let some time pass, let a ball be posted, and look once."""
        self.stage.clock.advance(5)
        self.replay.seek_ball(ball)
        polled = await self.cricket.poller.poll()
        await self.cricket.coordinator.drain()
        return polled

    async def match(self) -> ActiveMatch:
        return await self.stage.store.read(ActiveMatch.by_id_consistent(str(TAPE)))

    async def keys(self) -> list[str]:
        found = await self.stage.store(LoggedEvent.of_match(str(TAPE)))
        return sorted(each.event_key for each in found)


@pytest.fixture
async def on_air(stage: Stage, clock: ManualClock) -> AsyncIterator[OnAir]:
    feed = ScoreFeed(clock)
    replay = feed.play(read_recorded_match(TAPE))
    replay.pause()

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with serve(feed.application) as address:
        settings = CricketSettings.model_validate(
            {"feed_url": f"http://{address}{BASE}", "feed_token": TOKEN}
        )
        async with SourceRegistry(
            clock=clock, random=Random(1), metrics=Metrics(), sleep=sleep
        ) as web:
            gateways = {"feed": SportMonksClient(web, settings)}
            cricket = stage.rebuilt(gateways=gateways, settings=settings)
            await cricket.league_sync.run()
            await cricket.team_sync.run()
            for league in await cricket.leagues.all():
                await cricket.leagues.update(league.league_id, active=True)
            yield OnAir(feed, replay, cricket, stage)


@pytest.mark.parametrize("wrong", get_args(Malformation))
async def test_a_wrong_answer_is_warned_of_and_the_match_goes_on(
    on_air: OnAir, wrong: Malformation
) -> None:
    await on_air.look(1)
    for ball in (1, 20):
        await on_air.look(ball)
    on_air.feed.malformed.ask_for(MalformedReply(wrong, "/livescores"))

    spoilt = [await on_air.look(ball) for ball in (25, 30)]
    on_air.feed.malformed.ask_for()
    ticks = [each for ball in (40, 60) for each in (await on_air.look(ball)).ticks]

    match, keys = await on_air.match(), await on_air.keys()
    overs = [key for key in keys if key.startswith("over_end")]
    assert all(each.warnings or wrong == "no includes" for each in spoilt)
    assert [each.outcome for each in ticks] == ["changed", "changed"]
    assert match.status == "active"
    assert len(match.last_30_balls) == 30
    assert match.previous_score == telling(str(TAPE)).fixture(on_air.replay.moment).innings
    assert max(Counter(keys).values()) == 1
    assert overs == sorted(f"over_end:1:{number}" for number in range(1, len(overs) + 1))
