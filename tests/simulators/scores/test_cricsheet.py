"""A file of a match is read whole: its people, its balls, its result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grandstand.simulators.scores.cricsheet import (
    RECORDED_MATCHES,
    find_match,
    find_timeline_config,
    parse_cricsheet,
    read_recorded_match,
)
from grandstand.simulators.scores.match_record import InvalidRecording, RecordingNotFound
from grandstand.simulators.scores.scorecard import Scorebook

PEOPLE = {"A North": "00000b00", "B West": "00000c00", "G South": "00001500"}


def ball(**given: Any) -> dict[str, Any]:
    told = {"batter": "A North", "non_striker": "B West", "bowler": "G South"}
    return {**told, "runs": {"batter": 0, "extras": 0, "total": 0}, **given}


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


@pytest.mark.parametrize(
    ("number", "scores"),
    [
        (1001349, [(168, 6, 20), (172, 5, 20)]),
        (1370353, [(214, 4, 20), (171, 5, 15)]),
        (1178424, [(62, 7, 5), (41, 1, 3.2)]),
        (1000853, [(85, 10, 32.5), (326, 10, 100.5), (161, 10, 60.1)]),
    ],
)
def test_a_real_match_comes_to_its_known_scores(
    number: int, scores: list[tuple[int, int, float]]
) -> None:
    tape = read_recorded_match(number)

    sheets = Scorebook(tape).after(len(tape.deliveries))

    assert [(sheet.runs, sheet.wickets, sheet.overs) for sheet in sheets] == scores


@pytest.mark.parametrize("number", RECORDED_MATCHES)
def test_everybody_in_a_real_match_has_a_number_of_their_own(number: int) -> None:
    tape = read_recorded_match(number)

    ids = [player.id for player in tape.players]

    assert len(set(ids)) == len(ids) >= 22
    assert max(ids) < 16**5


def test_an_illegal_ball_has_the_number_of_the_next_one() -> None:
    wide = ball(extras={"wides": 1}, runs={"batter": 0, "extras": 1, "total": 1})

    tape = parse_cricsheet(1, match(ball(), wide, ball(), ball()))

    assert [each.number for each in tape.deliveries] == [1, 2, 2, 3]


def test_four_runs_that_were_run_are_no_boundary() -> None:
    hit = {"batter": 4, "extras": 0, "total": 4}

    tape = parse_cricsheet(1, match(ball(runs=hit), ball(runs={**hit, "non_boundary": True})))

    assert [each.boundary for each in tape.deliveries] == [True, False]


def test_somebody_retired_hurt_is_no_wicket() -> None:
    hurt = ball(wickets=[{"player_out": "A North", "kind": "retired hurt"}])

    (found,) = parse_cricsheet(1, match(hurt)).deliveries

    assert found.dismissal is not None
    assert not found.wicket


@pytest.mark.parametrize(
    ("outcome", "note", "no_result"),
    [
        ({"winner": "Marsh End", "by": {"wickets": 1}}, "Marsh End won by 1 wicket", None),
        (
            {"winner": "Marsh End", "by": {"runs": 9}, "method": "D/L"},
            "Marsh End won by 9 runs (D/L method)",
            None,
        ),
        ({"result": "tie", "eliminator": "Hill City"}, "Hill City won the super over", None),
        ({"result": "draw"}, "Match drawn", "Match drawn"),
        ({"result": "no result"}, "No result", "No result"),
    ],
)
def test_a_result_is_written_as_the_feed_does(
    outcome: dict[str, Any], note: str, no_result: str | None
) -> None:
    tape = parse_cricsheet(1, match(ball(), outcome=outcome))

    assert tape.outcome.note == note
    assert tape.outcome.no_result == no_result


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"info": {}}',
        match(ball(), match_type="Hundred"),
        match(ball(bowler="a stranger")),
        match(ball(), registry={"people": {**PEOPLE, "A North": "not hex"}}),
    ],
)
def test_a_file_that_is_no_match_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidRecording):
        parse_cricsheet(1, content)


@pytest.mark.parametrize("name", ["7", "1370353.json", "generated:x", "generated:1:Chess", ""])
def test_a_tape_that_does_not_exist_is_unknown(name: str) -> None:
    with pytest.raises(RecordingNotFound):
        find_match(name)


def test_courses_are_for_matches_with_rain_only() -> None:
    assert [number for number in RECORDED_MATCHES if find_timeline_config(number)] == [
        1370353,
        1178424,
    ]
