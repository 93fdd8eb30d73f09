"""One look at the live list is enough for all matches, and no more looks than are allowed."""

import pytest

from grandstand.apps.cricket.domain.matches import Competition
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.core.clock import ManualClock
from grandstand.core.errors import Unavailable
from grandstand.net.errors import QuotaExceeded
from grandstand.storage.tables import Store
from tests.apps.cricket.services.stage import MATCH, Stage, scores_of, staged, started

pytestmark = pytest.mark.anyio


async def test_many_matches_cost_one_request(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)
    for number in range(5):
        stage.feed.says(scores_of(scorer, stage.clock, match_id=str(100 + number)))

    await stage.cricket.poller.poll()
    polled = await stage.cricket.poller.poll()
    await stage.cricket.coordinator.drain()

    assert stage.feed.asked == ["livescores balls=True"] * 2
    assert [each.outcome for each in polled.ticks] == ["changed"] * 5


async def test_marquee_leagues_are_looked_at_sooner_and_ball_by_ball(
    store: Store, clock: ManualClock, stage: Stage
) -> None:
    choosy = staged(store, clock, beside=stage, marquee_leagues=["5"])
    scorer = started()
    scorer.bowl(1)
    stage.feed.says(scores_of(scorer, clock))

    paces = [(await choosy.cricket.poller.poll()).next_seconds for _ in range(3)]
    await choosy.cricket.coordinator.drain()

    assert paces == [5.0, 2.5, 2.5]
    assert stage.feed.asked[-3:] == [f"livescores balls={each}" for each in (False, False, True)]


async def test_other_leagues_are_followed_without_balls(
    store: Store, clock: ManualClock, stage: Stage
) -> None:
    choosy = staged(store, clock, beside=stage, marquee_leagues=["9"])
    scorer = started()
    scorer.bowl(6)
    stage.feed.says(scores_of(scorer, clock))

    await choosy.cricket.poller.poll()
    polled = await choosy.cricket.poller.poll()
    await choosy.cricket.coordinator.drain()

    match = await choosy.store.read(ActiveMatch.by_id(MATCH))
    assert match.last_30_balls == ()
    assert polled.next_seconds == 5.0


async def test_a_league_nobody_wants_is_not_polled(stage: Stage) -> None:
    await stage.cricket.leagues.update("5", active=False)
    stage.feed.says(scores_of(started(), stage.clock))
    other = Competition("6", "1", "", "Other", "OTH")
    stage.feed.says(scores_of(started(), stage.clock, match_id="8", competition=other))

    await stage.cricket.poller.poll()

    found = await stage.store(ActiveMatch.all_items())
    assert [each.match_id for each in found] == ["8"]


async def test_a_spent_budget_makes_the_next_look_later(stage: Stage) -> None:
    stage.feed.fault = QuotaExceeded("no more", source="sportmonks", retry_after_seconds=120.0)

    polled = await stage.cricket.poller.poll()

    assert (polled.next_seconds, polled.ticks) == (120.0, ())


async def test_a_feed_that_is_down_loses_nothing(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.tick(scorer)
    stage.feed.fault = Unavailable("down")
    scorer.out(then=13)
    down = await stage.cricket.poller.poll()
    stage.feed.fault = None

    found = await stage.tick(scorer)

    assert (down.ticks, found.outcome) == ((), "changed")
    assert found.key_event is not None
    assert found.key_event.startswith("wicket")


async def test_a_match_that_left_the_live_list_is_asked_for_and_ended(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.tick(scorer)
    scorer.status = "Finished"
    stage.feed.says(scores_of(scorer, stage.clock), live=False)

    polled = await stage.cricket.poller.poll()
    await stage.cricket.coordinator.drain()

    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert (polled.ticks[0].outcome, match.status) == ("changed", "ended")
    assert stage.feed.asked[-1] == f"fixture {MATCH}"


async def test_a_new_poller_resumes_every_match_that_is_on(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.tick(scorer)
    restarted = staged(store, clock, beside=stage, instance="again")
    scorer.bowl(4)

    ticked = await restarted.tick(scorer)

    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert (ticked.outcome, ticked.seq, match.instance_id) == ("changed", 2, "again")
