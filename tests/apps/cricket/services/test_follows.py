"""People follow matches, and have what they follow shown, or not any more."""

import pytest

from grandstand.apps.cricket.domain.errors import MatchNotFound, TeamNotPlaying
from grandstand.apps.cricket.store.users import LiveActivity
from grandstand.core.errors import Conflict, NotFound
from tests.apps.cricket.services.stage import ADA, BOB, MATCH, Stage

pytestmark = pytest.mark.anyio


async def test_a_follow_is_for_a_team_that_plays_or_for_none(stage: Stage) -> None:
    await stage.known()

    neutral = await stage.cricket.follows.follow(ADA.user_id, MATCH)
    changed = await stage.cricket.follows.change_team(ADA.user_id, MATCH, "2")

    assert (neutral.follow.team_id, changed.team_id) == ("neutral", "2")
    assert [each.match_id for each in await stage.cricket.follows.of_user(ADA.user_id)] == [MATCH]
    with pytest.raises(TeamNotPlaying):
        await stage.cricket.follows.follow(BOB.user_id, MATCH, "9")


async def test_nobody_follows_what_is_unknown_or_over(stage: Stage) -> None:
    await stage.known("Finished")

    with pytest.raises(Conflict):
        await stage.cricket.follows.follow(ADA.user_id, MATCH)
    with pytest.raises(MatchNotFound):
        await stage.cricket.follows.follow(ADA.user_id, "999")
    with pytest.raises(NotFound):
        await stage.cricket.follows.unfollow(ADA.user_id, MATCH)


async def test_following_a_match_that_is_on_starts_every_device(stage: Stage) -> None:
    await stage.on_air()
    first = await stage.joined(ADA, "first")
    second = await stage.joined(ADA, "second")

    await stage.deliver()

    followed = await stage.cricket.follows.follow(ADA.user_id, MATCH)
    assert [len(each.activities) for each in (first, second)] == [1, 1]
    assert [each.status for each in followed.activities] == ["pending", "pending"]
    assert followed.display is not None
    assert followed.display.state["phase"] == "live"


async def test_following_twice_starts_nothing_twice(stage: Stage) -> None:
    await stage.on_air()
    phone = await stage.joined(ADA)

    await stage.cricket.follows.follow(ADA.user_id, MATCH)
    await stage.deliver()
    await stage.deliver()

    assert len(phone.activities) == 1


async def test_unfollowing_takes_the_activity_off_all_devices(stage: Stage) -> None:
    await stage.on_air()
    first, _ = await stage.with_activity(ADA, "first")
    second, _ = await stage.with_activity(ADA, "second")

    await stage.cricket.follows.unfollow(ADA.user_id, MATCH)
    await stage.deliver(3)

    now = stage.clock.epoch()
    assert (first.locks(now), second.locks(now)) == ([], [])
    reasons = {each.end_reason for each in await stage.cricket.live_activities.of_user(ADA.user_id)}
    assert reasons == {"unfollowed"}


async def test_who_follows_again_gets_an_activity_again(stage: Stage) -> None:
    await stage.on_air()
    phone, _ = await stage.with_activity(ADA)
    await stage.cricket.follows.unfollow(ADA.user_id, MATCH)
    await stage.deliver(3)

    await stage.cricket.follows.follow(ADA.user_id, MATCH)
    await stage.deliver()

    assert len(phone.running(stage.clock.epoch())) == 1


async def test_what_was_chosen_before_holds_for_later_activities(stage: Stage) -> None:
    await stage.cricket.follows.set_alert_preferences(ADA.user_id, kinds=("six",), muted=True)
    await stage.on_air()

    await stage.with_activity(ADA)

    (session,) = await stage.store(LiveActivity.of_user(ADA.user_id))
    assert (session.alert_preferences.kinds, session.alert_preferences.muted) == (("six",), True)
