"""Every field the feed is known to have is there, in the type it is known to have."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from types import NoneType
from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.simulators.scores.matches import (
    RECORDED_MATCHES,
    find_timeline_config,
    generate_match,
    read_recorded_match,
)
from grandstand.simulators.scores.serializers import (
    INCLUDES,
    FixtureSerializer,
    league_row,
    season_row,
    stage_row,
    team_row,
    venue_row,
)
from grandstand.simulators.scores.timeline import Replay, TimelineConfig, build_timeline
from tests.simulators.scores.feed_server import NOON

Kinds = type | tuple[type, ...]

NUMBER: Kinds = (int, float)
TEXT_OR_NONE: Kinds = (str, NoneType)
ID_OR_NONE: Kinds = (int, NoneType)
EVERYTHING = (
    *(INCLUDES - {"batting", "bowling"}),
    *("batting.batsman", "batting.bowler", "batting.result", "bowling.bowler"),
)
FIXTURE: dict[str, Kinds] = {
    "resource": str,
    "id": int,
    "league_id": int,
    "season_id": int,
    "stage_id": int,
    "round": str,
    "localteam_id": int,
    "visitorteam_id": int,
    "starting_at": str,
    "type": str,
    "live": bool,
    "status": str,
    "last_period": TEXT_OR_NONE,
    "note": str,
    "venue_id": int,
    "toss_won_team_id": ID_OR_NONE,
    "winner_team_id": ID_OR_NONE,
    "draw_noresult": TEXT_OR_NONE,
    "first_umpire_id": ID_OR_NONE,
    "second_umpire_id": ID_OR_NONE,
    "tv_umpire_id": ID_OR_NONE,
    "referee_id": ID_OR_NONE,
    "man_of_match_id": ID_OR_NONE,
    "man_of_series_id": ID_OR_NONE,
    "total_overs_played": ID_OR_NONE,
    "elected": TEXT_OR_NONE,
    "super_over": bool,
    "follow_on": bool,
    "localteam_dl_data": dict,
    "visitorteam_dl_data": dict,
    "rpc_overs": TEXT_OR_NONE,
    "rpc_target": TEXT_OR_NONE,
    "weather_report": list,
}
RUNS: dict[str, Kinds] = {
    "resource": str,
    "id": int,
    "fixture_id": int,
    "team_id": int,
    "inning": int,
    "score": int,
    "wickets": int,
    "overs": NUMBER,
    "pp1": TEXT_OR_NONE,
    "pp2": TEXT_OR_NONE,
    "pp3": TEXT_OR_NONE,
    "updated_at": str,
}
BATTING: dict[str, Kinds] = {
    "resource": str,
    "id": int,
    "sort": int,
    "fixture_id": int,
    "team_id": int,
    "active": bool,
    "scoreboard": str,
    "player_id": int,
    "ball": int,
    "score_id": int,
    "wicket_id": ID_OR_NONE,
    "score": int,
    "four_x": int,
    "six_x": int,
    "catch_stump_player_id": ID_OR_NONE,
    "runout_by_id": ID_OR_NONE,
    "batsmanout_id": ID_OR_NONE,
    "bowling_player_id": ID_OR_NONE,
    "fow_score": int,
    "fow_balls": NUMBER,
    "rate": int,
    "updated_at": str,
    "batsman": dict,
    "bowler": (dict, NoneType),
    "result": dict,
}
BOWLING: dict[str, Kinds] = {
    "resource": str,
    "id": int,
    "sort": int,
    "fixture_id": int,
    "team_id": int,
    "active": bool,
    "scoreboard": str,
    "player_id": int,
    "overs": NUMBER,
    "medians": int,
    "runs": int,
    "wickets": int,
    "wide": int,
    "noball": int,
    "rate": NUMBER,
    "updated_at": str,
    "bowler": dict,
}
SCOREBOARD: dict[str, Kinds] = {
    "team_id": int,
    "type": str,
    "scoreboard": str,
    "wide": int,
    "noball_runs": int,
    "noball_balls": int,
    "bye": int,
    "leg_bye": int,
    "penalty": int,
    "total": int,
    "overs": NUMBER,
    "wickets": int,
}
BALL: dict[str, Kinds] = {
    "resource": str,
    "id": int,
    "fixture_id": int,
    "team_id": int,
    "ball": float,
    "scoreboard": str,
    "batsman_one_on_creeze_id": int,
    "batsman_two_on_creeze_id": int,
    "batsman_id": int,
    "bowler_id": int,
    "batsmanout_id": ID_OR_NONE,
    "catchstump_id": ID_OR_NONE,
    "runout_by_id": ID_OR_NONE,
    "score_id": int,
    "updated_at": str,
    "batsman": dict,
    "bowler": dict,
    "score": dict,
    "team": dict,
}
SCORE: dict[str, Kinds] = {
    "id": int,
    "name": str,
    "runs": int,
    "four": bool,
    "six": bool,
    "bye": int,
    "leg_bye": int,
    "noball": int,
    "noball_runs": int,
    "is_wicket": bool,
    "ball": bool,
    "out": bool,
}
PLAYER: dict[str, Kinds] = {
    "id": int,
    "fullname": str,
    "firstname": str,
    "lastname": str,
    "position": dict,
    "battingstyle": str,
    "bowlingstyle": str,
    "lineup": dict,
}
PLACE: dict[str, Kinds] = {
    "team_id": int,
    "captain": bool,
    "wicketkeeper": bool,
    "substitution": bool,
}
TEAM: dict[str, Kinds] = {
    "id": int,
    "name": str,
    "code": str,
    "image_path": str,
    "country_id": int,
    "national_team": bool,
    "updated_at": str,
}
STAGE: dict[str, Kinds] = {
    "id": int,
    "league_id": int,
    "season_id": int,
    "name": str,
    "code": str,
    "type": str,
    "standings": bool,
}
VENUE: dict[str, Kinds] = {
    "id": int,
    "country_id": int,
    "name": str,
    "city": str,
    "image_path": str,
    "capacity": int,
    "floodlight": bool,
}


def faults(rows: list[dict[str, Any]], fields: dict[str, Kinds]) -> list[str]:
    """The fields that are missing, or of another type, in any of some rows."""
    assert rows
    return sorted(
        {
            name
            for row in rows
            for name, kinds in fields.items()
            if name not in row or not isinstance(row[name], kinds)
        }
    )


@cache
def fixture(number: int, share: float) -> dict[str, Any]:
    """A real match when that share of its balls has been posted; all of them: when it is over."""
    record = read_recorded_match(number)
    written = build_timeline(record, find_timeline_config(number) or TimelineConfig())
    replay = Replay(record, written, ManualClock(NOON), starts_at=NOON)
    shown = written.second_of(int(len(record.deliveries) * share))
    return FixtureSerializer(replay).row(written.at(shown if share < 1 else 10**9), EVERYTHING)


@pytest.mark.parametrize("share", [0.4, 1])
@pytest.mark.parametrize("number", RECORDED_MATCHES)
def test_a_match_has_every_field(number: int, share: float) -> None:
    row = fixture(number, share)

    assert faults([row], FIXTURE) == []
    assert faults(row["runs"], RUNS) == []
    assert faults(row["batting"], BATTING) == []
    assert faults(row["bowling"], BOWLING) == []
    assert faults(row["scoreboards"], SCOREBOARD) == []
    assert faults(row["balls"], BALL) == []
    assert faults([ball["score"] for ball in row["balls"]], SCORE) == []
    assert faults(row["lineup"], PLAYER) == []
    assert faults([player["lineup"] for player in row["lineup"]], PLACE) == []


def test_what_a_match_belongs_to_has_every_field() -> None:
    record = read_recorded_match(1370353)

    assert faults([team_row(record.teams[0])], TEAM) == []
    assert faults([stage_row(record)], STAGE) == []
    assert faults([venue_row(record)], VENUE) == []
    assert (
        faults([season_row(record)], {"id": int, "league_id": int, "name": str, "code": str}) == []
    )
    assert faults([league_row(record)], {"id": int, "season_id": int, "name": str}) == []


def test_leagues_are_phases_or_leagues() -> None:
    assert (
        league_row(read_recorded_match(1001349))["id"],
        league_row(read_recorded_match(1001349))["type"],
    ) == (
        3,
        "phase",
    )
    assert league_row(read_recorded_match(1370353))["type"] == "league"


@pytest.mark.parametrize("number", RECORDED_MATCHES)
def test_everything_that_can_be_included_is(number: int) -> None:
    row = fixture(number, 1)

    assert set(row) >= INCLUDES
    assert row["firstumpire"]["id"] == row["first_umpire_id"]
    assert row["referee"]["id"] == row["referee_id"]
    assert row["tosswon"]["id"] == row["toss_won_team_id"]
    assert (row["winnerteam"] or {}).get("id") == row["winner_team_id"]


def test_a_moment_is_written_with_microseconds_in_utc() -> None:
    assert fixture(1001349, 1)["starting_at"] == "2026-11-16T12:00:00.000000Z"


def test_balls_add_up_to_the_score_by_the_feeds_arithmetic() -> None:
    row = fixture(1000853, 1)

    totals = {
        name: sum(
            ball["score"]["runs"] + ball["score"]["bye"] + ball["score"]["leg_bye"]
            for ball in balls
        )
        for name, balls in groupby(row["balls"], key=lambda ball: ball["scoreboard"])
    }

    assert totals == {"S1": 85, "S2": 326, "S3": 161}
    assert [each["score"] for each in row["runs"]] == [85, 326, 161]


def test_an_over_ends_with_point_six_and_a_repeated_label_follows_an_illegal_ball() -> None:
    balls = fixture(1001349, 1)["balls"]

    labels = [(ball["scoreboard"], ball["ball"]) for ball in balls]
    repeated = {n for n in range(1, len(labels)) if labels[n] == labels[n - 1]}

    assert {round(label % 1, 1) for _, label in labels} == {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
    assert repeated == {n + 1 for n, ball in enumerate(balls) if not ball["score"]["ball"]}


def test_not_out_is_a_fall_at_nothing() -> None:
    rows = fixture(1001349, 1)["batting"]

    lasting = [row for row in rows if not row["fow_score"] and not row["fow_balls"]]

    assert {row["result"]["name"] for row in lasting} == {"Not Out"}
    assert len(rows) - len(lasting) == 11


def test_who_catches_and_who_runs_out_is_told_apart() -> None:
    balls = fixture(1001349, 1)["balls"]

    (ran_out,) = [ball for ball in balls if "Run Out" in ball["score"]["name"]]

    assert ran_out["batsmanout_id"] != ran_out["batsman_id"]
    assert ran_out["runout_by_id"] is not None
    assert ran_out["catchstump_id"] is None


def test_the_revised_target_is_told_in_texts_and_in_the_block_of_the_first_side() -> None:
    row = fixture(1370353, 1)

    assert (row["rpc_target"], row["rpc_overs"]) == ("171", "15")
    assert row["localteam_dl_data"] == {"score": "170", "overs": "15", "wickets_out": "0"}
    assert row["visitorteam_dl_data"]["score"] is None


def test_every_status_the_feed_has_can_be_seen() -> None:
    real = [
        (read_recorded_match(number), find_timeline_config(number) or TimelineConfig())
        for number in RECORDED_MATCHES
    ]
    short = read_recorded_match(1001349)
    made = [
        (short, TimelineConfig(called_off="Aban.", called_off_after=9)),
        (short, TimelineConfig(called_off="Cancl.")),
        (short, TimelineConfig(called_off="Postp.")),
        (generate_match(2, "Test"), TimelineConfig(by_night=True, session_overs=12)),
    ]

    seen = {
        each.status
        for record, config in real + made
        for each in build_timeline(record, config).moments
    }

    assert seen >= {
        *("NS", "Delayed", "1st Innings", "2nd Innings", "3rd Innings", "4th Innings"),
        *("Innings Break", "Tea Break", "Lunch", "Dinner", "Int.", "Finished", "Aban."),
        *("Cancl.", "Postp.", "Stump Day 1", "Stump Day 2", "Stump Day 3", "Stump Day 4"),
    }


def test_a_match_called_off_has_no_winner() -> None:
    record = read_recorded_match(1001349)
    written = build_timeline(record, TimelineConfig(called_off="Aban.", called_off_after=9))
    replay = Replay(record, written, ManualClock(NOON), starts_at=NOON)

    row = FixtureSerializer(replay).row(written.moments[-1], ["balls", "winnerteam"])

    assert (row["status"], row["note"], row["draw_noresult"]) == (
        "Aban.",
        "Match abandoned",
        "No result",
    )
    assert row["winner_team_id"] is row["winnerteam"] is row["man_of_match_id"] is None
    assert written.moments[-1].shown == 9
