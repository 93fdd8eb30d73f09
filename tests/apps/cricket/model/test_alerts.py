"""Who is woken, by what, and in which words."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.cricket.model import Detected
from grandstand.apps.cricket.model.alerts import (
    AlertChoice,
    alert_of,
    announcement_due,
    apns_priority,
    check_kinds,
    still_holds,
    wakes,
)
from grandstand.apps.cricket.model.errors import AlertKindUnknown, TokenInvalid
from grandstand.apps.cricket.model.tokens import check_token
from tests.apps.cricket.model.scorer import Scorer
from tests.apps.cricket.model.watching import NOON, Watch

MINUTE = timedelta(minutes=1)
WICKET = Detected("wicket", "wicket:1:11:5", "WICKET! Player 11 45 (22)", 1, 5, alert=True)
SIX = Detected("six", "six:9", "SIX!", 1, 5)
THIRD = Detected("bowler_on_fire", "bowler_on_fire:1:21:3", "", 1, 5, value=3)


def test_without_a_choice_only_what_alerts_by_itself_wakes() -> None:
    anyone = AlertChoice()

    assert wakes(anyone, WICKET, NOON)
    assert not wakes(anyone, SIX, NOON)
    assert not wakes(anyone, None, NOON)


def test_what_was_chosen_wakes_and_nothing_else() -> None:
    sixes = AlertChoice(check_kinds(["six", "bowler_on_fire"]))

    assert wakes(sixes, SIX, NOON)
    assert not wakes(sixes, WICKET, NOON)
    assert not wakes(sixes, THIRD, NOON)


def test_what_was_held_back_wakes_nobody() -> None:
    assert not wakes(AlertChoice(), replace(WICKET, filtered="cooldown"), NOON)


def test_who_is_muted_is_left_in_peace_until_then() -> None:
    for_an_hour = AlertChoice(muted_until=NOON + 60 * MINUTE)

    assert not wakes(AlertChoice(muted=True), WICKET, NOON)
    assert not wakes(for_an_hour, WICKET, NOON + 59 * MINUTE)
    assert wakes(for_an_hour, WICKET, NOON + 60 * MINUTE)


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
    with pytest.raises(AlertKindUnknown, match="no event 'sixer'; there are: match_end,"):
        check_kinds(["six", "sixer"])


def test_an_alert_says_how_it_stands_and_what_happened() -> None:
    scorer = Scorer(status="1st Innings")
    scorer.bowl(4)

    alert = alert_of(WICKET, scorer.fixture())

    assert (alert.title, alert.body) == ("HAR v HIL: HAR 4-0", "WICKET! Player 11 45 (22)")
    assert (apns_priority(alerts=True), apns_priority(alerts=False)) == (10, 5)


def test_a_start_is_announced_half_an_hour_before_and_again_when_it_moved() -> None:
    early, due = NOON - 31 * MINUTE, NOON - 30 * MINUTE
    moved = NOON + 31 * MINUTE

    assert not announcement_due(NOON, early, None)
    assert announcement_due(NOON, due, None)
    assert not announcement_due(NOON, due, NOON)
    assert not announcement_due(NOON, NOON, None)
    assert announcement_due(moved, moved - MINUTE, NOON)
    assert not announcement_due(NOON + 30 * MINUTE, NOON + MINUTE, NOON)


@pytest.mark.parametrize("token", ["", "abc", "zz" * 32, "ab" * 300, "ab12 cd34"])
def test_a_token_that_is_not_hexadecimal_is_refused(token: str) -> None:
    with pytest.raises(TokenInvalid, match="hexadecimal digits"):
        check_token(token)


def test_a_token_is_kept_in_small_letters() -> None:
    assert check_token("AB" * 32) == "ab" * 32
