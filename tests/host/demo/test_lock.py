"""What was pushed to a phone is drawn as its lock screen shows it."""

from grandstand.host.pages.demo import ShownTeam, shown_lock
from grandstand.simulators.push import Lock


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
    lock = Lock(
        state, {"matchId": "7"}, 1, stale=False, ended=False, alert=None, updates=3, alerts=1
    )

    shown = shown_lock(lock)

    assert shown.teams == (ShownTeam("Australia", "168-6 (20)"), ShownTeam("SL", ""))
    assert (shown.event, shown.over) == ("WICKET! D Gunaratne 52 (37)", "1 W •")
    assert (shown.words, shown.href) == ("2nd Innings · update 3", "/cricket/matches/7")


def test_a_match_that_is_over_says_so() -> None:
    lock = Lock({"result": "Won"}, {}, 1, stale=True, ended=True, alert=None, updates=1, alerts=0)

    assert shown_lock(lock).words == "Won · over · update 1"
