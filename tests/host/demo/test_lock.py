"""What was pushed to a phone is drawn as its lock screen shows it."""

from grandstand.host.pages.demo import lock_screen_view
from grandstand.simulators.push.phones import LockScreenActivity


def test_teams_event_and_over_are_shown_with_the_way_to_the_match() -> None:
    state = {
        "teams": [
            {"name": "Australia", "innings": [{"score": 168, "wickets": 6, "overs": "20"}]},
            {"code": "SL"},
        ],
        "keyEvent": {"text": "WICKET! D Gunaratne 52 (37)"},
        "thisOver": ["1", "W", "•"],
        "status": "2nd Innings",
    }
    lock = LockScreenActivity(
        state, {"matchId": "7"}, 1, stale=False, ended=False, alert=None, updates=3, alerts=1
    )

    shown = lock_screen_view(lock)

    assert shown.teams == (("Australia", "168-6 (20)"), ("SL", ""))
    assert (shown.event, shown.over) == ("WICKET! D Gunaratne 52 (37)", "1 W •")
    assert (shown.status, shown.href) == ("2nd Innings · update 3", "/cricket/matches/7")


def test_a_match_that_is_over_says_so() -> None:
    lock = LockScreenActivity(
        {"result": "Won"}, {}, 1, stale=True, ended=True, alert=None, updates=1, alerts=0
    )

    assert lock_screen_view(lock).status == "Won · over · update 1"
