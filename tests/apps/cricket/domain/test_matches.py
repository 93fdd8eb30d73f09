"""What a status means, what an innings must reach, and when it is over."""

from decimal import Decimal

import pytest

from grandstand.apps.cricket.domain.matches import (
    Chase,
    InningsScore,
    MatchPhase,
    MatchSnapshot,
    Revision,
    balls_to_overs,
    compute_chase,
    count_regular_innings,
    current_inning,
    is_innings_complete,
    overs_per_innings,
    overs_to_balls,
    phase_for_status,
    winning_target,
)
from tests.apps.cricket.domain.scorer import AWAY, HOME


def _stands(*scores: tuple[str, int, int, str], **given: object) -> MatchSnapshot:
    innings = tuple(
        InningsScore(team, n, score, wickets, Decimal(overs))
        for n, (team, score, wickets, overs) in enumerate(scores, 1)
    )
    told: dict[str, object] = {"format": "T20", "innings": innings}
    return MatchSnapshot("1", "2nd Innings", HOME, AWAY, **{**told, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ("NS", "prematch"),
        ("Delayed", "prematch"),
        ("Postp.", "prematch"),
        ("4th Innings", "live"),
        ("Innings Break", "break"),
        ("Stump Day 4", "break"),
        ("Int.", "break"),
        ("Finished", "ended"),
        ("Aban.", "ended"),
        ("Cancl", "ended"),
        ("Drinks", None),
        ("", None),
    ],
)
def test_a_status_means_a_phase_or_nothing(status: str, phase: MatchPhase | None) -> None:
    assert phase_for_status(status) == phase


def test_formats_have_their_innings_and_overs() -> None:
    assert [count_regular_innings(each) for each in ("Test", "4day", "T20I", "ODI")] == [4, 4, 2, 2]
    assert [overs_per_innings(each) for each in ("Test", "T20I", "ODI", "?")] == [
        None,
        20,
        50,
        None,
    ]


def test_overs_and_balls_are_turned_into_each_other() -> None:
    assert (overs_to_balls(Decimal("17.3")), balls_to_overs(105)) == (105, Decimal("17.3"))
    assert overs_to_balls(Decimal("19.6")) == overs_to_balls(Decimal(20)) == 120


def test_an_innings_begins_with_its_first_ball() -> None:
    assert current_inning(_stands(("1", 90, 10, "18.2"), ("2", 0, 0, "0"))) == 1
    assert current_inning(_stands(("1", 90, 10, "18.2"), ("2", 0, 0, "0.1"))) == 2
    assert current_inning(_stands()) == 1


def test_a_revised_target_takes_the_place_of_the_first_innings() -> None:
    plain = _stands(("1", 214, 4, "20"), ("2", 40, 0, "4"))
    revised = _stands(("1", 214, 4, "20"), ("2", 40, 0, "4"), revision=Revision(171, Decimal(15)))

    assert (winning_target(plain, 1), winning_target(plain, 2), winning_target(revised, 2)) == (
        None,
        215,
        171,
    )
    assert compute_chase(revised, 2) == Chase(171, 131, 66, "11.91")


def test_the_last_innings_of_a_test_chases_what_is_left() -> None:
    test = _stands(
        ("1", 300, 10, "90"),
        ("2", 250, 10, "80"),
        ("1", 200, 10, "70"),
        ("2", 10, 0, "3"),
        format="Test",
    )

    assert compute_chase(test, 4) == Chase(251, 241, None, None)
    assert winning_target(test, 3) is None


@pytest.mark.parametrize(
    ("first", "second", "done"),
    [
        (("1", 90, 10, "18.2"), None, True),
        (("1", 90, 5, "19.6"), None, True),
        (("1", 90, 5, "19.5"), None, False),
        (("1", 90, 5, "20"), ("2", 91, 1, "9"), True),
        (("1", 90, 5, "20"), ("2", 90, 1, "9"), False),
    ],
)
def test_an_innings_is_over_when_nobody_is_left_no_ball_is_or_nothing_is_needed(
    *, first: tuple[str, int, int, str], second: tuple[str, int, int, str] | None, done: bool
) -> None:
    match = _stands(first, *([second] if second else []))

    assert is_innings_complete(match, match.innings[-1]) is done


def test_a_super_over_has_six_balls_and_two_wickets() -> None:
    tied = [("1", 90, 5, "20"), ("2", 90, 5, "20")]

    ends = [
        _stands(*tied, ("2", 4, 2, "0.3")),
        _stands(*tied, ("2", 12, 0, "1")),
        _stands(*tied, ("2", 12, 0, "1"), ("1", 13, 0, "0.4")),
        _stands(*tied, ("2", 12, 1, "0.5")),
    ]

    done = [is_innings_complete(match, match.innings[-1]) for match in ends]

    assert done == [True, True, True, False]
