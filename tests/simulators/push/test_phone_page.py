"""The wall shows what every lock screen shows, on a page and as JSON."""

from random import Random
from typing import Any

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.push.phone_page import wall_application, wall_page
from grandstand.simulators.push.phones import PhoneWall
from grandstand.simulators.serving import serve

pytestmark = pytest.mark.anyio

_STATE = {
    "status": "2nd Innings",
    "thisOver": ["1", "W"],
    "keyEvent": {"text": "<b>Wicket</b>"},
    "teams": [{"name": "India", "innings": [{"score": 120, "wickets": 4, "overs": "14.2"}]}],
}


@pytest.fixture
def wall() -> PhoneWall:
    made = PhoneWall(ManualClock(), Random(3))
    made.begin(made.add("Asha", "org.example"), {}, dict(_STATE))
    made.add("Ravi", "org.example")
    return made


def test_a_lock_screen_is_drawn_with_score_event_and_over(wall: PhoneWall) -> None:
    page = wall_page(wall)

    assert "India</span><span>120-4 (14.2)" in page
    assert "&lt;b&gt;Wicket&lt;/b&gt;" in page
    assert "2nd Innings · 0 updates, 0 alerts" in page
    assert "2 phones, Live Activities: 1 running" in page
    assert page.count("Nothing on the lock screen") == 1


def test_a_plain_notification_is_on_the_screen(wall: PhoneWall) -> None:
    payload = {"aps": {"alert": {"title": "Soon", "body": "In 30 minutes"}}}
    wall.push(wall.phones[1].device_token, "alert", payload)

    page = wall_page(wall)

    assert "<strong>Soon</strong>" in page


async def test_the_same_can_be_had_as_json(wall: PhoneWall) -> None:
    parts = SourceRegistry(clock=SystemClock(), random=Random(1), metrics=Metrics())

    async with serve(wall_application(wall)) as address, parts as web:
        answer = await web.source("wall", base_url=f"http://{address}").get("/phones")

    told = answer.json(dict[str, Any])
    assert told["Asha"]["locks"][0]["state"] == _STATE
    assert told["Ravi"]["locks"] == []
