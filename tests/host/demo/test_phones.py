"""The simulated phone: what it showed is counted for good, and another process may draw it."""

from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from grandstand.apps.cricket.services import Cricket
from grandstand.core.clock import ManualClock
from grandstand.host.demo.cricket import BUNDLE_ID, DemoPhone, Fixtures
from grandstand.simulators.push.phones import PhoneWall
from grandstand.simulators.scores.feed import ScoreFeed

pytestmark = pytest.mark.anyio


class Quiet:
    """Cricket as the phone's app needs it: everything is taken, and everything is followed."""

    @property
    def devices(self) -> "Quiet":
        return self

    @property
    def follows(self) -> "Quiet":
        return self

    async def register(self, *_given: object) -> None: ...

    async def set_push_to_start(self, *_given: object) -> None: ...

    async def unfollow(self, *_given: object) -> None: ...

    async def find(self, *_given: object) -> bool:
        return True


def story_in(folder: Path, clock: ManualClock) -> DemoPhone:
    return DemoPhone(PhoneWall(clock, Random(1)), Fixtures(ScoreFeed(clock), clock), folder)


async def begun(folder: Path, clock: ManualClock) -> tuple[DemoPhone, Cricket]:
    story, cricket = story_in(folder, clock), cast("Cricket", Quiet())
    await story.begin(cricket)
    return story, cricket


def _update(timestamp: int) -> dict[str, Any]:
    state = {"teams": [{"name": f"Team {timestamp}"}]}
    return {"aps": {"event": "update", "timestamp": timestamp, "content-state": state}}


def _alert(title: str) -> dict[str, Any]:
    return {"aps": {"alert": {"title": title}}}


async def test_the_count_of_changes_never_falls(tmp_path: Path) -> None:
    story, cricket = await begun(tmp_path, ManualClock())
    (phone,) = story.wall.phones
    activities = [story.wall.begin(phone, {}, {}) for _ in range(9)]
    for activity in activities:
        story.wall.push(activity.token, "liveactivity", _update(1))
    before = story.changes()

    await story.look(cricket)

    assert (before, story.changes()) == (9, 9)
    assert len(phone.activities) == 6
    assert story.wall.bundle_of(activities[0].token) is None
    assert story.wall.bundle_of(activities[-1].token) == BUNDLE_ID


async def test_what_one_process_put_down_another_draws(tmp_path: Path) -> None:
    clock = ManualClock()
    story, _ = await begun(tmp_path, clock)
    (phone,) = story.wall.phones
    activity = story.wall.begin(phone, {"matchId": "7"}, {})
    story.wall.push(activity.token, "liveactivity", _update(3))
    story.wall.push(phone.device_token, "alert", _alert("Wicket"))

    story.put_screen()

    elsewhere = story_in(tmp_path, clock)
    assert elsewhere.locks() == story.locks() != []
    assert elsewhere.notifications() == [_alert("Wicket")]


async def test_a_screen_of_a_process_that_is_gone_is_not_drawn(tmp_path: Path) -> None:
    clock = ManualClock()
    story, _ = await begun(tmp_path, clock)
    (phone,) = story.wall.phones
    story.wall.begin(phone, {}, {})
    story.put_screen()

    clock.advance(3600)

    assert story_in(tmp_path, clock).locks() == []


def test_where_nobody_has_a_phone_nothing_is_shown(tmp_path: Path) -> None:
    story = story_in(tmp_path, ManualClock())

    assert (story.locks(), story.notifications(), story.changes()) == ([], [], 0)
