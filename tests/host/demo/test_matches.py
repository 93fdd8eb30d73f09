"""Real matches are replayed round the clock, the same ones in every process."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.core.clock import ManualClock
from grandstand.host.demo.cricket import Fixtures
from grandstand.simulators.scores.feed import ScoreFeed

EARLY = datetime(2026, 11, 16, 3, 11, tzinfo=UTC)


def _at(moment: datetime) -> Fixtures:
    clock = ManualClock(moment)
    fixtures = Fixtures(ScoreFeed(clock), clock)
    fixtures.refresh()
    return fixtures


@pytest.mark.parametrize("minutes", range(0, 600, 37))
def test_at_any_time_a_match_is_on_or_just_over(minutes: int) -> None:
    fixtures = _at(EARLY + timedelta(minutes=minutes))

    on = fixtures.feed.find(fixtures.live_id)

    assert on is not None
    assert -120 <= on.position < on.timeline.ends_at + 300


def test_two_processes_play_the_same_match_at_the_same_ball() -> None:
    one, other = _at(EARLY), _at(EARLY)

    live = [each.feed.find(each.live_id) for each in (one, other)]

    assert live[0] is not None
    assert live[1] is not None
    assert (one.live_id, live[0].moment) == (other.live_id, live[1].moment)


def test_what_is_over_stays_for_a_while_and_the_next_are_announced() -> None:
    fixtures = _at(EARLY)

    past = [fixtures.feed.find(match_id) for match_id in fixtures.past_ids]

    assert all(one is not None and one.moment.ended for one in past)
    assert max(one.starts_at for one in fixtures.feed.replays) > EARLY + timedelta(hours=3)


def test_matches_come_and_go_with_time() -> None:
    clock = ManualClock(EARLY)
    fixtures = Fixtures(ScoreFeed(clock), clock)
    fixtures.refresh()
    before = {one.match_id for one in fixtures.feed.replays}
    clock.advance(6 * 3600)

    fixtures.refresh()

    after = {one.match_id for one in fixtures.feed.replays}
    assert len(after) == len(before)
    assert min(after) > min(before)
