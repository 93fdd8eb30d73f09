"""What cricket's tables promise about sessions, devices, follows, locks and display states."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.cricket.app import APP
from grandstand.apps.cricket.domain.live_activities import ActivityKey, DeviceRegistration
from grandstand.apps.cricket.domain.matches import NEUTRAL_TEAM
from grandstand.apps.cricket.store.fixtures import DisplayState
from grandstand.apps.cricket.store.matches import LOCKS, Lock, LockHolder
from grandstand.apps.cricket.store.users import Device, LiveActivity, MatchFollow
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.leases import Leases
from grandstand.storage.tables.requests import GetItem
from tests.apps.cricket.records import LOCK, NOON

HOUR = timedelta(hours=1)
PHONE = ActivityKey("71344", "ada", "phone")
TABLET = replace(PHONE, device_id="tablet")
ELSEWHERE = replace(PHONE, match_id="9")
DETAILS = DeviceRegistration("dd00", "phone", "ios", "18.2", "3.1")


@pytest.fixture(autouse=True)
def _tables(store: Store) -> None:
    store.create(APP.tables)


def stored(store: Store, table: str, key: dict[str, str]) -> dict[str, object]:
    name = store.session.naming.physical(table)
    return dict(store.session.engine.get(GetItem(name, dict(key))).item or {})


def test_a_person_has_a_session_on_each_device(store: Store, clock: ManualClock) -> None:
    for seat in (PHONE, TABLET, ELSEWHERE):
        store(LiveActivity.register(seat, "ab12", NOON, clock.now() + HOUR))
    item = stored(store, "live-activities", {"matchId": "71344", "userId#deviceId": "ada#tablet"})

    assert [each.device_id for each in store(LiveActivity.of_match("71344"))] == [
        "phone",
        "tablet",
    ]
    assert len(store(LiveActivity.of_user("ada"))) == 3
    assert (item["userId"], item["deviceId"], item["status"]) == ("ada", "tablet", "active")


def test_a_session_goes_through_its_states(store: Store, clock: ManualClock) -> None:
    expires = clock.now() + HOUR
    pending = LiveActivity(
        match_id="71344",
        user_id="ada",
        device_id="phone",
        status="pending",
        session_started_at=NOON,
        expires=expires,
    )
    store(pending.create_pending())

    active = store(LiveActivity.register(PHONE, "ab12", NOON, expires))
    suspended = store(LiveActivity.suspend(PHONE, NOON + HOUR))
    again = store(LiveActivity.rotate_token(PHONE, "cd34", NOON + HOUR))
    ended = store(LiveActivity.end(PHONE, NOON + HOUR, "unfollowed"))

    assert (active.status, active.update_token) == ("active", "ab12")
    assert (suspended.status, suspended.suspended_at) == ("suspended", NOON + HOUR)
    assert (again.status, again.update_token, again.suspended_at) == ("active", "cd34", None)
    assert (ended.status, ended.end_reason) == ("ended", "unfollowed")
    with pytest.raises(ConditionFailed):
        store(pending.create_pending())
    with pytest.raises(ConditionFailed):
        store(LiveActivity.rotate_token(TABLET, "cd34", NOON))


def test_a_device_expires_ninety_days_after_it_was_seen(store: Store, clock: ManualClock) -> None:
    seen = clock.now()
    store(Device.register("ada", DETAILS, seen))

    kept = store(Device.set_push_to_start("ada", "dd00", "ee11", seen + HOUR))
    clock.advance(timedelta(days=90).total_seconds())
    still = store(Device.first_of_user("ada"))
    clock.advance(3600)

    assert kept.expires == seen + HOUR + timedelta(days=90)
    assert [each.push_to_start_token for each in still] == ["ee11"]
    assert store(Device.of_user("ada")) == []


def test_registering_again_keeps_what_else_is_known(store: Store, clock: ManualClock) -> None:
    store(Device.register("ada", DETAILS, clock.now()))
    store(Device.set_push_to_start("ada", "dd00", "ee11", clock.now()))

    again = store(Device.register("ada", replace(DETAILS, os_version="19.0"), clock.now()))
    gone = store(Device.remove("ada", "dd00"))

    assert (again.os_version, again.push_to_start_token) == ("19.0", "ee11")
    assert gone == again
    assert store(Device.remove("ada", "dd00")) is None


def test_a_token_for_an_unknown_device_makes_none(store: Store) -> None:
    with pytest.raises(ConditionFailed):
        store(Device.set_push_to_start("ada", "dd00", "ee11", NOON))

    assert store(Device.of_user("ada")) == []


def test_following_again_remembers_the_first_time(store: Store, clock: ManualClock) -> None:
    expires = clock.now() + HOUR
    store(MatchFollow.follow("71344", "ada", "1", NOON, expires))

    again = store(MatchFollow.follow("71344", "ada", NEUTRAL_TEAM, NOON + HOUR, expires))
    changed = store(MatchFollow.change_team("71344", "ada", "2"))

    assert (again.created_at, again.team_id) == (NOON, NEUTRAL_TEAM)
    assert changed.team_id == "2"
    assert store(MatchFollow.unfollow("71344", "ada")) == changed
    with pytest.raises(ConditionFailed):
        store(MatchFollow.change_team("71344", "ada", "1"))


def test_all_follows_of_a_match_can_be_removed(store: Store, clock: ManualClock) -> None:
    for number in range(30):
        store(MatchFollow.follow("71344", f"u{number:02}", "1", NOON, clock.now() + HOUR))
    found = store(MatchFollow.of_match("71344"))

    store(MatchFollow.remove_all("71344", tuple(each.user_id for each in found)))

    assert len(found) == 30
    assert store(MatchFollow.of_match("71344")) == []


def test_a_follow_ends_with_its_time_unless_prolonged(store: Store, clock: ManualClock) -> None:
    for user in ("ada", "bob"):
        store(MatchFollow.follow("71344", user, "1", NOON, clock.now() + HOUR))

    store(MatchFollow.extend_expiry("71344", "bob", clock.now() + 2 * HOUR))
    clock.advance(3600)

    assert [each.user_id for each in store(MatchFollow.of_match("71344"))] == ["bob"]


def test_a_lock_has_one_holder_until_it_lapsed_for_the_grace(
    store: Store, clock: ManualClock
) -> None:
    first = LOCK.replace(expires_at=clock.now() + timedelta(seconds=10))
    second = first.replace(owner="two", nonce="n2")
    store(first.acquire(clock.now()))

    clock.advance(11)
    with pytest.raises(ConditionFailed) as refused:
        store(second.acquire(clock.now()))
    clock.advance(0.001)
    store(second.acquire(clock.now()))

    assert refused.value.found == first
    assert store.read(Lock.by_key("match:71344")).owner == "two"


def test_a_lock_is_given_back_and_kept_only_by_who_holds_it(store: Store) -> None:
    store(LOCK.acquire(NOON))
    mine, not_mine = LockHolder("one", "n1"), LockHolder("one", "n0")

    with pytest.raises(ConditionFailed):
        store(Lock.release("match:71344", not_mine))
    extended = store(Lock.extend("match:71344", mine, NOON + HOUR))
    store(Lock.release("match:71344", mine))

    assert extended.expires_at == NOON + HOUR
    assert store(Lock.by_key("match:71344")) is None


def test_a_lock_is_stored_with_both_names_and_in_milliseconds(store: Store) -> None:
    store(LOCK.acquire(NOON))

    item = stored(store, "cricket-locks", {"lockKey": "match:71344"})

    assert item == {
        "lockKey": "match:71344",
        "owner": "one",
        "holder": "one",
        "nonce": "n1",
        "expiresAt": round(NOON.timestamp() * 1000),
    }


def test_the_locks_serve_as_leases(store: Store) -> None:
    one, two = Leases(LOCKS, "one"), Leases(LOCKS, "two")

    lease = store(one.acquire("match:71344"))
    refused = store(two.acquire("match:71344"))
    item = stored(store, "cricket-locks", {"lockKey": "match:71344"})

    assert lease is not None
    assert refused is None
    assert (item["owner"], item["holder"]) == ("one", "one")
    assert store(one.release(lease))
    assert store(Lock.by_key("match:71344")) is None


def test_a_display_state_is_kept_for_each_team_until_it_expires(
    store: Store, clock: ManualClock
) -> None:
    state = DisplayState(
        match_id="71344",
        team_id=NEUTRAL_TEAM,
        state={"phase": "live"},
        computed_at=NOON,
        expires=clock.now() + timedelta(seconds=5),
    )
    store(state.save())

    before = store(DisplayState.by_key("71344", NEUTRAL_TEAM))
    clock.advance(5)

    assert before == state
    assert store(DisplayState.by_key("71344", "1")) is None
    assert store(DisplayState.by_key("71344", NEUTRAL_TEAM)) is None
    assert stored(store, "DisplayStateCache", {"cacheKey": "DISPLAY#71344#neutral"})
