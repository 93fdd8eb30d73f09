"""A replayed feed does what it is told, and says why when it does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from grandstand.apps.cricket.domain.replays import ReplayCommand, ReplayRequest
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
        made = await feed.play(ReplayRequest("generated:3", speed=5.0))
        paused = await feed.control(made.match_id, ReplayCommand("pause"))
        moved = await feed.control(made.match_id, ReplayCommand("seek", ball=7))
        listed = await feed.replays()
        stopped = await feed.control(made.match_id, ReplayCommand("stop"))
        left = await feed.replays()

    assert (made.state, made.speed, made.format) == ("playing", 5.0, "T20")
    assert paused is not None
    assert moved is not None
    assert (paused.state, moved.ball) == ("paused", 7)
    assert [each.match_id for each in listed] == [made.match_id]
    assert (stopped, left) == (None, ())


async def test_a_refusal_is_told_in_the_feeds_own_words() -> None:
    async with steered() as feed:
        with pytest.raises(InvalidInput, match="there is no tape nothing"):
            await feed.play(ReplayRequest("nothing"))
        with pytest.raises(InvalidInput, match="no match 9 is being played"):
            await feed.control("9", ReplayCommand("pause"))
