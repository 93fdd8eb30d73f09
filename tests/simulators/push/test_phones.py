"""A simulated phone makes of a push what iOS makes of it."""

from random import Random
from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.simulators.push.phones import Phone, PhoneWall

_BUNDLE = "org.example.cricket"


@pytest.fixture
def wall() -> PhoneWall:
    return PhoneWall(ManualClock(), Random(3), decodes=lambda state: "bad" not in state)


@pytest.fixture
def phone(wall: PhoneWall) -> Phone:
    return wall.add("Asha", _BUNDLE)


def _aps(event: str, timestamp: int, **more: Any) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {"aps": {"event": event, "timestamp": timestamp, "content-state": {}, **named}}


def _start(timestamp: int = 1, **more: Any) -> dict[str, Any]:
    given = {"attributes_type": "A", "attributes": {}, "alert": {"title": "Begins"}, **more}
    return _aps("start", timestamp, **given)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (_start(alert=None), "start without alert"),
        (_start(alert={"body": "no title"}), "start without alert"),
        (_start(attributes=None), "start without attributes"),
        (_start(attributes_type=None), "start without attributes"),
        (_aps("update", 1), "not a start"),
        (_start(timestamp="soon"), "no timestamp"),  # type: ignore[arg-type] # on purpose
        (_start(content_state={"bad": 1}), "content state cannot be decoded"),
    ],
)
def test_a_start_without_what_ios_wants_is_dropped_silently(
    wall: PhoneWall, phone: Phone, payload: dict[str, Any], why: str
) -> None:
    wall.push(phone.start_token, "liveactivity", payload)

    assert (phone.activities, phone.dropped) == ([], {why: 1})


def test_a_phone_runs_five_activities_at_most(wall: PhoneWall, phone: Phone) -> None:
    for timestamp in range(6):
        wall.push(phone.start_token, "liveactivity", _start(timestamp))

    assert len(phone.activities) == 5
    assert phone.dropped == {"too many activities": 1}


def test_an_activity_ends_after_eight_hours_and_leaves_after_twelve(
    wall: PhoneWall, phone: Phone
) -> None:
    activity = wall.begin(phone, {}, {"score": "1-0"})
    wall.clock.sleep(8 * 3600)
    wall.push(activity.token, "liveactivity", _aps("update", 5, content_state={"score": "2-0"}))
    (ended,) = wall.locks()["Asha"]
    wall.clock.sleep(4 * 3600)

    assert (ended.state, ended.ended) == ({"score": "1-0"}, True)
    assert wall.locks() == {"Asha": []}
    assert phone.dropped == {"activity is over": 1}


def test_a_state_without_news_becomes_stale(wall: PhoneWall, phone: Phone) -> None:
    activity = wall.begin(phone, {}, {})
    stale_at = int(wall.clock.epoch()) + 900
    wall.push(activity.token, "liveactivity", _aps("update", 5, stale_date=stale_at))
    (fresh,) = wall.locks()["Asha"]
    wall.clock.sleep(900)
    (stale,) = wall.locks()["Asha"]

    assert (fresh.stale, stale.stale) == (False, True)


def test_a_dismissal_later_than_four_hours_comes_after_four(wall: PhoneWall, phone: Phone) -> None:
    activity = wall.begin(phone, {}, {})
    far = int(wall.clock.epoch()) + 9 * 3600
    wall.push(activity.token, "liveactivity", _aps("end", 5, dismissal_date=far))
    wall.clock.sleep(4 * 3600 - 1)
    before = len(wall.locks()["Asha"])
    wall.clock.sleep(1)

    assert (before, wall.locks()["Asha"]) == (1, [])


def test_a_swiped_activity_is_gone_though_its_token_is_taken(wall: PhoneWall, phone: Phone) -> None:
    activity = wall.begin(phone, {}, {})
    wall.dismiss(activity)
    wall.push(activity.token, "liveactivity", _aps("update", 5))

    assert (wall.locks()["Asha"], wall.bundle_of(activity.token)) == ([], _BUNDLE)


def test_a_rotated_token_replaces_the_old_one(wall: PhoneWall, phone: Phone) -> None:
    activity = wall.begin(phone, {}, {})
    old = activity.token

    new = wall.rotate(phone, activity)

    assert (wall.bundle_of(old), wall.bundle_of(new)) == (None, _BUNDLE)
