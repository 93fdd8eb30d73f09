"""Our side reads the simulated feed over a real socket, and what is wrong with it is named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import SportMonksClient
from grandstand.core.clock import ManualClock
from grandstand.core.errors import SourceFailed
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import RateLimited
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.scores.control import Malformation
from grandstand.simulators.scores.feed import BASE, TOKEN, ScoreFeed
from grandstand.simulators.scores.matches import read_recorded_match
from grandstand.simulators.scores.timeline import Replay
from grandstand.simulators.serving import serve
from tests.apps.cricket.tapes.tape_reader import START, closely

pytestmark = pytest.mark.anyio


@dataclass
class Stage:
    """A feed with one match on the air, and our client of it."""

    feed: ScoreFeed
    replay: Replay
    client: SportMonksClient
    clock: ManualClock


@asynccontextmanager
async def stage(number: int = 1370353, **chosen: Any) -> AsyncIterator[Stage]:
    clock = ManualClock(START)
    feed = ScoreFeed(clock)
    replay = feed.play(read_recorded_match(number))

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with serve(feed.application) as address:
        settings = CricketSettings.model_validate(
            {"feed_url": f"http://{address}{BASE}", "feed_token": TOKEN, **chosen}
        )
        async with SourceRegistry(
            clock=clock, random=Random(1), metrics=Metrics(), sleep=sleep
        ) as web:
            yield Stage(feed, replay, SportMonksClient(web, settings), clock)


async def test_the_live_list_is_read_as_the_tape_has_it() -> None:
    async with stage() as on:
        on.replay.seek_ball(150)

        heard = await on.client.livescores(balls=True)

        expected = closely("1370353").telling.fixture(on.replay.moment)
        assert heard.warnings == ()
        assert [each.snapshot for each in heard.value] == [expected]


async def test_a_fixture_is_read_with_the_balls_since_the_last_look() -> None:
    async with stage() as on:
        on.replay.seek_ball(150)
        whole = (await on.client.fixture("1370353")).value.snapshot
        since = whole.balls[140].id

        heard = await on.client.fixture("1370353", since=since)

        assert heard.value.snapshot.balls == whole.balls[-39:]
        assert replace(heard.value.snapshot, balls=whole.balls) == whole


async def test_the_calendar_is_read_page_by_page_with_wrapped_includes() -> None:
    async with stage() as on:
        for number in range(120):
            on.feed.play(read_recorded_match(1178424), match_id=7000 + number)

        heard = await on.client.fixtures(START.date(), START.date())

        assert len(heard.value) == 121
        assert heard.value[1].snapshot.home.code == "RCB"
        assert heard.warnings == ()


async def test_leagues_teams_and_tables_are_read_without_complaint() -> None:
    async with stage() as on:
        on.replay.seek(on.replay.timeline.ends_at)

        leagues, teams = await on.client.leagues(), await on.client.teams()
        standings = await on.client.standings(leagues.value[0].season_id or "")

        assert [each.code for each in leagues.value] == ["IPL"]
        assert [each.code for each in teams.value] == ["GT", "CSK"]
        assert [(each.won, each.lost, each.points) for each in standings.value] == [
            (1, 0, 2),
            (0, 1, 0),
        ]
        assert leagues.warnings == teams.warnings == standings.warnings == ()


@pytest.mark.parametrize(
    ("wrong", "matches"),
    [("unknown status", 1), ("wrong types", 1), ("no rows", 0), ("no ids", 0)],
)
async def test_what_is_wrong_is_counted_and_the_match_goes_on(
    wrong: Malformation, matches: int
) -> None:
    async with stage() as on:
        on.feed.malformed.ask_for(MalformedReply(wrong, times=1))

        spoilt = await on.client.livescores(balls=True)
        right = await on.client.livescores(balls=True)

        assert (len(spoilt.value), len(right.value)) == (matches, 1)
        assert spoilt.warnings
        assert right.warnings == ()


async def test_missing_includes_leave_the_facts() -> None:
    async with stage() as on:
        on.replay.seek_ball(50)
        on.feed.malformed.ask_for(MalformedReply("no includes", times=1))

        (heard,) = (await on.client.livescores(balls=True)).value

        assert heard.snapshot.status == "1st Innings"
        assert heard.snapshot.innings == ()
        assert heard.snapshot.balls == ()


@pytest.mark.parametrize("wrong", ["huge", "no data"])
async def test_an_answer_that_is_none_of_the_feeds_is_refused(wrong: Malformation) -> None:
    async with stage() as on:
        on.feed.malformed.ask_for(MalformedReply(wrong))

        with pytest.raises(SourceFailed):
            await on.client.livescores()


async def test_a_spent_budget_of_the_feed_is_heard_of() -> None:
    async with stage() as on:
        on.feed.budget.hourly = 0

        with pytest.raises(RateLimited):
            await on.client.leagues()
