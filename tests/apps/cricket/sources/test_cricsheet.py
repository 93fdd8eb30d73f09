"""Cricsheet files are read and played ball by ball."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grandstand.apps.cricket.domain.matches import Ball, MatchSnapshot
from grandstand.apps.cricket.sources.cricsheet import is_cricsheet, play_cricsheet
from grandstand.core.errors import InvalidInput

CRICSHEET = Path(__file__).parents[1] / "cricsheet"
MATCHES = (1001349, 1370353, 1178424, 1000853)
PEOPLE = {"A North": "00000b00", "B West": "00000c00", "G South": "00001500"}


def ball(**given: Any) -> dict[str, Any]:
    players = {"batter": "A North", "non_striker": "B West", "bowler": "G South"}
    return {**players, "runs": {"batter": 0, "extras": 0, "total": 0}, **given}


def match(*balls: dict[str, Any], **info: Any) -> bytes:
    """A short match with one over."""
    known = {
        "match_type": "T20",
        "team_type": "club",
        "season": "2026",
        "teams": ["Hill City", "Marsh End"],
        "players": {"Hill City": ["A North", "B West"], "Marsh End": ["G South"]},
        "registry": {"people": PEOPLE},
        "toss": {"winner": "Hill City", "decision": "bat"},
        "outcome": {"winner": "Hill City", "by": {"runs": 1}},
    }
    innings = [{"team": "Hill City", "overs": [{"over": 0, "deliveries": list(balls)}]}]
    return json.dumps({"info": {**known, **info}, "innings": innings}).encode()


def play(number: int) -> list[MatchSnapshot]:
    content = (CRICSHEET / f"{number}.json").read_bytes()
    return [snapshot for _, snapshot in play_cricsheet(content)]


def last(content: bytes) -> MatchSnapshot:
    return [snapshot for _, snapshot in play_cricsheet(content)][-1]


def balls_of(content: bytes) -> tuple[Ball, ...]:
    return last(content).balls


@pytest.mark.parametrize(
    ("number", "scores"),
    [
        (1001349, [(168, 6, "20"), (172, 5, "20")]),
        (1370353, [(214, 4, "20"), (171, 5, "15")]),
        (1178424, [(62, 7, "5"), (41, 1, "3.2")]),
        (1000853, [(85, 10, "32.5"), (326, 10, "100.5"), (161, 10, "60.1")]),
    ],
)
def test_a_real_match_comes_to_its_known_scores(
    number: int, scores: list[tuple[int, int, str]]
) -> None:
    innings = play(number)[-1].innings

    assert [(each.score, each.wickets, str(each.overs)) for each in innings] == scores


@pytest.mark.parametrize("number", MATCHES)
def test_everybody_in_a_real_match_has_a_number_of_their_own(number: int) -> None:
    snapshot = play(number)[-1]

    batted = {line.player_id for board in snapshot.boards for line in board.batting}
    bowled = {line.player_id for board in snapshot.boards for line in board.bowling}
    assert len(snapshot.players) >= 22
    assert batted | bowled <= snapshot.players.keys()


@pytest.mark.parametrize("number", MATCHES)
def test_figures_add_up_to_the_score(number: int) -> None:
    snapshot = play(number)[-1]

    for score, board in zip(snapshot.innings, snapshot.boards, strict=True):
        assert sum(line.score for line in board.batting) <= score.score
        assert sum(line.out for line in board.batting) == score.wickets
        falls = [line.fall_score or 0 for line in board.batting if line.out]
        assert max(falls, default=0) <= score.score
        assert sum(line.wickets for line in board.bowling) <= score.wickets


def test_a_match_goes_from_before_its_start_to_its_end() -> None:
    steps = list(play_cricsheet((CRICSHEET / "1178424.json").read_bytes()))

    times = [at for at, _ in steps]
    assert times == sorted(times)
    assert (steps[0][1].status, steps[-1][1].status) == ("NS", "Finished")
    assert len(steps[-1][1].balls) == 51


def test_a_test_match_has_sessions() -> None:
    statuses = {snapshot.status for snapshot in play(1000853)}

    assert {"Lunch", "Tea Break", "Stump Day 1", "Innings Break", "3rd Innings"} <= statuses


def test_an_illegal_ball_has_the_number_of_the_next_one() -> None:
    wide = ball(extras={"wides": 1}, runs={"batter": 0, "extras": 1, "total": 1})

    balls = balls_of(match(ball(), wide, ball(), ball()))

    assert [each.number for each in balls] == [1, 2, 2, 3]
    assert balls[1].extra == "wide"


def test_four_runs_that_were_run_are_no_boundary() -> None:
    hit = {"batter": 4, "extras": 0, "total": 4}

    balls = balls_of(match(ball(runs=hit), ball(runs={**hit, "non_boundary": True})))

    assert [each.four for each in balls] == [True, False]


def test_somebody_retired_hurt_is_no_wicket() -> None:
    hurt = ball(wickets=[{"player_out": "A North", "kind": "retired hurt"}])

    snapshot = last(match(hurt))

    assert not snapshot.balls[0].wicket
    assert snapshot.innings[0].wickets == 0
    assert not snapshot.boards[0].batting[0].out


def test_a_run_out_is_no_wicket_of_the_bowler() -> None:
    out = ball(wickets=[{"player_out": "B West", "kind": "run out"}])

    snapshot = last(match(out))

    (board,) = snapshot.boards
    assert [line.out for line in board.batting] == [False, True]
    assert (snapshot.innings[0].wickets, board.bowling[0].wickets) == (1, 0)


@pytest.mark.parametrize(
    ("outcome", "note", "no_result"),
    [
        ({"winner": "Marsh End", "by": {"wickets": 1}}, "Marsh End won by 1 wicket", ""),
        (
            {"winner": "Marsh End", "by": {"runs": 9}, "method": "D/L"},
            "Marsh End won by 9 runs (D/L method)",
            "",
        ),
        (
            {"winner": "Marsh End", "by": {"innings": 1, "runs": 1}},
            "Marsh End won by an innings and 1 run",
            "",
        ),
        ({"result": "tie", "eliminator": "Hill City"}, "Hill City won the super over", ""),
        ({"result": "draw"}, "Match drawn", "Match drawn"),
        ({"result": "no result"}, "No result", "No result"),
    ],
)
def test_a_result_is_written_as_the_feed_does(
    outcome: dict[str, Any], note: str, no_result: str
) -> None:
    snapshot = last(match(ball(), outcome=outcome))

    assert (snapshot.note, snapshot.no_result) == (note, no_result)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"info": {}}',
        b'{"info": {}, "innings": []}',
        match(ball(), match_type="Hundred"),
        match(ball(bowler="a stranger")),
        match(ball(), registry={"people": {**PEOPLE, "A North": "not hex"}}),
    ],
)
def test_a_file_that_is_no_match_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        play_cricsheet(content)


def test_cricsheet_files_are_distinguished_from_feed_responses() -> None:
    assert is_cricsheet(match(ball()))
    assert not is_cricsheet(b'{"data": {"id": 1}}')
    assert not is_cricsheet(b'{"id": 1}\n{"id": 1}')
