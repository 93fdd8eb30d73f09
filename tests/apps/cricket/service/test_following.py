"""People follow matches on their devices, and have what they follow shown, or not any more."""

import pytest

from grandstand.apps.cricket.model.errors import AlertKindUnknown, MatchUnknown, TokenInvalid
from grandstand.apps.cricket.service import (
    ActivityUnknown,
    AlertsGiven,
    DeviceGiven,
    DeviceNameInvalid,
    DeviceUnknown,
    FollowUnknown,
    MatchOver,
    TeamNotPlaying,
)
from grandstand.base.clock import ManualClock
from grandstand.storage.tables import Store
from tests.apps.cricket.service.stage import (
    ADA,
    BOB,
    MATCH,
    Stage,
    scores_of,
    staged,
    started,
)

pytestmark = pytest.mark.anyio


async def known(stage: Stage, status: str = "NS") -> None:
    """A match that is known and not polled."""
    stage.feed.says(scores_of(started(), stage.clock, status=status), live=False)
    await stage.cricket.sync_fixtures()


async def on_air(stage: Stage) -> None:
    """A match that is on."""
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.cricket.sync_fixtures()
    await stage.tick(scorer)


async def test_a_follow_is_for_a_team_that_plays_or_for_none(stage: Stage) -> None:
    await known(stage)

    neutral = await stage.cricket.follow(ADA, MATCH)
    changed = await stage.cricket.change_team(ADA, MATCH, "2")

    assert (neutral.follow.team_id, changed.team_id) == ("neutral", "2")
    assert [each.match_id for each in await stage.cricket.follows(ADA)] == [MATCH]
    with pytest.raises(TeamNotPlaying):
        await stage.cricket.follow(BOB, MATCH, "9")


async def test_nobody_follows_what_is_unknown_or_over(stage: Stage) -> None:
    await known(stage, "Finished")

    with pytest.raises(MatchOver):
        await stage.cricket.follow(ADA, MATCH)
    with pytest.raises(MatchUnknown):
        await stage.cricket.follow(ADA, "999")
    with pytest.raises(FollowUnknown):
        await stage.cricket.unfollow(ADA, MATCH)


async def test_following_a_match_that_is_on_starts_every_device(stage: Stage) -> None:
    await on_air(stage)
    first = await stage.joined(ADA, "first")
    second = await stage.joined(ADA, "second")

    await stage.deliver()

    followed = await stage.cricket.follow(ADA, MATCH)
    assert [len(each.activities) for each in (first, second)] == [1, 1]
    assert [each.status for each in followed.activities] == ["pending", "pending"]
    assert followed.display is not None
    assert followed.display.state["phase"] == "live"


async def test_following_twice_starts_nothing_twice(stage: Stage) -> None:
    await on_air(stage)
    phone = await stage.joined(ADA)

    await stage.cricket.follow(ADA, MATCH)
    await stage.deliver()
    await stage.deliver()

    assert len(phone.activities) == 1


async def test_unfollowing_takes_the_activity_off_all_devices(stage: Stage) -> None:
    await on_air(stage)
    first, _ = await stage.with_activity(ADA, "first")
    second, _ = await stage.with_activity(ADA, "second")

    await stage.cricket.unfollow(ADA, MATCH)
    await stage.deliver(3)

    now = stage.clock.epoch()
    assert (first.locks(now), second.locks(now)) == ([], [])
    reasons = {each.end_reason for each in await stage.cricket.activities(ADA)}
    assert reasons == {"unfollowed"}


async def test_who_follows_again_gets_an_activity_again(stage: Stage) -> None:
    await on_air(stage)
    phone, _ = await stage.with_activity(ADA)
    await stage.cricket.unfollow(ADA, MATCH)
    await stage.deliver(3)

    await stage.cricket.follow(ADA, MATCH)
    await stage.deliver()

    assert len(phone.running(stage.clock.epoch())) == 1


async def test_a_dismissed_activity_counts_as_unfollowed(stage: Stage) -> None:
    await on_air(stage)
    await stage.with_activity(ADA)

    (ended,) = await stage.cricket.end_activity(ADA, MATCH, "phone")

    assert (ended.status, ended.end_reason) == ("ended", "dismissed")
    assert await stage.cricket.find_follow(ADA, MATCH) is None
    with pytest.raises(ActivityUnknown):
        await stage.cricket.end_activity(BOB, MATCH, "phone")


