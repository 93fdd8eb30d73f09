"""The simulator is steered over its own addresses."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.simulators.scores.matches import read_recorded_match
from tests.simulators.scores.feed_server import Visitor, feed_at_noon, visited

pytestmark = pytest.mark.anyio

REPLAYS = "/simulator/replays"


async def play(visitor: Visitor, **wanted: Any) -> Any:
    answer = await visitor.client.post(REPLAYS, json=wanted)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_the_tapes_are_listed() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        tapes = await visitor.client.get("/simulator/recordings")

    assert tapes.json() == ["1001349", "1370353", "1178424", "1000853"]


async def test_a_match_is_put_on_the_air_held_moved_and_taken_off() -> None:
    feed, clock = feed_at_noon()
    async with visited(feed) as visitor:
        begun = await play(visitor, recording="1370353", speed=10, match_id=77, correction_seed=3)
        at = f"{REPLAYS}/77"
        held = (await visitor.client.put(at, json={"action": "pause"})).json()
        moved = (await visitor.client.put(at, json={"action": "seek", "ball": 150})).json()
        await visitor.client.put(at, json={"action": "play", "speed": 40})
        clock.advance(10)
        later = (await visitor.client.get(at)).json()
        stopped = await visitor.client.put(at, json={"action": "stop"})
        rest = (await visitor.client.get(REPLAYS)).json()

    assert (begun["match_id"], begun["speed"], begun["balls"]) == ("77", 10, 216)
    assert (held["state"], moved["state"], moved["ball"]) == ("paused", "paused", 150)
    assert (later["state"], later["ball"], later["match_status"]) == (
        "playing",
        160,
        "2nd Innings",
    )
    assert stopped.status_code == 200
    assert rest == []


async def test_a_match_can_be_moved_to_a_second_and_be_removed() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        await play(visitor, recording="generated:5:T10:tie")
        at = f"{REPLAYS}/9000005"
        moved = (await visitor.client.put(at, json={"action": "seek", "seconds": 120})).json()
        removed = await visitor.client.delete(at)
        again = await visitor.client.delete(at)

    assert (moved["seconds"], moved["ball"]) == (120, 3)
    assert (removed.status_code, again.status_code) == (200, 404)


async def test_a_match_can_be_announced_before_it_starts() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        begun = await play(visitor, recording="1001349", starts_in_seconds=1800)

    assert begun["starts_at"] == "2026-11-16T12:30:00Z"
    assert (begun["seconds"], begun["match_status"]) == (-1800, "NS")


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"recording": "nothing"}, 404),
        ({"recording": 5}, 400),
        ({"recording": "1001349", "spede": 4}, 400),
        ({"recording": "1001349", "speed": 0}, 400),
        ({"recording": "1001349", "speed": -1}, 400),
        ({"recording": "1370353"}, 409),
    ],
)
async def test_a_wish_that_cannot_be_met_is_refused(wanted: dict[str, Any], status: int) -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1370353))
    async with visited(feed) as visitor:
        answer = await visitor.client.post(REPLAYS, json=wanted)

    assert answer.status_code == status
    assert answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "order", "status"),
    [
        ("1370353", {"action": "dance"}, 400),
        ("1370353", {"action": "seek"}, 400),
        ("1370353", {"action": "play", "speed": 0}, 400),
        ("1370353", {"action": "seek", "ball": -1}, 400),
        ("1", {"action": "pause"}, 404),
        ("x", {"action": "pause"}, 404),
    ],
)
async def test_an_order_that_makes_no_sense_is_refused(
    path: str, order: dict[str, Any], status: int
) -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1370353))
    async with visited(feed) as visitor:
        answer = await visitor.client.put(f"{REPLAYS}/{path}", json=order)

    assert answer.status_code == status


async def test_malformed_replies_are_requested_and_listed() -> None:
    feed, _ = feed_at_noon()
    wanted = [{"wrong": "no data", "path": "/livescores", "times": 2}]
    async with visited(feed) as visitor:
        saved = await visitor.client.put("/simulator/malformed", json=wanted)
        wrong = await visitor.client.put("/simulator/malformed", json=[{"wrong": "bad mood"}])
        elsewhere = await visitor.client.get("/simulator/nothing")

    assert saved.json() == wanted
    assert wrong.status_code == 400
    assert elsewhere.status_code == 404
