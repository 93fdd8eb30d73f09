"""Matches are listed and read, and their scorecards fetched."""

import asyncio

import pytest

from grandstand.apps.cricket.domain.errors import LeagueNotFound
from grandstand.apps.cricket.sources.sportmonks import FeedMatch, Parsed
from grandstand.core.errors import InvalidInput, Unavailable
from tests.apps.cricket.services.stage import MATCH, ScriptedFeed, Stage, scores_of, started

pytestmark = pytest.mark.anyio


async def test_matches_are_listed_page_by_page_in_order(stage: Stage) -> None:
    await stage.upcoming(7)

    first = await stage.cricket.fixtures.page(league="BBL", limit=3)
    second = await stage.cricket.fixtures.page(league="5", limit=3, cursor=first.cursor)
    last = await stage.cricket.fixtures.page(limit=3, cursor=second.cursor)

    listed = [each.match_id for page in (first, second, last) for each in page.matches]
    assert listed == [str(100 + number) for number in range(7)]
    assert last.cursor is None
    with pytest.raises(InvalidInput):
        await stage.cricket.fixtures.page(cursor="nonsense")
    with pytest.raises(LeagueNotFound):
        await stage.cricket.fixtures.page(league="nowhere")


async def test_matches_are_listed_by_where_they_stand(stage: Stage) -> None:
    await stage.upcoming(2)
    scorer = started()
    scorer.bowl(4)
    await stage.tick(scorer)
    await stage.cricket.fixture_sync.run()
    await stage.tick(scorer)

    live = (await stage.cricket.fixtures.page(status="live")).matches
    upcoming = (await stage.cricket.fixtures.page(status="upcoming")).matches

    assert [(each.match_id, each.polled, each.innings[0].score) for each in live] == [
        (MATCH, True, 4)
    ]
    assert [each.match_id for each in upcoming] == ["100", "101"]
    assert (live[0].home.name, live[0].league_name) == ("Harbour Town", "Big Bash")


async def test_a_scorecard_is_fetched_once_in_a_while_and_kept_when_the_feed_is_down(
    stage: Stage,
) -> None:
    scorer = started()
    scorer.bowl(4)
    stage.feed.says(scores_of(scorer, stage.clock))
    first = await stage.cricket.fixtures.scorecard(MATCH)
    await stage.cricket.fixtures.scorecard(MATCH)
    asked = stage.feed.asked.count(f"fixture {MATCH}")
    stage.clock.advance(60)
    stage.feed.fault = Unavailable("down")

    later = await stage.cricket.fixtures.scorecard(MATCH)

    assert (asked, later) == (1, first)
    assert len(first.snapshot.balls) == 1


class SlowFeed(ScriptedFeed):
    """Answers once everybody who is going to ask has asked."""

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[FeedMatch]:
        heard = await super().fixture(match_id, since=since)
        await asyncio.sleep(0)
        return heard


async def test_many_who_want_a_scorecard_at_once_cost_one_request(stage: Stage) -> None:
    feed = SlowFeed()
    feed.says(scores_of(started(), stage.clock))
    cricket = stage.rebuilt(gateways={"feed": feed})

    cards = await asyncio.gather(*(cricket.fixtures.scorecard(MATCH) for _ in range(5)))

    assert feed.asked == [f"fixture {MATCH}"]
    assert all(each is cards[0] for each in cards)
