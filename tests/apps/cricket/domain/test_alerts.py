"""Who is woken, by what, and in which words."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from grandstand.apps.cricket.domain.alerts import (
    AlertPreferences,
    build_alert,
    is_announcement_due,
    parse_event_kinds,
    should_alert,
    still_holds,
)
from grandstand.apps.cricket.domain.live_activities import validate_token
from grandstand.apps.cricket.domain.match_events import MatchEvent
from grandstand.core.errors import InvalidInput
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.domain.watcher import NOON, Watch

MINUTE = timedelta(minutes=1)
WICKET = MatchEvent("wicket", "wicket:1:11:5", "WICKET! Player 11 45 (22)", 1, 5, alert=True)
SIX = MatchEvent("six", "six:9", "SIX!", 1, 5)
THIRD = MatchEvent("bowler_on_fire", "bowler_on_fire:1:21:3", "", 1, 5, value=3)


def test_without_a_choice_only_what_alerts_by_itself_wakes() -> None:
    anyone = AlertPreferences()

    assert should_alert(anyone, WICKET, NOON)
    assert not should_alert(anyone, SIX, NOON)
    assert not should_alert(anyone, None, NOON)


def test_what_was_chosen_wakes_and_nothing_else() -> None:
    sixes = AlertPreferences(parse_event_kinds(["six", "bowler_on_fire"]))

    assert should_alert(sixes, SIX, NOON)
    assert not should_alert(sixes, WICKET, NOON)
    assert not should_alert(sixes, THIRD, NOON)


def test_what_was_held_back_wakes_nobody() -> None:
    assert not should_alert(AlertPreferences(), replace(WICKET, filtered="cooldown"), NOON)


def test_who_is_muted_is_left_in_peace_until_then() -> None:
    for_an_hour = AlertPreferences(muted_until=NOON + 60 * MINUTE)

    assert not should_alert(AlertPreferences(muted=True), WICKET, NOON)
    assert not should_alert(for_an_hour, WICKET, NOON + 59 * MINUTE)
    assert should_alert(for_an_hour, WICKET, NOON + 60 * MINUTE)


def test_what_the_feed_took_back_no_longer_holds() -> None:
    scorer, watch = Scorer(status="1st Innings"), Watch()
    watch.look(scorer.fixture())
    scorer.bowl()
    balls = [scorer.bowl(6), scorer.out(then=13)]
    told = watch.look(scorer.fixture()).events
    before = [still_holds(event, watch.seen[-1].state) for event in told]
    scorer.correct(balls[0], runs=4, six=False, four=True)
    scorer.correct(balls[1], wicket=False, credited=False, out_id=None)

    later = watch.look(scorer.fixture()).state

    after = {event.kind: still_holds(event, later) for event in told}
    assert all(before)
    assert after == {"six": False, "wicket": False, "new_batsman": True}


def test_a_milestone_holds_while_the_runs_are_there() -> None:
    scorer, watch = Scorer(status="1st Innings"), Watch()
    watch.look(scorer.fixture())
    balls = [scorer.bowl(6) for _ in range(9)]
    told = watch.look(scorer.fixture()).events
    (fifty,) = [event for event in told if event.kind == "fifty"]
    scorer.correct(balls[-1], runs=0, six=False, extras=5, extra="wide")

    later = watch.look(scorer.fixture()).state

    assert still_holds(fifty, watch.seen[1].state)
    assert not still_holds(fifty, later)


def test_a_kind_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Unknown event kind 'sixer'\. Known kinds: match_end,"):
        parse_event_kinds(["six", "sixer"])


def test_an_alert_says_how_it_stands_and_what_happened() -> None:
    scorer = Scorer(status="1st Innings")
    scorer.bowl(4)

    alert = build_alert(WICKET, scorer.fixture())

    assert (alert.title, alert.body) == ("HAR v HIL: HAR 4-0", "WICKET! Player 11 45 (22)")


def test_a_start_is_announced_half_an_hour_before_and_again_when_it_moved() -> None:
    early, due = NOON - 31 * MINUTE, NOON - 30 * MINUTE
    moved = NOON + 31 * MINUTE

    assert not is_announcement_due(NOON, early, None)
    assert is_announcement_due(NOON, due, None)
    assert not is_announcement_due(NOON, due, NOON)
    assert not is_announcement_due(NOON, NOON, None)
    assert is_announcement_due(moved, moved - MINUTE, NOON)
    assert not is_announcement_due(NOON + 30 * MINUTE, NOON + MINUTE, NOON)


@pytest.mark.parametrize("token", ["", "abc", "zz" * 32, "ab" * 300, "ab12 cd34"])
def test_a_token_that_is_not_hexadecimal_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput, match="hexadecimal digits"):
        validate_token(token)


def test_a_token_is_kept_in_small_letters() -> None:
    assert validate_token("AB" * 32) == "ab" * 32
