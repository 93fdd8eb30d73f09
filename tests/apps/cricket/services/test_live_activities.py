"""Live Activities are registered, renewed and ended on people's devices."""

from typing import Literal

import pytest

from grandstand.apps.cricket.domain.errors import ActivityNotFound
from grandstand.apps.cricket.domain.live_activities import PushResult
from grandstand.apps.cricket.store.users import LiveActivity
from tests.apps.cricket.services.stage import ADA, BOB, MATCH, Stage

pytestmark = pytest.mark.anyio


async def test_a_dismissed_activity_counts_as_unfollowed(stage: Stage) -> None:
    await stage.on_air()
    await stage.with_activity(ADA)

    (ended,) = await stage.cricket.live_activities.end(ADA.user_id, MATCH, "phone")

    assert (ended.status, ended.end_reason) == ("ended", "dismissed")
    assert await stage.cricket.follows.find(ADA.user_id, MATCH) is None
    with pytest.raises(ActivityNotFound):
        await stage.cricket.live_activities.end(BOB.user_id, MATCH, "phone")


async def test_a_rotated_token_replaces_the_old_one_of_the_same_activity(stage: Stage) -> None:
    await stage.on_air()
    phone, activity = await stage.with_activity(ADA)
    (before,) = await stage.cricket.live_activities.of_user(ADA.user_id)
    token = stage.wall.rotate(phone, activity)
    stage.clock.advance(60)

    after = await stage.cricket.live_activities.register(ADA.user_id, MATCH, "phone", token.upper())

    (stored,) = await stage.store(LiveActivity.of_user(ADA.user_id))
    assert (stored.update_token, after.status) == (token, "active")
    assert after.session_started_at == before.session_started_at


async def test_an_activity_may_be_begun_in_the_app(stage: Stage) -> None:
    await stage.on_air()
    phone = stage.wall.add("phone", "org.example.cricket")
    activity = stage.wall.begin(phone, {}, {})

    session = await stage.cricket.live_activities.register(
        BOB.user_id, MATCH, "phone", activity.token
    )
    await stage.deliver()

    assert session.status == "active"
    assert activity.state["matchId"] == MATCH


@pytest.mark.parametrize("outcome", ["unsent", "uncertain"])
async def test_an_end_that_apple_did_not_take_is_sent_again_as_it_was(
    stage: Stage, outcome: Literal["unsent", "uncertain"]
) -> None:
    scorer = await stage.on_air()
    phone, activity = await stage.with_activity(ADA)
    await stage.cricket.follows.unfollow(ADA.user_id, MATCH)
    stage.phones.results[activity.token] = [PushResult(outcome, "Shutdown", None, 15.0)]
    await stage.deliver(3)
    running = phone.running(stage.clock.epoch())
    scorer.bowl(4)
    await stage.tick(scorer)

    await stage.deliver(16)

    assert running == [activity]
    assert phone.running(stage.clock.epoch()) == []
    assert activity.state["teams"][0]["innings"][0]["score"] == 1
