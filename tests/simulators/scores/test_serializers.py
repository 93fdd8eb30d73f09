"""A delivery becomes a score object by the feed's arithmetic."""

from typing import Any

import pytest

from grandstand.simulators.scores.match_record import Dismissal
from grandstand.simulators.scores.serializers import dismissal_row, score_row
from tests.simulators.scores.feed_server import ADA, BEA, delivery


def out(kind: str) -> Dismissal:
    return Dismissal(ADA, kind)


@pytest.mark.parametrize(
    ("given", "name", "told"),
    [
        ({}, "0 Run", {"runs": 0, "ball": True}),
        ({"runs": 1}, "1 Run", {"runs": 1}),
        ({"runs": 3}, "3 Runs", {"runs": 3, "four": False}),
        ({"runs": 4, "boundary": True}, "FOUR", {"runs": 4, "four": True, "six": False}),
        ({"runs": 4}, "4 Runs", {"runs": 4, "four": False}),
        ({"runs": 6, "boundary": True}, "SIX", {"runs": 6, "six": True, "four": False}),
        ({"wides": 1}, "1 Wide", {"runs": 1, "ball": False, "noball": 0}),
        ({"wides": 5}, "5 Wides", {"runs": 5, "ball": False}),
        (
            {"noballs": 1, "runs": 1},
            "1 No Ball + 1 Run",
            {"runs": 2, "noball": 1, "noball_runs": 1, "ball": False},
        ),
        (
            {"noballs": 1, "runs": 6, "boundary": True},
            "1 No Ball + 6 Runs",
            {"runs": 7, "noball_runs": 1, "six": True},
        ),
        ({"noballs": 1, "legbyes": 2}, "1 No Ball + 2 Leg Byes", {"runs": 1, "leg_bye": 2}),
        ({"byes": 4}, "4 Byes", {"runs": 0, "bye": 4, "four": False, "ball": True}),
        ({"legbyes": 1}, "1 Leg Bye", {"runs": 0, "leg_bye": 1}),
        ({"dismissal": out("caught")}, "Catch Out", {"is_wicket": True, "out": True}),
        ({"dismissal": out("lbw")}, "LBW OUT", {"is_wicket": True}),
        ({"dismissal": out("run out"), "runs": 1}, "Run Out + 1 Run", {"is_wicket": True}),
        (
            {"dismissal": out("stumped"), "wides": 1},
            "Stump Out + 1 Wide",
            {"runs": 1, "is_wicket": True, "ball": False},
        ),
        ({"dismissal": out("retired hurt")}, "Retired Hurt", {"is_wicket": False, "out": False}),
    ],
)
def test_a_delivery_has_its_name_and_figures(
    given: dict[str, Any], name: str, told: dict[str, object]
) -> None:
    score = score_row(delivery(**given))

    assert score["name"] == name
    assert told.items() <= score.items()


def test_the_same_score_has_the_same_number_and_another_one_another() -> None:
    one, same, other = (score_row(delivery(runs=runs)) for runs in (1, 1, 2))

    assert one["id"] == same["id"] != other["id"]


def test_somebody_who_is_in_is_not_out() -> None:
    assert dismissal_row(None)["name"] == "Not Out"
    assert dismissal_row(None)["is_wicket"] is False
    assert dismissal_row(Dismissal(BEA, "bowled"))["is_wicket"] is True
