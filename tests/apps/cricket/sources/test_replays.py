"""A replayed feed does what it is told, and says why when it does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from grandstand.apps.cricket.model.errors import ReplayRefused
from grandstand.apps.cricket.model.replays import ReplayOrder, ReplayWish
from grandstand.apps.cricket.sources.replays import ReplayedFeed
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.simulators.scores.feed import ScoreFeed
from grandstand.simulators.serving import served
from grandstand.wire.web import Web

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def steered() -> AsyncIterator[ReplayedFeed]:
    clock = SystemClock()
    async with (
        served(ScoreFeed(clock).application) as address,
        Web(clock=clock, random=Random(1), metrics=Metrics()) as web,
    ):
        yield ReplayedFeed(web, f"http://{address}/simulator")


async def test_a_replay_is_played_moved_and_stopped() -> None:
    async with steered() as feed:
        made = await feed.play(ReplayWish("generated:3", speed=5.0))
        paused = await feed.control(made.match_id, ReplayOrder("pause"))
        moved = await feed.control(made.match_id, ReplayOrder("seek", ball=7))
        listed = await feed.replays()
        stopped = await feed.control(made.match_id, ReplayOrder("stop"))
        left = await feed.replays()

    assert (made.state, made.speed, made.format) == ("playing", 5.0, "T20")
    assert paused is not None
    assert moved is not None
    assert (paused.state, moved.ball) == ("paused", 7)
    assert [each.match_id for each in listed] == [made.match_id]
    assert (stopped, left) == (None, ())


async def test_a_refusal_is_told_in_the_feeds_own_words() -> None:
    async with steered() as feed:
        with pytest.raises(ReplayRefused, match="there is no tape nothing"):
            await feed.play(ReplayWish("nothing"))
        with pytest.raises(ReplayRefused, match="no match 9 is being played"):
            await feed.control("9", ReplayOrder("pause"))
