"""The time in a simulated world runs as fast as it is told, and recordings happen now."""

from datetime import UTC, datetime, timedelta

from grandstand.base.clock import ManualClock
from grandstand.simulators.clock import WorldClock

WALL = datetime(2026, 5, 1, 12, tzinfo=UTC)
RECORDED = datetime(2019, 7, 14, 9, 30, tzinfo=UTC)


def test_a_world_begins_at_the_walls_now() -> None:
    world = WorldClock(ManualClock(WALL))

    assert world.now() == WALL


def test_a_fast_world_lives_an_hour_in_a_minute() -> None:
    wall = ManualClock(WALL)
    world = WorldClock(wall, speed=60)

    wall.advance(60)

    assert world.now() == WALL + timedelta(hours=1)
    assert world.wall_seconds(3600) == 60


def test_sleeping_in_a_fast_world_takes_little_of_the_walls_time() -> None:
    wall = ManualClock(WALL)
    world = WorldClock(wall, speed=10)

    world.sleep(50)

    assert wall.elapsed == 5
    assert world.monotonic() == 50


def test_what_was_recorded_happens_from_now_on() -> None:
    world = WorldClock(ManualClock(WALL), recorded_from=RECORDED)

    assert world.moved(RECORDED) == WALL
    assert world.moved(RECORDED + timedelta(minutes=3)) == WALL + timedelta(minutes=3)
