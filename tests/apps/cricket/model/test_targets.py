"""What a status means, what an innings must reach, and when it is over."""

from decimal import Decimal

import pytest

from grandstand.apps.cricket.model import Fixture, InningsScore, MatchPhase, Revision
from grandstand.apps.cricket.model.phases import overs_allowed, phase_of, regular_innings
from grandstand.apps.cricket.model.rates import Chase, chase_of
from grandstand.apps.cricket.model.scores import overs_of, position
from grandstand.apps.cricket.model.targets import inning_now, is_complete, target_of
from tests.apps.cricket.model.scorer import AWAY, HOME


def _stands(*scores: tuple[str, int, int, str], **given: object) -> Fixture:
    innings = tuple(
        InningsScore(team, n, score, wickets, Decimal(overs))
        for n, (team, score, wickets, overs) in enumerate(scores, 1)
    )
    told: dict[str, object] = {"format": "T20", "innings": innings}
    return Fixture("1", "2nd Innings", HOME, AWAY, **{**told, **given})  # type: ignore[arg-type]


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
    assert phase_of(status) == phase


def test_formats_have_their_innings_and_overs() -> None:
    assert [regular_innings(each) for each in ("Test", "4day", "T20I", "ODI")] == [4, 4, 2, 2]
    assert [overs_allowed(each) for each in ("Test", "T20I", "ODI", "?")] == [None, 20, 50, None]


def test_overs_and_balls_are_turned_into_each_other() -> None:
    assert (position(Decimal("17.3")), overs_of(105)) == (105, Decimal("17.3"))
    assert position(Decimal("19.6")) == position(Decimal(20)) == 120


def test_an_innings_begins_with_its_first_ball() -> None:
    assert inning_now(_stands(("1", 90, 10, "18.2"), ("2", 0, 0, "0"))) == 1
    assert inning_now(_stands(("1", 90, 10, "18.2"), ("2", 0, 0, "0.1"))) == 2
    assert inning_now(_stands()) == 1


def test_a_revised_target_takes_the_place_of_the_first_innings() -> None:
    plain = _stands(("1", 214, 4, "20"), ("2", 40, 0, "4"))
    revised = _stands(("1", 214, 4, "20"), ("2", 40, 0, "4"), revision=Revision(171, Decimal(15)))

    assert (target_of(plain, 1), target_of(plain, 2), target_of(revised, 2)) == (None, 215, 171)
    assert chase_of(revised, 2) == Chase(171, 131, 66, "11.91")


def test_the_last_innings_of_a_test_chases_what_is_left() -> None:
    test = _stands(
        ("1", 300, 10, "90"),
        ("2", 250, 10, "80"),
        ("1", 200, 10, "70"),
        ("2", 10, 0, "3"),
        format="Test",
    )

    assert chase_of(test, 4) == Chase(251, 241, None, None)
    assert target_of(test, 3) is None


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

    assert is_complete(match, match.innings[-1]) is done


def test_a_super_over_has_six_balls_and_two_wickets() -> None:
    tied = [("1", 90, 5, "20"), ("2", 90, 5, "20")]

    ends = [
        _stands(*tied, ("2", 4, 2, "0.3")),
        _stands(*tied, ("2", 12, 0, "1")),
        _stands(*tied, ("2", 12, 0, "1"), ("1", 13, 0, "0.4")),
        _stands(*tied, ("2", 12, 1, "0.5")),
    ]

    done = [is_complete(match, match.innings[-1]) for match in ends]

    assert done == [True, True, True, False]
