"""What a lock screen shows is right, and small enough for one push."""

from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest

from grandstand.apps.cricket.domain.display import (
    MAX_CONTENT_BYTES,
    DisplayBatter,
    DisplayBowler,
    DisplayInnings,
    DisplayKeyEvent,
    DisplayMoment,
    ball_symbol,
    build_display_state,
    content_state,
    encode_content_state,
)
from grandstand.apps.cricket.domain.match_events import MatchEvent
from grandstand.apps.cricket.domain.matches import (
    Competition,
    InningsScore,
    MatchSnapshot,
    Side,
)
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.domain.watcher import NOON

NOW = DisplayMoment(NOON, 7)
EPOCH = int(NOON.timestamp())


@pytest.fixture
def scorer() -> Scorer:
    return Scorer(status="1st Innings")


def test_the_innings_played_is_shown_with_who_bats_and_bowls(scorer: Scorer) -> None:
    scorer.bowl(4)
    scorer.bowl(1)

    shown = build_display_state(scorer.fixture(), NOW)

    assert shown.teams[0].innings == (DisplayInnings(1, 5, 0, "0.2"),)
    assert shown.striker == DisplayBatter("Player 12", 0, 0, 0, 0)
    assert shown.non_striker == DisplayBatter("Player 11", 5, 2, 1, 0)
    assert shown.bowler == DisplayBowler("Player 21", "0.2-0-5-0")
    assert (shown.this_over, shown.run_rate, shown.partnership) == (("4", "1"), "15.00", "5")
    assert (shown.seq, shown.updated_at, shown.batting_team_id) == (7, EPOCH, "1")


def test_at_the_end_of_an_over_the_other_batter_faces(scorer: Scorer) -> None:
    for _ in range(6):
        scorer.bowl()

    shown = build_display_state(scorer.fixture(), NOW)

    assert shown.striker is not None
    assert shown.striker.name == "Player 12"


def test_after_a_wicket_who_came_in_is_shown(scorer: Scorer) -> None:
    scorer.bowl(2)
    scorer.out(then=13)

    shown = build_display_state(scorer.fixture(), NOW)

    at_the_crease = {each.name for each in (shown.striker, shown.non_striker) if each}
    assert at_the_crease == {"Player 12", "Player 13"}
    assert shown.last_wicket == "Player 11 2 (2), 0.2 ov"
    assert (shown.partnership, shown.this_over) == ("0", ("2", "W"))


def test_a_chase_shows_what_is_needed(scorer: Scorer) -> None:
    scorer.bowl(6)
    scorer.innings(2, "2nd Innings")
    scorer.bowl(1)

    shown = build_display_state(scorer.fixture(), NOW)

    assert (shown.target, shown.runs_needed, shown.balls_left) == (7, 6, 119)
    assert (shown.required_rate, shown.run_rate) == ("0.30", "6.00")


def test_who_is_for_a_team_sees_it_first(scorer: Scorer) -> None:
    codes = [
        [team.code for team in build_display_state(scorer.fixture(), NOW, team).teams]
        for team in ("1", "2", "neutral")
    ]

    assert codes == [["HAR", "HIL"], ["HIL", "HAR"], ["HAR", "HIL"]]


def test_what_happened_and_the_result_are_shown(scorer: Scorer) -> None:
    ended = scorer.fixture(status="Finished", note="Hill City won by 7 wickets")
    event = MatchEvent("match_end", "match_end", "Hill City won by 7 wickets", 2)

    shown = build_display_state(ended, replace(NOW, event=event))

    assert (shown.phase, shown.result) == ("ended", "Hill City won by 7 wickets")
    assert shown.key_event == DisplayKeyEvent("match_end", "Hill City won by 7 wickets", EPOCH)


@pytest.mark.parametrize(
    ("given", "mark"),
    [
        ({}, "•"),
        ({"runs": 4}, "4"),
        ({"extras": 5, "extra": "wide"}, "5wd"),
        ({"runs": 4, "extras": 1, "extra": "noball"}, "5nb"),
        ({"extras": 2, "extra": "legbye"}, "2lb"),
        ({"wicket": True}, "W"),
        ({"runs": 1, "wicket": True}, "W1"),
    ],
)
def test_a_ball_is_written_as_scorers_do(
    scorer: Scorer, given: dict[str, object], mark: str
) -> None:
    ball = scorer.bowl(**given)  # type: ignore[arg-type]

    assert ball_symbol(ball) == mark


def test_what_is_not_known_is_left_out_of_the_push(scorer: Scorer) -> None:
    told = content_state(build_display_state(scorer.fixture(status="NS", boards=()), NOW))

    assert told["matchId"] == "71344"
    assert "striker" not in told
    assert "keyEvent" not in told


@pytest.mark.parametrize("letter", ["W", "ශ", "\N{CRICKET BAT AND BALL}", '"', "\x01"])
def test_the_longest_names_and_four_innings_fit_into_a_push(letter: str) -> None:
    full = _longest(letter)
    event = MatchEvent("hundred", "hundred:4:1:100", letter * 400, 4)

    shown = build_display_state(full, DisplayMoment(NOON, 10**6, event))

    assert len(encode_content_state(shown)) <= MAX_CONTENT_BYTES
    assert msgspec.json.decode(encode_content_state(shown)) == content_state(shown)
    assert [len(team.innings) for team in shown.teams] == [2, 2]
    assert shown.striker is not None
    assert shown.key_event is not None


def _longest(letter: str) -> MatchSnapshot:
    scorer = Scorer(format="Test", status="4th Innings")
    for _ in range(29):
        scorer.bowl(6, extras=5, extra="noball")
    scorer.out(then=13)
    name, image = letter * 300, "https://images.example/" + "t" * 90
    played = scorer.fixture()
    boards = tuple(replace(board, inning=4) for board in played.boards)
    return replace(
        played,
        home=Side("1" * 9, name, name, image),
        away=Side("2" * 9, name, name, image),
        competition=Competition(name=name),
        venue=name,
        note=name,
        elected="bowling",
        toss_team_id="1" * 9,
        innings=tuple(
            InningsScore(str(2 - n % 2) * 9, n, 1234, 10, Decimal("200.5")) for n in range(1, 5)
        ),
        boards=boards,
        balls=tuple(replace(ball, inning=4) for ball in played.balls),
        players=dict.fromkeys(range(60), name),
    )
