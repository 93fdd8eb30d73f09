"""Where a match stands is reckoned from the wall clock; it can be held, moved and hurried."""

from __future__ import annotations

from datetime import timedelta

from grandstand.core.clock import ManualClock
from grandstand.simulators.scores.matches import read_recorded_match
from grandstand.simulators.scores.timeline import Replay, TimelineConfig, build_timeline
from tests.simulators.scores.feed_server import NOON


def replay_at(clock: ManualClock, speed: float = 1.0) -> Replay:
    record = read_recorded_match(1001349)
    return Replay(
        record, build_timeline(record, TimelineConfig()), clock, starts_at=NOON, speed=speed
    )


def test_it_follows_the_wall() -> None:
    clock = ManualClock(NOON - timedelta(hours=1))
    replay = replay_at(clock)

    clock.advance(3600 + 200)

    assert replay.position == 200
    assert replay.moment.shown == 5


def test_speed_is_seconds_of_the_match_in_one_of_the_wall() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock, speed=60)

    clock.advance(10)

    assert replay.position == 600


def test_a_pause_holds_it_and_play_goes_on_from_there() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock)
    clock.advance(100)

    replay.pause()
    clock.advance(1000)
    held = replay.position
    replay.play(speed=2)
    clock.advance(10)

    assert held == 100
    assert replay.position == 120
    assert replay.state == "playing"


def test_another_speed_goes_on_from_the_same_place() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock)
    clock.advance(100)

    replay.play(speed=10)

    assert replay.position == 100
    assert replay.speed == 10


def test_it_can_be_moved_to_a_ball_forwards_and_back() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock)

    shown = []
    for ball in (200, 30, 0):
        replay.seek_ball(ball)
        shown.append((replay.moment.shown, replay.moment.status))

    assert shown == [(200, "2nd Innings"), (30, "1st Innings"), (0, "1st Innings")]


def test_moving_a_match_that_is_held_leaves_it_held() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock)
    replay.pause()

    replay.seek(500)
    clock.advance(50)

    assert replay.position == 500
    assert replay.state == "paused"


def test_it_is_listed_from_an_hour_before_until_a_while_after() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock)
    end = replay.timeline.ends_at

    listed = []
    for second in (-3601, -3600, 0, end, end + 900, end + 901):
        replay.seek(second)
        listed.append(replay.is_listed)

    assert listed == [False, True, True, True, True, False]


def test_at_great_speed_it_is_still_listed_for_half_a_minute_after_its_end() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock, speed=1000)
    replay.seek(replay.timeline.ends_at)

    clock.advance(29)

    assert replay.is_listed


def test_a_second_of_the_match_has_its_time_on_the_wall() -> None:
    clock = ManualClock(NOON)
    replay = replay_at(clock, speed=4)

    assert replay.wall_time(400) == NOON + timedelta(seconds=100)
