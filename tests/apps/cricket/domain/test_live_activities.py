"""A Live Activity begins once, is renewed in time, and ends when it should."""

from datetime import timedelta

import pytest

from grandstand.apps.cricket.domain.live_activities import (
    Lifetimes,
    decide_start,
    dismissal_date,
    follow_expiry,
    is_expired_by_ios,
    is_heartbeat_due,
    is_rejection_current,
    is_restart_due,
    session_expiry,
    stale_date,
)
from grandstand.apps.cricket.domain.matches import MatchPhase
from tests.apps.cricket.domain.watcher import NOON

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
USUAL = Lifetimes()


def test_a_start_is_not_sent_again_while_the_first_may_be_on_its_way() -> None:
    once = (1, NOON)

    answers = [decide_start(*once, NOON + n * MINUTE, USUAL) for n in (1, 2)]

    assert decide_start(0, None, NOON, USUAL) == "start"
    assert answers == ["wait", "start"]


def test_starts_become_rarer_and_then_stop() -> None:
    thrice, done = (3, NOON), (4, NOON)

    answers = [decide_start(*thrice, NOON + n * MINUTE, USUAL) for n in (7, 8)]

    assert answers == ["wait", "start"]
    assert decide_start(*done, NOON + 9 * HOUR, USUAL) == "give_up"


@pytest.mark.parametrize(
    ("phase", "minutes", "due"),
    [
        ("live", 464, False),
        ("live", 465, True),
        ("break", 389, False),
        ("break", 390, True),
        ("ended", 470, False),
    ],
)
def test_an_activity_is_renewed_before_eight_hours_and_sooner_in_a_break(
    *, phase: MatchPhase, minutes: int, due: bool
) -> None:
    now = NOON + minutes * MINUTE

    assert is_restart_due(NOON, phase, now, USUAL) is due
    assert not is_expired_by_ios(NOON, now)
    assert is_expired_by_ios(NOON, NOON + 8 * HOUR)


def test_a_state_grows_stale_later_while_play_rests_and_a_heartbeat_comes_before() -> None:
    assert stale_date("live", NOON, USUAL) == NOON + 15 * MINUTE
    assert stale_date("break", NOON, USUAL) == NOON + 90 * MINUTE
    assert not is_heartbeat_due(NOON, "live", NOON + 7 * MINUTE, USUAL)
    assert is_heartbeat_due(NOON, "live", NOON + 8 * MINUTE, USUAL)
    assert not is_heartbeat_due(NOON, "ended", NOON + 9 * HOUR, USUAL)


def test_an_unfollowed_activity_goes_at_once_and_a_finished_one_stays_a_while() -> None:
    assert dismissal_date(NOON, USUAL, at_once=True) == NOON
    assert dismissal_date(NOON, USUAL) == NOON + 30 * MINUTE


def test_a_rejection_of_an_older_token_does_not_count() -> None:
    assert not is_rejection_current(NOON - MINUTE, NOON)
    assert is_rejection_current(NOON, NOON)
    assert is_rejection_current(None, NOON)


def test_a_follow_outlives_a_test_of_five_days() -> None:
    end, fifth_day = NOON + 101 * HOUR, NOON + 110 * HOUR

    assert follow_expiry(NOON, None, NOON - HOUR, USUAL) == NOON + 48 * HOUR
    assert follow_expiry(NOON, end, NOON, USUAL) == end + 48 * HOUR
    assert follow_expiry(NOON, end, fifth_day, USUAL) == fifth_day + 48 * HOUR
    assert session_expiry(NOON, end, USUAL) == end + 24 * HOUR
