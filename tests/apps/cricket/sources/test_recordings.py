"""The client of a replay feed: commands and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from grandstand.apps.cricket.sources.recordings import ReplayFeedClient
from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.scores.feed import ScoreFeed
from grandstand.simulators.serving import serve

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def steered() -> AsyncIterator[ReplayFeedClient]:
    clock = SystemClock()
    async with (
        serve(ScoreFeed(clock).application) as address,
        SourceRegistry(clock=clock, random=Random(1), metrics=Metrics()) as web,
    ):
        yield ReplayFeedClient(web, f"http://{address}/simulator")


async def test_a_replay_is_played_moved_and_stopped() -> None:
    async with steered() as feed:
        made = await feed.play("generated:3", speed=5.0)
        paused = await feed.control(made.match_id, "pause")
        moved = await feed.control(made.match_id, "seek", ball=7)
        listed = await feed.replays()
        stopped = await feed.control(made.match_id, "stop")
        left = await feed.replays()

    assert (made.state, made.speed, made.format) == ("playing", 5.0, "T20")
    assert paused is not None
    assert moved is not None
    assert (paused.state, moved.ball) == ("paused", 7)
    assert [each.match_id for each in listed] == [made.match_id]
    assert (stopped, left) == (None, ())


async def test_a_refusal_has_the_message_of_the_feed() -> None:
    async with steered() as feed:
        with pytest.raises(InvalidInput, match="No recording 'nothing'"):
            await feed.play("nothing")
        with pytest.raises(InvalidInput, match="No match 9 is being replayed"):
            await feed.control("9", "pause")