async def test_a_rotated_token_replaces_the_old_one_of_the_same_activity(stage: Stage) -> None:
    await on_air(stage)
    phone, activity = await stage.with_activity(ADA)
    (before,) = await stage.cricket.activities(ADA)
    token = stage.wall.rotate(phone, activity)
    stage.clock.advance(60)

    after = await stage.cricket.register_activity(ADA, MATCH, "phone", token.upper())

    assert (after.update_token, after.status) == (token, "active")
    assert after.session_started_at == before.session_started_at


async def test_an_activity_may_be_begun_in_the_app(stage: Stage) -> None:
    await on_air(stage)
    phone = stage.wall.add("phone", "org.example.cricket")
    activity = stage.wall.begin(phone, {}, {})

    session = await stage.cricket.register_activity(BOB, MATCH, "phone", activity.token)
    await stage.deliver()

    assert session.status == "active"
    assert activity.state["matchId"] == MATCH


async def test_a_device_that_registers_anew_leaves_no_old_row(stage: Stage) -> None:
    await stage.cricket.register_device(ADA, DeviceGiven("aa" * 32, "phone"))
    await stage.cricket.set_push_to_start(ADA, "aa" * 32, "cc" * 40)
    await stage.cricket.register_device(ADA, DeviceGiven("dd" * 32, "tablet"))

    await stage.cricket.register_device(ADA, DeviceGiven("bb" * 32, "phone"))

    devices = {each.device_id: each for each in await stage.cricket.devices(ADA)}
    assert {name: each.device_token[:2] for name, each in devices.items()} == {
        "phone": "bb",
        "tablet": "dd",
    }
    assert devices["phone"].push_to_start_token == "cc" * 40


async def test_with_single_devices_the_newest_replaces_all_others(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    single = staged(store, clock, beside=stage, devices="single")
    await single.cricket.register_device(ADA, DeviceGiven("aa" * 32, "phone"))

    await single.cricket.register_device(ADA, DeviceGiven("dd" * 32, "tablet"))

    assert [each.device_id for each in await single.cricket.devices(ADA)] == ["tablet"]


async def test_what_is_no_token_or_no_device_is_refused(stage: Stage) -> None:
    with pytest.raises(TokenInvalid):
        await stage.cricket.register_device(ADA, DeviceGiven("xyz", "phone"))
    with pytest.raises(DeviceNameInvalid):
        await stage.cricket.register_device(ADA, DeviceGiven("aa" * 32, "pho#ne"))
    with pytest.raises(DeviceUnknown):
        await stage.cricket.set_push_to_start(ADA, "aa" * 32, "bb" * 32)
    with pytest.raises(DeviceUnknown):
        await stage.cricket.forget_device(ADA, "aa" * 32)
    with pytest.raises(AlertKindUnknown):
        await stage.cricket.choose_alerts(ADA, AlertsGiven(kinds=("goal",)))


async def test_what_was_chosen_before_holds_for_later_activities(stage: Stage) -> None:
    await stage.cricket.choose_alerts(ADA, AlertsGiven(kinds=("six",), muted=True))
    await on_air(stage)

    await stage.with_activity(ADA)

    (session,) = await stage.cricket.activities(ADA)
    assert (session.choice.kinds, session.choice.muted) == (frozenset({"six"}), True)


async def test_a_test_push_reaches_ones_own_devices_only(stage: Stage) -> None:
    await known(stage)
    mine, other = await stage.joined(ADA, "mine"), await stage.joined(BOB, "other")

    told = await stage.cricket.push_test(ADA)

    assert told == {"mine": "delivered"}
    assert (len(mine.notifications), len(other.notifications)) == (1, 0)


async def test_everything_kept_of_a_person_can_be_taken_along_and_erased(stage: Stage) -> None:
    await on_air(stage)
    await stage.with_activity(ADA)
    await stage.with_activity(BOB, "other")

    taken = [kind async for kind, _ in stage.cricket.belongings.export("ada")]
    erased = await stage.cricket.belongings.erase("ada")

    left = [kind async for kind, _ in stage.cricket.belongings.export("ada")]
    assert (sorted(taken), left, erased) == (["activity", "device", "follow", "follower"], [], 4)
    assert len([kind async for kind, _ in stage.cricket.belongings.export("bob")]) == 4
